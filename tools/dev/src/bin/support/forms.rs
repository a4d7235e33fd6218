//! Finds the manual's forms that have no row in the instruction table.

use ptx2spv_translator::Span;
use ptx2spv_translator::internals::ast;
use ptx2spv_translator::internals::isa::table;

/// A position in a form, with its choices.
struct Slot<'f> {
    choices: Vec<&'f str>,
    required: bool,
}

/// Splits `op{.a|.b}.(c|d).e` into the opcode and its slots.
fn slots(form: &str) -> (&str, Vec<Slot<'_>>) {
    let end = form.find(['.', '{']).unwrap_or(form.len());
    let (opcode, mut rest) = form.split_at(end);
    let mut slots = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (text, required, next) = if first == '{' {
            let (text, next) = rest[1..].split_once('}').unwrap_or((&rest[1..], ""));
            (text, false, next)
        } else if let Some(inner) = rest.strip_prefix(".(") {
            let (text, next) = inner.split_once(')').unwrap_or((inner, ""));
            (text, true, next)
        } else {
            // The rest of a form begins with `.` or `{`, which are single bytes.
            let end = rest[1..].find(['.', '{']).map_or(rest.len(), |end| end + 1);
            (&rest[1..end], true, &rest[end..])
        };
        slots.push(Slot { choices: table::choices(text), required });
        rest = next;
    }
    (opcode, slots)
}

/// Spellings of a form: every choice of the required slots, alone and with one choice of one optional slot. Together
/// they cover each modifier; all combinations of optional ones would be too many.
fn spellings<'f>(slots: &[Slot<'f>]) -> Vec<Vec<&'f str>> {
    let optional = slots.iter().enumerate().filter(|(_, slot)| !slot.required);
    let with = optional.flat_map(|(place, slot)| slot.choices.iter().map(move |choice| (place, *choice)));
    [None].into_iter().chain(with.map(Some)).flat_map(|with| spellings_with(slots, with)).collect()
}

/// Every choice of the required slots, with at most one choice of an optional slot.
fn spellings_with<'f>(slots: &[Slot<'f>], optional: Option<(usize, &'f str)>) -> Vec<Vec<&'f str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for (place, slot) in slots.iter().enumerate() {
        let choices = match optional {
            Some((at, choice)) if at == place => vec![choice],
            _ if slot.required => slot.choices.clone(),
            _ => continue,
        };
        all = all
            .iter()
            .flat_map(|start| choices.iter().map(move |choice| [start.as_slice(), &[*choice]].concat()))
            .collect();
    }
    all
}

/// Whether the table has a row for an opcode with modifiers.
fn has_row(opcode: &str, modifiers: &[&str]) -> bool {
    // Positions in the instruction as written.
    let mut end = 0;
    let mut span_of = |text: &str| {
        let start = end;
        end += text.len() as u32 + 1;
        Span { start, end: end - 1 }
    };
    let span = span_of(opcode);
    let opcode = ast::Ident { text: opcode, span };
    let modifiers: Vec<_> = modifiers.iter().map(|text| ast::Ident { text, span: span_of(text) }).collect();
    let span = modifiers.last().map_or(span, |last| span.to(last.span));
    let instruction = ast::Instruction { guard: None, opcode, modifiers, operands: Vec::new(), span };
    table::find(&instruction).is_ok()
}

/// The parts of a form that have no row.
#[derive(Default)]
struct Missing<'f> {
    /// Modifiers without any row.
    never: Vec<&'f str>,
    /// Further missing spellings.
    spellings: Vec<Vec<&'f str>>,
    /// Whether the form has no row at all.
    all: bool,
}

fn missing<'f>(opcode: &str, slots: &[Slot<'f>]) -> Missing<'f> {
    let (there, absent): (Vec<_>, Vec<_>) =
        spellings(slots).into_iter().partition(|spelling| has_row(opcode, spelling));
    if there.is_empty() {
        return Missing { all: true, ..Missing::default() };
    }
    let choices = slots.iter().flat_map(|slot| slot.choices.iter().copied());
    let never: Vec<&str> = choices.filter(|choice| !there.iter().any(|spelling| spelling.contains(choice))).collect();
    let spellings = absent.into_iter().filter(|spelling| !never.iter().any(|word| spelling.contains(word))).collect();
    Missing { never, spellings, all: false }
}

