//! The exported functions, generated from `api.in` by the build script.
#![allow(non_snake_case, missing_docs, reason = "the names are CUDA's, and CUDA's manual documents them")]
#![allow(improper_ctypes_definitions, reason = "pointers in transparent wrappers")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::abi::call::{self, Call};
use crate::abi::exports::Function;
use crate::context::ContextHandle;
use crate::context::user_object::UserObjectHandle;
use crate::graph::launch_order::ExecHandle;
use crate::graph::{GraphHandle, NodeHandle};
use crate::memory::array::{ArrayHandle, MipmappedHandle};
use crate::module::function::FunctionHandle;
use crate::module::library::LibraryHandle;
use crate::module::link::LinkHandle;
use crate::module::loaded::ModuleHandle;
use crate::stream::event::EventHandle;

use crate::abi::raw::{HostFunction, In, Memory, Out, SizeFunction, StreamCallback, Text};
use crate::context::{self, attributes, device, driver, user_object};
use crate::graph::{self, command, dot, edges, launch_order};
use crate::launch::{self, occupancy};
use crate::legacy::{first_version, old_launch};
use crate::memory::graph_memory;
use crate::memory::pool::PoolHandle;
use crate::memory::{
    self, array, batch_copy, copy, ipc, managed, memory_operation, peer, pointer, pool, set, transfer,
};
use crate::module::texture_reference::{SurfaceReferenceHandle, TextureReferenceHandle};
use crate::module::{self, function, library, lifetime, link, texture_reference};
use crate::nodes::{self, any_node, exec, params};
use crate::stream::StreamHandle;
use crate::stream::launch_attributes;
use crate::stream::{self, event, stream_capture};
use crate::texture::{self, tensor_map};
use ptx2spv_runtime::TensorMap;

include!(concat!(env!("OUT_DIR"), "/api.rs"));

/// The modules that need the table of all functions.
mod lookup {
    use std::ffi::{c_int, c_void};

    use super::FUNCTIONS;
    use crate::abi::code::Code;
    use crate::abi::exports;
    use crate::abi::raw::{Out, Text};

    pub fn proc_address(name: Text, function: Out<*const c_void>, version: c_int, flags: u64) -> Result<(), Code> {
        exports::proc_address(FUNCTIONS, name, function, version, flags)
    }

    pub fn proc_address_with_status(
        name: Text,
        function: Out<*const c_void>,
        version: c_int,
        flags: u64,
        status: Out<u32>,
    ) -> Result<(), Code> {
        exports::proc_address_with_status(FUNCTIONS, name, function, version, flags, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::exports::{Found, find};

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
