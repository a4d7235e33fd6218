//! Submission: batches of commands, their order, and the host's checks when they have ended.

pub(crate) mod batch;
pub(crate) mod dependencies;
pub(crate) mod progress;
pub(crate) mod queues;
pub(crate) mod timing;
pub(crate) mod watched;
