//! The functions of the device runtime by name. Each is called `cudaName` in modules of compilers before CUDA 12 and `__cudaCDP2Name` in
//! later ones. The name ends with `_ptsz` if each thread has a NULL stream of its own.

use super::call_graph::reachable;
use crate::decode::program::{FuncId, Function, Program};

/// The kinds of an error's strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Name,
    Text,
}

/// A function of the device runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `GetParameterBufferV2(kernel, grid, block, shared bytes)`
    Buffer,
    /// `LaunchDeviceV2(buffer, stream)`
    Launch,
    /// `GetParameterBuffer(alignment, size)`
    SizedBuffer,
    /// `LaunchDevice(kernel, buffer, grid, block, shared bytes, stream)`
    LaunchKernel,
    /// `StreamCreateWithFlags(stream, flags)`
    StreamCreate,
    /// `EventCreateWithFlags(event, flags)`
    EventCreate,
    /// `StreamDestroy(stream)`, `EventDestroy(event)`
    Destroy,
    /// `StreamWaitEvent(stream, event, flags)`
    StreamWait,
    /// `EventRecord(event, stream)`, maybe with flags
    EventRecord,
    /// `MemcpyAsync(to, from, bytes, kind, stream)`
    Copy,
    /// `Memcpy2DAsync(to, pitch, from, pitch, width, height, kind, stream)`
    CopyRows,
    /// `Memcpy3DAsync(parameters, stream)`
    CopySlices,
    /// `MemsetAsync(to, value, bytes, stream)`
    Set,
    /// `Memset2DAsync(to, pitch, value, width, height, stream)`
    SetRows,
    /// `Memset3DAsync(pointer with pitch, value, extent, stream)`
    SetSlices,
    /// `Malloc(pointer, bytes)`
    Allocate,
    /// `Free(pointer)`
    Free,
    /// `GetLastError()`
    LastError,
    /// `PeekAtLastError()`
    PeekError,
    /// `DeviceSynchronize()`, which is built as blocks of the graph
    Synchronize,
    /// `FuncGetAttributes(attributes, kernel)`
    FunctionAttributes,
    /// `OccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared bytes)`, maybe with flags
    Occupancy,
    /// `DeviceGetAttribute(value, attribute, device)`
    DeviceAttribute,
    /// `DeviceGetLimit(value, limit)`
    Limit,
    /// `GetDevice(device)`
    Device,
    /// `GetDeviceCount(count)`
    DeviceCount,
    /// `RuntimeGetVersion(version)`
    RuntimeVersion,
    /// `GetErrorName(error)`, `GetErrorString(error)`
    ErrorString(Which),
}

