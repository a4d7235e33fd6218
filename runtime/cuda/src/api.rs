//! The exported functions, made of `api.in` by the build script.
#![allow(non_snake_case, missing_docs, reason = "the names are CUDA's, and CUDA's manual documents them")]
#![allow(improper_ctypes_definitions, reason = "pointers in transparent wrappers")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::array::{ArrayHandle, MipmappedHandle};
use crate::call::{self, Call};
use crate::context::ContextHandle;
use crate::event::EventHandle;
use crate::function::FunctionHandle;
use crate::graph::{ExecHandle, GraphHandle, NodeHandle};
use crate::library::LibraryHandle;
use crate::link::LinkHandle;
use crate::module::ModuleHandle;
use crate::pool::PoolHandle;
use crate::raw::{HostFunction, In, Memory, Out, SizeFunction, StreamCallback, Text};
use crate::reference::{SurfaceReferenceHandle, TextureReferenceHandle};
use crate::stream::StreamHandle;
use crate::{
    array, attributes, capture, context, copy, device, driver, event, function, graph, launch, library, link, managed,
    memory, module, occupancy, pointer, pool, reference, set, stream, texture,
};

/// A function of the API.
pub(crate) struct Function {
    /// The exported name.
    pub name: &'static str,
    /// The version of CUDA that brought the function, as `cuDriverGetVersion` counts.
    pub since: u32,
    /// With the legacy default stream.
    pub legacy: *const c_void,
    /// With default streams per thread, where that makes a difference.
    pub per_thread: Option<*const c_void>,
}

// SAFETY: the pointers are addresses of functions, which nobody writes to.
unsafe impl Sync for Function {}

impl Function {
    /// The name without the version, as `cuGetProcAddress` takes it.
    pub fn base(&self) -> &'static str {
        match self.name.rsplit_once("_v") {
            Some((base, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => base,
            _ => self.name,
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/api.rs"));
