//! Test support: to be filled.
