//! What streams do, as values: for graphs, which keep commands and run them later.

use std::ffi::c_void;
use std::sync::Arc;

use ptx2spv_runtime::{Arg, LaunchConfig};

use crate::code::{Code, INVALID_VALUE};
use crate::copy::{self, Copy3D};
use crate::event::MadeEvent;
use crate::function::Function;
use crate::graph::Order;
use crate::raw::Memory;
use crate::reference;
use crate::set::{self, Number, Rows};
use crate::stream::Used;

/// Something to do in a stream.
#[derive(Clone)]
pub(crate) enum Command {
    Kernel(Launch),
    Copy(Copy3D),
    Set(Rows, Number),
    Call(HostCall),
    /// Only orders others.
    Empty,
    Record(Arc<MadeEvent>),
    Wait(Arc<MadeEvent>),
    /// Another graph.
    Graph(Arc<Order>),
}

/// A launch with the arguments' values.
#[derive(Clone)]
pub(crate) struct Launch {
    pub function: Arc<Function>,
    pub config: LaunchConfig,
    pub cluster: Option<[u32; 3]>,
    pub cooperative: bool,
    /// Bytes for each parameter.
    pub arguments: Vec<Vec<u8>>,
}

/// A call of the program's.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub function: unsafe extern "C" fn(*mut c_void),
    pub data: Memory,
}

impl Command {
    /// Has a stream do this.
    pub fn run(&self, used: &Used) -> Result<(), Code> {
        match self {
            Self::Kernel(launch) => launch.run(used),
            Self::Copy(copy) => copy::run(used, copy),
            Self::Set(rows, value) => set::run(used, *rows, *value),
            Self::Call(call) => {
                let call = *call;
                Ok(used.stream.call(move || call.run())?)
            }
            Self::Empty => Ok(()),
            Self::Record(event) => event.record_in(used),
            Self::Wait(event) => Ok(used.stream.wait_event(&event.event)?),
            Self::Graph(order) => order.run(used),
        }
    }

    /// Puts another command of the same kind in this one's place.
    pub fn replace(&mut self, command: Command) -> Result<(), Code> {
        if self.kind() != command.kind() {
            return Err(INVALID_VALUE);
        }
        *self = command;
        Ok(())
    }

    /// `CUgraphNodeType`.
    pub fn kind(&self) -> u32 {
        match self {
            Self::Kernel(_) => 0,
            Self::Copy(_) => 1,
            Self::Set(..) => 2,
            Self::Call(_) => 3,
            Self::Graph(_) => 4,
            Self::Empty => 5,
            Self::Wait(_) => 6,
            Self::Record(_) => 7,
        }
    }
}

impl HostCall {
    fn run(self) {
        // SAFETY: the caller's function takes the caller's data, on a thread of the driver's.
        unsafe { (self.function)(self.data.pointer()) };
    }
}

impl Launch {
    fn run(&self, used: &Used) -> Result<(), Code> {
        let Self { function, config, .. } = self;
        if config.dynamic_shared_bytes > function.max_dynamic_shared() {
            return Err(INVALID_VALUE.because("more dynamic shared memory than was asked for by cuFuncSetAttribute"));
        }
        let loaded = &function.loaded;
        let name = function.kernel.name();
        let kernel = match self.cluster {
            cluster if self.cooperative => loaded.module.cooperative_kernel(name, cluster),
            Some(size) => loaded.module.cluster_kernel(name, size),
            None => Ok(function.kernel.clone()),
        };
        let kernel = kernel.map_err(|error| loaded.refuse(error))?;
        reference::update(&used.context, loaded)?;
        let arguments: Vec<_> = self.arguments.iter().map(|bytes| Arg::Bytes(bytes)).collect();
        // SAFETY: that the kernel is launched with what it was written for is CUDA's contract with the caller.
        unsafe { kernel.launch_on(&used.stream, config, &arguments) }.map_err(|error| match error {
            ptx2spv_runtime::Error::Translation(_) => loaded.refuse(error),
            error => error.into(),
        })
    }
}
