//! Transfers of bytes by commands: staging buffers between host and device, and images that follow arrays.

pub(crate) mod images;
pub(crate) mod staging;
