//! Writes programs as PTX.

use std::fmt::{self, Write};

use super::tree::{SEEDS, UNTOUCHED};
use super::{Collective, Comparison, Condition, Decision, GATHERED, Gather, LEVELS, LOCALS, LOOPS, Maze, OUTPUTS, Op};
use super::{Program, REGISTERS, Shuffle, Stmt, UNIFORMS, Value};

/// The maximum number of threads of a block.
const THREADS: usize = 256;

/// Parameters of functions that are called through registers.
const PARAMETERS: &str = "(.param .b32 a, .param .b32 b, .param .b32 members, .param .b32 left, .param .b32 uniform0, \
                          .param .b32 uniform1, .param .b32 uniform2, .param .b64 output, .param .b64 gathered)";

/// A module with a kernel for each named program. A kernel's parameters are the addresses of the output and of the
/// global words for atomics, then the uniforms.
pub fn ptx(programs: &[(&str, &Program)]) -> String {
    let mut text = String::new();
    for (name, program) in programs {
        let mut writer = Writer { kernel: name, ..Writer::default() };
        writer.kernel(program).expect("writing to a string");
        text += &writer.text;
    }
    let (version, target) = if text.contains("elect.sync") { ("8.0", "sm_90") } else { ("7.8", "sm_80") };
    format!(".version {version}\n.target {target}\n.address_size 64\n{text}")
}

#[derive(Default)]
struct Writer<'n> {
    /// Name of the kernel, a prefix of the names of all its variables and functions.
    kernel: &'n str,
    text: String,
    labels: usize,
    /// Labels of the enclosing loops, by depth: the next iteration, and the end.
    loops: Vec<(usize, usize)>,
    /// Number of exits so far: `exit` and `ret` alternate.
    exits: usize,
    /// Whether the code is a function's, and not the kernel's.
    function: bool,
    /// Label of the function's end.
    end: usize,
}

