//! Submission: batches of commands, their order, and what the host checks when they have ended.

pub(in crate::backend::vulkan) mod batch;
pub(in crate::backend::vulkan) mod dependencies;
pub(in crate::backend::vulkan) mod order;
pub(in crate::backend::vulkan) mod progress;
pub(in crate::backend::vulkan) mod queue;
pub(in crate::backend::vulkan) mod queues;
pub(in crate::backend::vulkan) mod spin;
pub(in crate::backend::vulkan) mod status;
pub(in crate::backend::vulkan) mod timing;
pub(in crate::backend::vulkan) mod watched;
