//! Random kernels of arithmetic: long lists of instructions, most with constant operands, whose results are operands of
//! later ones. Any subset of the lines that keeps labels with their branches is a valid kernel.

use std::fmt::Write as _;

use ptx2spv_tests::random::Random;

use super::forms::{BETWEEN, Form, TYPES, forms};

/// Threads of the one block.
pub const THREADS: usize = 64;
/// Registers of each width.
const REGISTERS: usize = 8;
/// 64-bit words of input for each thread.
pub const INPUTS: usize = 2 * REGISTERS;
/// Edge cases of integers, truncated to the width.
const EDGES: &[u64] = &[
    0,
    1,
    2,
    3,
    5,
    7,
    10,
    16,
    31,
    32,
    33,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    641,
    1000,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xaaaa_aaab,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];
/// Divisors for which compilers have shortcuts.
const DIVISORS: &[u64] =
    &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 25, 64, 100, 641, 1000, 1 << 15, 1 << 31, (1 << 31) - 1, i64::MAX as u64];
/// Floats as f64; f32 values are these rounded. There is no NaN, because the assembler treats NaN constants specially.
const FLOAT_EDGES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -2.0,
    3.0,
    0.1,
    1e-40,
    -1e-42,
    1.5e38,
    4_294_967_296.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// Contents of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Integers in all widths.
    Integers,
    /// SIMD video instructions among integers.
    Simd,
    /// Floats among integers, with `.rn` throughout, which forbids fusing.
    Floats,
    /// Products and sums of one of [`TYPES`] that may be fused. There are no loops: the assembler unrolls them and
    /// fuses more than is modelled here.
    Contraction(usize),
}

/// A kernel, line by line.
#[derive(Clone, Debug)]
pub struct Straight {
    /// Instructions and labels.
    pub lines: Vec<String>,
    /// Words that each thread writes.
    pub slots: usize,
}

impl Straight {
    /// The kernel as PTX.
    pub fn ptx(&self) -> String {
        let mut text = String::from(".version 8.3\n.target sm_90\n.address_size 64\n\n");
        text.push_str(
            ".visible .entry kernel(.param .u64 in, .param .u64 out)\n{\n\t.reg .b64 %in, %out, %at, %acc, %t;\n",
        );
        text.push_str(
            "\t.reg .b64 %d<8>;\n\t.reg .b32 %r<8>, %thread, %count;\n\t.reg .b16 %h<8>;\n\t.reg .pred %p<4>, %again;\n",
        );
        text.push_str("\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tmov.u32 %thread, %tid.x;\n");
        text.push_str("\tmad.wide.u32 %in, %thread, 8, %in;\n\tmad.wide.u32 %out, %thread, 8, %out;\n\tld.global.u64 %t, [%in];\n\tor.b64 %acc, %t, 1;\n\tcvt.u32.u64 %count, %acc;\n");
        let stride = 8 * THREADS;
        for n in 0..REGISTERS {
            let second = (n + REGISTERS) * stride;
            let _ =
                writeln!(text, "\tld.global.u64 %d{n}, [%in+{}];\n\tld.global.u32 %r{n}, [%in+{second}];", n * stride);
            let _ = writeln!(text, "\tld.global.u16 %h{n}, [%in+{}];", second + 4);
        }
        for n in 0..4 {
            let _ = writeln!(text, "\tsetp.lt.s32 %p{n}, %r{n}, 0;");
        }
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        text.push_str("\tret;\n}\n");
        text
    }
}

/// The input words: edge cases and random words, or floats of all widths that stay in range for some steps.
pub fn inputs(seed: u64, mix: Mix) -> Vec<u8> {
    let mut random = Random::new(seed ^ 0x5eed);
    if let Mix::Contraction(ty) = mix {
        return (0..INPUTS * THREADS).flat_map(|_| near_one(&mut random, ty).to_le_bytes()).collect();
    }
    (0..INPUTS * THREADS)
        .flat_map(|_| {
            let word = match random.below(4) {
                0 => *random.pick(EDGES),
                1 => random.pick(FLOAT_EDGES).to_bits(),
                2 => random.word() >> random.below(64),
                _ => random.word(),
            };
            word.to_le_bytes()
        })
        .collect()
}

