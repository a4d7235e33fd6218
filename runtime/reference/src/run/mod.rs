//! Runs [`Code`](crate::code::Code).
