//! CUDA's driver library over Vulkan. Programs that hand PTX to `libcuda.so.1` find this library instead of NVIDIA's,
//! and run on any Vulkan device.
//!
//! `api.in` lists the functions: names, the CUDA versions that added them, parameters, and implementations. The build
//! script generates the exported functions and the table behind `cuGetProcAddress` from it. A function that isn't
//! implemented returns `CUDA_ERROR_NOT_SUPPORTED`. The modules below implement the functions by the chapters of CUDA's
//! manual, on the types of [`ptx2spv_runtime`].
//!
//! `cudart.in` does the same for CUDA's runtime API, whose functions are in [`cudart`].
//!
//! * Handles are numbers in a table ([`handle`]), so that stale and foreign ones are errors.
//! * Panics never unwind into the caller ([`call`]).
//! * [`raw`] wraps the callers' pointers. All access through them is there.

// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

mod advice;
mod any_node;
mod api;
mod array;
mod attributes;
mod batch_copy;
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
mod first_version;
mod function;
mod graph;
mod graph_dot;
mod graph_edges;
mod graph_exec;
mod graph_memory;
mod graph_nodes;
mod graph_params;
mod handle;
mod image;
mod ipc;
mod jit;
mod launch;
mod launch_attributes;
mod launch_order;
mod library;
mod lifetime;
mod link;
mod loaded;
mod managed;
mod memory;
mod memory_operation;
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
mod thread_list;
mod trace;
mod user_object;
