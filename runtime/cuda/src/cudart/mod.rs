//! CUDA's runtime API, for programs that were built with `-cudart shared`.
//!
//! `cudart.in` lists the functions, as `api.in` does for the driver API: what differs from the driver's function is here, the others
//! are the driver's own. Both APIs are in one library, so that a stream, an event or an address of one is one of the other, as CUDA
//! has it; the names and versions of `libcudart.so` that programs ask the loader for are those of stubs that `ptx2spv cuda` puts beside
//! the library.

mod api;
mod array;
mod call;
mod copy;
mod copy_array;
mod current;
mod entry;
mod error;
mod kernel;
mod launch;
mod memory;
mod node;
mod plain;
mod properties;
mod register;
mod registry;
mod symbol;
mod texture;
mod types;
mod version;
mod versions;
