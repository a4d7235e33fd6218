//! What the command line tools are made of: launch cases and the devices that they run on.

pub mod cases;
