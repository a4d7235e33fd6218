//! Random kernels of loops in loops with several exits, with sums of products that rounds pass on and that only some exits need.
//! Every operation rounds, so that nothing is fused but what says so.

use std::fmt::Write as _;

use crate::random::Random;

/// Threads of the one block.
pub const THREADS: usize = 256;
const SUMS: usize = 8;
/// Registers for factors, which nothing assigns.
const FACTORS: usize = 4;

/// The input: for each thread the first contents of all registers, near 1, so that all bits of a product matter.
pub fn inputs(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed ^ 0x5eed);
    let mut near_one = |low: f32| (low + random.below(1 << 20) as f32 / (1 << 20) as f32).to_le_bytes();
    (0..THREADS)
        .flat_map(|_| (0..SUMS + FACTORS).map(|n| near_one(if n < SUMS { 0.5 } else { 0.25 })).collect::<Vec<_>>())
        .flatten()
        .collect()
}

/// The kernel of a seed as PTX. Each thread writes one number.
pub fn ptx(seed: u64) -> String {
    let mut draw = Draw { random: Random::new(seed), text: String::new(), labels: 0, predicates: 0, counters: 0 };
    let exits: Vec<_> = (0..1 + draw.random.below(3)).map(|_| draw.label()).collect();
    let end = draw.label();
    draw.statements(2, 0, &exits);
    draw.a_loop(0, &exits);
    draw.statements(3, 0, &exits);
    draw.result(end);
    for exit in exits {
        draw.line(format_args!("$L{exit}:"));
        draw.result(end);
    }
    let Draw { text, predicates, counters, .. } = draw;
    let mut loads = String::new();
    for n in 0..SUMS {
        let _ = writeln!(loads, "\tld.global.f32 %f{n}, [%in+{}];", 4 * n);
    }
    for n in 0..FACTORS {
        let _ = writeln!(loads, "\tld.global.f32 %c{n}, [%in+{}];", 4 * (SUMS + n));
    }
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n\n.visible .entry kernel(.param .u64 in, .param .u64 out)\n{{\n\t.reg .b64 %in, \
         %out;\n\t.reg .b32 %thread, %hash, %top, %steps, %k<{}>;\n\t.reg .f32 %f<{SUMS}>, %c<{FACTORS}>, %result;\n\t.reg .pred \
         %p<{}>;\n\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tmov.u32 %thread, %tid.x;\n\tmad.wide.u32 %in, %thread, {}, \
         %in;\n\tmad.wide.u32 %out, %thread, 4, %out;\n\tmov.u32 %hash, %thread;\n\tmov.u32 %steps, 0;\n{loads}{text}$L{end}:\n\tst.global.f32 \
         [%out], %result;\n\tret;\n}}\n",
        counters.max(1),
        predicates.max(1),
        4 * (SUMS + FACTORS),
    )
}

/// A kernel's text as far as it is drawn.
struct Draw {
    random: Random,
    text: String,
    labels: usize,
    predicates: usize,
    counters: usize,
}

impl Draw {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "\t{line}");
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn sum(&mut self) -> usize {
        self.random.below(SUMS)
    }

    fn factor(&mut self) -> usize {
        self.random.below(FACTORS)
    }

    /// Up to `most` statements.
    fn statements(&mut self, most: usize, depth: usize, exits: &[usize]) {
        for _ in 0..self.random.below(most + 1) {
            self.statement(depth, exits);
        }
    }

    fn statement(&mut self, depth: usize, exits: &[usize]) {
        let (d, a, b, factor) = (self.sum(), self.sum(), self.sum(), self.factor());
        match self.random.below(100) {
            0..52 => self.line(format_args!("fma.rn.f32 %f{d}, %f{a}, %c{factor}, %f{b};")),
            52..58 => self.line(format_args!("mul.rn.f32 %f{d}, %f{a}, %c{factor};")),
            58..62 => self.line(format_args!("add.rn.f32 %f{d}, %f{a}, %c{factor};")),
            62..66 => self.line(format_args!("mov.f32 %f{d}, %f{a};")),
            66..82 => {
                let condition = self.condition();
                let exit = *self.random.pick(exits);
                self.line(format_args!("@%p{condition} bra $L{exit};"));
            }
            82..93 if depth < 3 => {
                let (condition, other, end) = (self.condition(), self.label(), self.label());
                self.line(format_args!("@%p{condition} bra $L{other};"));
                self.statements(3, depth + 1, exits);
                self.line(format_args!("bra $L{end};\n$L{other}:"));
                self.statements(3, depth + 1, exits);
                self.line(format_args!("$L{end}:"));
            }
            _ if depth < 2 => self.a_loop(depth + 1, exits),
            _ => self.line(format_args!("neg.f32 %f{d}, %f{a};")),
        }
    }

    /// A predicate that depends on a sum, or on a value that compilers can't know.
    fn condition(&mut self) -> usize {
        let predicate = self.predicates;
        self.predicates += 1;
        if self.random.chance(60) {
            let (sum, comparison) = (self.sum(), *self.random.pick(&["lt", "gt"]));
            let bound = *self.random.pick(&["0f3F000000", "0f3F800000", "0f40000000", "0f40800000", "%c0"]);
            self.line(format_args!("setp.{comparison}.f32 %p{predicate}, %f{sum}, {bound};"));
        } else {
            let bound = 2 + self.random.below(13);
            self.line(format_args!("xor.b32 %hash, %hash, %steps;\n\tmul.lo.u32 %hash, %hash, 0x9E3779B1;"));
            self.line(format_args!("shr.u32 %top, %hash, 27;\n\tsetp.lt.u32 %p{predicate}, %top, {bound};"));
        }
        predicate
    }

    /// A loop of a few rounds that is left in its end, to exits of its own or to exits around the loop.
    fn a_loop(&mut self, depth: usize, exits: &[usize]) {
        let counter = self.counters;
        self.counters += 1;
        let (start, end) = (self.label(), self.label());
        self.line(format_args!("mov.u32 %k{counter}, 0;\n$L{start}:"));
        self.line(format_args!("add.u32 %k{counter}, %k{counter}, 1;\n\tadd.u32 %steps, %steps, 1;"));
        let own: Vec<_> = (0..self.random.below(3)).map(|_| self.label()).collect();
        let all = [exits, &own, &[end]].concat();
        for _ in 0..2 + self.random.below(6) {
            self.statement(depth, &all);
        }
        let (predicate, rounds) = (self.predicates, 2 + self.random.below(5));
        self.predicates += 1;
        self.line(format_args!("setp.lt.u32 %p{predicate}, %k{counter}, {rounds};\n\t@%p{predicate} bra $L{start};"));
        for label in own {
            let (d, a, b, factor) = (self.sum(), self.sum(), self.sum(), self.factor());
            self.line(format_args!("bra $L{end};\n$L{label}:\n\tfma.rn.f32 %f{d}, %f{a}, %c{factor}, %f{b};"));
        }
        self.line(format_args!("$L{end}:"));
    }

    /// Takes a sum, or a product of two, for the result.
    fn result(&mut self, end: usize) {
        let (a, b) = (self.sum(), self.sum());
        if self.random.chance(50) {
            self.line(format_args!("mov.f32 %result, %f{a};"));
        } else {
            self.line(format_args!("mul.rn.f32 %result, %f{a}, %f{b};"));
        }
        self.line(format_args!("bra $L{end};"));
    }
}
