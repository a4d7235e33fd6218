//! The tree of a random kernel.

/// Registers of a thread.
pub const REGISTERS: usize = 6;
/// Arguments that all threads share.
pub const UNIFORMS: usize = 3;
/// Words of output for each thread: its registers at the end, and the values of [`Stmt::Output`].
pub const OUTPUTS: usize = REGISTERS + 4;
/// Maximum depth of nested loops.
pub const LOOPS: usize = 3;
/// Masks of a thread, one for each enclosing [`Stmt::Split`] or [`Stmt::Rounds`].
pub const LEVELS: usize = 4;
/// Words of a thread's local array.
pub const LOCALS: usize = 8;
/// Words for atomics in shared and in global memory, each for one operation of [`Gather`].
pub const GATHERED: usize = 6;

/// A thread's registers begin as its number in the grid plus one, times these factors.
pub(super) const SEEDS: [u32; REGISTERS] = [1, 0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1];

/// The initial value of the buffers' words.
pub const UNTOUCHED: u32 = 0xa5a5_a5a5;

/// A kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel's statements.
    pub body: Vec<Stmt>,
    /// The kernel's functions. Each takes two numbers, a mask and the remaining depth of calls. A function begins with new registers,
    /// computed from the numbers, and a local array of zeros. Its result is the sum of its registers.
    pub functions: Vec<Vec<Stmt>>,
}

/// Sizes and arguments of a launch.
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

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A register.
    Register(usize),
    /// An argument.
    Uniform(usize),
    /// The number of times that the body of the loop at this depth has run to its end.
    Counter(usize),
    /// The number of the thread in its block.
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
    /// Shifts of 32 and more result in 0.
    Shl,
    Shr,
    /// Shifts of 32 and more result in the sign.
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
    /// The value to test.
    pub value: Value,
    /// The bits of the value to compare.
    pub mask: u32,
    /// The comparison.
    pub comparison: Comparison,
    /// The second operand.
    pub bound: u32,
    /// Whether to negate the comparison.
    pub negated: bool,
}

/// Atomics whose order doesn't matter. Each has a word of its own.
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
    /// The operation on each word.
    pub const OF: [Self; GATHERED] = [Self::Add, Self::Min, Self::MaxSigned, Self::And, Self::Or, Self::Xor];
}

/// The way in which a shuffle selects the source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// Operations of the lanes in a mask.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the operations say what their values are for")]
pub enum Collective {
    /// The lanes for which a condition holds.
    Ballot(Condition),
    All(Condition),
    Any(Condition),
    /// Whether the condition is the same for all lanes.
    Same(Condition),
    /// The lanes with the same value in these bits.
    MatchAny(Value, u32),
    /// The mask if all lanes have the same value in these bits, else 0.
    MatchAll(Value, u32),
    /// The reduction of all lanes' values.
    Reduce(Gather, Value),
    /// Another lane's value, plus one if that lane is in the segment; the number of the lane if the mask lacks it.
    Shuffle {
        /// The way in which the lane is selected.
        mode: Shuffle,
        value: Value,
        /// The operand that selects the lane, modulo 32.
        by: Value,
        /// Lanes of a segment, a power of two.
        segment: u32,
    },
    /// Another lane's value through shared memory, between barriers of the warp; the own value if the mask lacks that
    /// lane.
    Exchange {
        value: Value,
        /// The lane, modulo 32.
        from: Value,
    },
    /// The number of lanes; the elected lane also adds it to the first global word for atomics.
    Elect,
}

/// Reductions of barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The number of threads for which a condition holds.
    Count,
    /// Whether the condition holds for all threads.
    All,
    /// Whether the condition holds for any thread.
    Any,
}

