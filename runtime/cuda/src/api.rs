//! The exported functions, generated from `api.in` by the build script.

#![allow(non_snake_case, missing_docs, reason = "the names are CUDA's, and CUDA's manual documents them")]
#![allow(improper_ctypes_definitions, reason = "pointers in transparent wrappers")]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use ptx2spv_runtime::TensorMap;

use crate::abi::call::{self, Call, Function};
use crate::abi::{HostFunction, In, Memory, Out, SizeFunction, StreamCallback, Text, raw};
use crate::context::user_object::{self, UserObjectHandle};
use crate::context::{self, ContextHandle, device, state};
use crate::graph::launch_order::{self, ExecHandle};
use crate::graph::{self, GraphHandle, NodeHandle, command, condition, edge};
use crate::launch::{self, occupancy};
use crate::legacy;
use crate::memory::array::{self, ArrayHandle, MipmappedHandle};
use crate::memory::pool::{self, PoolHandle};
use crate::memory::virtual_memory::PhysicalHandle;
use crate::memory::{self, copy, graph_memory, ipc, managed, memory_operation, pointer, set, transfer, virtual_memory};
use crate::module::function::{self, FunctionHandle};
use crate::module::library::{self, LibraryHandle};
use crate::module::link::{self, LinkHandle};
use crate::module::loaded::ModuleHandle;
use crate::module::texture_reference::{self, SurfaceReferenceHandle, TextureReferenceHandle};
use crate::module::{self, lifetime};
use crate::nodes::{self, exec};
use crate::stream::event::{self, EventHandle};
use crate::stream::{self, StreamHandle, capture, launch_attributes};
use crate::texture::{self, tensor_map};

include!(concat!(env!("OUT_DIR"), "/api.rs"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::call::{Found, find};

    fn function(name: &str) -> *const c_void {
        let function = FUNCTIONS.iter().find(|function| function.name == name).unwrap();
        function.legacy
    }

    #[test]
    fn newest_function_of_a_version() {
        assert_eq!(find(FUNCTIONS, "cuMemAlloc", 2000, 0), Found::Yes(function("cuMemAlloc")));
        assert_eq!(find(FUNCTIONS, "cuMemAlloc", 12_000, 0), Found::Yes(function("cuMemAlloc_v2")));
        assert_eq!(find(FUNCTIONS, "cuLaunchKernelEx", 11_000, 0), Found::Later);
        assert_eq!(find(FUNCTIONS, "cuNothing", 12_000, 0), Found::No);
        assert_eq!(find(FUNCTIONS, "cuMemAlloc_v2", 12_000, 0), Found::No);
        let synchronize = FUNCTIONS.iter().find(|function| function.name == "cuStreamSynchronize").unwrap();
        assert_eq!(find(FUNCTIONS, "cuStreamSynchronize", 12_000, 2), Found::Yes(synchronize.per_thread.unwrap()));
        assert_eq!(find(FUNCTIONS, "cuStreamSynchronize", 12_000, 1), Found::Yes(synchronize.legacy));
    }
}
