//! Filling memory.

use std::sync::Arc;

use ptx2spv_runtime::{SetValue, Stream};

use crate::abi::{INVALID_VALUE, Result};
use crate::context::Context;
use crate::graph::command::{Command, NodeKind};
use crate::memory::transfer::Transfer;
use crate::memory::{self, Place};
use crate::stream::{self, StreamHandle};

/// Rows of values.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub address: u64,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// A fill as a command.
pub(crate) struct Set {
    pub rows: Rows,
    pub value: SetValue,
}

impl Command for Set {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        let Self { rows, value } = *self;
        let [pitch, width, height] = [rows.pitch, rows.width, rows.height].map(|value| value as u64);
        if width == 0 || height == 0 {
            return Ok(());
        }
        let span = (height - 1).checked_mul(pitch).and_then(|rows| rows.checked_add(width.checked_mul(value.bytes())?));
        match memory::place(context, rows.address, span.ok_or(INVALID_VALUE)?)? {
            Place::Device(address) => {
                stream.set_rows(address, pitch, value, width, height).map_err(|error| context.failed(error))
            }
            // The other device does it, between the stream's earlier and later work.
            Place::Elsewhere(owner, address) | Place::Host(Some((owner, address))) => {
                context.after(stream.synchronize())?;
                let other = owner.device.non_blocking_stream();
                let set = other.set_rows(address, pitch, value, width, height).and_then(|()| other.synchronize());
                owner.after(set)
            }
            Place::Host(None) | Place::Unknown => Err(INVALID_VALUE),
        }
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Set
    }
}

impl Transfer for Set {
    /// Memory that the host can read is filled when this returns.
    fn now(self) -> Result {
        let used = stream::default()?;
        memory::synchronize_owner(&used.context, self.rows.address)?;
        self.run(&used.context, &used.stream)?;
        let found = memory::find(self.rows.address);
        let is_device = found.is_some_and(|(_, allocation)| allocation.place.is_of_device_alone());
        if is_device { Ok(()) } else { used.context.after(used.stream.synchronize()) }
    }

    fn in_stream(self, stream: StreamHandle) -> Result {
        stream::used(stream)?.submit(Arc::new(self))
    }
}

/// A fill of `count` values.
pub(crate) fn row(address: u64, value: impl Into<SetValue>, count: usize) -> Set {
    rows(address, 0, value, count, 1)
}

/// A fill of rows of `width` values.
pub(crate) fn rows(address: u64, pitch: usize, value: impl Into<SetValue>, width: usize, height: usize) -> Set {
    Set { rows: Rows { address, pitch, width, height }, value: value.into() }
}
