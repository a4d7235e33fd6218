//! Changes modules without changing what they mean: dead code, branches around instructions, loops of one round, loops written twice,
//! exchanged instructions, other names of registers, and identities. What decides about them is a number that only the running kernel reads.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::fuzz::text::tokens;
use crate::random::Random;

/// The variable that decides, which stays 0, and the registers that a function computes from it.
const VARIABLE: &str = "\n.global .align 4 .u32 changed_zero;\n";
const PROLOGUE: &str = "\n\t.reg .b16 %changed_h;\n\t.reg .b32 %changed_z, %changed_d;\n\t.reg .b64 %changed_w;\n\t.reg .pred %changed_f;\n\
    \tld.global.u32 %changed_z, [changed_zero];\n\tcvt.u16.u32 %changed_h, %changed_z;\n\tcvt.u64.u32 %changed_w, %changed_z;\n\
    \tsetp.ne.u32 %changed_f, %changed_z, 0;\n\tmov.u32 %changed_d, %tid.x;\n";

/// The prefix of the new names of registers.
const RENAMED: &str = "%renamed_";

/// Instructions that only compute, so that they may be exchanged with others.
const PURE: &[&str] = &[
    "abs", "add", "and", "bfe", "bfi", "brev", "clz", "cvt", "div", "fma", "lop3", "mad", "max", "min", "mov", "mul",
    "neg", "not", "or", "popc", "prmt", "rem", "selp", "setp", "shf", "shl", "shr", "sub", "xor",
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece<'t> {
    /// The text outside of functions, up to a function's brace.
    Outside(&'t str),
    Brace(&'t str),
    /// A label with its colon.
    Label(&'t str),
    Directive(&'t str),
    /// An instruction with its semicolon.
    Instruction(&'t str),
}

/// The number of places where a module can be changed; 0 if it has none.
pub fn places(text: &str) -> usize {
    let text = without_comments(text);
    let is_module = text.matches(".version").count() == 1 && text.contains(".address_size 64");
    if is_module { pieces(&text).iter().filter(|piece| matches!(piece, Piece::Instruction(_))).count() } else { 0 }
}

/// The module with changes at the places for which `chosen` holds. The seed chooses the changes; half of the seeds change names too.
pub fn change(text: &str, seed: u64, chosen: impl Fn(usize) -> bool) -> String {
    let text = without_comments(text);
    let mut pieces = pieces(&text);
    let renames = Random::new(seed).chance(50);
    // What may be fused depends on what stands around it.
    let fuses = pieces.iter().any(|piece| matches!(piece, Piece::Instruction(text) if may_fuse(text)));
    let mut changed = String::new();
    let mut registers = HashMap::new();
    let mut labels = Vec::new();
    let (mut place, mut depth) = (0, 0);
    let mut has_variable = false;
    for at in 0..pieces.len() {
        match pieces[at] {
            Piece::Outside(text) => {
                match text.split_once(".address_size 64").filter(|_| !has_variable) {
                    Some((before, after)) => changed += &[before, ".address_size 64", VARIABLE, after].concat(),
                    None => changed += text,
                }
                has_variable = true;
                if text.ends_with('{') {
                    let body = &pieces[at + 1..];
                    let end = body.iter().position(|piece| matches!(piece, Piece::Outside(_))).unwrap_or(body.len());
                    registers = declared(&body[..end]);
                    labels = outer_labels(&body[..end]);
                    depth = 1;
                    changed += PROLOGUE;
                }
            }
            Piece::Instruction(text) => {
                place += 1;
                let mut random = Random::new(seed ^ (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                // In scopes are the parameters of a call, which belong to one basic block.
                let is_changed = !fuses && depth == 1 && !passes(text) && chosen(place - 1) && random.chance(40);
                if !is_changed {
                    let _ = writeln!(changed, "\t{}", renamed(text, renames, &registers));
                    continue;
                }
                if let Some(Piece::Instruction(next)) = pieces.get(at + 1).copied()
                    && random.chance(30)
                    && independent(text, next)
                {
                    pieces.swap(at, at + 1);
                }
                let Piece::Instruction(text) = pieces[at] else { continue };
                let text = renamed(text, renames, &registers);
                let again = rounds(&pieces[..at], pieces[at]);
                let again = again
                    .map(|body| body.iter().map(|text| renamed(text, renames, &registers) + "\n").collect::<String>());
                let label = format!("changed_{place}");
                changed += &match random.below(6) {
                    0 => {
                        let target = (!labels.is_empty()).then(|| *random.pick(&labels));
                        dead(&mut random, &label, target) + &text + "\n"
                    }
                    1 | 2 => identity(&text, &registers, renames),
                    _ if again.is_some() && text.starts_with('@') => {
                        let (guard, branch) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
                        let negated = match guard.strip_prefix("@!") {
                            Some(register) => format!("@{register}"),
                            None => guard.replacen('@', "@!", 1),
                        };
                        let body = again.unwrap_or_default();
                        format!("{negated} bra {label};\n{body}{guard} {branch}\n{label}:\n")
                    }
                    3 if stays(&text) => format!("\t@%changed_f bra {label};\n\t{text}\n{label}:\n"),
                    4 if stays(&text) => format!("{label}:\n\t{text}\n\t@%changed_f bra {label};\n"),
                    _ => format!("\t@%changed_f trap;\n\t{text}\n"),
                };
            }
            Piece::Brace(text) => {
                depth = if text == "{" { depth + 1 } else { depth - 1 };
                let _ = writeln!(changed, "{text}");
            }
            Piece::Label(text) => {
                let _ = writeln!(changed, "{text}");
            }
            Piece::Directive(text) => {
                let _ = writeln!(changed, "\t{}", renamed(text, renames, &registers));
            }
        }
    }
    changed
}

/// Dead code before an instruction: a store, a jump elsewhere, or numbers that nothing reads.
fn dead(random: &mut Random, label: &str, target: Option<&str>) -> String {
    match (random.below(3), target) {
        (0, Some(target)) => format!("\t@%changed_f bra {target};\n"),
        (1, _) => format!("\t@!%changed_f bra {label};\n\tst.global.u32 [changed_zero], %changed_d;\n{label}:\n"),
        _ => "\tmad.lo.u32 %changed_d, %changed_d, 31, %changed_z;\n\txor.b32 %changed_d, %changed_d, 5;\n".to_owned(),
    }
}

/// The instruction, and after it the number that it gives, combined with 0.
fn identity(text: &str, registers: &HashMap<String, Option<&str>>, renames: bool) -> String {
    let (guard, rest) = guarded(text);
    let result = rest.split_once(char::is_whitespace).map_or("", |(_, operands)| operands);
    let result = result.split([',', ';']).next().unwrap_or_default().trim();
    let name = if renames { result.replacen(RENAMED, "%", 1) } else { result.to_owned() };
    let zero = match width(&name, registers) {
        Some("pred") => "xor.pred {}, {}, %changed_f;",
        Some("16") => "xor.b16 {}, {}, %changed_h;",
        Some("32") => "xor.b32 {}, {}, %changed_z;",
        Some("64") => "xor.b64 {}, {}, %changed_w;",
        _ => return format!("\t{text}\n"),
    };
    // A guard that the instruction itself sets is another one after it.
    if guard.contains(result) || !stays(text) {
        return format!("\t{text}\n");
    }
    format!("\t{text}\n\t{guard} {}\n", zero.replace("{}", result))
}

/// An instruction's guard, which may be empty, and the rest.
fn guarded(text: &str) -> (&str, &str) {
    match text.strip_prefix('@').and_then(|_| text.split_once(char::is_whitespace)) {
        Some((guard, rest)) => (guard, rest.trim_start()),
        None => ("", text),
    }
}

fn opcode(text: &str) -> &str {
    guarded(text).1.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default()
}

/// Whether control always goes on behind an instruction that neither reads nor writes a carry.
fn stays(text: &str) -> bool {
    let name = opcode(text);
    let first = name.split('.').next().unwrap_or_default();
    !["bra", "brx", "ret", "exit", "trap", "addc", "subc", "madc"].contains(&first) && !name.contains(".cc")
}

/// Whether an instruction is a call, or accesses parameters.
fn passes(text: &str) -> bool {
    let name = opcode(text);
    name.starts_with("call") || name.starts_with("st.param") || name.starts_with("ld.param")
}

/// Whether a product may be fused with a sum.
fn may_fuse(text: &str) -> bool {
    let mut words = opcode(text).split('.');
    words.next() == Some("mul")
        && !words.clone().any(|word| ["rn", "rz", "rm", "rp"].contains(&word))
        && words.next_back().is_some_and(|ty| ty.starts_with(['f', 'b']))
}

/// Whether two instructions only compute, and neither uses the result of the other.
fn independent(one: &str, other: &str) -> bool {
    let pure = |text: &str| {
        let first = opcode(text).split('.').next().unwrap_or_default();
        PURE.contains(&first) && stays(text) && !text.contains("%clock") && !text.contains("timer") && !may_fuse(text)
    };
    let registers = |text: &str| {
        tokens(text)
            .into_iter()
            .filter(|token| token.chars().any(char::is_alphabetic))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let results = |text: &str| {
        let operands = guarded(text).1.split_once(char::is_whitespace).map_or("", |(_, operands)| operands);
        let end = if operands.trim_start().starts_with('{') { operands.find('}') } else { operands.find(',') };
        registers(&operands[..end.unwrap_or(operands.len())])
    };
    let apart = |one: &str, other: &str| {
        let read = registers(other);
        results(one).iter().all(|result| !read.contains(result))
    };
    pure(one) && pure(other) && apart(one, other) && apart(other, one)
}

/// The instructions of the loop that a branch ends, if it has no other branch, label or scope.
fn rounds<'t>(before: &[Piece<'t>], branch: Piece<'t>) -> Option<Vec<&'t str>> {
    let Piece::Instruction(text) = branch else { return None };
    let (_, rest) = guarded(text);
    let target = rest.strip_prefix("bra")?.trim_start_matches(".uni").trim().trim_end_matches(';').trim();
    let mut body = Vec::new();
    for piece in before.iter().rev() {
        match piece {
            Piece::Label(label) if label.trim_end_matches(':').trim() == target => {
                body.reverse();
                return Some(body);
            }
            Piece::Instruction(text) if stays(text) && !passes(text) => body.push(*text),
            Piece::Directive(text) if text.starts_with(".loc") || text.starts_with(".pragma") => {}
            _ => return None,
        }
    }
    None
}

/// The labels of a function outside of scopes within it.
fn outer_labels<'t>(body: &[Piece<'t>]) -> Vec<&'t str> {
    let mut depth = 0;
    let mut labels = Vec::new();
    for (at, piece) in body.iter().enumerate() {
        match piece {
            Piece::Brace("{") => depth += 1,
            Piece::Brace(_) => depth -= 1,
            // A label of a directive is a list of targets, or a prototype.
            Piece::Label(label)
                if depth == 0
                    && !matches!(body.get(at + 1), Some(Piece::Directive(text)) if !text.starts_with(".loc")) =>
            {
                labels.push(label.trim_end_matches(':').trim());
            }
            _ => {}
        }
    }
    labels
}

/// The types of registers whose names begin with a percent sign, by name, or by name and `<` for numbered ones; `None` for names that are
/// declared differently in several scopes.
fn declared<'t>(body: &[Piece<'t>]) -> HashMap<String, Option<&'t str>> {
    let mut registers = HashMap::new();
    for piece in body {
        let Piece::Directive(text) = piece else { continue };
        let Some((ty, names)) =
            text.strip_prefix(".reg").and_then(|rest| rest.trim_start().split_once(char::is_whitespace))
        else {
            continue;
        };
        for name in names.trim_end_matches(';').split(',').map(str::trim).filter(|name| name.starts_with('%')) {
            let name = name.split_inclusive('<').next().unwrap_or_default();
            let known = registers.entry(name.to_owned()).or_insert(Some(ty));
            if *known != Some(ty) {
                *known = None;
            }
        }
    }
    registers
}

fn entry<'r, 't>(name: &str, registers: &'r HashMap<String, Option<&'t str>>) -> Option<&'r Option<&'t str>> {
    let numbered = || format!("{}<", name.trim_end_matches(|c: char| c.is_ascii_digit()));
    registers.get(name).or_else(|| registers.get(&numbered()))
}

/// The bits of a register, or `pred`.
fn width(name: &str, registers: &HashMap<String, Option<&str>>) -> Option<&'static str> {
    let ty = (*entry(name, registers)?)?;
    [("pred", ".pred"), ("16", "16"), ("32", "32"), ("32", ".f16x2"), ("64", "64")]
        .into_iter()
        .find(|(_, end)| ty.ends_with(end))
        .map(|(width, _)| width)
}

