//! What streams do, as values: for graphs, which keep commands and run them later.

use std::ffi::c_void;
use std::sync::Arc;

use ptx2spv_runtime::Stream;

use crate::code::{Code, INVALID_VALUE};
use crate::context::Context;
use crate::raw::Memory;

/// Something to do in a stream.
pub(crate) trait Command: Send + Sync {
    /// Has a stream do this.
    fn run(&self, context: &Context, stream: &Stream) -> Result<(), Code>;

    fn kind(&self) -> NodeKind;
}

pub(crate) type SharedCommand = Arc<dyn Command>;

/// `CUgraphNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Kernel = 0,
    Copy = 1,
    Set = 2,
    Call = 3,
    Graph = 4,
    Empty = 5,
    Wait = 6,
    Record = 7,
}

/// Puts another command of the same kind in the place of one.
pub(crate) fn replace(place: &mut SharedCommand, command: SharedCommand) -> Result<(), Code> {
    if place.kind() != command.kind() {
        return Err(INVALID_VALUE);
    }
    *place = command;
    Ok(())
}

/// Only orders others.
pub(crate) struct Empty;

impl Command for Empty {
    fn run(&self, _context: &Context, _stream: &Stream) -> Result<(), Code> {
        Ok(())
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Empty
    }
}

/// A call of the program's.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub function: unsafe extern "C" fn(*mut c_void),
    pub data: Memory,
}

impl Command for HostCall {
    fn run(&self, _context: &Context, stream: &Stream) -> Result<(), Code> {
        let Self { function, data } = *self;
        // The whole is taken along, not the pointer in there.
        let call = move || {
            let data = data;
            // SAFETY: the caller's function takes the caller's data, on a thread of the driver's.
            unsafe { function(data.pointer()) }
        };
        Ok(stream.call(call)?)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Call
    }
}
