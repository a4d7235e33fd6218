//! Host runtime: to be filled.