impl Writer<'_> {
    fn kernel(&mut self, program: &Program) -> fmt::Result {
        let name = self.kernel;
        writeln!(self.text, "\n.shared .align 4 .b32 {name}_words[{THREADS}];")?;
        writeln!(self.text, ".shared .align 4 .b32 {name}_team[{THREADS}];")?;
        writeln!(self.text, ".shared .align 4 .b32 {name}_gathered[{GATHERED}];")?;
        if passes(&program.body) {
            writeln!(self.text, ".shared .align 4 .b32 {name}_pairs[{THREADS}];")?;
        }
        for number in 0..program.functions.len() {
            writeln!(self.text, ".func (.param .b32 result) {name}_f{number}{PARAMETERS};")?;
        }
        self.function = true;
        for (number, body) in program.functions.iter().enumerate() {
            self.function(number, body)?;
        }
        self.function = false;
        let uniforms: String = (0..UNIFORMS).map(|n| format!(", .param .u32 uniform{n}")).collect();
        writeln!(self.text, ".visible .entry {name}(.param .u64 output, .param .u64 gathered{uniforms})\n{{")?;
        self.declarations()?;
        writeln!(self.text, "\tmov.u32 %s, %ctaid.z;\n\tmov.u32 %at, %nctaid.y;\n\tmov.u32 %t, %ctaid.y;")?;
        writeln!(self.text, "\tmad.lo.u32 %t, %s, %at, %t;\n\tmov.u32 %at, %nctaid.x;\n\tmov.u32 %s, %ctaid.x;")?;
        writeln!(self.text, "\tmad.lo.u32 %t, %t, %at, %s;\n\tmad.lo.u32 %t, %t, %n, %tx;")?;
        writeln!(self.text, "\tmad.wide.u32 %out, %t, {}, %out;\n\tadd.u32 %t, %t, 1;", 4 * OUTPUTS)?;
        for (n, seed) in SEEDS.iter().enumerate() {
            writeln!(self.text, "\tmul.lo.u32 %r{n}, %t, {seed};")?;
        }
        // The lanes that exist: all, or those of an incomplete warp.
        writeln!(self.text, "\tand.b32 %t, %tx, -32;\n\tsub.u32 %t, %n, %t;\n\tsetp.ge.u32 %p, %t, 32;")?;
        writeln!(self.text, "\tshl.b32 %s, 1, %t;\n\tsub.u32 %s, %s, 1;\n\tselp.b32 %m0, -1, %s, %p;")?;
        let first = self.label();
        writeln!(self.text, "\tsetp.ne.u32 %p, %tx, 0;\n\t@%p bra L{first};")?;
        for word in 0..GATHERED {
            writeln!(self.text, "\tst.shared.u32 [{name}_gathered+{}], {UNTOUCHED};", 4 * word)?;
        }
        writeln!(self.text, "L{first}:")?;
        self.list(&program.body)?;
        self.write_registers()?;
        writeln!(self.text, "\tmov.u32 %t, 0;")?;
        for n in 0..REGISTERS {
            writeln!(self.text, "\tmad.lo.u32 %t, %t, 31, %r{n};")?;
        }
        writeln!(self.text, "\tred.global.add.u32 [%acc+{}], %t;\n\tret;\n}}", 4 * GATHERED)
    }

    fn function(&mut self, number: usize, body: &[Stmt]) -> fmt::Result {
        let name = self.kernel;
        writeln!(self.text, ".func (.param .b32 result) {name}_f{number}{PARAMETERS}\n{{")?;
        self.declarations()?;
        writeln!(self.text, "\tld.param.b32 %r0, [a];\n\tld.param.b32 %r1, [b];")?;
        writeln!(self.text, "\tld.param.b32 %m0, [members];\n\tld.param.b32 %left, [left];")?;
        for (n, seed) in SEEDS.iter().enumerate().skip(2) {
            writeln!(self.text, "\tmad.lo.u32 %r{n}, %r0, {seed}, %r1;")?;
        }
        let end = self.label();
        self.end = end;
        self.list(body)?;
        writeln!(self.text, "L{end}:\n\tmov.u32 %t, %r0;")?;
        for n in 1..REGISTERS {
            writeln!(self.text, "\tadd.u32 %t, %t, %r{n};")?;
        }
        writeln!(self.text, "\tst.param.b32 [result], %t;\n\tret;\n}}")
    }

    /// Declarations at the start of the kernel and of functions: registers, the local array, the thread's number,
    /// parameters.
    fn declarations(&mut self) -> fmt::Result {
        writeln!(self.text, "\t.reg .pred %p, %q;\n\t.reg .b64 %out, %acc, %f, %g, %l;")?;
        writeln!(self.text, "\t.reg .b32 %t, %s, %v, %at, %tx, %n, %lane, %fuel, %left;")?;
        writeln!(
            self.text,
            "\t.reg .b32 %r<{REGISTERS}>, %u<{UNIFORMS}>, %c<{LOOPS}>, %turns<{LOOPS}>, %m<{LEVELS}>;"
        )?;
        writeln!(self.text, "\t.local .align 4 .b32 locals[{LOCALS}];")?;
        for word in 0..LOCALS {
            writeln!(self.text, "\tst.local.u32 [locals+{}], 0;", 4 * word)?;
        }
        writeln!(self.text, "\tmov.u32 %lane, %laneid;\n\tmov.u32 %t, %tid.z;\n\tmov.u32 %n, %ntid.y;")?;
        writeln!(self.text, "\tmov.u32 %tx, %tid.y;\n\tmad.lo.u32 %t, %t, %n, %tx;\n\tmov.u32 %s, %ntid.x;")?;
        writeln!(self.text, "\tmul.lo.u32 %n, %n, %s;\n\tmov.u32 %tx, %tid.x;\n\tmad.lo.u32 %tx, %t, %s, %tx;")?;
        writeln!(self.text, "\tmov.u32 %t, %ntid.z;\n\tmul.lo.u32 %n, %n, %t;")?;
        writeln!(self.text, "\tld.param.u64 %out, [output];\n\tld.param.u64 %acc, [gathered];")?;
        for n in 0..UNIFORMS {
            writeln!(self.text, "\tld.param.u32 %u{n}, [uniform{n}];")?;
        }
        Ok(())
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn write_registers(&mut self) -> fmt::Result {
        (0..REGISTERS).try_for_each(|n| writeln!(self.text, "\tst.global.u32 [%out+{}], %r{n};", 4 * n))
    }

    fn list(&mut self, list: &[Stmt]) -> fmt::Result {
        list.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        match stmt {
            Stmt::Compute { guard, op, to, a, b } => {
                let guard = guard.as_ref().map(|guard| self.condition(guard)).transpose()?.unwrap_or("");
                match op {
                    Op::Popc => writeln!(self.text, "\t{guard}popc.b32 %r{to}, {};", name(*a)),
                    Op::Div => {
                        writeln!(self.text, "\tor.b32 %t, {}, 1;", name(*b))?;
                        writeln!(self.text, "\t{guard}div.u32 %r{to}, {}, %t;", name(*a))
                    }
                    op => writeln!(self.text, "\t{guard}{} %r{to}, {}, {};", mnemonic(*op), name(*a), name(*b)),
                }
            }
            Stmt::If { condition, then, otherwise } => {
                let (els, end) = (self.label(), self.label());
                self.jump_unless(condition, els)?;
                self.list(then)?;
                if !otherwise.is_empty() {
                    writeln!(self.text, "\tbra L{end};")?;
                }
                writeln!(self.text, "L{els}:")?;
                self.list(otherwise)?;
                writeln!(self.text, "L{end}:")
            }
            Stmt::Loop { depth, turns, test_at_end, body } => self.repeat(*depth, *turns, *test_at_end, body),
            Stmt::Break { condition, depth } => {
                let label = self.loops[*depth].1;
                self.jump_if(condition, label)
            }
            Stmt::Continue { condition, depth } => {
                let label = self.loops[*depth].0;
                self.jump_if(condition, label)
            }
            Stmt::Exit { condition, write } => {
                self.exits += 1;
                let exit = if self.function || self.exits.is_multiple_of(2) { "exit" } else { "ret" };
                if !write {
                    let guard = self.condition(condition)?;
                    return writeln!(self.text, "\t{guard}{exit};");
                }
                let on = self.label();
                self.jump_unless(condition, on)?;
                self.write_registers()?;
                writeln!(self.text, "\t{exit};\nL{on}:")
            }
            Stmt::Maze(maze) => self.maze(maze),
            Stmt::Split { level, condition, then, otherwise } => {
                let (els, end) = (self.label(), self.label());
                let guard = self.condition(condition)?;
                let (given, inner) = (negation(guard), level + 1);
                writeln!(self.text, "\tvote.sync.ballot.b32 %m{inner}, {given}%p, %m{level};")?;
                writeln!(self.text, "\t@{}%p bra L{els};", if given.is_empty() { "!" } else { "" })?;
                self.list(then)?;
                writeln!(self.text, "\tbra L{end};\nL{els}:")?;
                writeln!(self.text, "\tnot.b32 %m{inner}, %m{inner};\n\tand.b32 %m{inner}, %m{inner}, %m{level};")?;
                self.list(otherwise)?;
                writeln!(self.text, "L{end}:")
            }
            Stmt::Rounds { level, depth, turns, test_at_end, body } => {
                self.rounds(level + 1, *depth, *turns, *test_at_end, body)
            }
            Stmt::Leave { level, condition, depth } => {
                let end = self.loops[*depth].1;
                let guard = self.condition(condition)?;
                let stays = if negation(guard).is_empty() { "!" } else { "" };
                writeln!(self.text, "\tvote.sync.ballot.b32 %m{level}, {stays}%p, %m{level};\n\t{guard}bra L{end};")
            }
            Stmt::Refresh { level } => {
                writeln!(self.text, "\tsetp.eq.u32 %p, 0, 0;\n\tvote.sync.ballot.b32 %m{level}, %p, %m{level};")
            }
            Stmt::Collective { level, to, what } => self.collective(*level, *to, what),
            Stmt::Call { targets, condition, level, depth, to, arguments } => {
                let skip = self.label();
                if self.function {
                    writeln!(self.text, "\tsetp.eq.u32 %p, %left, 0;\n\t@%p bra L{skip};\n\tsub.u32 %t, %left, 1;")?;
                } else {
                    writeln!(self.text, "\tmov.u32 %t, {depth};")?;
                }
                writeln!(self.text, "\tmov.u32 %s, %t;")?;
                self.call(targets, condition, *level, *arguments)?;
                writeln!(self.text, "\tld.param.b32 %r{to}, [given];\n\t}}\nL{skip}:")
            }
            Stmt::Return { condition } => {
                let end = self.end;
                self.jump_if(condition, end)
            }
            Stmt::Put { index, from } => {
                self.local(*index)?;
                writeln!(self.text, "\tst.local.u32 [%l], %r{from};")
            }
            Stmt::Get { index, to } => {
                self.local(*index)?;
                writeln!(self.text, "\tld.local.u32 %r{to}, [%l];")
            }
            Stmt::Gather { word, shared, value } => {
                let (ty, value) = (gathering(Gather::OF[*word]), name(*value));
                if *shared {
                    let kernel = self.kernel;
                    writeln!(self.text, "\tred.shared.{ty} [{kernel}_gathered+{}], {value};", 4 * word)
                } else {
                    writeln!(self.text, "\tred.global.{ty} [%acc+{}], {value};", 4 * word)
                }
            }
            Stmt::Gathered { word, to } => {
                let kernel = self.kernel;
                writeln!(self.text, "\tld.shared.u32 %r{to}, [{kernel}_gathered+{}];", 4 * word)
            }
            Stmt::Publish(register) => {
                writeln!(self.text, "\tmov.u32 %at, {}_words;\n\tmad.lo.u32 %at, %tx, 4, %at;", self.kernel)?;
                writeln!(self.text, "\tst.shared.u32 [%at], %r{register};")
            }
            Stmt::Fetch { to, from } => {
                writeln!(self.text, "\trem.u32 %t, {}, %n;\n\tmov.u32 %at, {}_words;", name(*from), self.kernel)?;
                writeln!(self.text, "\tmad.lo.u32 %at, %t, 4, %at;\n\tld.shared.u32 %r{to}, [%at];")
            }
            // Not `bar.sync`, which a warp must execute together.
            Stmt::Barrier => writeln!(self.text, "\tbarrier.sync 0;"),
            Stmt::Decide { how, condition, to } => {
                let given = negation(self.condition(condition)?);
                match how {
                    Decision::Count => writeln!(self.text, "\tbarrier.red.popc.u32 %r{to}, 1, {given}%p;"),
                    Decision::All | Decision::Any => {
                        let (how, barrier) = if *how == Decision::All { ("and", 2) } else { ("or", 3) };
                        writeln!(self.text, "\tbarrier.red.{how}.pred %q, {barrier}, {given}%p;")?;
                        writeln!(self.text, "\tselp.u32 %r{to}, 1, 0, %q;")
                    }
                }
            }
            Stmt::Pass { to, value, from } => {
                let kernel = self.kernel;
                self.pair(4)?;
                writeln!(self.text, "\tmov.u32 %at, {kernel}_pairs;\n\tmad.lo.u32 %at, %tx, 4, %at;")?;
                writeln!(self.text, "\tst.shared.u32 [%at], {};\n\tsub.u32 %at, %n, %t;", name(*value))?;
                writeln!(self.text, "\tmin.u32 %at, %at, 64;\n\trem.u32 %at, {}, %at;", name(*from))?;
                writeln!(self.text, "\tadd.u32 %t, %t, %at;\n\tbarrier.sync %s, %v;")?;
                writeln!(self.text, "\tmov.u32 %at, {kernel}_pairs;\n\tmad.lo.u32 %at, %t, 4, %at;")?;
                writeln!(self.text, "\tld.shared.u32 %r{to}, [%at];\n\tbarrier.sync %s, %v;")
            }
            Stmt::HandOver { to, value } => {
                let kernel = self.kernel;
                let (second, end) = (self.label(), self.label());
                self.pair(8)?;
                writeln!(self.text, "\tmov.u32 %at, {kernel}_pairs;\n\tmad.lo.u32 %at, %tx, 4, %at;")?;
                writeln!(self.text, "\tand.b32 %t, %tx, 32;\n\tsetp.ne.u32 %p, %t, 0;\n\t@%p bra L{second};")?;
                writeln!(self.text, "\tst.shared.u32 [%at], {};\n\tbarrier.arrive %s, %v;", name(*value))?;
                writeln!(self.text, "\tadd.u32 %s, %s, 4;\n\tbarrier.sync %s, %v;\n\tbra L{end};")?;
                writeln!(self.text, "L{second}:\n\tbarrier.sync %s, %v;\n\tld.shared.u32 %r{to}, [%at+-128];")?;
                writeln!(self.text, "\tadd.u32 %s, %s, 4;\n\tbarrier.arrive %s, %v;\nL{end}:")
            }
            Stmt::Aggregate { value } => {
                writeln!(self.text, "\tactivemask.b32 %s;\n\tredux.sync.add.u32 %v, {}, %s;", name(*value))?;
                writeln!(self.text, "\tneg.s32 %t, %s;\n\tand.b32 %t, %t, %s;\n\tshl.b32 %s, 1, %lane;")?;
                writeln!(self.text, "\tsetp.eq.u32 %q, %t, %s;\n\t@%q red.global.add.u32 [%acc], %v;")
            }
            Stmt::Shares { first, times, body, after } => {
                let (head, next) = (self.label(), self.label());
                writeln!(self.text, "\t{{\n\t.reg .b32 %share, %rest, %turn;\n\tmov.u32 %turn, 0;")?;
                writeln!(self.text, "\trem.u32 %share, {}, {};", name(*first), times + 1)?;
                writeln!(self.text, "\tsub.u32 %rest, {times}, %share;")?;
                writeln!(self.text, "L{head}:\n\tsetp.eq.u32 %p, %share, 0;\n\t@%p bra L{next};")?;
                self.list(body)?;
                writeln!(self.text, "\tsub.u32 %share, %share, 1;\n\tbra L{head};\nL{next}:")?;
                self.list(after)?;
                writeln!(self.text, "\tmov.u32 %share, %rest;\n\tmov.u32 %rest, 0;\n\tadd.u32 %turn, %turn, 1;")?;
                writeln!(self.text, "\tsetp.lt.u32 %p, %turn, 2;\n\t@%p bra L{head};\n\t}}")
            }
            Stmt::Output { slot, from } => {
                writeln!(self.text, "\tst.global.u32 [%out+{}], %r{from};", 4 * (REGISTERS + slot))
            }
        }
    }

    fn repeat(&mut self, depth: usize, turns: Value, test_at_end: bool, body: &[Stmt]) -> fmt::Result {
        let (head, next, end) = (self.label(), self.label(), self.label());
        writeln!(self.text, "\tand.b32 %turns{depth}, {}, 3;\n\tmov.u32 %c{depth}, 0;", name(turns))?;
        if test_at_end {
            writeln!(self.text, "\tadd.u32 %turns{depth}, %turns{depth}, 1;\nL{head}:")?;
        } else {
            writeln!(self.text, "L{head}:\n\tsetp.ge.u32 %p, %c{depth}, %turns{depth};\n\t@%p bra L{end};")?;
        }
        self.loops.truncate(depth);
        self.loops.push((next, end));
        self.list(body)?;
        writeln!(self.text, "L{next}:\n\tadd.u32 %c{depth}, %c{depth}, 1;")?;
        if test_at_end {
            writeln!(self.text, "\tsetp.lt.u32 %p, %c{depth}, %turns{depth};\n\t@%p bra L{head};\nL{end}:")
        } else {
            writeln!(self.text, "\tbra L{head};\nL{end}:")
        }
    }

    fn rounds(&mut self, inner: usize, depth: usize, turns: Value, test_at_end: bool, body: &[Stmt]) -> fmt::Result {
        let (head, end) = (self.label(), self.label());
        let level = inner - 1;
        writeln!(self.text, "\tand.b32 %turns{depth}, {}, 3;\n\tmov.u32 %c{depth}, 0;", name(turns))?;
        writeln!(self.text, "\tmov.u32 %m{inner}, %m{level};")?;
        let test =
            format!("\tsetp.lt.u32 %p, %c{depth}, %turns{depth};\n\tvote.sync.ballot.b32 %m{inner}, %p, %m{inner};\n");
        if test_at_end {
            writeln!(self.text, "\tadd.u32 %turns{depth}, %turns{depth}, 1;\nL{head}:")?;
        } else {
            writeln!(self.text, "L{head}:\n{test}\t@!%p bra L{end};")?;
        }
        self.loops.truncate(depth);
        self.loops.push((head, end));
        self.list(body)?;
        writeln!(self.text, "\tadd.u32 %c{depth}, %c{depth}, 1;")?;
        if test_at_end {
            writeln!(self.text, "{test}\t@%p bra L{head};\nL{end}:")
        } else {
            writeln!(self.text, "\tbra L{head};\nL{end}:")
        }
    }

    /// Opens a scope and calls a function in it. Its result is in `given`; `%s` is the maximum depth of calls.
    fn call(&mut self, targets: &[usize], condition: &Condition, level: usize, [a, b]: [Value; 2]) -> fmt::Result {
        let kernel = self.kernel;
        let indirect = targets.len() > 1;
        if indirect {
            let guard = self.condition(condition)?;
            let (first, second) = if negation(guard).is_empty() { ("%f", "%g") } else { ("%g", "%f") };
            writeln!(self.text, "\tmov.u64 %f, {kernel}_f{};\n\tmov.u64 %g, {kernel}_f{};", targets[0], targets[1])?;
            writeln!(self.text, "\tselp.b64 %f, {first}, {second}, %p;")?;
        }
        let mut passed: Vec<(String, &str)> = [name(a), name(b), format!("%m{level}"), "%s".to_owned()]
            .into_iter()
            .chain((0..UNIFORMS).map(|n| format!("%u{n}")))
            .map(|value| (value, "b32"))
            .collect();
        passed.push(("%out".to_owned(), "b64"));
        passed.push(("%acc".to_owned(), "b64"));
        writeln!(self.text, "\t{{\n\t.param .b32 given;")?;
        for (n, (value, ty)) in passed.iter().enumerate() {
            writeln!(self.text, "\t.param .{ty} p{n};\n\tst.param.{ty} [p{n}], {value};")?;
        }
        let names = (0..passed.len()).map(|n| format!("p{n}")).collect::<Vec<_>>().join(", ");
        if indirect {
            let label = self.label();
            writeln!(self.text, "\tL{label}: .callprototype (.param .b32 _) _ {};", prototype())?;
            writeln!(self.text, "\tcall (given), %f, ({names}), L{label};")
        } else {
            writeln!(self.text, "\tcall (given), {kernel}_f{}, ({names});", targets[0])
        }
    }

    /// Computes the barrier of a pair of warps into `%s`, counted from `barrier`, the pair's first thread into `%t`,
    /// and the number of its threads, rounded up to whole warps, into `%v`.
    fn pair(&mut self, barrier: usize) -> fmt::Result {
        writeln!(self.text, "\tshr.u32 %s, %tx, 6;\n\tadd.u32 %s, %s, {barrier};\n\tand.b32 %t, %tx, -64;")?;
        writeln!(self.text, "\tsub.u32 %v, %n, %t;\n\tmin.u32 %v, %v, 64;\n\tadd.u32 %v, %v, 31;")?;
        writeln!(self.text, "\tand.b32 %v, %v, -32;")
    }

    /// Computes the address of a word of the local array into `%l`.
    fn local(&mut self, index: Value) -> fmt::Result {
        writeln!(self.text, "\tand.b32 %t, {}, {};\n\tmov.u64 %l, locals;", name(index), LOCALS - 1)?;
        writeln!(self.text, "\tmad.wide.u32 %l, %t, 4, %l;")
    }

    fn collective(&mut self, level: usize, to: usize, what: &Collective) -> fmt::Result {
        let mut vote = |mode: &str, condition: &Condition| {
            let guard = self.condition(condition)?;
            let given = negation(guard);
            if mode == "ballot.b32" {
                return writeln!(self.text, "\tvote.sync.{mode} %r{to}, {given}%p, %m{level};");
            }
            writeln!(self.text, "\tvote.sync.{mode} %q, {given}%p, %m{level};\n\tselp.u32 %r{to}, 1, 0, %q;")
        };
        match what {
            Collective::Ballot(condition) => vote("ballot.b32", condition),
            Collective::All(condition) => vote("all.pred", condition),
            Collective::Any(condition) => vote("any.pred", condition),
            Collective::Same(condition) => vote("uni.pred", condition),
            Collective::MatchAny(value, bits) => {
                writeln!(self.text, "\tand.b32 %t, {}, {bits};", name(*value))?;
                writeln!(self.text, "\tmatch.any.sync.b32 %r{to}, %t, %m{level};")
            }
            Collective::MatchAll(value, bits) => {
                writeln!(self.text, "\tand.b32 %t, {}, {bits};", name(*value))?;
                writeln!(self.text, "\tmatch.all.sync.b32 %r{to}|%q, %t, %m{level};")?;
                writeln!(self.text, "\tselp.u32 %r{to}, %r{to}, 0, %q;")
            }
            Collective::Reduce(how, value) => {
                writeln!(self.text, "\tredux.sync.{} %r{to}, {}, %m{level};", gathering(*how), name(*value))
            }
            Collective::Shuffle { mode, value, by, segment } => self.shuffle(level, to, (*mode, *value, *by, *segment)),
            Collective::Exchange { value, from } => {
                let kernel = self.kernel;
                writeln!(self.text, "\tand.b32 %s, {}, 31;", name(*from))?;
                writeln!(self.text, "\tmov.u32 %at, {kernel}_team;\n\tmad.lo.u32 %at, %tx, 4, %at;")?;
                writeln!(self.text, "\tst.shared.u32 [%at], {};\n\tbar.warp.sync %m{level};", name(*value))?;
                writeln!(self.text, "\tshr.u32 %t, %m{level}, %s;\n\tand.b32 %t, %t, 1;\n\tsetp.ne.u32 %q, %t, 0;")?;
                writeln!(self.text, "\tand.b32 %t, %tx, -32;\n\tadd.u32 %t, %t, %s;\n\tselp.u32 %t, %t, %tx, %q;")?;
                writeln!(self.text, "\tmov.u32 %at, {kernel}_team;\n\tmad.lo.u32 %at, %t, 4, %at;")?;
                writeln!(self.text, "\tld.shared.u32 %r{to}, [%at];\n\tbar.warp.sync %m{level};")
            }
            // Any lane may be elected. The test is that all lanes agree.
            Collective::Elect => {
                writeln!(self.text, "\tsetp.eq.u32 %p, 0, 0;\n\tvote.sync.ballot.b32 %t, %p, %m{level};")?;
                writeln!(self.text, "\telect.sync %s|%q, %t;\n\tpopc.b32 %t, %t;")?;
                writeln!(self.text, "\t@%q red.global.add.u32 [%acc], %t;\n\tvote.sync.ballot.b32 %v, %q, %m{level};")?;
                writeln!(self.text, "\tshl.b32 %s, 1, %s;\n\tsetp.eq.u32 %q, %s, %v;\n\tselp.u32 %r{to}, %t, 0, %q;")
            }
        }
    }

    /// Values of lanes that don't take part are undefined, so they are not used.
    fn shuffle(&mut self, level: usize, to: usize, parts: (Shuffle, Value, Value, u32)) -> fmt::Result {
        let (mode, value, by, segment) = parts;
        let bits = (32 - segment) << 8;
        let (name_of_mode, clamp) = match mode {
            Shuffle::Up => ("up", bits),
            Shuffle::Down => ("down", bits | 31),
            Shuffle::Butterfly => ("bfly", bits | 31),
            Shuffle::Index => ("idx", bits | 31),
        };
        writeln!(self.text, "\tand.b32 %t, {}, 31;", name(by))?;
        match mode {
            Shuffle::Up => writeln!(self.text, "\tsub.u32 %s, %lane, %t;")?,
            Shuffle::Down => writeln!(self.text, "\tadd.u32 %s, %lane, %t;")?,
            Shuffle::Butterfly => writeln!(self.text, "\txor.b32 %s, %lane, %t;")?,
            Shuffle::Index => {
                writeln!(self.text, "\tand.b32 %s, %t, {};\n\tand.b32 %v, %lane, -{segment};", segment - 1)?;
                writeln!(self.text, "\tor.b32 %s, %s, %v;")?;
            }
        }
        writeln!(self.text, "\tshfl.sync.{name_of_mode}.b32 %v|%q, {}, %t, {clamp}, %m{level};", name(value))?;
        writeln!(self.text, "\tselp.u32 %s, %s, %lane, %q;\n\tselp.u32 %t, 1, 0, %q;\n\tadd.u32 %v, %v, %t;")?;
        writeln!(self.text, "\tshr.u32 %t, %m{level}, %s;\n\tand.b32 %t, %t, 1;\n\tsetp.ne.u32 %q, %t, 0;")?;
        writeln!(self.text, "\tselp.u32 %r{to}, %v, %s, %q;")
    }

    fn maze(&mut self, maze: &Maze) -> fmt::Result {
        // A label for each block, and one for the end.
        let labels: Vec<usize> = (0..=maze.blocks.len()).map(|_| self.label()).collect();
        let out = labels[maze.blocks.len()];
        let jump = |writer: &mut Self, (condition, first, second): &(Condition, usize, usize)| {
            writer.jump_if(condition, labels[*first])?;
            writeln!(writer.text, "\tbra L{};", labels[*second])
        };
        writeln!(self.text, "\tmov.u32 %fuel, {};", maze.fuel)?;
        jump(self, &maze.entry)?;
        for (block, label) in maze.blocks.iter().zip(&labels) {
            writeln!(self.text, "L{label}:")?;
            self.list(&block.body)?;
            writeln!(self.text, "\tsub.u32 %fuel, %fuel, 1;\n\tsetp.eq.u32 %p, %fuel, 0;\n\t@%p bra L{out};")?;
            jump(self, &block.next)?;
        }
        writeln!(self.text, "L{out}:")
    }

    /// Evaluates a condition; returns the guard for it.
    fn condition(&mut self, condition: &Condition) -> Result<&'static str, fmt::Error> {
        let Condition { value, mask, comparison, bound, negated } = *condition;
        let comparison = match comparison {
            Comparison::Equal => "eq",
            Comparison::NotEqual => "ne",
            Comparison::Less => "lt",
            Comparison::Greater => "gt",
        };
        writeln!(self.text, "\tand.b32 %t, {}, {mask};\n\tsetp.{comparison}.u32 %p, %t, {bound};", name(value))?;
        Ok(if negated { "@!%p " } else { "@%p " })
    }

    fn jump_if(&mut self, condition: &Condition, label: usize) -> fmt::Result {
        let guard = self.condition(condition)?;
        writeln!(self.text, "\t{guard}bra L{label};")
    }

    fn jump_unless(&mut self, condition: &Condition, label: usize) -> fmt::Result {
        self.jump_if(&Condition { negated: !condition.negated, ..*condition }, label)
    }
}

