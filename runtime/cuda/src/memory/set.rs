//! Filling memory.

use std::ffi::c_uint;
use std::sync::Arc;

use ptx2spv_runtime::Stream;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::context::Context;
use crate::memory::{self, MemoryKind};
use crate::stream::command::{Command, NodeKind};
use crate::stream::{self, StreamHandle};

/// The value that memory is filled with.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Byte(u8),
    Short(u16),
    Word(u32),
}

/// Rows of values.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub address: u64,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

impl Rows {
    /// A single row of `count` values.
    fn one(address: u64, count: usize) -> Self {
        Self { address, pitch: 0, width: count, height: 1 }
    }
}

/// A fill as a command.
pub(crate) struct Set {
    pub rows: Rows,
    pub value: Number,
}

impl Command for Set {
    fn run(&self, context: &Context, stream: &Stream) -> Result<(), Code> {
        let Self { rows, value } = *self;
        let [pitch, width, height] = [rows.pitch, rows.width, rows.height].map(|value| value as u64);
        if width == 0 || height == 0 {
            return Ok(());
        }
        let bytes = match value {
            Number::Byte(_) => 1,
            Number::Short(_) => 2,
            Number::Word(_) => 4,
        };
        let span = (height - 1).checked_mul(pitch).and_then(|rows| rows.checked_add(width.checked_mul(bytes)?));
        let address = memory::on_device(context, rows.address, span.ok_or(INVALID_VALUE)?)?.ok_or(INVALID_VALUE)?;
        let set = match value {
            Number::Byte(value) => stream.set_rows_8(address, pitch, value, width, height),
            Number::Short(value) => stream.set_rows_16(address, pitch, value, width, height),
            Number::Word(value) => stream.set_rows_32(address, pitch, value, width, height),
        };
        set.map_err(|error| context.failed(error))
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Set
    }
}

/// Fills memory in the default stream, even if that is being captured. Memory that the host can read is filled when this returns.
fn set(rows: Rows, value: Number) -> Result<(), Code> {
    let used = stream::default()?;
    Set { rows, value }.run(&used.context, &used.stream)?;
    let is_device = memory::find(rows.address).is_some_and(|(_, allocation)| allocation.place == MemoryKind::Device);
    if is_device { Ok(()) } else { used.context.after(used.stream.synchronize()) }
}

pub(crate) fn bytes(address: u64, value: u8, count: usize) -> Result<(), Code> {
    set(Rows::one(address, count), Number::Byte(value))
}

pub(crate) fn shorts(address: u64, value: u16, count: usize) -> Result<(), Code> {
    set(Rows::one(address, count), Number::Short(value))
}

pub(crate) fn words(address: u64, value: c_uint, count: usize) -> Result<(), Code> {
    set(Rows::one(address, count), Number::Word(value))
}

pub(crate) fn bytes_async(address: u64, value: u8, count: usize, stream: StreamHandle) -> Result<(), Code> {
    stream::used(stream)?.submit(Arc::new(Set { rows: Rows::one(address, count), value: Number::Byte(value) }))
}

pub(crate) fn shorts_async(address: u64, value: u16, count: usize, stream: StreamHandle) -> Result<(), Code> {
    stream::used(stream)?.submit(Arc::new(Set { rows: Rows::one(address, count), value: Number::Short(value) }))
}

pub(crate) fn words_async(address: u64, value: c_uint, count: usize, stream: StreamHandle) -> Result<(), Code> {
    stream::used(stream)?.submit(Arc::new(Set { rows: Rows::one(address, count), value: Number::Word(value) }))
}

pub(crate) fn byte_rows(address: u64, pitch: usize, value: u8, width: usize, height: usize) -> Result<(), Code> {
    set(Rows { address, pitch, width, height }, Number::Byte(value))
}

pub(crate) fn short_rows(address: u64, pitch: usize, value: u16, width: usize, height: usize) -> Result<(), Code> {
    set(Rows { address, pitch, width, height }, Number::Short(value))
}

pub(crate) fn word_rows(address: u64, pitch: usize, value: c_uint, width: usize, height: usize) -> Result<(), Code> {
    set(Rows { address, pitch, width, height }, Number::Word(value))
}

pub(crate) fn byte_rows_async(
    address: u64,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    stream::used(stream)?
        .submit(Arc::new(Set { rows: Rows { address, pitch, width, height }, value: Number::Byte(value) }))
}

pub(crate) fn short_rows_async(
    address: u64,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    stream::used(stream)?
        .submit(Arc::new(Set { rows: Rows { address, pitch, width, height }, value: Number::Short(value) }))
}

pub(crate) fn word_rows_async(
    address: u64,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    stream::used(stream)?
        .submit(Arc::new(Set { rows: Rows { address, pitch, width, height }, value: Number::Word(value) }))
}
