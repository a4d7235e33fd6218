//! Functions that CUDA provides to kernels: `vprintf`, `__assertfail`, `malloc` and `free`, those of a cooperative launch's grid, and
//! the one that sets the condition of a graph's node.
//!
//! `vprintf` passes the format's address and the arguments' bytes to the host, which does the formatting. The kernel only finds out how
//! many bytes there are. `heap` has the allocator.

use crate::decode::program::{Function, Special};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Builder, Compare, MemoryOrder, Space, Stmt, Type, Value, Var};
use crate::lower::calls::grid;
use crate::lower::calls::heap;
use crate::lower::device_words::{WORD, fetch_add};
use crate::lower::layout::runtime_calls::Call;
use crate::lower::lowering::Lowering;
use crate::lower::thread::special;
use ptx2spv_interface::{MemoryRegion, output, push_constant};
use ptx2spv_target::Fault;

/// One of these functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// `vprintf(format, arguments)`.
    Print,
    /// `__assertfail(message, file, line, function, size of a character)`.
    Assert,
    /// `malloc(size)`.
    Allocate,
    /// `__cuda_syscall_aligned_malloc(size, alignment)`.
    AllocateAligned,
    /// `free(pointer)`.
    Free,
    /// `cudaCGGetIntrinsicHandle(scope)`.
    GroupHandle,
    /// `cudaCGSynchronize(handle, flags)`, which is built as blocks of the graph.
    GridBarrier,
    /// `cudaCGGetSize(threads, grids, handle)`.
    GroupSize,
    /// `cudaCGGetRank(thread, grid, handle)`.
    GroupRank,
    /// `cudaGraphSetConditional(handle, value)`. The handle is the address of the condition's word.
    SetCondition,
    /// A function of the device runtime, with which kernels launch other kernels.
    Runtime(Call),
}

/// Bytes of the formal parameters and of the results of each.
const SIGNATURES: [(&str, Service, &[u32], &[u32]); 15] = [
    ("vprintf", Service::Print, &[8, 8], &[4]),
    ("__assertfail", Service::Assert, &[8, 8, 4, 8, 8], &[]),
    ("malloc", Service::Allocate, &[8], &[8]),
    ("__cuda_syscall_aligned_malloc", Service::AllocateAligned, &[8, 8], &[8]),
    ("free", Service::Free, &[8], &[]),
    ("cudaCGGetIntrinsicHandle", Service::GroupHandle, &[4], &[8]),
    ("cudaCGSynchronize", Service::GridBarrier, &[8, 4], &[4]),
    ("cudaCGSynchronizeGrid", Service::GridBarrier, &[8, 4], &[4]),
    ("cudaCGGetSize", Service::GroupSize, &[8, 8, 8], &[4]),
    ("cudaCGGetRank", Service::GroupRank, &[8, 8, 8], &[4]),
    ("cudaGraphSetConditional", Service::SetCondition, &[8, 4], &[]),
    ("__cuda_syscall_CGS_get_intrinsic_handle", Service::GroupHandle, &[4], &[8]),
    ("__cuda_syscall_CGS_sync", Service::GridBarrier, &[8, 4], &[4]),
    ("__cuda_syscall_CGS_get_size", Service::GroupSize, &[8, 8, 8], &[4]),
    ("__cuda_syscall_CGS_get_rank", Service::GroupRank, &[8, 8, 8], &[4]),
];

impl Service {
    /// The service that an external function stands for. The declaration may leave out the result, as Taichi does for `vprintf`.
    pub fn find(function: &Function) -> Option<Self> {
        if let Some(call) = Call::find(function) {
            return Some(Self::Runtime(call));
        }
        let sizes: Vec<u32> = function.params.iter().map(|param| param.size).collect();
        let (formals, rest) = sizes.split_at_checked(function.formals)?;
        let results = rest.get(..function.results)?;
        let found = SIGNATURES.iter().find(|(name, _, takes, gives)| {
            *name == function.name && *takes == formals && (results.is_empty() || *gives == results)
        });
        found.map(|(_, service, ..)| *service)
    }

    /// Whether the function never returns.
    pub fn ends_thread(self) -> bool {
        self == Service::Assert
    }

    /// Whether the function waits for launches, which is built as blocks of the graph.
    pub fn waits_for_launches(self) -> bool {
        self == Service::Runtime(Call::Synchronize)
    }

    /// Whether the function requests launches from the host.
    pub fn launches(self) -> bool {
        matches!(self, Service::Runtime(call) if call.launches())
    }

