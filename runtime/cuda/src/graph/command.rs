//! Stream commands as values. Graphs keep them and run them later.

use std::any::Any;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::Stream;

use crate::abi::{INVALID_VALUE, In, Memory, Result, lock};
use crate::context::Context;
use crate::context::state;

/// A command that a stream can run. [`of_type`] finds out which one a shared command is.
pub(crate) trait Command: Any + Send + Sync {
    /// Submits the command to a stream.
    fn run(&self, context: &Context, stream: &Stream) -> Result;

    fn kind(&self) -> NodeKind;

    /// The command of an executable graph in this command's place, if it is another one.
    fn executable(&self, _flags: u64) -> Option<Result<SharedCommand>> {
        None
    }

    /// The command to put in the place of another one of the same kind, if it takes something over from that one.
    fn instead_of(&self, _replaced: &SharedCommand) -> Option<Result<SharedCommand>> {
        None
    }

    /// A copy for a copy of the graph, of a command that graphs can't share.
    fn own_copy(&self) -> Option<Result<SharedCommand>> {
        None
    }
}

pub(crate) type SharedCommand = Arc<dyn Command>;

/// A structure that describes a command.
pub(crate) trait Description: Copy {
    type Command: Command;

    fn of(command: &Self::Command) -> Self;

    fn command(self) -> Result<SharedCommand>;
}

/// A source of a command for a graph node: a caller's description, or a function.
pub(crate) trait Maker {
    fn make(self) -> Result<SharedCommand>;
}

impl<T: Description> Maker for In<T> {
    fn make(self) -> Result<SharedCommand> {
        self.get()?.command()
    }
}

impl<T: Description> Maker for Result<T> {
    fn make(self) -> Result<SharedCommand> {
        self?.command()
    }
}

impl<F: FnOnce() -> Result<SharedCommand>> Maker for F {
    fn make(self) -> Result<SharedCommand> {
        self()
    }
}

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
    Allocate = 10,
    Free = 11,
    MemoryOperations = 12,
    Conditional = 13,
}

impl NodeKind {
    /// Whether submitting the command, or one after it, may wait.
    pub fn waits(self) -> bool {
        matches!(self, Self::Call | Self::Graph | Self::Wait | Self::MemoryOperations | Self::Conditional)
    }

    /// Whether an executable graph can leave out the command.
    pub fn can_be_disabled(self) -> bool {
        matches!(self, Self::Kernel | Self::Copy | Self::Set)
    }
}

/// The command itself, if it has the type.
pub(crate) fn of_type<T: Command>(command: &SharedCommand) -> Option<&T> {
    let any: &dyn Any = &**command;
    any.downcast_ref()
}

/// A place's command for a copy of the graph.
pub(crate) fn copy(place: &Mutex<SharedCommand>) -> Result<SharedCommand> {
    let command = lock(place).clone();
    command.own_copy().unwrap_or(Ok(command))
}

/// Replaces a command by another one of the same kind.
pub(crate) fn replace(place: &mut SharedCommand, command: SharedCommand) -> Result {
    if place.kind() != command.kind() {
        return Err(INVALID_VALUE);
    }
    *place = command.instead_of(place).unwrap_or(Ok(command))?;
    Ok(())
}

/// A node without work, which only orders other nodes.
pub(crate) struct Empty;

impl Command for Empty {
    fn run(&self, _context: &Context, _stream: &Stream) -> Result {
        Ok(())
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Empty
    }
}

pub(crate) fn empty() -> Result<SharedCommand> {
    Ok(Arc::new(Empty))
}

/// A call of a function of the host program.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub function: unsafe extern "C" fn(*mut c_void),
    pub data: Memory,
}

impl Command for HostCall {
    fn run(&self, _context: &Context, stream: &Stream) -> Result {
        let Self { function, data } = *self;
        // Captures the whole struct, which is `Send`, instead of the raw pointer inside it.
        let call = move || {
            let data = data;
            // SAFETY: the caller passed this function and its data for this call, on a thread of the driver.
            state::call_back(|| unsafe { function(data.pointer()) });
        };
        Ok(stream.call(call)?)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Call
    }
}
