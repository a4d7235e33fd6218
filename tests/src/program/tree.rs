//! The tree of a random kernel.

/// Registers of a thread.
pub const REGISTERS: usize = 6;
/// Arguments that all threads share.
pub const UNIFORMS: usize = 3;
/// Words of output for each thread: its registers at the end, and those of [`Stmt::Output`].
pub const OUTPUTS: usize = REGISTERS + 4;
/// Maximum depth of nested loops.
pub const LOOPS: usize = 3;
/// Masks of a thread, one for each enclosing [`Stmt::Split`] or [`Stmt::Rounds`].
pub const LEVELS: usize = 4;
/// Words of a thread's local array.
pub const LOCALS: usize = 8;
/// Words for atomics in shared and in global memory, each for one operation of [`Gather`].
pub const GATHERED: usize = 6;

/// A kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its functions. Each takes two numbers, a mask and the remaining depth of calls. It begins with new registers,
    /// computed from the numbers, and a local array of zeros. Its result is the sum of its registers.
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

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A register.
    Register(usize),
    /// An argument.
    Uniform(usize),
    /// How often the body of the loop at this depth has run to its end.
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
    /// The reduction of all lanes' values.
    Reduce(Gather, Value),
    /// Another lane's value, plus one if that lane is in the segment; the number of the lane if the mask lacks it.
    Shuffle {
        /// The way in which the lane is selected.
        mode: Shuffle,
        /// The value to read.
        value: Value,
        /// The operand that selects the lane, modulo 32.
        by: Value,
        /// Lanes of a segment, a power of two.
        segment: u32,
    },
    /// Another lane's value through shared memory, between barriers of the warp; the own value if the mask lacks that
    /// lane.
    Exchange {
        /// The value to read.
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
    /// Whether it holds for all threads.
    All,
    /// Whether it holds for any thread.
    Any,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// [`Stmt::If`] with a mask for each branch, for warp operations inside.
    Split {
        /// The mask of the lanes that come here.
        level: usize,
        /// The condition.
        condition: Condition,
        /// Statements if the condition holds.
        then: Vec<Stmt>,
        /// Statements if it doesn't.
        otherwise: Vec<Stmt>,
    },
    /// [`Stmt::Loop`] with a mask of the lanes that are still in the loop.
    Rounds {
        /// The mask of the lanes that come here.
        level: usize,
        /// The number of enclosing loops.
        depth: usize,
        /// The number of iterations.
        turns: Value,
        /// Whether the test is at the end of the body.
        test_at_end: bool,
        /// The body.
        body: Vec<Stmt>,
    },
    /// Leaves the innermost loop, which is [`Stmt::Rounds`], directly in its body.
    Leave {
        /// The mask of the lanes that come here.
        level: usize,
        /// The condition.
        condition: Condition,
        /// The loop.
        depth: usize,
    },
    /// Removes lanes that have ended from a mask.
    Refresh {
        /// The mask.
        level: usize,
    },
    /// An operation of the lanes in a mask.
    Collective {
        /// The mask.
        level: usize,
        /// Register that receives the result.
        to: usize,
        /// The operation.
        what: Collective,
    },
    /// Calls a function. Inside a function only if the depth isn't used up.
    Call {
        /// The function, or two to choose from.
        targets: Vec<usize>,
        /// Chooses the first of two if it holds.
        condition: Condition,
        /// The mask to pass.
        level: usize,
        /// The maximum depth of calls, for calls from the kernel.
        depth: u32,
        /// Register that receives the result.
        to: usize,
        /// The numbers to pass.
        arguments: [Value; 2],
    },
    /// Returns from the function.
    Return {
        /// The condition.
        condition: Condition,
    },
    /// Writes a register to the local array.
    Put {
        /// The word, modulo the number of words.
        index: Value,
        /// The register.
        from: usize,
    },
    /// Reads a word of the local array.
    Get {
        /// The word, modulo the number of words.
        index: Value,
        /// Register that receives the word.
        to: usize,
    },
    /// An atomic on a word.
    Gather {
        /// The word.
        word: usize,
        /// Whether the word is in shared memory.
        shared: bool,
        /// The operand.
        value: Value,
    },
    /// Reads a shared word for atomics.
    Gathered {
        /// The word.
        word: usize,
        /// Register that receives the word.
        to: usize,
    },
    /// An arithmetic instruction, perhaps guarded.
    Compute {
        /// Guard of the instruction.
        guard: Option<Condition>,
        /// The operation.
        op: Op,
        /// Register that receives the result.
        to: usize,
        /// First operand.
        a: Value,
        /// Second operand.
        b: Value,
    },
    /// A branch.
    If {
        /// The condition.
        condition: Condition,
        /// Statements if the condition holds.
        then: Vec<Stmt>,
        /// Statements if it doesn't.
        otherwise: Vec<Stmt>,
    },
    /// Executes the body `value & 3` times, and once more if the test is at the end.
    Loop {
        /// The number of enclosing loops.
        depth: usize,
        /// The number of iterations.
        turns: Value,
        /// Whether the test is at the end of the body.
        test_at_end: bool,
        /// The body.
        body: Vec<Stmt>,
    },
    /// Leaves the loop at a depth.
    Break {
        /// The condition.
        condition: Condition,
        /// The loop.
        depth: usize,
    },
    /// Continues with the next iteration of the loop at a depth.
    Continue {
        /// The condition.
        condition: Condition,
        /// The loop.
        depth: usize,
    },
    /// Ends the thread.
    Exit {
        /// The condition.
        condition: Condition,
        /// Whether the thread writes its registers to the output first.
        write: bool,
    },
    /// Blocks with jumps between them, in general irreducible.
    Maze(Maze),
    /// Writes a register to the thread's own word of shared memory.
    Publish(usize),
    /// Reads the shared word of thread `from`, modulo the number of threads.
    Fetch {
        /// Register that receives the word.
        to: usize,
        /// The thread.
        from: Value,
    },
    /// Waits for all threads that have not ended.
    Barrier,
    /// Waits for all threads that have not ended, and reduces a condition over them.
    Decide {
        /// The reduction.
        how: Decision,
        /// The condition.
        condition: Condition,
        /// Register that receives the result.
        to: usize,
    },
    /// Waits for the other warp of a pair, and reads the value of one of the pair's threads. No thread may have ended.
    Pass {
        /// Register that receives it.
        to: usize,
        /// The value to read.
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
    Aggregate {
        /// The value to add.
        value: Value,
    },
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
    Output {
        /// The word.
        slot: usize,
        /// The register.
        from: usize,
    },
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
