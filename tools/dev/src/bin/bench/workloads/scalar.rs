//! Ciphers, codes, texts, random numbers, divisions and roots.

use super::workload::{linear, rows};

rows! { "/kernels/";
    aes(blocks: 1 << 25 => 1 << 9; words = 4 * blocks): "AES-128", "{blocks} blocks of 16 bytes", linear(blocks, 256),
        "u32[{words}]:random(1) u32[44]:random(2) u32[{words}] {{u32:1;u32:2;u32:3;u32:4}}";
    md5(messages: 1 << 22 => 1 << 8; words = 32 * messages, sums = 4 * messages):
        "MD5", "{messages} messages of 128 bytes", linear(messages, 256),
        "u32[{words}]:random(1) u32[{sums}] u32:{messages}";
    string_search(groups: 1 << 25 => 1 << 9; n = 16 * groups):
        "string search", "{n} bytes, patterns of 8", linear(groups, 256),
        "u8[{n}]:random(1,97,101) u32[2] u32:0x61626361 u32:0x64626163 u32:{groups}";
    alignment(texts: 1 << 20 => 1 << 7; letters = 128 * texts):
        "alignment", "{texts} texts of 128 letters with 32", linear(texts, 128),
        "u8[{letters}]:random(1,97,101) u8[32]:random(2,97,101) s32[{texts}] u32:{texts}";
    monte_carlo(threads: 1 << 18 => 1 << 8, paths: 64 => 2):
        "Monte Carlo", "{threads} threads, {paths} paths of 64 steps each", linear(threads, 256),
        "f32[{threads}] u32:{paths} f32:-0.0002 f32:0.02";
    tangents_f32["fractions"](n: 1 << 25 => 1 << 9): "tangents, f32", "{n} by 8 divisions each", linear(n, 256),
        "f32[{n}]:random(1) f32[{n}]";
    tangents_f64["fractions"](n: 1 << 24 => 1 << 9): "tangents, f64", "{n} by 8 divisions each", linear(n, 256),
        "f64[{n}]:random(1) f64[{n}]";
    means_f32["means"](n: 1 << 25 => 1 << 9): "arithmetic-geometric means, f32", "{n} by 4 roots each", linear(n, 256),
        "f32[{n}]:random(1,0,1) f32[{n}]:random(2,0,1) f32[{n}]";
    means_f64["means"](n: 1 << 24 => 1 << 9): "arithmetic-geometric means, f64", "{n} by 4 roots each", linear(n, 256),
        "f64[{n}]:random(1,0,1) f64[{n}]:random(2,0,1) f64[{n}]";
    keccak(messages: 1 << 21 => 1 << 8; words = 16 * messages, sums = 4 * messages):
        "SHA3-256", "{messages} messages of 128 bytes", linear(messages, 128),
        "u64[{words}]:random(1) u64[{sums}] u32:{messages}";
    montgomery(numbers: 1 << 20 => 1 << 7; words = 8 * numbers):
        "modular powers, 256 bits", "{numbers} by 32 products each", linear(numbers, 128),
        "u32[{words}]:random(1) u32[{words}] u32:{numbers} u32:16";
    mersenne_twister(threads: 1 << 20 => 1 << 8, rounds: 256 => 32):
        "Mersenne twister", "{threads} threads, {rounds} numbers each", linear(threads, 256),
        "u32[{threads}] u32:{rounds}";
    // The letters a, b and c.
    first_match(lines: 1 << 20 => 1 << 8; letters = 128 * lines):
        "string search by bytes", "{lines} lines of 128 bytes", linear(lines, 256),
        "u8[{letters}]:random(1,97,100) u8[6]:97,98,97,98,97,99 u32[{lines}] u32:{lines} u32:128 u32:6";
    viterbi(messages: 1 << 14 => 2, length: 1024 => 32; symbols = messages * length, steps = messages * length * 2, ends = messages * 64):
        "Viterbi decoder", "{messages} messages of {length} symbols, 64 states", ([messages, 1, 1], [64, 1, 1]),
        "u8[{symbols}]:random(1) u32[{steps}] u32[{ends}] u32:{length}";
}
