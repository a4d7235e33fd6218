//! Launches.

use std::ffi::c_uint;
use std::sync::Arc;

use ptx2spv_runtime::{Arg, Kernel, LaunchConfig, Stream};

use crate::code::{Code, INVALID_VALUE};
use crate::command::{Command, NodeKind, SharedCommand};
use crate::context::Context;
use crate::event::{self, EventHandle};
use crate::function::{Function, FunctionHandle};
use crate::handle::Handle;
use crate::launch_attributes::{Attributes, Value};
use crate::raw::{In, Memory};
use crate::reference;
use crate::stream::{self, StreamHandle};

/// A kernel's arguments: the bytes of each parameter.
type Arguments = Vec<Vec<u8>>;

/// Tags of `cuLaunchKernel`'s `extra` list: its end, the buffer with all arguments, the buffer's size.
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// Reads the arguments: one pointer for each, or one buffer for all.
fn arguments(kernel: &Kernel, params: In<Memory>, extra: In<Memory>) -> Result<Arguments, Code> {
    let wanted = kernel.params();
    if !params.is_null() {
        let argument = |(index, size)| Ok(params.at(index)?.bytes(size)?.to_vec());
        return wanted.iter().map(|param| u64::from(param.size)).enumerate().map(argument).collect();
    }
    if extra.is_null() {
        return if wanted.is_empty() { Ok(Vec::new()) } else { Err(INVALID_VALUE) };
    }
    let (mut buffer, mut size) = (None, None);
    for index in (0..).step_by(2) {
        let value = || extra.at(index + 1);
        match extra.at(index)?.address() as usize {
            END => break,
            BUFFER => buffer = Some(value()?),
            BUFFER_SIZE => size = Some(value()?.as_in::<usize>().get()?),
            _ => return Err(INVALID_VALUE),
        }
    }
    match (buffer, size) {
        (Some(buffer), Some(size)) => arguments_in(kernel, buffer.bytes(size as u64)?),
        _ => Err(INVALID_VALUE),
    }
}

/// Splits a buffer into arguments.
fn arguments_in(kernel: &Kernel, bytes: &[u8]) -> Result<Arguments, Code> {
    let argument = |offset: u32, size: u32| bytes.get(offset as usize..)?.get(..size as usize).map(<[u8]>::to_vec);
    kernel.params().iter().map(|param| argument(param.offset, param.size).ok_or(INVALID_VALUE)).collect()
}

/// A launch with its arguments.
pub(crate) struct Launch {
    handle: FunctionHandle,
    function: Arc<Function>,
    config: LaunchConfig,
    attributes: Attributes,
    /// The bytes of each parameter.
    arguments: Arguments,
    /// Pointers to the arguments, for programs that ask for a node's parameters.
    pointers: Vec<Memory>,
}

impl Launch {
    fn new(
        handle: FunctionHandle,
        config: LaunchConfig,
        attributes: Attributes,
        arguments: impl FnOnce(&Kernel) -> Result<Arguments, Code>,
    ) -> Result<Self, Code> {
        let function = handle.get()?;
        let arguments = arguments(&function.kernel)?;
        let pointers = arguments.iter().map(|bytes| Memory::of(bytes)).collect();
        Ok(Self { handle, function, config, attributes, arguments, pointers })
    }

    /// The parameters as of a graph's node. They point into this launch.
    pub fn node_params(&self) -> NodeParamsV2 {
        let LaunchConfig { grid, block, dynamic_shared_bytes, .. } = self.config;
        let params = if self.pointers.is_empty() { Memory::NULL } else { Memory::of(&self.pointers) };
        let first = NodeParams {
            function: self.handle,
            grid,
            block,
            shared_bytes: dynamic_shared_bytes,
            params: params.as_in(),
            extra: Memory::NULL.as_in(),
        };
        NodeParamsV2 { first, kernel: Handle::NULL, _context: 0 }
    }

    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The same launch with other attributes.
    pub fn with_attributes(&self, attributes: Attributes) -> Result<SharedCommand, Code> {
        let arguments = self.arguments.clone();
        Ok(Arc::new(Self::new(self.handle, self.config, attributes, |_| Ok(arguments))?))
    }
}

impl Command for Launch {
    fn run(&self, context: &Context, stream: &Stream) -> Result<(), Code> {
        let Self { function, config, .. } = self;
        if config.dynamic_shared_bytes > function.max_dynamic_shared() {
            return Err(INVALID_VALUE.because("more dynamic shared memory than the limit set by cuFuncSetAttribute"));
        }
        let loaded = &function.loaded;
        let name = function.kernel.name();
        let kernel = match self.attributes.cluster() {
            cluster if self.attributes.is_cooperative() => loaded.module.cooperative_kernel(name, cluster),
            Some(size) => loaded.module.cluster_kernel(name, size),
            None => Ok(function.kernel.clone()),
        };
        let kernel = kernel.map_err(|error| loaded.refuse(error))?;
        reference::update(context, loaded)?;
        let arguments: Vec<_> = self.arguments.iter().map(|bytes| Arg::Bytes(bytes)).collect();
        // SAFETY: CUDA's contract with the caller: the arguments are what the kernel was written for.
        unsafe { kernel.launch_on(stream, config, &arguments) }.map_err(|error| match error {
            ptx2spv_runtime::Error::Translation(_) => loaded.refuse(error),
            // A launch of a kernel that launches others waits for it, and reports its errors.
            error => context.failed(error),
        })
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Kernel
    }
}

