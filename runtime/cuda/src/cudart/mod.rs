//! CUDA's runtime API, for programs that were built with `-cudart shared`.
//!
//! `cudart.in` lists the functions, as `api.in` does for the driver API. This module implements those that differ from
//! the driver's; the others call the driver's directly. As in CUDA, streams, events and addresses are shared by both
//! APIs, so both are in one library. `ptx2spv cuda` puts stubs beside the library that have the names and symbol
//! versions of `libcudart.so`.

mod api;
mod array;
mod call;
mod copy;
mod error;
mod launch;
mod memory;
mod node;
mod properties;
mod registry;
mod texture;
mod texture_reference;
mod types;
mod version;
mod versions;
