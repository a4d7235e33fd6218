//! Ciphers, codes, texts, random numbers, divisions and roots.

use super::workload::{Workload, kernel, linear};

pub fn all(quick: bool) -> Vec<Workload> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    vec![
        aes(size(1 << 25, 1 << 9)),
        md5(size(1 << 22, 1 << 8)),
        string_search(size(1 << 25, 1 << 9)),
        alignment(size(1 << 20, 1 << 7)),
        monte_carlo(size(1 << 18, 1 << 8), size(64, 2)),
        tangents_f32(size(1 << 25, 1 << 9)),
        tangents_f64(size(1 << 24, 1 << 9)),
        means_f32(size(1 << 25, 1 << 9)),
        means_f64(size(1 << 24, 1 << 9)),
        keccak(size(1 << 21, 1 << 8)),
        montgomery(size(1 << 20, 1 << 7)),
        mersenne_twister(size(1 << 20, 1 << 8), size(256, 32)),
        first_match(size(1 << 20, 1 << 8)),
        viterbi(size(1 << 14, 2), size(1024, 32)),
    ]
}

fn aes(blocks: u32) -> Workload {
    kernel!("aes").workload(
        "AES-128",
        format!("{blocks} blocks of 16 bytes"),
        linear(blocks, 256),
        [
            format!("u32[{}]:random(1)", 4 * blocks),
            "u32[44]:random(2)".into(),
            format!("u32[{}]", 4 * blocks),
            "{u32:1;u32:2;u32:3;u32:4}".into(),
        ],
    )
}

pub fn md5(messages: u32) -> Workload {
    kernel!("md5").workload(
        "MD5",
        format!("{messages} messages of 128 bytes"),
        linear(messages, 256),
        [format!("u32[{}]:random(1)", 32 * messages), format!("u32[{}]", 4 * messages), format!("u32:{messages}")],
    )
}

fn string_search(groups: u32) -> Workload {
    kernel!("string_search").workload(
        "string search",
        format!("{} bytes, patterns of 8", 16 * groups),
        linear(groups, 256),
        [
            format!("u8[{}]:random(1,97,101)", 16 * groups),
            "u32[2]".into(),
            "u32:0x61626361".into(),
            "u32:0x64626163".into(),
            format!("u32:{groups}"),
        ],
    )
}

fn alignment(texts: u32) -> Workload {
    kernel!("alignment").workload(
        "alignment",
        format!("{texts} texts of 128 letters with 32"),
        linear(texts, 128),
        [
            format!("u8[{}]:random(1,97,101)", 128 * texts),
            "u8[32]:random(2,97,101)".into(),
            format!("s32[{texts}]"),
            format!("u32:{texts}"),
        ],
    )
}

fn monte_carlo(threads: u32, paths: u32) -> Workload {
    kernel!("monte_carlo").workload(
        "Monte Carlo",
        format!("{threads} threads, {paths} paths of 64 steps each"),
        linear(threads, 256),
        [format!("f32[{threads}]"), format!("u32:{paths}"), "f32:-0.0002".into(), "f32:0.02".into()],
    )
}

fn tangents_f32(n: u32) -> Workload {
    kernel!("fractions", "tangents_f32").workload(
        "tangents, f32",
        format!("{n} by 8 divisions each"),
        linear(n, 256),
        [format!("f32[{n}]:random(1)"), format!("f32[{n}]")],
    )
}

fn tangents_f64(n: u32) -> Workload {
    kernel!("fractions", "tangents_f64").workload(
        "tangents, f64",
        format!("{n} by 8 divisions each"),
        linear(n, 256),
        [format!("f64[{n}]:random(1)"), format!("f64[{n}]")],
    )
}

fn means_f32(n: u32) -> Workload {
    kernel!("means", "means_f32").workload(
        "arithmetic-geometric means, f32",
        format!("{n} by 4 roots each"),
        linear(n, 256),
        [format!("f32[{n}]:random(1,0,1)"), format!("f32[{n}]:random(2,0,1)"), format!("f32[{n}]")],
    )
}

fn means_f64(n: u32) -> Workload {
    kernel!("means", "means_f64").workload(
        "arithmetic-geometric means, f64",
        format!("{n} by 4 roots each"),
        linear(n, 256),
        [format!("f64[{n}]:random(1,0,1)"), format!("f64[{n}]:random(2,0,1)"), format!("f64[{n}]")],
    )
}

fn keccak(messages: u32) -> Workload {
    kernel!("keccak").workload(
        "SHA3-256",
        format!("{messages} messages of 128 bytes"),
        linear(messages, 128),
        [format!("u64[{}]:random(1)", 16 * messages), format!("u64[{}]", 4 * messages), format!("u32:{messages}")],
    )
}

fn montgomery(numbers: u32) -> Workload {
    kernel!("montgomery").workload(
        "modular powers, 256 bits",
        format!("{numbers} by 32 products each"),
        linear(numbers, 128),
        [
            format!("u32[{}]:random(1)", 8 * numbers),
            format!("u32[{}]", 8 * numbers),
            format!("u32:{numbers}"),
            "u32:16".into(),
        ],
    )
}

fn mersenne_twister(threads: u32, rounds: u32) -> Workload {
    kernel!("mersenne_twister").workload(
        "Mersenne twister",
        format!("{threads} threads, {rounds} numbers each"),
        linear(threads, 256),
        [format!("u32[{threads}]"), format!("u32:{rounds}")],
    )
}

/// The letters a, b and c.
fn first_match(lines: u32) -> Workload {
    kernel!("first_match").workload(
        "string search by bytes",
        format!("{lines} lines of 128 bytes"),
        linear(lines, 256),
        [
            format!("u8[{}]:random(1,97,100)", 128 * lines),
            "u8[6]:97,98,97,98,97,99".into(),
            format!("u32[{lines}]"),
            format!("u32:{lines}"),
            "u32:128".into(),
            "u32:6".into(),
        ],
    )
}

fn viterbi(messages: u32, length: u32) -> Workload {
    kernel!("viterbi").workload(
        "Viterbi decoder",
        format!("{messages} messages of {length} symbols, 64 states"),
        ([messages, 1, 1], [64, 1, 1]),
        [
            format!("u8[{}]:random(1)", messages * length),
            format!("u32[{}]", messages * length * 2),
            format!("u32[{}]", messages * 64),
            format!("u32:{length}"),
        ],
    )
}