/// A statement with other names of registers, if names change.
fn renamed(text: &str, renames: bool, registers: &HashMap<String, Option<&str>>) -> String {
    if !renames {
        return text.to_owned();
    }
    let rename = |token: &str| {
        // A part of a register, as `%r1.b0`, or the first half of `%r<8>`.
        let name = token.split('.').next().unwrap_or_default();
        let known = entry(name, registers).or_else(|| registers.get(&format!("{name}<")));
        if known.is_some_and(Option::is_some) { token.replacen('%', RENAMED, 1) } else { token.to_owned() }
    };
    tokens(text).into_iter().map(rename).collect()
}

/// The text with blanks instead of comments.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        let (before, from) = rest.split_at(at);
        kept += before;
        let length = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with("/*") {
            from.find("*/").map_or(from.len(), |end| end + 2)
        } else {
            let string = from.strip_prefix('"').map(|string| string.find('"').map_or(from.len(), |end| end + 2));
            let length = string.unwrap_or(1);
            kept += &from[..length];
            rest = &from[length..];
            continue;
        };
        kept.push(' ');
        rest = &from[length..];
    }
    kept + rest
}

/// The pieces of a module without comments.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((outside, mut body)) = function(rest) {
        pieces.push(Piece::Outside(outside));
        let mut depth = 1;
        while depth > 0 {
            body = body.trim_start();
            let Some(length) = statement(body) else { break };
            let (piece, after) = body.split_at(length);
            pieces.push(match piece {
                "{" | "}" => Piece::Brace(piece),
                _ if piece.ends_with(':') => Piece::Label(piece),
                _ if piece.starts_with('.') => Piece::Directive(piece.trim_end()),
                _ => Piece::Instruction(piece),
            });
            depth = match piece {
                "{" => depth + 1,
                "}" => depth - 1,
                _ => depth,
            };
            body = after;
        }
        rest = body;
    }
    pieces.push(Piece::Outside(rest));
    pieces
}

/// A text up to the brace of the first function, and the rest.
fn function(text: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' if [".entry", ".func"].iter().any(|word| text[start..at].contains(word)) => {
                return Some(text.split_at(at + 1));
            }
            ';' | '}' => start = at + 1,
            _ => {}
        }
    }
    None
}

/// The length of the statement that a function's text begins with.
fn statement(text: &str) -> Option<usize> {
    if text.starts_with(['{', '}']) {
        return Some(1);
    }
    if text.starts_with(".loc") {
        return text.find('\n').map(|end| end + 1);
    }
    let name = text.find(|c: char| !(c.is_alphanumeric() || "_$%".contains(c)))?;
    let after = text[name..].trim_start();
    if name > 0 && after.starts_with(':') && !after.starts_with("::") {
        return Some(text.len() - after.len() + 1);
    }
    text.find(';').map(|end| end + 1)
}
