//! Functions as CUDA had them before it gave them a second version.

pub(crate) mod first_version;
pub(crate) mod old_launch;
