//! Submission: batches of commands, their order, and what the host checks when they have ended.

pub(in crate::vulkan) mod batch;
pub(in crate::vulkan) mod dependencies;
pub(in crate::vulkan) mod order;
pub(in crate::vulkan) mod progress;
pub(in crate::vulkan) mod queue;
pub(in crate::vulkan) mod queues;
pub(in crate::vulkan) mod spin;
pub(in crate::vulkan) mod status;
pub(in crate::vulkan) mod timing;
pub(in crate::vulkan) mod watched;
