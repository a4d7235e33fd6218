//! Errors within emission.

use crate::diagnostic::ErrorKind;

/// The result of a function of emission. Its caller adds the place in the source.
pub(super) type Result<T, E = ErrorKind> = std::result::Result<T, E>;
