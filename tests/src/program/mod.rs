//! Random kernels with much control flow and many barriers, and what they must compute.
//!
//! A [`Program`] is a tree of statements of its own, from which [`ptx`] writes PTX and which [`interpret`] executes by
//! CUDA's rules. The two have nothing in common with the translator, so they are a reference for all of it.

mod generate;
mod interpret;
mod ptx;

pub use generate::generate;
pub use interpret::{Race, UNTOUCHED, interpret};
pub use ptx::{ENTRY, ptx};

/// Registers of a thread.
pub const REGISTERS: usize = 6;
/// Arguments that all threads share.
pub const UNIFORMS: usize = 3;
/// Words that each thread may write: its registers at the end, and those of [`Stmt::Output`].
pub const OUTPUTS: usize = REGISTERS + 4;
/// How deep loops may nest.
pub const LOOPS: usize = 3;

/// A kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The arguments besides the output buffer.
    pub uniforms: [u32; UNIFORMS],
}

/// Something to compute with.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A register.
    Register(usize),
    /// An argument.
    Uniform(usize),
    /// How often the body of the loop of that depth has been left at its end.
    Counter(usize),
    /// Number of the thread in its block.
    Thread,
    /// A constant.
    Constant(u32),
}

/// Operations on 32-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Add,
    Sub,
    Mul,
    MulHi,
    /// Divides by the second number with its lowest bit set.
    Div,
    And,
    Or,
    Xor,
    /// Shifts of 32 and more give 0.
    Shl,
    Shr,
    /// Shifts of 32 and more give the sign.
    ShrSigned,
    Min,
    MaxSigned,
    /// Bits set in the first number.
    Popc,
}

/// Comparisons of unsigned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    Greater,
}

/// `(value & mask) comparison bound`
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// What decides.
    pub value: Value,
    /// Which of its bits.
    pub mask: u32,
    /// How.
    pub comparison: Comparison,
    /// Against what.
    pub bound: u32,
    /// Whether the condition holds if the comparison doesn't.
    pub negated: bool,
}

/// What a thread does.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Computes, under a guard if there is one.
    Compute {
        /// Guard of the instruction.
        guard: Option<Condition>,
        /// What to do.
        op: Op,
        /// Register that receives the result.
        to: usize,
        /// First operand.
        a: Value,
        /// Second operand.
        b: Value,
    },
    /// Two ways that meet again.
    If {
        /// Which way.
        condition: Condition,
        /// If it holds.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// Executes the body `value & 3` times, and once more if the test comes at the end.
    Loop {
        /// How many loops are around it.
        depth: usize,
        /// Gives the number of turns.
        turns: Value,
        /// Whether the test comes at the end of the body.
        test_at_end: bool,
        /// What to repeat.
        body: Vec<Stmt>,
    },
    /// Leaves the loop of that depth.
    Break {
        /// If this holds.
        condition: Condition,
        /// Which loop.
        depth: usize,
    },
    /// Goes to the next turn of the loop of that depth.
    Continue {
        /// If this holds.
        condition: Condition,
        /// Which loop.
        depth: usize,
    },
    /// Ends the thread.
    Exit {
        /// If this holds.
        condition: Condition,
        /// Whether it writes its registers to the output before.
        write: bool,
    },
    /// Blocks with jumps between them, in general irreducible.
    Maze(Maze),
    /// Writes a register to the thread's word of shared memory.
    Publish(usize),
    /// Reads a word of shared memory: that of thread `from` modulo the number of threads.
    Fetch {
        /// Register that receives it.
        to: usize,
        /// Whose word.
        from: Value,
    },
    /// Waits for all threads that have not ended.
    Barrier,
    /// Writes a register to a word of the thread's output, from 0 behind those of the registers.
    Output {
        /// Which word.
        slot: usize,
        /// Which register.
        from: usize,
    },
}

/// Blocks with jumps between them.
#[derive(Clone, Debug)]
pub struct Maze {
    /// The most blocks that a thread executes before it leaves.
    pub fuel: u32,
    /// The blocks. They hold no statements with statements inside.
    pub blocks: Vec<Block>,
    /// Where to enter: the first block if the condition holds, else the second.
    pub entry: (Condition, usize, usize),
}

/// A block of a [`Maze`].
#[derive(Clone, Debug)]
pub struct Block {
    /// What it does.
    pub body: Vec<Stmt>,
    /// Where to go then: a block's number, or the number of blocks to leave the maze.
    pub next: (Condition, usize, usize),
}
