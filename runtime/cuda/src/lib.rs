//! CUDA's driver library over Vulkan: programs that hand PTX to `libcuda.so.1` find this one instead of NVIDIA's, and run on any
//! Vulkan device.
//!
//! `api.in` lists the functions: names, the versions of CUDA that they came with, arguments, and what implements each; the
//! exported functions and the table behind `cuGetProcAddress` are made of that. A function that isn't implemented answers
//! `CUDA_ERROR_NOT_SUPPORTED`. The modules below have the functions by CUDA's own chapters, over the types of
//! [`ptx2spv_runtime`].
//!
//! `cudart.in` does the same for CUDA's runtime API, whose functions are in [`cudart`].
//!
//! * Handles are numbers of a table ([`handle`]): a stale or a foreign one is an error.
//! * Nothing unwinds into the caller ([`call`]).
//! * Pointers of callers are what [`raw`] wraps, where all reading and writing through them is.

mod api;
mod array;
mod attributes;
mod call;
mod capture;
mod code;
mod command;
mod context;
mod copy;
mod cudart;
mod device;
mod driver;
mod event;
mod exports;
mod function;
mod graph;
mod graph_edges;
mod graph_exec;
mod graph_nodes;
mod handle;
mod image;
mod jit;
mod launch;
mod library;
mod lifetime;
mod link;
mod loaded;
mod managed;
mod memory;
mod module;
mod occupancy;
mod old_launch;
mod output;
mod peer;
mod pointer;
mod pool;
mod raw;
mod reference;
mod set;
mod state;
mod stream;
mod stream_capture;
mod sync;
mod tensor_map;
mod texture;
mod trace;