/// As many numbers of a type as 64 bits hold, with magnitudes from 0.5 to 2.
fn near_one(random: &mut Random, ty: usize) -> u64 {
    let (_, bits, infinity) = TYPES[ty];
    let one = (infinity >> 1) & infinity;
    let place = 1 << infinity.trailing_zeros();
    let lanes = (0..64 / bits).map(|lane| {
        let word = random.word() & (u64::MAX >> (64 - bits));
        let exponent = one - place * (random.word() & 1);
        ((word & !infinity) | exponent) << (lane * bits)
    });
    lanes.sum()
}

/// Whether two words that a kernel wrote are equal. All NaNs of a type count as equal.
pub fn same(mix: Mix, a: u64, b: u64) -> bool {
    let Mix::Contraction(ty) = mix else { return a == b };
    let (_, bits, infinity) = TYPES[ty];
    (0..64 / bits).all(|lane| {
        let [a, b] = [a, b].map(|word| (word >> (lane * bits)) & (u64::MAX >> (64 - bits)));
        let is_nan = |lane: u64| lane & (u64::MAX >> (65 - bits)) > infinity;
        a == b || (is_nan(a) && is_nan(b))
    })
}

/// The kernel for a seed.
pub fn straight(seed: u64, mix: Mix, instructions: usize) -> Straight {
    let mut generator = Generator { random: Random::new(seed), mix, lines: Vec::new(), slots: 0, labels: 0 };
    generator.kernel(instructions);
    Straight { lines: generator.lines, slots: generator.slots }
}

struct Generator {
    random: Random,
    mix: Mix,
    lines: Vec<String>,
    slots: usize,
    labels: usize,
}

impl Generator {
    fn kernel(&mut self, instructions: usize) {
        // Some kernels store every result, which keeps each alive; others let results flow together.
        let shown = *self.random.pick(&[0, 5, 30, 80]);
        let mut open = None;
        for _ in 0..instructions {
            match self.random.below(100) {
                0..3 if open.is_none() => {
                    let label = self.labels;
                    self.labels += 1;
                    let p = self.random.below(4);
                    if matches!(self.mix, Mix::Contraction(_)) || self.random.chance(50) {
                        self.line(format!("@%p{p} bra L{label};"));
                        open = Some((label, false));
                    } else {
                        let turns = self.random.below(4);
                        self.line(format!("mov.u32 %count, {turns};"));
                        self.lines.push(format!("L{label}:"));
                        open = Some((label, true));
                    }
                }
                0..15 if open.is_some() => self.close(&mut open),
                3..8 if !matches!(self.mix, Mix::Simd | Mix::Contraction(_)) => self.divisions(),
                _ => self.instruction(shown),
            }
        }
        self.close(&mut open);
        for n in 0..REGISTERS {
            self.show('d', n);
            self.show('r', n);
            self.show('h', n);
        }
        if matches!(self.mix, Mix::Contraction(_)) {
            self.line("mad.wide.u32 %acc, %count, 2654435761, %acc;".to_owned());
        }
        let slot = self.slot();
        self.line(format!("st.global.u64 [%out+{slot}], %acc;"));
    }

    /// Ends the open branch or loop.
    fn close(&mut self, open: &mut Option<(usize, bool)>) {
        match open.take() {
            Some((label, false)) => self.lines.push(format!("L{label}:")),
            Some((label, true)) => {
                self.line("sub.u32 %count, %count, 1;".to_owned());
                self.line("setp.gt.s32 %again, %count, 0;".to_owned());
                self.line(format!("@%again bra L{label};"));
            }
            None => {}
        }
    }

    fn line(&mut self, text: String) {
        self.lines.push(format!("\t{text}"));
    }

    fn slot(&mut self) -> usize {
        self.slots += 1;
        (self.slots - 1) * 8 * THREADS
    }

    /// Stores a register.
    fn show(&mut self, kind: char, n: usize) {
        let slot = self.slot();
        let bits = match kind {
            'd' => 64,
            'r' => 32,
            _ => 16,
        };
        self.line(format!("st.global.b{bits} [%out+{slot}], %{kind}{n};"));
    }

    /// Quotients or remainders of one number by several constants, added up.
    fn divisions(&mut self) {
        let op = *self.random.pick(&["rem.u64", "rem.u64", "div.u64", "rem.s64", "div.s64"]);
        let source = self.random.below(REGISTERS);
        let times = 2 + self.random.below(8);
        for _ in 0..times {
            let divisor = match self.random.below(4) {
                0 => 1 << self.random.below(63),
                1 => 1 + (self.random.word() >> (1 + self.random.below(62))),
                _ => *self.random.pick(DIVISORS),
            };
            self.line(format!("{op} %t, %d{source}, {divisor};"));
            let join = *self.random.pick(&["add.u64", "add.u64", "xor.b64", "sub.u64"]);
            self.line(format!("{join} %acc, %acc, %t;"));
        }
    }