/// Names, the sizes of formal parameters in bytes, and the size of the result.
const SIGNATURES: [(&str, Call, &[u32], u32); 33] = [
    ("GetParameterBufferV2", Call::Buffer, &[8, 12, 12, 4], 8),
    ("LaunchDeviceV2", Call::Launch, &[8, 8], 4),
    ("GetParameterBuffer", Call::SizedBuffer, &[8, 8], 8),
    ("LaunchDevice", Call::LaunchKernel, &[8, 8, 12, 12, 4, 8], 4),
    ("StreamCreateWithFlags", Call::StreamCreate, &[8, 4], 4),
    ("EventCreateWithFlags", Call::EventCreate, &[8, 4], 4),
    ("StreamDestroy", Call::Destroy, &[8], 4),
    ("EventDestroy", Call::Destroy, &[8], 4),
    ("StreamWaitEvent", Call::StreamWait, &[8, 8, 4], 4),
    ("EventRecord", Call::EventRecord, &[8, 8], 4),
    ("EventRecordWithFlags", Call::EventRecord, &[8, 8, 4], 4),
    ("MemcpyAsync", Call::Copy, &[8, 8, 8, 4, 8], 4),
    ("Memcpy2DAsync", Call::CopyRows, &[8, 8, 8, 8, 8, 8, 4, 8], 4),
    ("Memcpy3DAsync", Call::CopySlices, &[8, 8], 4),
    ("MemsetAsync", Call::Set, &[8, 4, 8, 8], 4),
    ("Memset2DAsync", Call::SetRows, &[8, 8, 4, 8, 8, 8], 4),
    ("Memset3DAsync", Call::SetSlices, &[32, 4, 24, 8], 4),
    ("Malloc", Call::Allocate, &[8, 8], 4),
    ("Free", Call::Free, &[8], 4),
    ("GetLastError", Call::LastError, &[], 4),
    ("PeekAtLastError", Call::PeekError, &[], 4),
    ("DeviceSynchronize", Call::Synchronize, &[], 4),
    ("__cudaDeviceSynchronizeDeprecationAvoidance", Call::Synchronize, &[], 4),
    ("FuncGetAttributes", Call::FunctionAttributes, &[8, 8], 4),
    ("OccupancyMaxActiveBlocksPerMultiprocessor", Call::Occupancy, &[8, 8, 4, 8], 4),
    ("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", Call::Occupancy, &[8, 8, 4, 8, 4], 4),
    ("DeviceGetAttribute", Call::DeviceAttribute, &[8, 4, 4], 4),
    ("DeviceGetLimit", Call::Limit, &[8, 4], 4),
    ("GetDevice", Call::Device, &[8], 4),
    ("GetDeviceCount", Call::DeviceCount, &[8], 4),
    ("GetErrorName", Call::ErrorString(Which::Name), &[4], 8),
    ("GetErrorString", Call::ErrorString(Which::Text), &[4], 8),
    ("RuntimeGetVersion", Call::RuntimeVersion, &[8], 4),
];

impl Call {
    /// The function that a declaration without a body stands for.
    pub fn find(function: &Function) -> Option<Self> {
        let whole = function.name.as_str();
        let name = whole.strip_prefix("__cudaCDP2").or_else(|| whole.strip_prefix("cuda")).unwrap_or(whole);
        let name = name.strip_suffix("_ptsz").unwrap_or(name);
        let sizes: Vec<u32> = function.params.iter().map(|param| param.size).collect();
        let (formals, rest) = sizes.split_at_checked(function.formals)?;
        let results = rest.get(..function.results)?;
        let found = SIGNATURES.iter().find(|(known, _, takes, gives)| {
            // A name without a prefix must match as a whole.
            *known == name
                && (name != whole || known.starts_with("__"))
                && *takes == formals
                && (results.is_empty() || results == [*gives])
        });
        found.map(|(_, call, ..)| *call)
    }

    /// Whether the function writes requests to the host.
    pub fn launches(self) -> bool {
        use Call::{
            Buffer, Copy, CopyRows, CopySlices, Launch, LaunchKernel, Set, SetRows, SetSlices, SizedBuffer, Synchronize,
        };
        matches!(
            self,
            Synchronize
                | Buffer
                | Launch
                | SizedBuffer
                | LaunchKernel
                | Copy
                | CopyRows
                | CopySlices
                | Set
                | SetRows
                | SetSlices
        )
    }

    /// Whether the function needs the host's data about the device.
    pub fn asks(self) -> bool {
        matches!(self, Self::FunctionAttributes | Self::Occupancy | Self::DeviceAttribute)
    }

    /// Whether the function needs the heap of `malloc`.
    pub fn allocates(self) -> bool {
        matches!(self, Self::Allocate | Self::Free)
    }
}

/// Whether one of the functions waits for launches.
pub fn any_waits(functions: &[&Function]) -> bool {
    let undefined = functions.iter().filter(|function| function.body.is_none());
    undefined.filter_map(|function| Call::find(function)).any(|call| call == Call::Synchronize)
}

/// Whether one of the functions belongs to the device runtime.
pub fn has_any(functions: &[&Function]) -> bool {
    functions.iter().any(|function| function.body.is_none() && Call::find(function).is_some())
}

/// Whether a kernel may launch others.
pub fn may_launch(program: &Program, kernel: FuncId) -> bool {
    let called = reachable(program, kernel).into_iter().filter(|function| function.body.is_none());
    called.filter_map(Call::find).any(Call::launches)
}