/// Whether a list makes pairs of warps exchange values.
fn passes(list: &[Stmt]) -> bool {
    list.iter().any(|stmt| match stmt {
        Stmt::Pass { .. } | Stmt::HandOver { .. } => true,
        Stmt::If { then, otherwise, .. } | Stmt::Split { then, otherwise, .. } => passes(then) || passes(otherwise),
        Stmt::Loop { body, .. } | Stmt::Rounds { body, .. } => passes(body),
        Stmt::Maze(maze) => maze.blocks.iter().any(|block| passes(&block.body)),
        _ => false,
    })
}

/// The `!` of a guard, if there is one.
fn negation(guard: &str) -> &'static str {
    if guard.starts_with("@!") { "!" } else { "" }
}

/// The parameter list of all functions, without names.
fn prototype() -> String {
    let parameters: Vec<&str> = (0..4 + UNIFORMS).map(|_| ".param .b32 _").chain([".param .b64 _"; 2]).collect();
    format!("({})", parameters.join(", "))
}

fn gathering(how: Gather) -> &'static str {
    match how {
        Gather::Add => "add.u32",
        Gather::Min => "min.u32",
        Gather::MaxSigned => "max.s32",
        Gather::And => "and.b32",
        Gather::Or => "or.b32",
        Gather::Xor => "xor.b32",
    }
}

fn name(value: Value) -> String {
    match value {
        Value::Register(n) => format!("%r{n}"),
        Value::Uniform(n) => format!("%u{n}"),
        Value::Counter(depth) => format!("%c{depth}"),
        Value::Thread => "%tx".to_owned(),
        Value::Constant(value) => value.to_string(),
    }
}

fn mnemonic(op: Op) -> &'static str {
    match op {
        Op::Add => "add.u32",
        Op::Sub => "sub.u32",
        Op::Mul => "mul.lo.u32",
        Op::MulHi => "mul.hi.u32",
        Op::Div => "div.u32",
        Op::And => "and.b32",
        Op::Or => "or.b32",
        Op::Xor => "xor.b32",
        Op::Shl => "shl.b32",
        Op::Shr => "shr.u32",
        Op::ShrSigned => "shr.s32",
        Op::Min => "min.u32",
        Op::MaxSigned => "max.s32",
        Op::Popc => "popc.b32",
    }
}
