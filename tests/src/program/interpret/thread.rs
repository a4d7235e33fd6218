//! Threads of a program. Each runs until it must wait.

use super::Invalid;
use super::memory::Memory;
use crate::program::collective::{Member, collective, lanes};
use crate::program::tree::{SEEDS, UNTOUCHED};
use crate::program::{
    Collective, Comparison, Condition, Decision, GATHERED, LEVELS, LOCALS, LOOPS, Launch, Maze, OUTPUTS,
};
use crate::program::{Op, Program, REGISTERS, Stmt, UNIFORMS, Value};

/// Limit on the statements that a thread executes.
const STEPS: u32 = 4000;

/// The event that a thread waits for.
#[derive(Clone, Copy)]
pub(super) enum Wait<'p> {
    Barrier,
    /// A barrier that reduces a condition.
    Decide {
        how: Decision,
        holds: bool,
        to: usize,
    },
    /// The other warp of a pair: to read from one thread of the pair, or to hand values over thread by thread.
    Pair {
        value: u32,
        from: Option<u32>,
        to: usize,
    },
    /// The lanes of a mask at a statement; the last pair is the thread's value and the number that selects its source
    /// lane.
    Members(&'p Stmt, u32, (u32, u32)),
}

/// A list of statements that is being executed.
pub(super) struct Frame<'p> {
    list: &'p [Stmt],
    next: usize,
    kind: Kind<'p>,
}

pub(super) enum Kind<'p> {
    Plain,
    Loop { depth: usize, turns: u32 },
    Rounds { stmt: &'p Stmt, depth: usize, level: usize, turns: u32 },
    Maze { maze: &'p Maze, block: usize, fuel: u32 },
    Call { to: usize },
    Shares { stmt: &'p Stmt, left: u32, rest: u32, turn: u32 },
}

/// State of one call of a function, or of the kernel.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) registers: [u32; REGISTERS],
    pub(super) counters: [u32; LOOPS],
    pub(super) masks: [u32; LEVELS],
    pub(super) locals: [u32; LOCALS],
    /// Remaining depth of calls; `None` in the kernel.
    pub(super) depth: Option<u32>,
}

pub(super) struct Thread<'p> {
    pub(super) program: &'p Program,
    pub(super) uniforms: [u32; UNIFORMS],
    pub(super) number: u32,
    pub(super) scope: Scope,
    /// The callers' scopes.
    pub(super) scopes: Vec<Scope>,
    pub(super) frames: Vec<Frame<'p>>,
    pub(super) output: [u32; OUTPUTS],
    pub(super) waits: Option<Wait<'p>>,
    pub(super) ended: bool,
    pub(super) steps: u32,
}

impl<'p> Thread<'p> {
    pub(super) fn new(program: &'p Program, launch: &Launch, block: u32, number: u32) -> Self {
        let threads = launch.threads();
        let global = block * threads + number;
        let mut registers = [0; REGISTERS];
        for (register, seed) in registers.iter_mut().zip(SEEDS) {
            *register = global.wrapping_add(1).wrapping_mul(seed);
        }
        let rest = threads - (number & !31);
        let mut masks = [0; LEVELS];
        masks[0] = if rest >= 32 { u32::MAX } else { (1 << rest) - 1 };
        Self {
            program,
            uniforms: launch.uniforms,
            number,
            scope: Scope { registers, counters: [0; LOOPS], masks, locals: [0; LOCALS], depth: None },
            scopes: Vec::new(),
            frames: vec![Frame { list: &program.body, next: 0, kind: Kind::Plain }],
            output: [UNTOUCHED; OUTPUTS],
            waits: None,
            ended: false,
            steps: 0,
        }
    }

    pub(super) fn value(&self, value: Value) -> u32 {
        match value {
            Value::Register(register) => self.scope.registers[register],
            Value::Uniform(uniform) => self.uniforms[uniform],
            Value::Counter(depth) => self.scope.counters[depth],
            Value::Thread => self.number,
            Value::Constant(constant) => constant,
        }
    }

