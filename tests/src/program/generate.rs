//! Draws random programs.
//!
//! Threads exchange words in four steps (publish, barrier, fetch, barrier), so that threads which take different ways
//! are in the same step when they meet: most programs have no data races. Those that have are found by the interpreter.

use super::{Block, Comparison, Condition, LOOPS, Maze, OUTPUTS, Op, Program, REGISTERS, Stmt, UNIFORMS, Value};
use crate::random::Random;

const OPS: &[Op] = &[
    Op::Add,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::MulHi,
    Op::Div,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Xor,
    Op::Shl,
    Op::Shr,
    Op::ShrSigned,
    Op::Min,
    Op::MaxSigned,
    Op::Popc,
];

/// What kind of program is drawn.
struct Style {
    /// Of a hundred conditions around barriers, how many are the same for all threads.
    uniform: usize,
    /// Of a hundred statements, how many end threads.
    exits: usize,
    /// Of a hundred statements, how many exchange words.
    exchanges: usize,
}

struct Generator {
    random: Random,
    style: Style,
    /// Statements that may still be drawn.
    budget: usize,
    /// Loops around the place.
    loops: usize,
}

/// Draws the program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let style = Style {
        uniform: *random.pick(&[0, 30, 80, 100]),
        exits: *random.pick(&[0, 0, 3, 8]),
        exchanges: *random.pick(&[0, 10, 20, 30]),
    };
    let budget = 20 + random.below(60);
    let mut generator = Generator { random, style, budget, loops: 0 };
    // Every word of shared memory is written before it can be read.
    let mut body = generator.exchange();
    while generator.budget > 0 {
        body.extend(generator.list(4));
    }
    Program { body }
}

impl Generator {
    fn register(&mut self) -> usize {
        self.random.below(REGISTERS)
    }

    fn uniform(&mut self) -> Value {
        match self.random.below(3) {
            0 if self.loops > 0 => Value::Counter(self.random.below(self.loops)),
            _ => Value::Uniform(self.random.below(UNIFORMS)),
        }
    }

    fn varying(&mut self) -> Value {
        match self.random.below(5) {
            0 => Value::Thread,
            1 => self.uniform(),
            _ => Value::Register(self.register()),
        }
    }

    fn operand(&mut self) -> Value {
        match self.random.below(4) {
            0 => Value::Constant(*self.random.pick(&[0, 1, 2, 3, 7, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, u32::MAX])),
            1 => Value::Constant(self.random.word() as u32),
            _ => self.varying(),
        }
    }

    fn condition_on(&mut self, value: Value) -> Condition {
        let mask = *self.random.pick(&[1, 3, 3, 5, 7, 0x8000_0001]);
        let comparisons = [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::Greater];
        let comparison = *self.random.pick(&comparisons);
        Condition { value, mask, comparison, bound: self.random.below(4) as u32, negated: self.random.chance(30) }
    }

    /// A condition for a branch that barriers may depend on.
    fn condition(&mut self) -> Condition {
        let value = if self.random.chance(self.style.uniform) { self.uniform() } else { self.varying() };
        self.condition_on(value)
    }

    fn compute(&mut self) -> Stmt {
        let guard = if self.random.chance(25) {
            let value = self.varying();
            Some(self.condition_on(value))
        } else {
            None
        };
        let op = *self.random.pick(OPS);
        Stmt::Compute { guard, op, to: self.register(), a: self.varying(), b: self.operand() }
    }

    fn exchange(&mut self) -> Vec<Stmt> {
        let published = Stmt::Publish(self.register());
        let fetched = Stmt::Fetch { to: self.register(), from: self.varying() };
        vec![published, Stmt::Barrier, fetched, Stmt::Barrier]
    }

    fn exit(&mut self) -> Stmt {
        let condition = Condition { mask: 0xf, ..self.condition() };
        Stmt::Exit { condition, write: self.random.chance(50) }
    }

    /// A statement without statements inside.
    fn simple(&mut self) -> Vec<Stmt> {
        let draw = self.random.below(100);
        if draw < self.style.exchanges {
            return self.exchange();
        }
        if draw < self.style.exchanges + self.style.exits {
            return vec![self.exit()];
        }
        match self.random.below(20) {
            0 => vec![Stmt::Output { slot: self.random.below(OUTPUTS - REGISTERS), from: self.register() }],
            // Alone it changes who publishes while who fetches, which often is a race.
            1 if self.style.exchanges > 0 && self.random.chance(10) => vec![Stmt::Barrier],
            _ => vec![self.compute()],
        }
    }

    /// Up to a few statements, with others inside of them to a depth.
    fn list(&mut self, depth: usize) -> Vec<Stmt> {
        let mut list = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            match self.random.below(10) {
                0 | 1 if depth > 0 => list.push(self.branch(depth)),
                2 if depth > 0 && self.loops < LOOPS => list.push(self.repeat(depth)),
                3 if depth > 0 && self.random.chance(40) => list.push(self.maze()),
                4 if self.loops > 0 => {
                    let (condition, depth) = (self.condition(), self.random.below(self.loops));
                    list.push(Stmt::Break { condition, depth });
                }
                5 if self.loops > 0 && self.random.chance(50) => {
                    let (condition, depth) = (self.condition(), self.random.below(self.loops));
                    list.push(Stmt::Continue { condition, depth });
                }
                _ => list.extend(self.simple()),
            }
        }
        list
    }

    fn branch(&mut self, depth: usize) -> Stmt {
        let condition = self.condition();
        let then = self.list(depth - 1);
        let otherwise = if self.random.chance(60) { self.list(depth - 1) } else { Vec::new() };
        Stmt::If { condition, then, otherwise }
    }

    fn repeat(&mut self, depth: usize) -> Stmt {
        let turns = if self.random.chance(self.style.uniform) { self.uniform() } else { self.varying() };
        let outside = self.loops;
        self.loops += 1;
        let body = self.list(depth - 1);
        self.loops = outside;
        Stmt::Loop { depth: outside, turns, test_at_end: self.random.chance(50), body }
    }

    fn maze(&mut self) -> Stmt {
        let count = 2 + self.random.below(4);
        let jump = |generator: &mut Self| {
            let condition = generator.condition();
            (condition, generator.random.below(count + 1), generator.random.below(count + 1))
        };
        let mut blocks = Vec::new();
        for _ in 0..count {
            let mut body = Vec::new();
            for _ in 0..1 + self.random.below(2) {
                body.extend(self.simple());
            }
            self.budget = self.budget.saturating_sub(1);
            blocks.push(Block { body, next: jump(self) });
        }
        Stmt::Maze(Maze { fuel: 1 + self.random.below(10) as u32, blocks, entry: jump(self) })
    }
}