    /// Appends the function's code, and gives its result. Parameters of more than eight bytes come as words.
    pub fn lower(self, l: &mut Lowering<'_, '_>, arguments: &[Value]) -> Result<Option<Value>> {
        let without = || Diagnostic::internal("a function without what it needs of the host", None);
        match (self, arguments) {
            (Service::Print, &[format, values]) => {
                let region = l.layout.services.output.ok_or_else(without)?;
                Ok(Some(print(&l.b, region, format, values)))
            }
            (Service::Assert, &[message, file, line, function, _]) => {
                let mut details = Vec::new();
                for address in [message, file, function] {
                    let (low, high) = l.b.halves(address);
                    details.extend([low, high]);
                }
                details.push(line);
                for dimension in 0..3 {
                    details.push(special::read(l, Special::Ctaid(dimension)).0);
                }
                for dimension in 0..3 {
                    details.push(special::read(l, Special::Tid(dimension)).0);
                }
                l.b.push(Stmt::Report(Fault::Assertion, details));
                Ok(None)
            }
            (Service::Allocate, &[size]) => {
                let region = l.layout.services.heap.ok_or_else(without)?;
                Ok(Some(heap::allocate(&l.b, region, size)))
            }
            (Service::AllocateAligned, &[size, align]) => {
                let region = l.layout.services.heap.ok_or_else(without)?;
                Ok(Some(heap::allocate_aligned(&l.b, region, size, align)))
            }
            (Service::Free, &[pointer]) => {
                let region = l.layout.services.heap.ok_or_else(without)?;
                heap::free(&l.b, region, pointer);
                Ok(None)
            }
            (Service::Runtime(call), arguments) => call.lower(l, arguments).map(Some),
            (Service::SetCondition, &[handle, value]) => {
                l.b.store(WORD, handle, vec![value]);
                Ok(None)
            }
            (Service::GroupHandle, &[scope]) => Ok(Some(grid::handle(l, scope))),
            (Service::GroupSize, &[threads, grids, handle]) => Ok(Some(grid::size(l, threads, grids, handle))),
            (Service::GroupRank, &[thread, grid, handle]) => Ok(Some(grid::rank(l, thread, grid, handle))),
            _ => Err(Diagnostic::internal("a function with other arguments", None)),
        }
    }
}

/// Access to memory of the program in any space.
const GENERIC: Access = Access { space: Space::Generic, bytes: 4, order: MemoryOrder::Weak, read_only: false };
/// Access to words of the output that one thread writes.
const OWN: Access = Access { space: Space::Global, bytes: 4, order: MemoryOrder::Weak, read_only: false };

/// `vprintf`: gives the number of arguments, or -1 if there is no format.
fn print(b: &Builder<'_>, region: MemoryRegion, format: Value, values: Value) -> Value {
    let (result, copying, to) = (b.var(Type::I32), b.var(Type::Bool), b.var(Type::I64));
    let none = b.i32(u32::MAX);
    let no = b.bool(false);
    b.set(result, none);
    b.set(copying, no);
    b.set(to, format);
    let given = b.is_nonzero(format);
    // The first round finds out how long the arguments are, the second one copies them.
    b.if_(given, |b| {
        b.loop_(|b| {
            let copies = b.get(copying);
            let place = b.get(to);
            let size = read(b, format, result, &Copy { condition: copies, from: values, to: place });
            b.if_(copies, Builder::break_);
            let place = reserve(b, region, (format, size), to);
            b.if_(b.not(place), Builder::break_);
            b.set(copying, b.bool(true));
        });
    });
    b.get(result)
}

/// Takes room for a record with a format and arguments of a size in bytes, and writes its header. Gives whether there is room, and
/// sets `to` to where the arguments go.
fn reserve(b: &Builder<'_>, region: MemoryRegion, (format, size): (Value, Value), to: Var) -> Value {
    // Rounded up to a multiple of eight bytes, header included.
    let record = b.and_const(b.add_const(size, output::HEADER + 7), !7);
    let base = b.add_const(b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS), region.offset);
    let used = b.add_const(base, output::USED);
    let capacity = region.size - output::RECORDS;
    // Once the region is full the count isn't increased, so that it can't overflow.
    let open = b.compare_const(Compare::LessUnsigned, b.load_one(WORD, used), capacity);
    let start = b.choose(open, |b| fetch_add(b, used, record), |b| b.i32(u32::MAX >> 1));
    let end = b.add(start, record);
    let capacity = b.constant_like(end, capacity);
    // A kernel that writes to the count can make the end wrap.
    let beyond = b.or(b.ult(capacity, end), b.ult(capacity, start));
    b.if_else(
        beyond,
        |b| {
            fetch_add(b, b.add_const(base, output::DROPPED), b.i32(1));
        },
        |b| {
            let place = b.add_const(b.add(base, b.zero_extend(start)), output::RECORDS);
            let (low, high) = b.halves(format);
            let zero = b.i32(0);
            for (offset, value) in [(0, record), (4, zero), (8, low), (12, high)] {
                b.store(OWN, b.add_const(place, offset), vec![value]);
            }
            b.set(to, b.add_const(place, output::HEADER));
        },
    );
    b.not(beyond)
}

