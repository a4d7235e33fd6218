//! What the command line tools are made of: launch cases, the devices that they run on, and what the binaries share.

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
