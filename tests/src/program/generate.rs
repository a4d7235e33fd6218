//! Draws random programs.
//!
//! Threads exchange words in four steps (publish, barrier, fetch, barrier), so that threads on different paths are in
//! the same step when they meet: most programs have no data races. The interpreter finds those that have.
//!
//! Warp operations stand where masks are known: in the kernel, in [`Stmt::Split`] and [`Stmt::Rounds`], and in
//! functions that are called there. Elsewhere threads diverge freely.

use super::{Block, Collective, Comparison, Condition, Decision, GATHERED, Gather, LEVELS, LOOPS, Maze, OUTPUTS, Op};
use super::{Program, REGISTERS, Shuffle, Stmt, UNIFORMS, Value};
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

/// The kind of program to draw. All fields are percentages.
struct Style {
    /// Conditions around barriers that are the same for all threads.
    uniform: usize,
    /// Statements that end threads.
    exits: usize,
    /// Statements that exchange words.
    exchanges: usize,
    /// Statements, where masks are known, that are warp operations.
    collectives: usize,
    /// Statements, where masks are known, whose lanes meet at operations on different paths.
    parts: usize,
    /// Barriers that are not plain ones.
    others: usize,
}

/// A function that has been drawn or is still to be drawn.
#[derive(Clone, Copy)]
struct Function {
    /// Whether the function contains warp operations.
    team: bool,
    /// Whether threads may end in the function.
    exits: bool,
}

/// An action that the lanes of a mask take together.
#[derive(Clone, Copy)]
enum Together {
    /// An operation and its number of repetitions.
    Collective(Collective, u32),
    Call(usize),
}

struct Generator {
    random: Random,
    style: Style,
    /// Statements left to draw.
    budget: usize,
    /// Enclosing loops.
    loops: usize,
    /// Number of enclosing loops that must not be left here, because other threads wait for the ones that leave.
    kept: usize,
    /// Whether all members of the mask of `level` are here.
    team: bool,
    level: usize,
    /// The function that is drawn; `None` for the kernel.
    function: Option<usize>,
    functions: Vec<Function>,
}

/// The length of a program. Drivers take long to compile long programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Size {
    Short,
    Long,
    /// Short programs in which lanes meet at operations in different places, with all kinds of barriers.
    Divergent,
}

/// Draws the program for a seed.
pub fn generate(seed: u64, size: Size) -> Program {
    let mut random = Random::new(seed);
    let divergent = size == Size::Divergent;
    let collectives = if divergent { 30 } else { *random.pick(&[0, 20, 30, 40]) };
    let exchanges: &[usize] = match collectives {
        _ if divergent => &[10, 30, 50],
        0 => &[0, 10, 20, 30],
        _ => &[0, 0, 10, 20],
    };
    let style = Style {
        uniform: *random.pick(&[0, 30, 80, 100]),
        exits: *random.pick(&[0, 0, 3, 8]),
        exchanges: *random.pick(exchanges),
        collectives,
        parts: if divergent { 30 } else { 0 },
        others: if divergent { 60 } else { 0 },
    };
    let plain = *random.pick(if size == Size::Long { &[0, 0, 1, 2] } else { &[0, 0, 0, 1] });
    let team = if collectives > 0 { random.below(2) } else { 0 };
    let functions: Vec<Function> =
        (0..plain + team).map(|number| Function { team: number >= plain, exits: false }).collect();
    let mut generator =
        Generator { random, style, budget: 0, loops: 0, kept: 0, team: false, level: 0, function: None, functions };
    let mut bodies = Vec::new();
    for number in 0..generator.functions.len() {
        bodies.push(generator.body(number, size));
    }
    generator.function = None;
    generator.team = collectives > 0;
    generator.budget = match size {
        Size::Short | Size::Divergent => 4 + generator.random.below(8),
        Size::Long => 15 + generator.random.below(40),
    };
    // Write every word of shared memory before it can be read.
    let mut body = generator.exchange();
    while generator.budget > 0 {
        body.extend(generator.list(4));
    }
    if generator.random.chance(50) {
        body.push(Stmt::Barrier);
        let word = generator.random.below(GATHERED);
        body.push(Stmt::Gathered { word, to: generator.register() });
    }
    Program { body, functions: bodies }
}

