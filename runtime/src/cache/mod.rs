//! Files in the user's cache folder: translations, data of the driver's pipeline caches, and what self-tests found.
//!
//! Many processes use the folder at a time. A file is written beside and moved to its place, so that nobody reads half of it, and
//! says which key it belongs to; what is damaged counts as not there, and is written anew. The folder has a bounded size: what was
//! not used for the longest time goes first. Whatever can't be read or written costs time, nothing else.

mod file;
mod folder;
pub(crate) mod translations;

pub use folder::{CACHE_VARIABLE, Cache, CacheUsage};

pub(crate) use file::Key;
