//! Launches from kernels: CUDA's device runtime, with which kernels launch other kernels, copy and set memory in stream order, and query
//! the device.
//!
//! A kernel's requests become records in the region that [`crate::interface::launches`] describes, and the host executes them when the grid
//! has ended. Executing them one after the other obeys the rules of all streams and events, so these only need distinct handles.
//! `functions` finds functions by name, `launch` and `copies` write records, and `queries` answers queries.

mod copies;
mod functions;
mod launch;
mod queries;
mod table;
mod texts;

pub use functions::Call;
pub use table::add_table;

use super::{Lowering, calls};
use crate::decode::program::{FuncId, Function, Program};
use crate::diagnostic::Diagnostic;
use crate::index::number;
use crate::interface::{ServiceSizes, launches, push_constant};
use crate::ir::{Access, Builder, Compare, MemoryOrder, Space, Type, Value};

/// Where the region is, and its capacities: see [`launches::Launches`].
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Offset in the variables' allocation.
    pub offset: u64,
    /// Number of functions in the table.
    pub functions: u32,
    /// Number of records.
    pub capacity: u32,
    /// Bytes of a record.
    pub record_bytes: u32,
    /// Whether kernels query the device.
    pub asks: bool,
    /// Whether kernels use names and texts of errors.
    pub texts: bool,
    /// Sizes of the heap and of the region for printed output.
    pub heap: u64,
    pub output: u64,
}

impl Region {
    /// The region for a module's kernels, not yet placed; `None` if the module calls no function of the device runtime.
    pub fn of(program: &Program, sizes: ServiceSizes) -> Option<Self> {
        let declared = program.functions.iter().filter(|function| function.body.is_none());
        let declared: Vec<Call> = declared.filter_map(Call::find).collect();
        if declared.is_empty() {
            return None;
        }
        let kernels = program.address_taken.iter().filter_map(|id| program.functions.get(id.0 as usize));
        let most = kernels.map(params_size).max().unwrap_or(0);
        let bytes = most.saturating_add(launches::record::PARAMS).max(launches::record::LEAST).next_multiple_of(64);
        let functions = number(program.functions.len());
        // Parameters take at most 1 MiB.
        let record_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let asks = declared.iter().any(|call| call.asks());
        let texts = declared.iter().any(|call| matches!(call, Call::ErrorString(_)));
        let ServiceSizes { heap, output, launches: capacity } = sizes;
        Some(Self { offset: 0, functions, capacity, record_bytes, asks, texts, heap, output })
    }

    /// Offset of the table in the region.
    pub const TABLE: u64 = launches::HEADER;

    /// Offset in the region of the device's attributes, which the host writes.
    pub fn attributes(self) -> u64 {
        Self::TABLE + launches::FUNCTION_BYTES * u64::from(self.functions)
    }

    /// Offset in the region of names and texts of errors.
    pub fn texts_offset(self) -> u64 {
        self.attributes() + if self.asks { launches::ATTRIBUTES_BYTES } else { 0 }
    }

    /// Offset of the first record in the region.
    pub fn records(self) -> u64 {
        let texts = if self.texts { texts::size() } else { 0 };
        (self.texts_offset() + texts).next_multiple_of(64)
    }

    /// Size of the region.
    pub fn size(self) -> u64 {
        self.records() + u64::from(self.capacity) * u64::from(self.record_bytes)
    }

    /// The description of the region for the host.
    pub fn describe(self, program: &Program) -> launches::Launches {
        launches::Launches {
            offset: self.offset,
            size: self.size(),
            records: self.records(),
            capacity: self.capacity,
            record_bytes: self.record_bytes,
            attributes: self.asks.then(|| self.attributes()),
            kernels: program
                .kernels()
                .map(|(FuncId(function), kernel)| launches::Launched { name: kernel.name.clone(), function })
                .collect(),
        }
    }
}

/// Whether one of the functions waits for launches.
pub fn any_waits(functions: &[&Function]) -> bool {
    let undefined = functions.iter().filter(|function| function.body.is_none());
    undefined.filter_map(|function| Call::find(function)).any(|call| call == Call::Synchronize)
}

/// Address of the word that counts requests.
pub fn order_word(l: &mut Lowering<'_, '_>) -> Result<Value, Diagnostic> {
    let site = Site::of(l)?;
    Ok(site.address(&mut l.b, launches::ORDER))
}

/// Address of the word that counts completed requests.
pub fn completed_word(l: &mut Lowering<'_, '_>) -> Result<Value, Diagnostic> {
    let site = Site::of(l)?;
    Ok(site.address(&mut l.b, launches::COMPLETED))
}

