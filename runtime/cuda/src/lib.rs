//! CUDA's driver library over Vulkan. Programs that hand PTX to `libcuda.so.1` find this library instead of NVIDIA's,
//! and run on any Vulkan device.
//!
//! `api.in` lists the functions: names, the CUDA versions that added them, parameters, and implementations. The build
//! script generates the exported functions and the table behind `cuGetProcAddress` from it. A function that isn't
//! implemented returns `CUDA_ERROR_NOT_SUPPORTED`. The modules below implement the functions by the chapters of CUDA's
//! manual, on the types of [`ptx2spv_runtime`].
//!
//! `cudart.in` does the same for CUDA's runtime API, whose functions are in [`cudart`], and `nvml.in` for NVIDIA's management library, whose
//! functions are in [`nvml`].
//!
//! * Handles are numbers in a table ([`handle`](crate::abi::handle)), so that stale and foreign ones are errors.
//! * Panics never unwind into the caller ([`call`](crate::abi::call)).
//! * [`raw`](crate::abi::raw) wraps the callers' pointers. All access through them is there.

// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]
#![allow(clippy::too_many_arguments, reason = "CUDA's arguments")]

mod abi;
mod api;
mod context;
mod cudart;
mod graph;
mod launch;
mod legacy;
mod memory;
mod module;
mod nodes;
mod nvml;
mod stream;
mod texture;
