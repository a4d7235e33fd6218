//! The parser: texts that it reads, texts that it refuses and its errors, and PTX of several compilers.

mod errors;
mod features;
mod properties;
mod samples;
mod support;
