//! Passes over the intermediate representation against exact references and against the effects of programs before and
//! after them, in an interpreter of it.

mod approximate;
mod arithmetic;
mod byte_swaps;
mod device;
mod doubles;
mod evaluator;
mod exact;
mod filetests;
mod flushed_arithmetic;
mod fma_runs;
mod folding;
mod fused;
mod known_operands;
mod loop_budget;
mod optimise;
mod outline;
mod pointers;
mod program;
mod round;
mod rounded_arithmetic;
mod shape;
mod single_arithmetic;
mod soft;
mod structurize;
mod support;
mod verify;
mod words;
