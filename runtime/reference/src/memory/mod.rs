//! Memory: device memory in allocations ([`device`]), and the knowledge of checked and adversarial runs about memory besides its bytes
//! ([`strict`]).

pub(crate) mod atomic;
pub(crate) mod device;
pub mod strict;
mod words;

pub(crate) use words::Words;

use crate::finding::FindingKind;

/// Why an access can't be done. The caller knows the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The kind of fault.
    pub kind: FindingKind,
    /// What happened, in words.
    pub message: String,
}

impl Fault {
    /// A fault, boxed since it is rare and results are many.
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into() })
    }
}
