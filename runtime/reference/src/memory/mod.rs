//! Memory: device memory in allocations ([`device`]), and the knowledge of checked and adversarial runs about memory
//! other than its bytes ([`strict`]).

pub(crate) mod device;
pub mod strict;
mod words;

pub(crate) use words::Words;

use crate::finding::FindingKind;

/// The result of an access.
pub(crate) type Result<T = (), E = Box<Fault>> = std::result::Result<T, E>;

/// The reason why an access is not possible. The caller knows where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub kind: FindingKind,
    pub message: String,
}

impl Fault {
    /// A fault. It is boxed because faults are rare and results are frequent.
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into() })
    }
}
