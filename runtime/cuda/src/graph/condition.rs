//! Values that kernels set, and that decide on conditional nodes. Such a value is a word of device memory, and its address is the handle, which kernels
//! store through.

use std::ffi::c_uint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Buffer, Stream};

use crate::abi::{INVALID_VALUE, Result, lock};
use crate::context::{self, Context, ContextHandle};
use crate::graph::GraphHandle;

/// The conditions of a graph and of the graphs in its conditional nodes.
pub(crate) type Conditions = Arc<Mutex<Vec<Arc<Condition>>>>;

/// A value that decides on a node.
pub(crate) struct Condition {
    word: Buffer,
    /// The value that each launch of the graph begins with, if launches set one.
    first: Option<c_uint>,
    /// Whether a node has the condition. Only one node can have it.
    taken: AtomicBool,
}

impl Condition {
    pub fn handle(&self) -> u64 {
        self.word.address()
    }

    /// Gives the condition to a node, if no other node has it.
    pub fn take(&self) -> Result {
        if self.taken.swap(true, Ordering::SeqCst) {
            return Err(INVALID_VALUE.because("the condition belongs to another node"));
        }
        Ok(())
    }

    /// Takes the condition back, for another node.
    pub fn free(&self) {
        self.taken.store(false, Ordering::SeqCst);
    }

    /// Gives the condition its first value, when a graph is launched.
    pub fn begin(&self, stream: &Stream) -> Result {
        match self.first {
            Some(value) => Ok(stream.set(self.word.address(), value, 1)?),
            None => Ok(()),
        }
    }

    /// The value, when the stream's earlier work has finished.
    pub fn value(&self, context: &Context, stream: &Stream) -> Result<c_uint> {
        let mut bytes = [0; 4];
        context.after(stream.read(self.word.address(), &mut bytes))?;
        Ok(c_uint::from_ne_bytes(bytes))
    }
}

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`: each launch of the graph gives the condition its first value.
const ASSIGN_DEFAULT: c_uint = 1;

pub(crate) fn create(graph: GraphHandle, context: ContextHandle, first: c_uint, flags: c_uint) -> Result<u64> {
    let context = if context.is_null() { context::current()? } else { context.get()? };
    let graph = graph.get()?;
    if flags & !ASSIGN_DEFAULT != 0 {
        return Err(INVALID_VALUE);
    }
    let first = (flags & ASSIGN_DEFAULT != 0).then_some(first);
    let condition = Condition { word: context.device.alloc(4)?, first, taken: false.into() };
    let handle = condition.handle();
    lock(&graph.conditions).push(Arc::new(condition));
    Ok(handle)
}
