//! Trees of sequences, ifs and loops over the blocks of a graph.

/// The deepest nesting of [`Node::If`] and [`Node::Loop`] that [`super::structurize`] gives.
///
/// SPIR-V's universal limits allow a control-flow nesting depth of 1,023. The bound also limits the stack of code that
/// walks a tree recursively, such as the generated code that drops one.
pub const MAX_DEPTH: usize = 1023;

/// A part of the structured program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Executes the straight-line code of the block.
    Block(u32),
    /// Gives a selector variable a value. A thread has its own.
    Set {
        /// Which, below [`Tree::selectors`].
        selector: u32,
        /// The constant.
        value: u32,
    },
    /// Executes one of two lists, each of which may be empty, though not both.
    If {
        /// The condition.
        condition: Condition,
        /// Executed if the condition holds.
        then: Vec<Node>,
        /// Executed if it doesn't.
        otherwise: Vec<Node>,
    },
    /// Repeats the list for ever, until [`Node::Break`].
    Loop(Vec<Node>),
    /// Leaves the innermost [`Node::Loop`]. Always the last of its list.
    Break,
}

/// The condition of a [`Node::If`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The condition that the block computed when it was last executed. Its [`Node::Block`] stands before the `If`, in the same list or
    /// one around it with no loop between, and no other block is executed between the two.
    Branch(u32),
    /// Whether a selector has a value. The selector has been set since the last block was executed.
    Selector {
        /// Which, below [`Tree::selectors`].
        selector: u32,
        /// The value asked for.
        equals: u32,
    },
}

/// A structured program. The thread ends where the list does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The nodes to execute, in order.
    pub nodes: Vec<Node>,
    /// The number of selector variables.
    pub selectors: u32,
}