    pub(super) fn holds(&self, condition: &Condition) -> bool {
        let value = self.value(condition.value) & condition.mask;
        let holds = match condition.comparison {
            Comparison::Equal => value == condition.bound,
            Comparison::NotEqual => value != condition.bound,
            Comparison::Less => value < condition.bound,
            Comparison::Greater => value > condition.bound,
        };
        holds != condition.negated
    }

    pub(super) fn wait(&mut self, stmt: &'p Stmt, level: usize, value: u32, by: u32) {
        self.waits = Some(Wait::Members(stmt, self.scope.masks[level], (value, by)));
    }

    /// Runs until the thread must wait or ends.
    pub(super) fn run(&mut self, memory: &mut Memory) -> Result<(), Invalid> {
        while self.waits.is_none() && !self.ended {
            self.steps += 1;
            if self.steps > STEPS {
                return Err(Invalid::Long);
            }
            let Some(frame) = self.frames.last_mut() else {
                self.end(memory);
                return Ok(());
            };
            match frame.list.get(frame.next) {
                Some(stmt) => {
                    frame.next += 1;
                    self.step(stmt, memory)?;
                }
                None => self.end_of_list(),
            }
        }
        Ok(())
    }

    pub(super) fn step(&mut self, stmt: &'p Stmt, memory: &mut Memory) -> Result<(), Invalid> {
        match stmt {
            Stmt::Compute { guard, op, to, a, b } => {
                if guard.as_ref().is_none_or(|guard| self.holds(guard)) {
                    self.scope.registers[*to] = compute(*op, self.value(*a), self.value(*b));
                }
            }
            Stmt::If { condition, then, otherwise } => {
                let list = if self.holds(condition) { then } else { otherwise };
                self.frames.push(Frame { list, next: 0, kind: Kind::Plain });
            }
            Stmt::Loop { depth, turns, test_at_end, body } => {
                let turns = (self.value(*turns) & 3) + u32::from(*test_at_end);
                self.scope.counters[*depth] = 0;
                if turns > 0 {
                    self.frames.push(Frame { list: body, next: 0, kind: Kind::Loop { depth: *depth, turns } });
                }
            }
            Stmt::Rounds { level, depth, turns, test_at_end, body } => {
                let turns = (self.value(*turns) & 3) + u32::from(*test_at_end);
                self.scope.masks[level + 1] = self.scope.masks[*level];
                self.scope.counters[*depth] = 0;
                let kind = Kind::Rounds { stmt, depth: *depth, level: *level, turns };
                self.frames.push(Frame { list: body, next: 0, kind });
                if !test_at_end {
                    self.wait(stmt, level + 1, u32::from(turns > 0), 0);
                }
            }
            Stmt::Split { level, condition, .. } | Stmt::Leave { level, condition, .. } => {
                self.wait(stmt, *level, u32::from(self.holds(condition)), 0);
            }
            Stmt::Refresh { level } => self.wait(stmt, *level, 1, 0),
            Stmt::Collective { level, what, .. } => {
                if *what == Collective::Elect {
                    memory.gather(0, false, 1)?;
                }
                let (value, by) = self.brought(what);
                self.wait(stmt, *level, value, by);
            }
            Stmt::Break { condition, depth } if self.holds(condition) => {
                self.unwind(*depth);
                self.frames.pop();
            }
            Stmt::Continue { condition, depth } if self.holds(condition) => {
                self.unwind(*depth);
                self.end_of_list();
            }
            Stmt::Exit { condition, write } if self.holds(condition) => {
                if *write {
                    self.write_registers();
                }
                self.ended = true;
            }
            Stmt::Return { condition } if self.holds(condition) => {
                while self.frames.last().is_some_and(|frame| !matches!(frame.kind, Kind::Call { .. })) {
                    self.frames.pop();
                }
                self.end_of_list();
            }
            Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Exit { .. } | Stmt::Return { .. } => {}
            Stmt::Maze(maze) => {
                let (condition, first, second) = &maze.entry;
                let block = if self.holds(condition) { *first } else { *second };
                if let Some(entered) = maze.blocks.get(block) {
                    let kind = Kind::Maze { maze, block, fuel: maze.fuel };
                    self.frames.push(Frame { list: &entered.body, next: 0, kind });
                }
            }
            Stmt::Call { targets, condition, level, depth, to, arguments } => {
                let target = if self.holds(condition) { targets[0] } else { targets[targets.len() - 1] };
                let depth = match self.scope.depth {
                    Some(0) => return Ok(()),
                    Some(left) => left - 1,
                    None => *depth,
                };
                self.call(target, *level, depth, arguments.map(|value| self.value(value)), *to);
            }
            Stmt::Put { index, from } => {
                let index = self.value(*index) as usize % LOCALS;
                self.scope.locals[index] = self.scope.registers[*from];
            }
            Stmt::Get { index, to } => {
                self.scope.registers[*to] = self.scope.locals[self.value(*index) as usize % LOCALS];
            }
            Stmt::Gather { word, shared, value } => memory.gather(*word, *shared, self.value(*value))?,
            Stmt::Gathered { word, to } => self.scope.registers[*to] = memory.gathered(*word)?,
            Stmt::Publish(register) => memory.write(self.number, self.scope.registers[*register])?,
            Stmt::Fetch { to, from } => {
                self.scope.registers[*to] = memory.read(self.number, self.value(*from))?;
            }
            Stmt::Barrier => self.waits = Some(Wait::Barrier),
            Stmt::Decide { how, condition, to } => {
                self.waits = Some(Wait::Decide { how: *how, holds: self.holds(condition), to: *to });
            }
            Stmt::Pass { to, value, from } => {
                let from = Some(self.value(*from));
                self.waits = Some(Wait::Pair { value: self.value(*value), from, to: *to });
            }
            Stmt::HandOver { to, value } => {
                self.waits = Some(Wait::Pair { value: self.value(*value), from: None, to: *to });
            }
            Stmt::Aggregate { value } => memory.gather(0, false, self.value(*value))?,
            Stmt::Shares { first, times, .. } => {
                let left = self.value(*first) % (times + 1);
                self.share(stmt, left, times - left, 0);
            }
            Stmt::Output { slot, from } => self.output[REGISTERS + slot] = self.scope.registers[*from],
        }
        Ok(())
    }