/// The launch as a command, with copies of the arguments.
fn command(
    function: FunctionHandle,
    config: LaunchConfig,
    attributes: Attributes,
    params: In<Memory>,
    extra: In<Memory>,
) -> Result<SharedCommand, Code> {
    Ok(Arc::new(Launch::new(function, config, attributes, |kernel| arguments(kernel, params, extra))?))
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn kernel(
    function: FunctionHandle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: StreamHandle,
    params: In<Memory>,
    extra: In<Memory>,
) -> Result<(), Code> {
    let used = stream::used(stream)?;
    let config = LaunchConfig::new([grid_x, grid_y, grid_z], [block_x, block_y, block_z]).with_shared(shared_bytes);
    used.submit(command(function, config, Attributes::default(), params, extra)?)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn cooperative(
    function: FunctionHandle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: StreamHandle,
    params: In<Memory>,
) -> Result<(), Code> {
    let used = stream::used(stream)?;
    let config = LaunchConfig::new([grid_x, grid_y, grid_z], [block_x, block_y, block_z]).with_shared(shared_bytes);
    used.submit(command(function, config, Attributes::cooperative(), params, Memory::NULL.as_in())?)
}

/// Launches with all arguments in one buffer.
pub(crate) fn with_bytes(
    function: FunctionHandle,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: StreamHandle,
    bytes: &[u8],
) -> Result<(), Code> {
    let used = stream::used(stream)?;
    let config = LaunchConfig::new(grid, block).with_shared(shared_bytes);
    let launch = Launch::new(function, config, Attributes::default(), |kernel| arguments_in(kernel, bytes))?;
    used.submit(Arc::new(launch))
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Config {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: StreamHandle,
    pub attributes: In<Attribute>,
    pub attribute_count: c_uint,
}

impl Config {
    /// The attributes by number.
    pub fn attributes(&self) -> Result<Attributes, Code> {
        let mut attributes = Attributes::default();
        for attribute in self.attributes.list(self.attribute_count as usize)? {
            attributes.set(attribute.number, attribute.value)?;
        }
        Ok(attributes)
    }
}

/// `CUlaunchAttribute`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct Attribute {
    number: c_uint,
    _padding: c_uint,
    value: Value,
}

pub(crate) fn with_config(
    config: In<Config>,
    function: FunctionHandle,
    params: In<Memory>,
    extra: In<Memory>,
) -> Result<(), Code> {
    let config = config.get()?;
    let used = stream::used(config.stream)?;
    let attributes = config.attributes()?;
    let events: Vec<_> = attributes.events().map(EventHandle::from_value).collect();
    for event in &events {
        event.get()?;
    }
    let launch_config = LaunchConfig::new(config.grid, config.block).with_shared(config.shared_bytes);
    used.submit(command(function, launch_config, attributes, params, extra)?)?;
    events.into_iter().try_for_each(|event| event::record(event, config.stream))
}

/// A kernel node's parameters: `CUDA_KERNEL_NODE_PARAMS`. Later versions append fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NodeParams {
    pub function: FunctionHandle,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub params: In<Memory>,
    pub extra: In<Memory>,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NodeParamsV2 {
    first: NodeParams,
    kernel: FunctionHandle,
    _context: usize,
}

impl NodeParamsV2 {
    /// The fields of the first version.
    pub fn first(self) -> NodeParams {
        self.first
    }
}

impl NodeParams {
    pub fn command(self) -> Result<SharedCommand, Code> {
        let config = LaunchConfig::new(self.grid, self.block).with_shared(self.shared_bytes);
        command(self.function, config, Attributes::default(), self.params, self.extra)
    }
}

impl NodeParamsV2 {
    pub fn command(self) -> Result<SharedCommand, Code> {
        let function = if self.first.function.is_null() { self.kernel } else { self.first.function };
        NodeParams { function, ..self.first }.command()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!(size_of::<Config>(), 56);
        assert_eq!(std::mem::offset_of!(Config, stream), 32);
        assert_eq!(std::mem::offset_of!(Config, attribute_count), 48);
        assert_eq!(size_of::<Attribute>(), 72);
        assert_eq!((size_of::<NodeParams>(), size_of::<NodeParamsV2>()), (56, 72));
    }
}