/// A copy of arguments, if a condition holds.
struct Copy {
    condition: Value,
    from: Value,
    to: Value,
}

/// Reads a format: the size of its arguments in bytes, and into `count` their number. Padding between arguments is not copied, because the
/// program need not have written it.
///
/// Between `%` and the letter that ends a conversion, `*` takes an `int`, and `l`, `j`, `z`, `t` or `L` make the argument 64 bits wide.
/// Pointers and floats are always 64 bits wide.
fn read(b: &Builder<'_>, format: Value, count: Var, copy: &Copy) -> Value {
    let (position, size, inside, wide) = (b.var(Type::I64), b.var(Type::I32), b.var(Type::Bool), b.var(Type::Bool));
    let zero = b.i32(0);
    let no = b.bool(false);
    b.set(position, format);
    b.set(size, zero);
    b.set(count, zero);
    b.set(inside, no);
    b.set(wide, no);
    b.loop_(|b| {
        let at = b.get(position);
        let word = b.load_one(GENERIC, b.and_const(at, !3));
        let low = b.and_const(b.truncate(at), 3);
        let letter = b.and_const(b.shr_by(word, b.shl(low, 3)), 0xff);
        b.set(position, b.add_const(at, 1));
        b.if_(b.is_zero(letter), Builder::break_);
        let percent = is_one_of(b, letter, b"%");
        let converting = b.get(inside);
        b.if_else(
            converting,
            |b| {
                let long = is_one_of(b, letter, b"ljztL");
                b.if_(long, |b| {
                    b.set(wide, b.bool(true));
                });
                let star = is_one_of(b, letter, b"*");
                let integer = is_one_of(b, letter, b"diouxXc");
                let double = is_one_of(b, letter, b"fFeEgGaAspn");
                let argument = b.or(b.or(star, integer), double);
                b.if_(argument, |b| {
                    let long = b.or(b.and(b.get(wide), integer), double);
                    take(b, size, count, long, copy);
                });
                // Any other letter ends the conversion too.
                let more = is_one_of(b, letter, b"-+ #0123456789.*hljztLq");
                b.set(inside, more);
            },
            |b| {
                b.set(inside, percent);
                b.set(wide, no);
            },
        );
    });
    b.get(size)
}

/// Takes an argument of four bytes, or of eight if `long` holds, at a multiple of its size.
fn take(b: &Builder<'_>, size: Var, count: Var, long: Value, copy: &Copy) {
    let bytes = b.select(long, b.i32(8), b.i32(4));
    let before = b.get(size);
    // The offset is a multiple of four already, so alignment adds four at most.
    let odd = b.is_nonzero(b.and_const(before, 4));
    let skip = b.shl(b.bool_to(Type::I32, b.and(odd, long)), 2);
    let start = b.add(before, skip);
    let after = b.add(start, bytes);
    b.set(size, after);
    b.set(count, b.add_const(b.get(count), 1));
    b.if_(copy.condition, |b| {
        let start = b.zero_extend(start);
        let end = b.zero_extend(after);
        let at = b.var(Type::I64);
        b.set(at, start);
        b.loop_(|b| {
            let offset = b.get(at);
            b.if_(b.compare(Compare::Equal, offset, end), Builder::break_);
            let from = b.add(copy.from, offset);
            b.store(OWN, b.add(copy.to, offset), vec![b.load_one(GENERIC, from)]);
            b.set(at, b.add_const(offset, 4));
        });
    });
}

fn is_one_of(b: &Builder<'_>, letter: Value, letters: &[u8]) -> Value {
    let mut found = b.bool(false);
    for &one in letters {
        let equal = b.compare_const(Compare::Equal, letter, one.into());
        found = b.or(found, equal);
    }
    found
}
