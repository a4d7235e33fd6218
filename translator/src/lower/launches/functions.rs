//! The functions of the device runtime by name. Each is called `cudaName` in modules of compilers before CUDA 12 and `__cudaCDP2Name` in
//! later ones. The name ends with `_ptsz` if each thread has a NULL stream of its own.

use super::texts::{self, Which};
use super::{Site, copies, launch, queries};
use crate::decode::program::Function;
use crate::diagnostic::Diagnostic;
use crate::ir::Value;
use crate::lower::Lowering;

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

    /// Appends the function's code, and gives its result. Parameters of more than eight bytes come as words.
    pub fn lower(self, l: &mut Lowering<'_, '_>, arguments: &[Value]) -> Result<Value, Diagnostic> {
        let site = Site::of(l)?;
        let heap = l.layout.services.heap;
        let without = || Diagnostic::internal("a heap that isn't there", None);
        let b = &mut l.b;
        let error = match (self, arguments) {
            (Self::Buffer, &[kernel, gx, gy, gz, bx, by, bz, shared]) => {
                let shape = launch::Shape { grid: [gx, gy, gz], block: [bx, by, bz], shared };
                return Ok(launch::buffer(b, &site, kernel, &shape));
            }
            (Self::SizedBuffer, &[alignment, size]) => return Ok(launch::sized_buffer(b, &site, alignment, size)),
            (Self::Launch, &[buffer, stream]) => launch::launch(b, &site, buffer, stream),
            (Self::LaunchKernel, &[kernel, buffer, gx, gy, gz, bx, by, bz, shared, stream]) => {
                let shape = launch::Shape { grid: [gx, gy, gz], block: [bx, by, bz], shared };
                launch::launch_kernel(b, &site, kernel, (buffer, stream), &shape)
            }
            (Self::StreamCreate, &[place, flags]) => launch::new_stream(b, &site, place, flags),
            (Self::EventCreate, &[place, flags]) => launch::new_event(b, &site, place, flags),
            (Self::Destroy, &[handle]) => launch::check_handle(b, handle),
            (Self::StreamWait, &[stream, event, _]) => launch::check_event(b, event, stream),
            (Self::EventRecord, &[event, stream] | &[event, stream, _]) => launch::check_event(b, event, stream),
            (Self::Copy, &[to, from, bytes, kind, stream]) => copies::copy(b, &site, (to, from), bytes, kind, stream),
            (Self::CopyRows, &[to, to_pitch, from, from_pitch, width, height, kind, stream]) => {
                copies::copy_rows(b, &site, [(to, to_pitch), (from, from_pitch)], (width, height), kind, stream)
            }
            (Self::CopySlices, &[parameters, stream]) => copies::copy_slices(b, &site, parameters, stream),
            (Self::Set, &[to, value, bytes, stream]) => copies::set(b, &site, to, value, bytes, stream),
            (Self::SetRows, &[to, pitch, value, width, height, stream]) => {
                copies::set_rows(b, &site, (to, pitch), value, (width, height), stream)
            }
            (Self::SetSlices, &[p0, p1, p2, p3, _, _, h0, h1, value, e0, e1, e2, e3, e4, e5, stream]) => {
                let [pointer, pitch, rows] = [(p0, p1), (p2, p3), (h0, h1)].map(|(low, high)| b.join(low, high));
                let extent = [(e0, e1), (e2, e3), (e4, e5)].map(|(low, high)| b.join(low, high));
                copies::set_slices(b, &site, (pointer, pitch, rows), value, extent, stream)
            }
            (Self::Allocate, &[place, size]) => queries::allocate(b, heap.ok_or_else(without)?, place, size),
            (Self::Free, &[pointer]) => queries::free(b, heap.ok_or_else(without)?, pointer),
            (Self::FunctionAttributes, &[place, kernel]) => queries::function(b, &site, place, kernel),
            (Self::Occupancy, &[place, kernel, threads, shared] | &[place, kernel, threads, shared, _]) => {
                queries::occupancy(b, &site, place, kernel, threads, shared)
            }
            (Self::DeviceAttribute, &[place, attribute, device]) => queries::device(b, &site, place, attribute, device),
            (Self::Limit, &[place, limit]) => queries::limit(b, &site, place, limit),
            (Self::Device, &[place]) => queries::constant(b, &site, place, 0),
            (Self::DeviceCount, &[place]) => queries::constant(b, &site, place, 1),
            (Self::RuntimeVersion, &[place]) => queries::constant(b, &site, place, queries::RUNTIME_VERSION),
            (Self::ErrorString(which), &[error]) => return Ok(texts::find(b, &site, error, which)),
            (Self::LastError, &[]) => return Ok(queries::last_error(b, &site, true)),
            (Self::PeekError, &[]) => return Ok(queries::last_error(b, &site, false)),
            _ => return Err(Diagnostic::internal("a function of the device runtime with other arguments", None)),
        };
        Ok(site.give(b, error))
    }
}
