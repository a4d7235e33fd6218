//! The `ptx2spv` command line.
fn main() {}
