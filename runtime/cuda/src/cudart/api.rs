//! The exported functions, generated from `cudart.in` by the build script.

#![allow(non_snake_case, missing_docs, reason = "the names are CUDA's, and CUDA's manual documents them")]
#![allow(improper_ctypes_definitions, reason = "pointers in transparent wrappers")]
#![allow(clippy::unused_unit, reason = "the table names the result type of functions that return no code")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::abi::call::{self as driver_call, Call};
use crate::abi::{HostFunction, In, Memory, Out, StreamCallback, Text, raw};
use crate::api::FUNCTIONS;
use crate::context::user_object::{self, UserObjectHandle};
use crate::context::{self, ContextHandle, device};
use crate::cudart::call::{self, Needs};
use crate::cudart::types::{ChannelFormat, Dim3, Extent, Location, Pitched};
use crate::cudart::{
    array, copy, error, launch, memory, node, properties, registry, texture, texture_reference, version, versions,
};
use crate::graph::launch_order::{self, ExecHandle};
use crate::graph::{self, GraphHandle, NodeHandle, command, condition, edge};
use crate::launch::{self as driver_launch, occupancy};
use crate::memory::array::{self as driver_array, ArrayHandle, MipmappedHandle};
use crate::memory::pool::{self, PoolHandle};
use crate::memory::{self as driver_memory, copy as driver_copy, graph_memory, ipc, managed, set, transfer};
use crate::module::function::{self, FunctionHandle};
use crate::module::library::{self, LibraryHandle};
use crate::module::lifetime;
use crate::nodes::{self, exec};
use crate::stream::event::{self, EventHandle};
use crate::stream::{self, StreamHandle, capture, launch_attributes};
use crate::texture as driver_texture;

include!(concat!(env!("OUT_DIR"), "/cudart.rs"));
