//! Writes programs as PTX.

use std::fmt::{self, Write};

use super::{Comparison, Condition, LOOPS, Maze, OUTPUTS, Op, Program, REGISTERS, Stmt, UNIFORMS, Value};

/// The kernel's name.
pub const ENTRY: &str = "program";

/// A thread's registers begin as its number in the grid plus one, times these.
pub(super) const SEEDS: [u32; REGISTERS] = [1, 0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1];

/// The most threads of a block.
const THREADS: usize = 256;

/// The module of a program. Parameters: the output buffer's address, then the uniforms.
pub fn ptx(program: &Program) -> String {
    let mut writer = Writer::default();
    writer.module(program).expect("writing to a string");
    writer.text
}

#[derive(Default)]
struct Writer {
    text: String,
    labels: usize,
    /// Labels of the loops around the place, by depth: the next turn, and the end.
    loops: Vec<(usize, usize)>,
    /// How many exits there are: they take turns in how they are written.
    exits: usize,
}

impl Writer {
    fn module(&mut self, program: &Program) -> fmt::Result {
        let parameters: String = (0..UNIFORMS).map(|n| format!(", .param .u32 uniform{n}")).collect();
        writeln!(self.text, ".version 7.0\n.target sm_70\n.address_size 64\n")?;
        writeln!(self.text, ".visible .entry {ENTRY}(.param .u64 output{parameters})\n{{")?;
        writeln!(self.text, "\t.reg .pred %p;\n\t.reg .b64 %out;\n\t.reg .b32 %t, %at, %tx, %n, %cta, %fuel;")?;
        writeln!(self.text, "\t.reg .b32 %r<{REGISTERS}>, %u<{UNIFORMS}>, %c<{LOOPS}>, %turns<{LOOPS}>;")?;
        writeln!(self.text, "\t.shared .align 4 .b32 words[{THREADS}];")?;
        writeln!(self.text, "\tmov.u32 %tx, %tid.x;\n\tmov.u32 %n, %ntid.x;\n\tmov.u32 %cta, %ctaid.x;")?;
        writeln!(self.text, "\tmad.lo.u32 %t, %cta, %n, %tx;\n\tld.param.u64 %out, [output];")?;
        writeln!(self.text, "\tmad.wide.u32 %out, %t, {}, %out;\n\tadd.u32 %t, %t, 1;", 4 * OUTPUTS)?;
        for (n, seed) in SEEDS.iter().enumerate() {
            writeln!(self.text, "\tmul.lo.u32 %r{n}, %t, {seed};")?;
        }
        for n in 0..UNIFORMS {
            writeln!(self.text, "\tld.param.u32 %u{n}, [uniform{n}];")?;
        }
        self.list(&program.body)?;
        self.write_registers()?;
        writeln!(self.text, "\tret;\n}}")
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
                let exit = if self.exits.is_multiple_of(2) { "exit" } else { "ret" };
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
            Stmt::Publish(register) => {
                writeln!(self.text, "\tmov.u32 %at, words;\n\tmad.lo.u32 %at, %tx, 4, %at;")?;
                writeln!(self.text, "\tst.shared.u32 [%at], %r{register};")
            }
            Stmt::Fetch { to, from } => {
                writeln!(self.text, "\trem.u32 %t, {}, %n;\n\tmov.u32 %at, words;", name(*from))?;
                writeln!(self.text, "\tmad.lo.u32 %at, %t, 4, %at;\n\tld.shared.u32 %r{to}, [%at];")
            }
            // Not `bar.sync`, which a warp must execute together.
            Stmt::Barrier => writeln!(self.text, "\tbarrier.sync 0;"),
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

    fn maze(&mut self, maze: &Maze) -> fmt::Result {
        // A label for each block, and one for the way out.
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

    /// Evaluates a condition; gives the guard that holds if it does.
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
