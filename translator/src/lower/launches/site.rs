//! Helpers for the code of each function of the device runtime: access to the region, and the thread's last error.

use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Builder, Compare, MemoryOrder, Space, Type, Value};
use crate::lower::layout::launch_region::LaunchRegion;
use crate::lower::lowering::Lowering;
use ptx2spv_interface::push_constant;

/// Access to words that kernels write for the host, or the host for kernels.
pub(super) const OWN: Access = Access { space: Space::Global, bytes: 4, order: MemoryOrder::Weak, read_only: false };
/// Access to memory of the program in any space.
pub(super) const GENERIC: Access = Access { space: Space::Generic, ..OWN };
/// The thread's last error.
pub(super) const ERROR: Access = Access { space: Space::Local, ..OWN };

/// Errors as `cudaError` has them.
pub(super) mod error {
    pub const SUCCESS: u32 = 0;
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

/// The context for lowering a function of the device runtime.
pub(super) struct Site {
    pub(super) region: LaunchRegion,
    /// Offset in local memory of the thread's last error.
    pub(super) last_error: u32,
}

impl Site {
    pub(super) fn of(l: &Lowering<'_, '_>) -> Result<Self> {
        let found = l.layout.services.launches.zip(l.layout.last_error);
        let (region, last_error) =
            found.ok_or_else(|| Diagnostic::internal("a launch without the region for launches", None))?;
        Ok(Self { region, last_error })
    }

    /// Address of a byte of the region.
    pub(super) fn address(&self, b: &Builder<'_>, offset: u64) -> Value {
        let base = b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS);
        b.add_const(base, self.region.offset + offset)
    }

    /// Records an error as the thread's last error, unless it is success, and gives it.
    pub(super) fn give(&self, b: &Builder<'_>, error: Value) -> Value {
        b.if_(b.is_nonzero(error), |b| {
            b.store(ERROR, b.i32(self.last_error), vec![error]);
        });
        error
    }

    /// The first error whose condition does not hold.
    pub(super) fn first_error(&self, b: &Builder<'_>, checks: &[(Value, u32)]) -> Value {
        let mut error = b.i32(error::SUCCESS);
        for (fine, code) in checks.iter().rev() {
            error = b.select(*fine, error, b.i32(*code));
        }
        error
    }
}

/// Clears the thread's last error at the start.
pub fn clear_error(b: &Builder<'_>, last_error: u32) {
    b.store(ERROR, b.i32(last_error), vec![b.i32(error::SUCCESS)]);
}

pub(super) fn store_words(b: &Builder<'_>, base: Value, words: &[(u64, Value)]) {
    for (offset, value) in words {
        b.store(OWN, b.add_const(base, *offset), vec![*value]);
    }
}

pub(super) fn is_global(b: &Builder<'_>, address: Value) -> Value {
    let top = b.shr(address, 62);
    let shared = b.compare_const(Compare::Equal, top, 1);
    let local = b.compare_const(Compare::Equal, top, 2);
    b.not(b.or(shared, local))
}

/// Stores a value of 64 bits where the program says.
pub(super) fn store_long(b: &Builder<'_>, address: Value, value: Value) {
    let (low, high) = b.halves(value);
    b.store(GENERIC, address, vec![low]);
    b.store(GENERIC, b.add_const(address, 4), vec![high]);
}

/// Loads a value of 64 bits from where the program says.
pub(super) fn load_long(b: &Builder<'_>, address: Value) -> Value {
    b.join(b.load_one(GENERIC, address), b.load_one(GENERIC, b.add_const(address, 4)))
}
