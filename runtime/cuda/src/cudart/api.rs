//! The exported functions, generated from `cudart.in` by the build script.
#![allow(non_snake_case, missing_docs, reason = "the names are CUDA's, and CUDA's manual documents them")]
#![allow(improper_ctypes_definitions, reason = "pointers in transparent wrappers")]
#![allow(clippy::unused_unit, reason = "the table names the result type of functions that return no code")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::array::{ArrayHandle, MipmappedHandle};
use crate::call::Call;
use crate::cudart::call::Needs;
use crate::cudart::types::{ChannelFormat, Dim3, Extent, Location, Pitched};
use crate::cudart::{
    array, call, copy, copy_array, current, entry, error, kernel, launch, memory, node, plain, properties, register,
    symbol, texture, texture_reference, version, versions,
};
use crate::event::EventHandle;
use crate::function::FunctionHandle;
use crate::graph::{GraphHandle, NodeHandle};
use crate::launch_order::ExecHandle;
use crate::library::LibraryHandle;
use crate::pool::PoolHandle;
use crate::raw::{HostFunction, In, Memory, Out, StreamCallback, Text};
use crate::stream::StreamHandle;
use crate::user_object::UserObjectHandle;
use crate::{
    array as driver_array, attributes, batch_copy, context, device, driver, event, graph, graph_dot, graph_edges,
    graph_exec, graph_memory, graph_nodes, graph_params, ipc, launch_attributes, library, managed,
    memory as driver_memory, pool, stream, stream_capture, texture as driver_texture, user_object,
};

include!(concat!(env!("OUT_DIR"), "/cudart.rs"));
