//! Writes of single values in stream order, and waits for values.

use std::ffi::c_uint;
use std::sync::Arc;

use ptx2spv_runtime::Stream;

use crate::abi::{Code, INVALID_VALUE, In, Memory, NOT_SUPPORTED, Result, layouts};
use crate::context::{Context, ContextHandle};
use crate::graph::command::{Command, Description, NodeKind, SharedCommand};
use crate::memory;
use crate::stream::{self, StreamHandle};

/// `CUstreamBatchMemOpParams`: a union, whose other members have their operation and flags in the first two numbers.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    kind: c_uint,
    first_flags: c_uint,
    address: u64,
    value: u64,
    flags: c_uint,
    _alias: u64,
    _padding: u64,
}

// Kinds of operations: waits and writes of 32 and 64 bits, and barriers.
pub(crate) const WAIT_32: c_uint = 1;
pub(crate) const WRITE_32: c_uint = 2;
const FLUSH: c_uint = 3;
pub(crate) const WAIT_64: c_uint = 4;
pub(crate) const WRITE_64: c_uint = 5;
const BARRIER: c_uint = 6;

/// Flag of waits, beside the comparison: makes other devices' writes visible.
const WAIT_FLUSH: c_uint = 1 << 30;

/// The highest comparison: at least, equal, some bits, not all bits.
const COMPARISONS: c_uint = 3;

/// Flag of writes: earlier work need not be visible first. It always is.
const NO_BARRIER: c_uint = 1;

/// More operations in one call are an error.
const MOST: c_uint = 256;

impl Operation {
    fn new(kind: c_uint, address: u64, value: u64, flags: c_uint) -> Self {
        Self { kind, first_flags: 0, address, value, flags, _alias: 0, _padding: 0 }
    }

    /// Bytes of the value; zero for barriers.
    fn bytes(&self) -> Result<u64> {
        match self.kind {
            WAIT_32 | WRITE_32 => Ok(4),
            WAIT_64 | WRITE_64 => Ok(8),
            FLUSH | BARRIER => Ok(0),
            _ => Err(INVALID_VALUE),
        }
    }

    fn check(&self) -> Result {
        let bytes = self.bytes()?;
        let fits = match self.kind {
            WAIT_32 | WAIT_64 => self.flags & !WAIT_FLUSH <= COMPARISONS,
            WRITE_32 | WRITE_64 => self.flags & !NO_BARRIER == 0,
            FLUSH => self.first_flags == 0,
            _ => self.first_flags <= 1,
        };
        let is_aligned = bytes == 0 || self.address != 0 && self.address.is_multiple_of(bytes);
        if fits && is_aligned { Ok(()) } else { Err(INVALID_VALUE) }
    }

    fn run(&self, context: &Context, stream: &Stream) -> Result {
        let bytes = self.bytes()?;
        if bytes == 0 {
            return Ok(());
        }
        let address = memory::on_device(context, self.address, bytes)?.ok_or(INVALID_VALUE)?;
        match self.kind {
            WRITE_32 => Ok(stream.set(address, self.value as u32, 1)?),
            WRITE_64 => Ok(stream.write(address, &self.value.to_ne_bytes())?),
            _ => self.wait(context, stream, address),
        }
    }

    /// Waits for the stream's earlier work, and if the value isn't there then, for that of all streams. Later work can't
    /// bring the value, because this call would have to return first.
    fn wait(&self, context: &Context, stream: &Stream, address: u64) -> Result {
        let is_there = || {
            let mut bytes = [0; 8];
            context.after(stream.read(address, &mut bytes[..if self.kind == WAIT_32 { 4 } else { 8 }]))?;
            Ok::<_, Code>(self.accepts(u64::from_ne_bytes(bytes)))
        };
        if is_there()? {
            return Ok(());
        }
        context.after(context.device.synchronize())?;
        if is_there()? { Ok(()) } else { Err(NOT_SUPPORTED.because("a wait for a value that no earlier work writes")) }
    }

    /// Whether a value in memory ends the wait.
    fn accepts(&self, found: u64) -> bool {
        let short = self.kind == WAIT_32;
        let (found, value) = if short { (found as u32 as u64, self.value as u32 as u64) } else { (found, self.value) };
        match self.flags & !WAIT_FLUSH {
            // Cyclic, so that counters may overflow.
            0 if short => (found as u32).wrapping_sub(value as u32).cast_signed() >= 0,
            0 => found.wrapping_sub(value).cast_signed() >= 0,
            1 => found == value,
            2 => found & value != 0,
            _ => {
                let or = found | value;
                !(if short { or | !0_u64 << 32 } else { or }) != 0
            }
        }
    }
}

/// Operations as a command.
pub(crate) struct MemoryOperations(Vec<Operation>);

impl Command for MemoryOperations {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        self.0.iter().try_for_each(|operation| operation.run(context, stream))
    }

    fn kind(&self) -> NodeKind {
        NodeKind::MemoryOperations
    }
}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NodeParams {
    context: ContextHandle,
    count: c_uint,
    operations: In<Operation>,
    flags: c_uint,
}

impl Description for NodeParams {
    type Command = MemoryOperations;

    fn command(self) -> Result<SharedCommand> {
        command(self.operations, self.count, self.flags)
    }

    /// The operations are the command's own.
    fn of(command: &MemoryOperations) -> Self {
        let MemoryOperations(list) = command;
        Self {
            context: ContextHandle::NULL,
            count: list.len() as c_uint,
            operations: Memory::of(list).as_in(),
            flags: 0,
        }
    }
}

fn command(operations: In<Operation>, count: c_uint, flags: c_uint) -> Result<SharedCommand> {
    if count > MOST || flags != 0 {
        return Err(INVALID_VALUE);
    }
    let list = operations.list(count as usize)?;
    list.iter().try_for_each(Operation::check)?;
    Ok(Arc::new(MemoryOperations(list)))
}

pub(crate) fn batch(stream: StreamHandle, count: c_uint, operations: In<Operation>, flags: c_uint) -> Result {
    stream::used(stream)?.submit(command(operations, count, flags)?)
}

/// A wait or a write of one value.
pub(crate) fn one(stream: StreamHandle, kind: c_uint, address: u64, value: u64, flags: c_uint) -> Result {
    batch(stream, 1, In::from(&Operation::new(kind, address, value, flags)), 0)
}

layouts! {
    Operation = 48, flags at 24;
    NodeParams = 32, operations at 16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_as_cuda_documents_them() {
        let accepts = |kind, flags, value, found| Operation::new(kind, 8, value, flags).accepts(found);
        // (int32_t)(*addr - value) >= 0
        assert!(accepts(WAIT_32, 0, 5, 5) && accepts(WAIT_32, 0, 0xffff_ffff, 3) && !accepts(WAIT_32, 0, 5, 4));
        assert!(accepts(WAIT_64, 0, u64::MAX, 3) && !accepts(WAIT_64, 0, 1 << 33, 1 << 32));
        assert!(accepts(WAIT_32, 1, 5, 5) && !accepts(WAIT_32, 1, 5, 6) && !accepts(WAIT_64, 1, 5, 5 | 1 << 40));
        // (*addr & value) != 0
        assert!(accepts(WAIT_32, 2, 6, 4) && !accepts(WAIT_32, 2, 6, 1));
        // ~(*addr | value) != 0
        assert!(accepts(WAIT_32, 3, 0xffff_0000, 0xfffe) && !accepts(WAIT_32, 3, 0xffff_0000, 0xffff));
        assert!(accepts(WAIT_64, 3, 0xffff_0000, 0xffff) && !accepts(WAIT_64, 3, u64::MAX, 0));
    }
}