    fn instruction(&mut self, shown: usize) {
        if matches!(self.mix, Mix::Contraction(_)) && self.random.chance(8) {
            let between = *self.random.pick(BETWEEN);
            return self.line(between.to_owned());
        }
        let sections: &[&str] = match self.mix {
            Mix::Integers => &["integers"],
            Mix::Simd => &["simd", "simd", "simd", "integers"],
            Mix::Floats => &["floats", "floats", "floats", "integers"],
            Mix::Contraction(ty) => &[TYPES[ty].0],
        };
        let section = self.random.pick(sections);
        let Form(name, operands) = *self.random.pick(forms(section));
        let mut written = Vec::new();
        let mut to = None;
        for kind in operands.chars() {
            let n = self.random.below(REGISTERS);
            written.push(match kind {
                'D' | 'R' | 'H' => {
                    let kind = kind.to_ascii_lowercase();
                    to = Some((kind, n));
                    format!("%{kind}{n}")
                }
                'P' | 'p' => format!("%p{}", n % 4),
                // Always a register.
                'e' => format!("%d{n}"),
                's' => format!("%r{n}"),
                'g' => format!("%h{n}"),
                // A register or a constant.
                'd' => self.integer(64, n),
                'r' => self.integer(32, n),
                'h' => self.integer(16, n),
                'f' => self.float(32, n),
                'x' => self.float(64, n),
                // Positions and lengths within bit fields.
                'i' => self.small(32, n),
                'j' => self.small(64, n),
                // A truth table, or a selection.
                _ => format!("{}", self.random.below(256)),
            });
        }
        let guarded = self.random.chance(8) && !guard_lost(name);
        let guard = if guarded { format!("@%p{} ", self.random.below(4)) } else { String::new() };
        self.line(format!("{guard}{name} {};", written.join(", ")));
        let Some((kind, n)) = to else { return };
        if self.random.chance(shown) {
            self.show(kind, n);
        } else if !matches!(self.mix, Mix::Contraction(_)) && self.random.chance(20) {
            match kind {
                'd' => self.line(format!("xor.b64 %acc, %acc, %d{n};")),
                'r' => self.line(format!("mad.wide.u32 %acc, %r{n}, 2654435761, %acc;")),
                _ => {}
            }
        }
    }

    fn integer(&mut self, bits: u32, n: usize) -> String {
        if self.random.chance(45) {
            let kind = if bits == 64 {
                'd'
            } else if bits == 32 {
                'r'
            } else {
                'h'
            };
            return format!("%{kind}{n}");
        }
        let mask = u64::MAX >> (64 - bits);
        let value = mask
            & match self.random.below(4) {
                0 => self.random.word(),
                1 => 1 << self.random.below(bits as usize),
                2 => (1 << self.random.below(bits as usize)) - 1,
                _ => *self.random.pick(EDGES),
            };
        // Never zero, because the result of a division by zero is unspecified.
        value.max(1).to_string()
    }

    fn small(&mut self, bits: usize, n: usize) -> String {
        if self.random.chance(40) { format!("%r{n}") } else { self.random.below(bits).to_string() }
    }

    fn float(&mut self, bits: u32, n: usize) -> String {
        if self.random.chance(50) {
            let kind = if bits == 64 { 'd' } else { 'r' };
            return format!("%{kind}{n}");
        }
        let value = if matches!(self.mix, Mix::Contraction(_)) {
            let magnitude = 0.5 + self.random.below(1 << 30) as f64 / f64::from(1 << 30);
            if self.random.chance(50) { *self.random.pick(&[1.0, -1.0, 2.0, 0.0, -0.0]) } else { magnitude }
        } else if self.random.chance(70) {
            *self.random.pick(FLOAT_EDGES)
        } else {
            (self.random.word() as i64 as f64) * 2f64.powi(self.random.below(120) as i32 - 120)
        };
        if bits == 64 { format!("0d{:016x}", value.to_bits()) } else { format!("0f{:08x}", (value as f32).to_bits()) }
    }
}

/// Whether CUDA executes the instruction where its guard is false, a known fault (docs/numerics.md).
fn guard_lost(name: &str) -> bool {
    (name.starts_with("vadd4.") || name.starts_with("vsub4.")) && name.ends_with(".add")
}
