//! Memory: device memory in allocations ([`device`]), and what checked and adversarial runs know of it besides its bytes
//! ([`strict`]).

pub mod strict;
