//! The exported functions, generated from `api.in` by the build script.
#![allow(non_snake_case, missing_docs, reason = "the names are CUDA's, and CUDA's manual documents them")]
#![allow(improper_ctypes_definitions, reason = "pointers in transparent wrappers")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::array::{ArrayHandle, MipmappedHandle};
use crate::call::{self, Call};
use crate::context::ContextHandle;
use crate::event::EventHandle;
use crate::exports::Function;
use crate::function::FunctionHandle;
use crate::graph::{GraphHandle, NodeHandle};
use crate::launch_order::ExecHandle;
use crate::library::LibraryHandle;
use crate::link::LinkHandle;
use crate::loaded::ModuleHandle;
use crate::user_object::UserObjectHandle;

use crate::pool::PoolHandle;
use crate::raw::{HostFunction, In, Memory, Out, SizeFunction, StreamCallback, Text};
use crate::reference::{SurfaceReferenceHandle, TextureReferenceHandle};
use crate::stream::StreamHandle;
use crate::{
    any_node, array, attributes, batch_copy, context, copy, device, driver, event, first_version, function, graph,
    graph_dot, graph_edges, graph_exec, graph_memory, graph_nodes, graph_params, ipc, launch, launch_attributes,
    library, lifetime, link, managed, memory, memory_operation, module, occupancy, old_launch, peer, pointer, pool,
    reference, set, stream, stream_capture, tensor_map, texture, user_object,
};
use ptx2spv_runtime::TensorMap;

include!(concat!(env!("OUT_DIR"), "/api.rs"));

/// The modules that need the table of all functions.
mod lookup {
    use std::ffi::{c_int, c_void};

    use super::FUNCTIONS;
    use crate::code::Code;
    use crate::exports;
    use crate::raw::{Out, Text};

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
    use crate::exports::{Found, find};

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
