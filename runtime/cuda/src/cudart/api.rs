//! The exported functions, generated from `cudart.in` by the build script.
#![allow(non_snake_case, missing_docs, reason = "the names are CUDA's, and CUDA's manual documents them")]
#![allow(improper_ctypes_definitions, reason = "pointers in transparent wrappers")]
#![allow(clippy::unused_unit, reason = "the table names the result type of functions that return no code")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::abi::call::Call;
use crate::abi::raw::{HostFunction, In, Memory, Out, StreamCallback, Text};
use crate::context::user_object::UserObjectHandle;
use crate::context::{self, attributes, device, driver, user_object};
use crate::cudart::call::Needs;
use crate::cudart::types::{ChannelFormat, Dim3, Extent, Location, Pitched};
use crate::cudart::{
    array, call, copy, copy_array, current, entry, error, kernel, launch, memory, node, properties, register, registry,
    symbol, texture, texture_reference, version, versions,
};
use crate::graph::launch_order::ExecHandle;
use crate::graph::{self, command, dot, edges, launch_order};
use crate::graph::{GraphHandle, NodeHandle};
use crate::launch::occupancy;
use crate::memory as driver_memory;
use crate::memory::array as driver_array;
use crate::memory::array::{ArrayHandle, MipmappedHandle};
use crate::memory::graph_memory;
use crate::memory::pool::PoolHandle;
use crate::memory::{batch_copy, ipc, managed, pool, set, transfer};
use crate::module::function::FunctionHandle;
use crate::module::library::LibraryHandle;
use crate::module::{function, library, lifetime};
use crate::nodes::{self, any_node, exec, params};
use crate::stream::StreamHandle;
use crate::stream::event::EventHandle;
use crate::stream::launch_attributes;
use crate::stream::{self, event, stream_capture};
use crate::texture as driver_texture;

include!(concat!(env!("OUT_DIR"), "/cudart.rs"));