/// A statement. `condition` decides whether it takes effect. `to` is the register that receives a result, `level` the mask of the lanes that
/// come to the statement, and `depth` the number of loops around a loop.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "what members of the same name have in common stands above")]
pub enum Stmt {
    /// [`Stmt::If`] with a mask for each branch, for warp operations inside.
    Split { level: usize, condition: Condition, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// [`Stmt::Loop`] with a mask of the lanes that are still in the loop.
    Rounds {
        level: usize,
        depth: usize,
        turns: Value,
        /// Whether the test is at the end of the body.
        test_at_end: bool,
        body: Vec<Stmt>,
    },
    /// Leaves the innermost loop, which is [`Stmt::Rounds`], directly in its body.
    Leave { level: usize, condition: Condition, depth: usize },
    /// Removes lanes that have ended from a mask.
    Refresh { level: usize },
    /// An operation of the lanes in a mask.
    Collective { level: usize, to: usize, what: Collective },
    /// Calls a function. Inside a function only if the depth isn't used up.
    Call {
        /// The function, or two to choose from.
        targets: Vec<usize>,
        /// Chooses the first of two if it holds.
        condition: Condition,
        level: usize,
        /// The maximum depth of calls, for calls from the kernel.
        depth: u32,
        to: usize,
        arguments: [Value; 2],
    },
    /// Returns from the function.
    Return { condition: Condition },
    /// Writes a register to the local array.
    Put {
        /// The word, modulo the number of words.
        index: Value,
        from: usize,
    },
    /// Reads a word of the local array.
    Get {
        /// The word, modulo the number of words.
        index: Value,
        to: usize,
    },
    /// An atomic on a word.
    Gather {
        word: usize,
        /// Whether the word is in shared memory.
        shared: bool,
        value: Value,
    },
    /// Reads a shared word for atomics.
    Gathered { word: usize, to: usize },
    /// An arithmetic instruction, perhaps guarded.
    Compute { guard: Option<Condition>, op: Op, to: usize, a: Value, b: Value },
    /// A branch.
    If { condition: Condition, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// Executes the body `value & 3` times, and once more if the test is at the end.
    Loop {
        depth: usize,
        turns: Value,
        /// Whether the test is at the end of the body.
        test_at_end: bool,
        body: Vec<Stmt>,
    },
    /// Leaves the loop at a depth.
    Break { condition: Condition, depth: usize },
    /// Continues with the next iteration of the loop at a depth.
    Continue { condition: Condition, depth: usize },
    /// Ends the thread.
    Exit {
        condition: Condition,
        /// Whether the thread writes its registers to the output first.
        write: bool,
    },
    /// Blocks with jumps between them, in general irreducible.
    Maze(Maze),
    /// Writes a register to the thread's own word of shared memory.
    Publish(usize),
    /// Reads the shared word of thread `from`, modulo the number of threads.
    Fetch { to: usize, from: Value },
    /// Waits for all threads that have not ended.
    Barrier,
    /// Waits for all threads that have not ended, and reduces a condition over them.
    Decide { how: Decision, condition: Condition, to: usize },
    /// Waits for the other warp of a pair, and reads the value of one of the pair's threads. No thread may have ended.
    Pass {
        to: usize,
        value: Value,
        /// The thread of the pair, modulo the number of threads.
        from: Value,
    },
    /// The first warp of a pair hands values over to the second, thread by thread, and waits until they have been read.
    /// No thread may have ended.
    HandOver {
        /// Register of the second warp that receives the values.
        to: usize,
        /// The first warp's value.
        value: Value,
    },
    /// Adds values to the first global word for atomics, by one atomic for all active lanes.
    Aggregate { value: Value },
    /// A loop with two iterations around another loop. The inner loop executes the body `first` times in the first
    /// iteration, and the remaining times in the second.
    Shares {
        /// The number of executions in the first iteration, modulo `times + 1`.
        first: Value,
        /// The number of executions in total.
        times: u32,
        /// The body of the inner loop, without nested statements.
        body: Vec<Stmt>,
        /// Statements at the end of each iteration, without nested statements.
        after: Vec<Stmt>,
    },
    /// Writes a register to a word of the thread's output. The words are counted from the end of the registers.
    Output { slot: usize, from: usize },
}

/// Blocks with jumps between them.
#[derive(Clone, Debug)]
pub struct Maze {
    /// The number of blocks that a thread executes at most.
    pub fuel: u32,
    /// The blocks. Their statements are not nested.
    pub blocks: Vec<Block>,
    /// The entry: the first block if the condition holds, or the second.
    pub entry: (Condition, usize, usize),
}

/// A block of a [`Maze`].
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements.
    pub body: Vec<Stmt>,
    /// The next block, as in `entry`. The number of blocks stands for the end of the maze.
    pub next: (Condition, usize, usize),
}