impl Generator {
    fn register(&mut self) -> usize {
        self.random.below(REGISTERS)
    }

    /// The body of a function.
    fn body(&mut self, number: usize, size: Size) -> Vec<Stmt> {
        self.function = Some(number);
        self.team = self.functions[number].team;
        self.budget = match size {
            Size::Short | Size::Divergent => 2 + self.random.below(3),
            Size::Long => 4 + self.random.below(8),
        };
        let mut body = Vec::new();
        while self.budget > 0 {
            body.extend(self.list(2));
        }
        self.functions[number].exits = self.ends(&body);
        body
    }

    /// Whether threads may end in a list of statements.
    fn ends(&self, list: &[Stmt]) -> bool {
        list.iter().any(|stmt| match stmt {
            Stmt::Exit { .. } => true,
            Stmt::If { then, otherwise, .. } | Stmt::Split { then, otherwise, .. } => {
                self.ends(then) || self.ends(otherwise)
            }
            Stmt::Loop { body, .. } | Stmt::Rounds { body, .. } => self.ends(body),
            Stmt::Maze(maze) => maze.blocks.iter().any(|block| self.ends(&block.body)),
            Stmt::Call { targets, .. } => targets.iter().any(|target| self.functions[*target].exits),
            _ => false,
        })
    }

    /// Draws statements in which threads diverge freely.
    fn apart<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        let (team, kept) = (self.team, self.kept);
        if team {
            (self.team, self.kept) = (false, self.loops);
        }
        let drawn = draw(self);
        (self.team, self.kept) = (team, kept);
        drawn
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

    /// A condition for a branch around barriers.
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

    /// Whether to draw a construct of divergent programs. For other programs no random number is drawn, so that the programs stay the same.
    fn others(&mut self) -> bool {
        self.style.others > 0 && self.random.chance(self.style.others)
    }

    /// A barrier with an effect besides waiting.
    fn barrier(&mut self) -> Stmt {
        let to = self.register();
        // The barriers of a pair of warps count threads, and would wait for threads that have ended.
        match self.random.below(if self.style.exits == 0 && self.function.is_none() { 7 } else { 3 }) {
            0 => Stmt::Decide { how: Decision::Count, condition: self.condition(), to },
            1 => Stmt::Decide { how: Decision::All, condition: self.condition(), to },
            2 => Stmt::Decide { how: Decision::Any, condition: self.condition(), to },
            3 | 4 => Stmt::Pass { to, value: self.varying(), from: self.operand() },
            _ => Stmt::HandOver { to, value: self.varying() },
        }
    }

    fn exit(&mut self) -> Stmt {
        let condition = Condition { mask: 0xf, ..self.condition() };
        Stmt::Exit { condition, write: self.random.chance(50) }
    }

    /// A statement without statements inside.
    fn simple(&mut self) -> Vec<Stmt> {
        let draw = self.random.below(100);
        // In a diverged team, threads at a barrier would mostly wait for threads that wait for the team.
        let rare = self.style.collectives > 0 && (!self.team || self.level > 0) || self.function.is_some();
        if draw < self.style.exchanges && (!rare || self.random.chance(if self.style.others > 0 { 20 } else { 5 })) {
            return if self.others() { vec![self.barrier()] } else { self.exchange() };
        }
        if draw < self.style.exchanges + self.style.exits && (self.function.is_none() || self.team) {
            return vec![self.exit()];
        }
        if self.team && self.random.chance(self.style.collectives) {
            let (level, to) = (self.level, self.register());
            return vec![Stmt::Collective { level, to, what: self.collective() }];
        }
        if self.style.others > 0 && self.random.chance(8) {
            return vec![Stmt::Aggregate { value: self.varying() }];
        }
        match self.random.below(24) {
            0 if self.function.is_none() => {
                vec![Stmt::Output { slot: self.random.below(OUTPUTS - REGISTERS), from: self.register() }]
            }
            // A single barrier separates the publishing threads from the fetching ones differently, which often makes a
            // race.
            1 if self.style.exchanges > 0 && !rare && self.random.chance(10) => vec![Stmt::Barrier],
            2 => vec![Stmt::Put { index: self.varying(), from: self.register() }],
            3 => vec![Stmt::Get { index: self.varying(), to: self.register() }],
            4 => {
                let (word, shared) = (self.random.below(GATHERED), self.random.chance(50));
                vec![Stmt::Gather { word, shared, value: self.varying() }]
            }
            5 | 6 if !self.functions.is_empty() => self.call().into_iter().collect(),
            7 if self.function.is_some() && !self.team => vec![Stmt::Return { condition: self.condition() }],
            _ => vec![self.compute()],
        }
    }

