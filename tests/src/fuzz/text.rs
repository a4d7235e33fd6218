//! Mutates texts word by word: a text with random bytes seldom gets past a parser.

use std::sync::LazyLock;

use crate::random::Random;

/// Pieces of a text: words (with the dots, dollars and percent signs that PTX joins to them), single other characters,
/// and runs of white space.
pub fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || "_$%.".contains(c) => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last != kind(c) || last == 2) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    tokens.push(&text[start..]);
    tokens
}

/// Tokens that are likely to do harm in place of another.
pub static NASTY: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let tokens = "{ } ( ) [ ] < > , ; : @ ! | _ - + = /* */ // \" . .. % 0 1 -1 64 4294967295 4294967296 9223372036854775807 \
         18446744073709551615 0x 0f7fc00000 0f 0d7ff8000000000000 1e999 %tid.x %tid %p1 %r1 %rd1 %f1 %fd1 WARP_SZ .entry \
         .func .visible .extern .weak .param .reg .shared .local .global .const .tex .pred .b8 .b16 .b32 .b64 .b128 .f16 \
         .f32 .f64 .u64 .s8 .v2 .v4 .align .ptr .version .target .reqntid .maxntid .loc .file .section .pragma \
         .branchtargets .callprototype .alias ret exit bra call bar.sync ld.param.u64 ld.v4.f32 st.b8 mov.b64 \
         cvt.rn.f32.f64 setp.lt.s32 atom.global.add.u32 brx.idx mma tex.2d.v4.f32.s32 \u{fe0f} \0";
    tokens.split(' ').collect()
});

/// A text with some words removed, repeated, moved or replaced, by a nasty word or by one from elsewhere in the text.
/// The seed of the options changes now and then.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let (seed, body) = match text.strip_prefix("// ").and_then(|rest| rest.split_once('\n')) {
        Some((_, body)) if random.chance(20) => (Some(random.word()), body),
        _ => (None, text),
    };
    let mut words = tokens(body);
    for _ in 0..1 + random.below(4) {
        let at = random.below(words.len());
        match random.below(8) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at]),
            2 => words.insert(at, *random.pick(&NASTY)),
            3 => words[at] = *random.pick(&NASTY),
            4 => {
                let end = (at + 1 + random.below(30)).min(words.len());
                let piece = words[at..end].to_vec();
                let place = random.below(words.len());
                words.splice(place..place, piece);
            }
            5 => {
                let end = (at + 1 + random.below(10)).min(words.len());
                words.drain(at..end);
            }
            _ => {
                // Prefer a word of the same kind: opcodes for opcodes, registers for registers.
                let first = words[at].chars().next();
                let like = (0..20).map(|_| words[random.below(words.len())]).find(|word| word.chars().next() == first);
                words[at] = like.unwrap_or(words[at]);
            }
        }
        if words.is_empty() {
            words.push(" ");
        }
    }
    match seed {
        Some(seed) => format!("// {seed:016x}\n{}", words.concat()),
        None => words.concat(),
    }
}

/// The lines of one text with a run of lines of another inserted.
pub fn cross(one: &str, other: &str, random: &mut Random) -> String {
    let (mut lines, others) = (one.lines().collect::<Vec<_>>(), other.lines().collect::<Vec<_>>());
    if !others.is_empty() {
        let start = random.below(others.len());
        let end = (start + 1 + random.below(20)).min(others.len());
        let place = random.below(lines.len() + 1);
        lines.splice(place..place, others[start..end].iter().copied());
    }
    lines.join("\n")
}
