//! Files in the user's cache folder: translations, the driver's pipeline caches, and results of self-tests.
//!
//! Many processes use the folder at a time. A file is written under a temporary name and then renamed, so that no
//! reader sees half of it. It contains the key it belongs to. Damaged files count as missing and are written again. The
//! folder's size is limited: the least recently used files are deleted first. Errors of reading and writing cost time,
//! but nothing else.

mod file;
mod folder;
pub(crate) mod translations;

pub use folder::{CACHE_VARIABLE, Cache, CacheUsage};

pub(crate) use file::Key;