    /// A call of a function that may be called here.
    fn call(&mut self) -> Option<Stmt> {
        // Calls in loops of recursive functions take too long.
        if self.function.is_some() && self.loops > 0 {
            return None;
        }
        let team = self.team && self.function.is_none() && self.random.chance(50);
        let callable: Vec<usize> = (0..self.functions.len()).filter(|n| self.functions[*n].team == team).collect();
        if callable.is_empty() {
            return None;
        }
        let mut targets = vec![*self.random.pick(&callable)];
        if self.random.chance(40) && !team {
            targets.push(*self.random.pick(&callable));
        }
        Some(Stmt::Call {
            targets,
            condition: self.condition(),
            level: self.level,
            depth: self.random.below(3) as u32,
            to: self.register(),
            arguments: [self.varying(), self.operand()],
        })
    }

    fn collective(&mut self) -> Collective {
        match self.random.below(if self.style.others > 0 { 15 } else { 14 }) {
            14 => Collective::Elect,
            0 | 1 => Collective::Ballot(self.condition()),
            2 => Collective::All(self.condition()),
            3 => Collective::Any(self.condition()),
            4 => Collective::Same(self.condition()),
            5 => Collective::MatchAny(self.varying(), *self.random.pick(&[1, 3, 0x11])),
            6 => Collective::MatchAll(self.varying(), *self.random.pick(&[0, 1, 3])),
            7 | 8 => Collective::Reduce(*self.random.pick(&Gather::OF), self.varying()),
            9 => Collective::Exchange { value: self.varying(), from: self.operand() },
            _ => Collective::Shuffle {
                mode: *self.random.pick(&[Shuffle::Up, Shuffle::Down, Shuffle::Butterfly, Shuffle::Index]),
                value: self.varying(),
                by: if self.random.chance(60) { Value::Constant(self.random.below(32) as u32) } else { self.operand() },
                segment: *self.random.pick(&[32, 32, 16, 8, 4, 2, 1]),
            },
        }
    }

