//! Random kernels with much control flow, barriers, calls, atomics and warp operations, and their expected results.
//!
//! A [`Program`] is a tree of statements. [`ptx`] writes it as PTX, and [`interpret`] executes it by CUDA's rules. Both
//! are independent of the translator, so they are a reference for all of it.

mod collective;
mod draw;
mod generate;
mod interpret;
mod ptx;
mod recorded;
mod tree;

pub use draw::{Drawn, draw};
pub use generate::{Size, generate};
pub use interpret::{Invalid, Outcome, interpret};
pub use ptx::ptx;
pub use recorded::{Recorded, prepare};
pub use tree::{
    Block, Collective, Comparison, Condition, Decision, GATHERED, Gather, LEVELS, LOCALS, LOOPS, Launch, Maze, OUTPUTS,
    Op, Program, REGISTERS, Shuffle, Stmt, UNIFORMS, UNTOUCHED, Value,
};