/// Whether a kernel may launch others.
pub fn may_launch(program: &Program, kernel: FuncId) -> bool {
    let called = calls::reachable(program, kernel).into_iter().filter(|function| function.body.is_none());
    called.filter_map(Call::find).any(Call::launches)
}

/// Bytes of a kernel's parameters.
fn params_size(kernel: &Function) -> u64 {
    kernel.params.iter().take(kernel.formals).fold(0, |end: u64, param| {
        end.next_multiple_of(u64::from(param.align.max(1))).saturating_add(param.size.into())
    })
}

/// Access to words that kernels write for the host, or the host for kernels.
const OWN: Access = Access { space: Space::Global, bytes: 4, order: MemoryOrder::Weak, read_only: false };
/// Access to memory of the program in any space.
const GENERIC: Access = Access { space: Space::Generic, ..OWN };
/// The thread's last error.
const ERROR: Access = Access { space: Space::Local, ..OWN };

/// Errors as `cudaError` has them.
mod error {
    pub const NONE: u32 = 0;
    pub const INVALID_VALUE: u32 = 1;
    pub const OUT_OF_MEMORY: u32 = 2;
    pub const INVALID_CONFIGURATION: u32 = 9;
    pub const INVALID_PITCH: u32 = 12;
    pub const INVALID_COPY_DIRECTION: u32 = 21;
    pub const TOO_MANY_LAUNCHES: u32 = 69;
    pub const INVALID_FUNCTION: u32 = 98;
    pub const INVALID_DEVICE: u32 = 101;
    pub const UNSUPPORTED_LIMIT: u32 = 215;
}

/// Whether one of the functions belongs to the device runtime.
pub fn has_any(functions: &[&Function]) -> bool {
    functions.iter().any(|function| function.body.is_none() && Call::find(function).is_some())
}

/// The context for lowering a function of the device runtime.
struct Site {
    region: Region,
    /// Offset in local memory of the thread's last error.
    last_error: u32,
}

impl Site {
    fn of(l: &Lowering<'_, '_>) -> Result<Self, Diagnostic> {
        let found = l.layout.services.launches.zip(l.layout.last_error);
        let (region, last_error) =
            found.ok_or_else(|| Diagnostic::internal("a launch without the region for launches", None))?;
        Ok(Self { region, last_error })
    }

    /// Address of a byte of the region.
    fn address(&self, b: &mut Builder<'_>, offset: u64) -> Value {
        let base = b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS);
        b.add_const(base, self.region.offset + offset)
    }

    /// Records an error as the thread's last error, unless it is success, and gives it.
    fn give(&self, b: &mut Builder<'_>, error: Value) -> Value {
        let wrong = b.is_nonzero(error);
        b.if_(wrong, |b| {
            let place = b.i32(self.last_error);
            b.store(ERROR, place, vec![error]);
        });
        error
    }

    /// The first error whose condition does not hold.
    fn first_error(&self, b: &mut Builder<'_>, checks: &[(Value, u32)]) -> Value {
        let mut error = b.i32(error::NONE);
        for (fine, code) in checks.iter().rev() {
            let code = b.i32(*code);
            error = b.select(*fine, error, code);
        }
        error
    }
}

/// Clears the thread's last error at the start.
pub fn clear_error(b: &mut Builder<'_>, last_error: u32) {
    let place = b.i32(last_error);
    let none = b.i32(error::NONE);
    b.store(ERROR, place, vec![none]);
}

fn store_words(b: &mut Builder<'_>, base: Value, words: &[(u64, Value)]) {
    for (offset, value) in words {
        let address = b.add_const(base, *offset);
        b.store(OWN, address, vec![*value]);
    }
}

/// Whether an address is in global memory.
fn is_global(b: &mut Builder<'_>, address: Value) -> Value {
    let top = b.shr(address, 62);
    let shared = b.compare_const(Compare::Equal, top, 1);
    let local = b.compare_const(Compare::Equal, top, 2);
    let other = b.or(shared, local);
    b.not(other)
}

/// Stores a value of 64 bits where the program says.
fn store_long(b: &mut Builder<'_>, address: Value, value: Value) {
    let (low, high) = b.halves(value);
    b.store(GENERIC, address, vec![low]);
    let address = b.add_const(address, 4);
    b.store(GENERIC, address, vec![high]);
}

/// Loads a value of 64 bits from where the program says.
fn load_long(b: &mut Builder<'_>, address: Value) -> Value {
    let low = b.load_one(GENERIC, address);
    let address = b.add_const(address, 4);
    let high = b.load_one(GENERIC, address);
    b.join(low, high)
}
