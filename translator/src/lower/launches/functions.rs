//! The code of the device runtime's functions.

use super::copies;
use super::launch;
use super::queries;
use super::site::Site;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::Value;
use crate::lower::layout::runtime_calls::Call;
use crate::lower::lowering::Lowering;

impl Call {
    /// Appends the function's code, and gives its result. Parameters of more than eight bytes come as words.
    pub fn lower(self, l: &mut Lowering<'_, '_>, arguments: &[Value]) -> Result<Value> {
        let site = Site::of(l)?;
        let heap = l.layout.services.heap;
        let without = || Diagnostic::internal("a heap that isn't there", None);
        let b = &l.b;
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
            (Self::ErrorString(which), &[error]) => return Ok(queries::error_string(b, &site, error, which)),
            (Self::LastError, &[]) => return Ok(queries::last_error(b, &site, true)),
            (Self::PeekError, &[]) => return Ok(queries::last_error(b, &site, false)),
            _ => return Err(Diagnostic::internal("a function of the device runtime with other arguments", None)),
        };
        Ok(site.give(b, error))
    }
}
