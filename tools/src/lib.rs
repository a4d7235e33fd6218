//! The parts of the command line tools: launch cases, the devices that they run on, and code shared by the binaries.

pub mod cases;
pub mod cli;
pub mod cuda;
pub mod findings;
pub mod input;
pub mod names;
pub mod picture;
pub mod progress;
pub mod style;
pub mod table;
pub mod target;
pub mod watch;
