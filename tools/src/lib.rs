//! Tool library: to be filled.