    /// A few statements, nested up to a depth.
    fn list(&mut self, depth: usize) -> Vec<Stmt> {
        let mut list = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            if self.style.parts > 0 && self.team && self.random.chance(self.style.parts) {
                let script = self.script();
                list.extend(self.ways(&script, 2));
                continue;
            }
            let from = list.len();
            let inside = self.team && self.level + 1 < LEVELS && self.random.chance(60);
            match self.random.below(10) {
                0 | 1 if depth > 0 && inside => list.push(self.split(depth)),
                0 | 1 if depth > 0 => list.push(self.apart(|own| own.branch(depth))),
                2 if depth > 0 && self.loops < LOOPS && inside => list.push(self.rounds(depth)),
                2 if depth > 0 && self.loops < LOOPS => list.push(self.apart(|own| own.repeat(depth))),
                3 if depth > 0 && self.random.chance(40) => list.push(self.apart(Self::maze)),
                4 if self.loops > self.kept && !self.team => {
                    let (condition, depth) = (self.condition(), self.kept + self.random.below(self.loops - self.kept));
                    list.push(Stmt::Break { condition, depth });
                }
                5 if self.loops > self.kept && !self.team && self.random.chance(50) => {
                    let (condition, depth) = (self.condition(), self.kept + self.random.below(self.loops - self.kept));
                    list.push(Stmt::Continue { condition, depth });
                }
                _ => list.extend(self.simple()),
            }
            if self.team && self.ends(&list[from..]) {
                list.push(Stmt::Refresh { level: self.level });
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

    fn split(&mut self, depth: usize) -> Stmt {
        let (level, condition) = (self.level, self.condition());
        self.level += 1;
        let then = self.list(depth - 1);
        let otherwise = if self.random.chance(60) { self.list(depth - 1) } else { Vec::new() };
        self.level = level;
        Stmt::Split { level, condition, then, otherwise }
    }

    /// Actions that the lanes of a mask take together, on different paths.
    fn script(&mut self) -> Vec<Together> {
        let callable: Vec<usize> =
            (0..self.functions.len()).filter(|n| self.functions[*n].team && !self.functions[*n].exits).collect();
        let mut script = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            script.push(match self.random.below(10) {
                0 if !callable.is_empty() && self.function.is_none() => Together::Call(*self.random.pick(&callable)),
                1..=3 => Together::Collective(self.collective(), 2 + self.random.below(3) as u32),
                _ => Together::Collective(self.collective(), 1),
            });
        }
        script
    }

    /// A path with these actions, which diverges again up to a depth.
    fn ways(&mut self, script: &[Together], depth: usize) -> Vec<Stmt> {
        if depth > 0 && self.random.chance(70) {
            let (divergent, rest) = script.split_at(1 + self.random.below(script.len()));
            let condition = self.condition();
            let (then, otherwise) = (self.ways(divergent, depth - 1), self.ways(divergent, depth - 1));
            let mut list = vec![Stmt::If { condition, then, otherwise }];
            if !rest.is_empty() {
                list.extend(self.ways(rest, depth - 1));
            }
            return list;
        }
        let mut list = Vec::new();
        for together in script {
            if self.random.chance(40) {
                list.push(self.compute());
            }
            match together {
                Together::Call(function) => list.push(Stmt::Call {
                    targets: vec![*function],
                    condition: self.condition(),
                    level: self.level,
                    depth: 0,
                    to: self.register(),
                    arguments: [self.varying(), self.operand()],
                }),
                Together::Collective(what, times @ 2..) if self.random.chance(70) => {
                    let body = vec![self.alike(*what), self.compute()];
                    let after = vec![self.compute()];
                    list.push(Stmt::Shares { first: self.varying(), times: *times, body, after });
                }
                Together::Collective(what, times) => list.extend((0..*times).map(|_| self.alike(*what))),
            }
        }
        list
    }

    /// An operation of the same kind, with its own operands.
    fn alike(&mut self, what: Collective) -> Stmt {
        let what = match what {
            Collective::Ballot(_) => Collective::Ballot(self.condition()),
            Collective::All(_) => Collective::All(self.condition()),
            Collective::Any(_) => Collective::Any(self.condition()),
            Collective::Same(_) => Collective::Same(self.condition()),
            Collective::MatchAny(_, bits) => Collective::MatchAny(self.varying(), bits),
            Collective::MatchAll(_, bits) => Collective::MatchAll(self.varying(), bits),
            Collective::Reduce(how, _) => Collective::Reduce(how, self.varying()),
            Collective::Shuffle { mode, .. } => Collective::Shuffle {
                mode,
                value: self.varying(),
                by: self.operand(),
                segment: *self.random.pick(&[32, 16, 8, 2]),
            },
            Collective::Exchange { .. } => Collective::Exchange { value: self.varying(), from: self.operand() },
            Collective::Elect => Collective::Elect,
        };
        Stmt::Collective { level: self.level, to: self.register(), what }
    }

    fn turns(&mut self) -> Value {
        if self.random.chance(self.style.uniform) { self.uniform() } else { self.varying() }
    }

    fn repeat(&mut self, depth: usize) -> Stmt {
        let turns = self.turns();
        let outside = self.loops;
        self.loops += 1;
        let body = self.list(depth - 1);
        self.loops = outside;
        Stmt::Loop { depth: outside, turns, test_at_end: self.random.chance(50), body }
    }

    fn rounds(&mut self, depth: usize) -> Stmt {
        let turns = self.turns();
        let (level, outside) = (self.level, self.loops);
        self.level += 1;
        self.loops += 1;
        let mut body = self.list(depth - 1);
        if self.random.chance(40) {
            let condition = self.condition();
            body.push(Stmt::Leave { level: self.level, condition, depth: outside });
            body.extend(self.list(depth - 1));
        }
        self.level = level;
        self.loops = outside;
        Stmt::Rounds { level, depth: outside, turns, test_at_end: self.random.chance(50), body }
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