    /// A lane's value for an operation, and the number that selects its source lane.
    pub(super) fn brought(&self, what: &Collective) -> (u32, u32) {
        match what {
            Collective::Ballot(condition)
            | Collective::All(condition)
            | Collective::Any(condition)
            | Collective::Same(condition) => (u32::from(self.holds(condition)), 0),
            Collective::MatchAny(value, bits) | Collective::MatchAll(value, bits) => (self.value(*value) & bits, 0),
            Collective::Reduce(_, value) => (self.value(*value), 0),
            Collective::Shuffle { value, by, .. } | Collective::Exchange { value, from: by } => {
                (self.value(*value), self.value(*by))
            }
            Collective::Elect => (1, 0),
        }
    }

    /// Continues with the inner loop's body, or after that loop.
    pub(super) fn share(&mut self, stmt: &'p Stmt, left: u32, rest: u32, turn: u32) {
        let Stmt::Shares { body, after, .. } = stmt else { return };
        let (list, left, rest, turn) = if left > 0 { (body, left - 1, rest, turn) } else { (after, rest, 0, turn + 1) };
        self.frames.push(Frame { list, next: 0, kind: Kind::Shares { stmt, left, rest, turn } });
    }

    /// Continues after a warp operation.
    pub(super) fn go_on(&mut self, stmt: &'p Stmt, mask: u32, members: &[Member], own: Member) {
        let ballot = lanes(members, |member| member.value != 0);
        let holds = own.value != 0;
        match stmt {
            Stmt::Split { level, then, otherwise, .. } => {
                self.scope.masks[level + 1] = if holds { ballot } else { mask & !ballot };
                let list = if holds { then } else { otherwise };
                self.frames.push(Frame { list, next: 0, kind: Kind::Plain });
            }
            Stmt::Rounds { level, .. } => {
                self.scope.masks[level + 1] = ballot;
                if !holds {
                    self.frames.pop();
                }
            }
            Stmt::Leave { level, .. } => {
                self.scope.masks[*level] = mask & !ballot;
                if holds {
                    self.frames.pop();
                }
            }
            Stmt::Refresh { level } => self.scope.masks[*level] = ballot,
            Stmt::Collective { to, what, .. } => self.scope.registers[*to] = collective(what, members, own),
            _ => {}
        }
    }

