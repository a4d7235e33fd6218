//! Executes programs by CUDA's rules: a barrier waits for the threads that have not ended, wherever they wait.

use super::{Comparison, Condition, LOOPS, Launch, Maze, OUTPUTS, Op, Program, REGISTERS, Stmt, Value};

/// The content of the output buffer before the launch.
pub const UNTOUCHED: u32 = 0xa5a5_a5a5;

/// Two threads used a word of shared memory between the same barriers, and one of them wrote it: anything may come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race;

/// The output buffer after a launch; before, all its words are [`UNTOUCHED`].
pub fn interpret(program: &Program, launch: &Launch) -> Result<Vec<u32>, Race> {
    let mut output = Vec::new();
    for block in 0..launch.blocks {
        output.extend(run_block(program, launch, block)?);
    }
    Ok(output)
}

fn run_block(program: &Program, launch: &Launch, block: u32) -> Result<Vec<u32>, Race> {
    let mut shared = Shared { words: vec![Word::default(); launch.threads as usize], phase: 0 };
    let mut threads: Vec<Thread<'_>> =
        (0..launch.threads).map(|number| Thread::new(program, launch, block, number)).collect();
    while threads.iter().any(|thread| !thread.ended) {
        for thread in threads.iter_mut().filter(|thread| !thread.ended) {
            thread.run(&mut shared)?;
        }
        shared.phase += 1;
    }
    Ok(threads.into_iter().flat_map(|thread| thread.output).collect())
}

/// Shared memory of a block.
struct Shared {
    words: Vec<Word>,
    /// Barriers that the block has passed.
    phase: usize,
}

/// A word of shared memory with the last who used it.
#[derive(Clone, Default)]
struct Word {
    value: u32,
    written: Option<(usize, u32)>,
    read: Option<(usize, u32)>,
}

impl Shared {
    fn write(&mut self, thread: u32, value: u32) -> Result<(), Race> {
        let word = &mut self.words[thread as usize];
        if word.read.is_some_and(|(phase, reader)| phase == self.phase && reader != thread) {
            return Err(Race);
        }
        word.value = value;
        word.written = Some((self.phase, thread));
        Ok(())
    }

    fn read(&mut self, thread: u32, from: u32) -> Result<u32, Race> {
        let threads = self.words.len() as u32;
        let word = &mut self.words[(from % threads) as usize];
        if word.written.is_some_and(|(phase, writer)| phase == self.phase && writer != thread) {
            return Err(Race);
        }
        // Only its own thread writes a word: of several readers the one that is another thread matters.
        if from % threads != thread || word.read.is_none_or(|(phase, _)| phase != self.phase) {
            word.read = Some((self.phase, thread));
        }
        Ok(word.value)
    }
}

/// A list of statements that is being executed.
struct Frame<'p> {
    list: &'p [Stmt],
    next: usize,
    kind: Kind<'p>,
}

enum Kind<'p> {
    Plain,
    Loop { depth: usize, turns: u32 },
    Maze { maze: &'p Maze, block: usize, fuel: u32 },
}

struct Thread<'p> {
    launch: &'p Launch,
    number: u32,
    registers: [u32; REGISTERS],
    counters: [u32; LOOPS],
    frames: Vec<Frame<'p>>,
    output: [u32; OUTPUTS],
    ended: bool,
}

impl<'p> Thread<'p> {
    fn new(program: &'p Program, launch: &'p Launch, block: u32, number: u32) -> Self {
        let global = block * launch.threads + number;
        let mut registers = [0; REGISTERS];
        for (register, seed) in registers.iter_mut().zip(super::ptx::SEEDS) {
            *register = global.wrapping_add(1).wrapping_mul(seed);
        }
        Self {
            launch,
            number,
            registers,
            counters: [0; LOOPS],
            frames: vec![Frame { list: &program.body, next: 0, kind: Kind::Plain }],
            output: [UNTOUCHED; OUTPUTS],
            ended: false,
        }
    }

    fn value(&self, value: Value) -> u32 {
        match value {
            Value::Register(register) => self.registers[register],
            Value::Uniform(uniform) => self.launch.uniforms[uniform],
            Value::Counter(depth) => self.counters[depth],
            Value::Thread => self.number,
            Value::Constant(constant) => constant,
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        let value = self.value(condition.value) & condition.mask;
        let holds = match condition.comparison {
            Comparison::Equal => value == condition.bound,
            Comparison::NotEqual => value != condition.bound,
            Comparison::Less => value < condition.bound,
            Comparison::Greater => value > condition.bound,
        };
        holds != condition.negated
    }

    /// Goes on to the next barrier or the end.
    fn run(&mut self, shared: &mut Shared) -> Result<(), Race> {
        while let Some(frame) = self.frames.last_mut() {
            let Some(stmt) = frame.list.get(frame.next) else {
                self.end_of_list();
                continue;
            };
            frame.next += 1;
            match stmt {
                Stmt::Compute { guard, op, to, a, b } => {
                    if guard.as_ref().is_none_or(|guard| self.holds(guard)) {
                        self.registers[*to] = compute(*op, self.value(*a), self.value(*b));
                    }
                }
                Stmt::If { condition, then, otherwise } => {
                    let list = if self.holds(condition) { then } else { otherwise };
                    self.frames.push(Frame { list, next: 0, kind: Kind::Plain });
                }
                Stmt::Loop { depth, turns, test_at_end, body } => {
                    let turns = (self.value(*turns) & 3) + u32::from(*test_at_end);
                    self.counters[*depth] = 0;
                    if turns > 0 {
                        self.frames.push(Frame { list: body, next: 0, kind: Kind::Loop { depth: *depth, turns } });
                    }
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
                    return Ok(());
                }
                Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Exit { .. } => {}
                Stmt::Maze(maze) => {
                    let (condition, first, second) = &maze.entry;
                    let block = if self.holds(condition) { *first } else { *second };
                    if let Some(entered) = maze.blocks.get(block) {
                        let kind = Kind::Maze { maze, block, fuel: maze.fuel };
                        self.frames.push(Frame { list: &entered.body, next: 0, kind });
                    }
                }
                Stmt::Publish(register) => shared.write(self.number, self.registers[*register])?,
                Stmt::Fetch { to, from } => self.registers[*to] = shared.read(self.number, self.value(*from))?,
                Stmt::Barrier => return Ok(()),
                Stmt::Output { slot, from } => self.output[REGISTERS + slot] = self.registers[*from],
            }
        }
        self.write_registers();
        self.ended = true;
        Ok(())
    }

    fn write_registers(&mut self) {
        self.output[..REGISTERS].copy_from_slice(&self.registers);
    }

    /// Drops what is inside the loop of that depth.
    fn unwind(&mut self, depth: usize) {
        while let Some(frame) = self.frames.last() {
            if matches!(frame.kind, Kind::Loop { depth: found, .. } if found == depth) {
                return;
            }
            self.frames.pop();
        }
    }

    /// The innermost list is at its end: repeats it, goes on elsewhere, or drops it.
    fn end_of_list(&mut self) {
        let Some(mut frame) = self.frames.pop() else { return };
        match &mut frame.kind {
            Kind::Plain => return,
            Kind::Loop { depth, turns } => {
                self.counters[*depth] += 1;
                if self.counters[*depth] >= *turns {
                    return;
                }
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

fn compute(op: Op, a: u32, b: u32) -> u32 {
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
