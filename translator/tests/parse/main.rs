//! The parser: what it reads, what it refuses and how, and PTX of several compilers.

mod errors;
mod features;
mod properties;
mod samples;
mod support;
