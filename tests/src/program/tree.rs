//! The tree that a random kernel is.

/// Registers of a thread.
pub const REGISTERS: usize = 6;
/// Arguments that all threads share.
pub const UNIFORMS: usize = 3;
/// Words that each thread may write: its registers at the end, and those of [`Stmt::Output`].
pub const OUTPUTS: usize = REGISTERS + 4;
/// How deep loops may nest.
pub const LOOPS: usize = 3;
/// Masks of a thread, by the number of [`Stmt::Split`] and [`Stmt::Rounds`] around a place.
pub const LEVELS: usize = 4;
/// Words of a thread's local array.
pub const LOCALS: usize = 8;
/// Words that atomics work on, in shared and in global memory, each with the one operation of [`Gather`].
pub const GATHERED: usize = 6;

/// A kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its statements.
    pub body: Vec<Stmt>,
    /// The functions that it calls, each with two numbers, a mask and how deep calls may still go. A function begins with
    /// registers of its own made from the numbers, and a local array of zeros; its result is the sum of its registers.
    pub functions: Vec<Vec<Stmt>>,
}

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// The arguments besides the output buffer.
    pub uniforms: [u32; UNIFORMS],
}

impl Launch {
    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Blocks of the grid.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        self.grid.iter().product()
    }
}

/// Something to compute with.
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// Atomics whose order doesn't matter, by the word that they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Gather {
    Add,
    Min,
    MaxSigned,
    And,
    Or,
    Xor,
}

impl Gather {
    /// The operation of each word.
    pub const OF: [Self; GATHERED] = [Self::Add, Self::Min, Self::MaxSigned, Self::And, Self::Or, Self::Xor];
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// Operations of the lanes in a mask, with the register that receives the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Collective {
    /// The lanes for which a condition holds.
    Ballot(Condition),
    /// Whether a condition holds for all.
    All(Condition),
    /// Whether it holds for any.
    Any(Condition),
    /// Whether it is the same for all.
    Same(Condition),
    /// The lanes with the same value in these bits.
    MatchAny(Value, u32),
    /// The mask if all lanes have the same value in these bits, else 0.
    MatchAll(Value, u32),
    /// All lanes' values made into one.
    Reduce(Gather, Value),
    /// Another lane's value, plus one where there is that lane in the segment; the number of the lane if the mask lacks it.
    Shuffle {
        /// How the lane is found.
        mode: Shuffle,
        /// What is read.
        value: Value,
        /// By what the lane is found, modulo 32.
        by: Value,
        /// Lanes of a segment, a power of two.
        segment: u32,
    },
    /// Another lane's value by way of shared memory, between barriers of the warp; its own if the mask lacks it.
    Exchange {
        /// What is read.
        value: Value,
        /// From which lane, modulo 32.
        from: Value,
    },
    /// How many lanes there are; the one that is elected adds that to the first of the words that atomics work on.
    Elect,
}

/// Reductions of barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// For how many threads a condition holds.
    Count,
    /// Whether it holds for all.
    All,
    /// Whether it holds for any.
    Any,
}

/// What a thread does.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// [`Stmt::If`] with masks of who goes which way, for operations of warps inside.
    Split {
        /// Which of the masks has those that come here.
        level: usize,
        /// Which way.
        condition: Condition,
        /// If it holds.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// [`Stmt::Loop`] with a mask of who is still in it.
    Rounds {
        /// Which of the masks has those that come here.
        level: usize,
        /// How many loops are around it.
        depth: usize,
        /// Gives the number of turns.
        turns: Value,
        /// Whether the test comes at the end of the body.
        test_at_end: bool,
        /// What to repeat.
        body: Vec<Stmt>,
    },
    /// Leaves the innermost loop, which is [`Stmt::Rounds`], directly in its body.
    Leave {
        /// Which of the masks has those that come here.
        level: usize,
        /// If this holds.
        condition: Condition,
        /// Which loop.
        depth: usize,
    },
    /// Takes those that have ended out of a mask.
    Refresh {
        /// Which of the masks.
        level: usize,
    },
    /// An operation of the lanes in a mask.
    Collective {
        /// Which of the masks.
        level: usize,
        /// Register that receives the result.
        to: usize,
        /// What to do.
        what: Collective,
    },
    /// Calls a function, in a function only if the depth isn't used up.
    Call {
        /// The function, or those that the condition chooses from.
        targets: Vec<usize>,
        /// The first of two if it holds.
        condition: Condition,
        /// Which of the masks is passed.
        level: usize,
        /// How deep calls may go, from the kernel.
        depth: u32,
        /// Register that receives the result.
        to: usize,
        /// Numbers that are passed.
        arguments: [Value; 2],
    },
    /// Leaves the function.
    Return {
        /// If this holds.
        condition: Condition,
    },
    /// Writes a register to the local array.
    Put {
        /// Which word, modulo their number.
        index: Value,
        /// Which register.
        from: usize,
    },
    /// Reads a word of the local array.
    Get {
        /// Which word, modulo their number.
        index: Value,
        /// Register that receives it.
        to: usize,
    },
    /// An atomic on a word.
    Gather {
        /// Which word.
        word: usize,
        /// Whether of the block's, which is in shared memory.
        shared: bool,
        /// With what.
        value: Value,
    },
    /// Reads a word that the block's atomics are for.
    Gathered {
        /// Which word.
        word: usize,
        /// Register that receives it.
        to: usize,
    },
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
    /// Two ways that join again.
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
    /// Waits for all threads that have not ended, and tells of how many of them a condition holds.
    Decide {
        /// What is told.
        how: Decision,
        /// Of which condition.
        condition: Condition,
        /// Register that receives it.
        to: usize,
    },
    /// Waits for the other warp of a pair, and reads a value of one of the pair's threads. No thread may have ended.
    Pass {
        /// Register that receives it.
        to: usize,
        /// What is read.
        value: Value,
        /// From which thread of the pair, modulo their number.
        from: Value,
    },
    /// The first warp of a pair hands values over to the second, thread by thread, and waits until they are read. No thread
    /// may have ended.
    HandOver {
        /// Register of the second that receives them.
        to: usize,
        /// What the first has.
        value: Value,
    },
    /// Adds values to the first of the words that atomics work on, by one atomic of those that are active together.
    Aggregate {
        /// What is added.
        value: Value,
    },
    /// A loop of two turns with a loop inside, which executes the body as often as a number says in the first turn, and as
    /// often as remains in the second.
    Shares {
        /// The number, modulo one more than how often the body is executed in all.
        first: Value,
        /// How often the body is executed in all.
        times: u32,
        /// What the inner loop does, without statements inside.
        body: Vec<Stmt>,
        /// What stands at the end of each turn, without statements inside.
        after: Vec<Stmt>,
    },
    /// Writes a register to a word of the thread's output, from 0 after those of the registers.
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