/// Describes the parts of an instruction's forms that have no row. Forms that lack the same modifiers are listed
/// together.
pub fn missing_forms(forms: &[&str]) -> Vec<String> {
    let mut never: Vec<(String, Vec<String>)> = Vec::new();
    let mut rest = Vec::new();
    for form in forms {
        let (opcode, slots) = slots(form);
        let missing = missing(opcode, &slots);
        if missing.all {
            rest.push(format!("`{}`", brief(opcode, &slots)));
        }
        if !missing.never.is_empty() {
            let words: Vec<String> = missing.never.iter().map(|word| format!("`.{word}`")).collect();
            let (words, name) = (words.join(" "), format!("`{}`", brief(opcode, &slots)));
            match never.iter_mut().find(|(known, _)| *known == words) {
                Some((_, names)) => names.push(name),
                None => never.push((words, vec![name])),
            }
        }
        rest.extend(missing.spellings.iter().map(|spelling| format!("`{opcode}.{}`", spelling.join("."))));
    }
    never.into_iter().map(|(words, names)| format!("{words} in {}", names.join(", "))).chain(rest).collect()
}

/// A form without its optional slots, and with long lists of choices shortened.
fn brief(opcode: &str, slots: &[Slot<'_>]) -> String {
    const MOST: usize = 6;
    let mut text = opcode.to_owned();
    for slot in slots.iter().filter(|slot| slot.required) {
        match slot.choices.as_slice() {
            [only] => text.push_str(&format!(".{only}")),
            choices if choices.len() > MOST => text.push_str(&format!(".({}|…)", choices[..MOST].join("|"))),
            choices => text.push_str(&format!(".({})", choices.join("|"))),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ptx2spv_translator::internals::isa::rows::ROWS;
    use ptx2spv_translator::internals::isa::{manual, vocabulary};

    use super::*;

    #[test]
    fn every_row_has_an_entry() {
        let entries: BTreeSet<_> = manual::ALL.iter().map(|entry| entry.name).collect();
        assert_eq!(entries.len(), manual::ALL.len(), "an opcode stands twice");
        for row in ROWS {
            assert!(entries.contains(slots(row.syntax).0), "`{}` has no entry", row.syntax);
        }
    }

    #[test]
    fn forms_are_ptx() {
        for entry in manual::ALL.iter() {
            assert!(vocabulary::is_opcode(entry.name), "{}", entry.name);
            assert!(!entry.forms.is_empty(), "`{}` has no forms", entry.name);
            for form in &entry.forms {
                let (opcode, slots) = slots(form);
                assert_eq!(opcode, entry.name, "{form}");
                for choice in slots.iter().flat_map(|slot| &slot.choices) {
                    assert!(vocabulary::is_modifier(choice), "`.{choice}` in {form}");
                }
            }
        }
    }

    #[test]
    fn spellings_show_each_modifier() {
        let (opcode, slots) = slots("op{.x|.y}.(a|b).c{.z}");
        assert_eq!((opcode, slots.len()), ("op", 4));
        let all: Vec<String> = spellings(&slots).iter().map(|spelling| spelling.join(".")).collect();
        assert_eq!(all, ["a.c", "b.c", "x.a.c", "x.b.c", "y.a.c", "y.b.c", "a.c.z", "b.c.z"]);
    }

    #[test]
    fn missing_is_said_shortly() {
        assert!(missing_forms(&["ret{.uni}"]).is_empty());
        assert_eq!(missing_forms(&["ret{.uni}.f16"]), ["`ret.f16`"]);
        assert_eq!(missing_forms(&["ret{.uni|.sync}", "exit{.sync}"]), ["`.sync` in `ret`, `exit`"]);
        assert_eq!(missing_forms(&["mul.(lo|wide).(s32|s64)"]), ["`mul.wide.s64`"]);
        assert_eq!(missing_forms(&["ret.(a|b|c|d|e|f|g){.x|.y}"]), ["`ret.(a|b|c|d|e|f|…)`"]);
    }
}