    pub(super) fn call(&mut self, target: usize, level: usize, depth: u32, [a, b]: [u32; 2], to: usize) {
        let mut registers = [a, b, 0, 0, 0, 0];
        for (register, seed) in registers.iter_mut().zip(SEEDS).skip(2) {
            *register = a.wrapping_mul(seed).wrapping_add(b);
        }
        let mut masks = [0; LEVELS];
        masks[0] = self.scope.masks[level];
        let scope = Scope { registers, counters: [0; LOOPS], masks, locals: [0; LOCALS], depth: Some(depth) };
        self.scopes.push(std::mem::replace(&mut self.scope, scope));
        self.frames.push(Frame { list: &self.program.functions[target], next: 0, kind: Kind::Call { to } });
    }

    pub(super) fn end(&mut self, memory: &mut Memory) {
        self.write_registers();
        let digest =
            self.scope.registers.iter().fold(0u32, |sum, register| sum.wrapping_mul(31).wrapping_add(*register));
        memory.global[GATHERED] = memory.global[GATHERED].wrapping_add(digest);
        self.ended = true;
    }

    pub(super) fn write_registers(&mut self) {
        self.output[..REGISTERS].copy_from_slice(&self.scope.registers);
    }

    /// Drops all frames inside the loop at a depth.
    pub(super) fn unwind(&mut self, depth: usize) {
        while let Some(frame) = self.frames.last() {
            if matches!(frame.kind, Kind::Loop { depth: found, .. } if found == depth) {
                return;
            }
            self.frames.pop();
        }
    }

    /// At the end of the innermost list: repeats it, continues elsewhere, or drops it.
    pub(super) fn end_of_list(&mut self) {
        let Some(mut frame) = self.frames.pop() else { return };
        match &mut frame.kind {
            Kind::Plain => return,
            Kind::Call { to } => {
                let result = self.scope.registers.iter().fold(0u32, |sum, register| sum.wrapping_add(*register));
                if let Some(scope) = self.scopes.pop() {
                    self.scope = scope;
                }
                self.scope.registers[*to] = result;
                return;
            }
            Kind::Loop { depth, turns } => {
                self.scope.counters[*depth] += 1;
                if self.scope.counters[*depth] >= *turns {
                    return;
                }
            }
            Kind::Rounds { stmt, depth, level, turns } => {
                self.scope.counters[*depth] += 1;
                let more = self.scope.counters[*depth] < *turns;
                let (stmt, level) = (*stmt, *level);
                self.wait(stmt, level + 1, u32::from(more), 0);
            }
            Kind::Shares { stmt, left, rest, turn } => {
                if *turn < 2 {
                    self.share(stmt, *left, *rest, *turn);
                }
                return;
            }
            Kind::Maze { maze, block, fuel } => {
                *fuel -= 1;
                let (condition, first, second) = &maze.blocks[*block].next;
                *block = if self.holds(condition) { *first } else { *second };
                let (true, Some(entered)) = (*fuel > 0, maze.blocks.get(*block)) else { return };
                frame.list = &entered.body;
            }
        }
        frame.next = 0;
        self.frames.push(frame);
    }
}

pub(super) fn compute(op: Op, a: u32, b: u32) -> u32 {
    match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::MulHi => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        Op::Div => a / (b | 1),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => a.checked_shl(b).unwrap_or(0),
        Op::Shr => a.checked_shr(b).unwrap_or(0),
        Op::ShrSigned => (a.cast_signed() >> b.min(31)).cast_unsigned(),
        Op::Min => a.min(b),
        Op::MaxSigned => a.cast_signed().max(b.cast_signed()).cast_unsigned(),
        Op::Popc => a.count_ones(),
    }
}
