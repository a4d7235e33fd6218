//! Launches.

pub(crate) mod occupancy;

use std::ffi::c_uint;
use std::sync::Arc;

use ptx2spv_runtime::{Arg, DeclaredKernel, LaunchConfig, Stream};
use smallvec::SmallVec;

use crate::abi::{Handle, INVALID_HANDLE, INVALID_VALUE, In, Memory, Result, layouts};
use crate::context::{self, Context, ContextHandle};
use crate::graph::command::{self, Command, Description, NodeKind, SharedCommand};
use crate::module::function::{Function, FunctionHandle};
use crate::module::{library, texture_reference};
use crate::stream::event::{self, EventHandle};
use crate::stream::launch_attributes::{Attributes, Value};
use crate::stream::{self, StreamHandle, Used};

/// Tags of `cuLaunchKernel`'s `extra` list: its end, the buffer with all arguments, the buffer's size.
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// Most arguments whose list needs no allocation.
const FEW: usize = 32;

/// The arguments of a launch, as the caller passes them.
#[derive(Clone, Copy)]
enum Arguments<'a> {
    /// A pointer to each argument.
    Pointers(In<Memory>),
    /// A buffer, with each argument at its parameter's offset.
    Buffer(&'a [u8]),
}

impl<'a> Arguments<'a> {
    /// The arguments as `cuLaunchKernel` takes them: one pointer for each, or one buffer for all.
    fn new(params: In<Memory>, extra: In<Memory>) -> Result<Self> {
        if !params.is_null() {
            return Ok(Self::Pointers(params));
        }
        if extra.is_null() {
            return Ok(Self::Buffer(&[]));
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
            (Some(buffer), Some(size)) => Ok(Self::Buffer(buffer.bytes(size as u64)?)),
            _ => Err(INVALID_VALUE),
        }
    }

    /// The bytes of each argument.
    fn each(self, kernel: &DeclaredKernel) -> impl Iterator<Item = Result<&'a [u8]>> {
        kernel.params().iter().enumerate().map(move |(index, param)| match self {
            Self::Pointers(pointers) => pointers.at(index)?.bytes(param.size.into()),
            Self::Buffer(bytes) => {
                let bytes = bytes.get(param.offset as usize..).and_then(|rest| rest.get(..param.size as usize));
                bytes.ok_or(INVALID_VALUE)
            }
        })
    }

    /// A copy of all arguments, with each at its parameter's offset.
    fn to_buffer(self, kernel: &DeclaredKernel) -> Result<Vec<u8>> {
        let mut buffer = Vec::new();
        for (param, bytes) in kernel.params().iter().zip(self.each(kernel)) {
            buffer.resize(param.offset as usize, 0);
            buffer.extend(bytes?);
        }
        Ok(buffer)
    }
}

fn check_shared(function: &Function, config: &LaunchConfig) -> Result {
    if config.dynamic_shared_bytes > function.max_dynamic_shared() {
        return Err(INVALID_VALUE.because("more dynamic shared memory than the limit set by cuFuncSetAttribute"));
    }
    Ok(())
}

/// Launches a kernel. Allocates nothing for most launches.
fn run(
    function: &Function,
    config: &LaunchConfig,
    attributes: &Attributes,
    arguments: Arguments<'_>,
    context: &Context,
    stream: &Stream,
) -> Result {
    if !function.loaded.device.is(stream.device()) {
        return Err(INVALID_HANDLE.because("a kernel of another device than the stream's"));
    }
    check_shared(function, config)?;
    let loaded = &function.loaded;
    let arguments = arguments.each(&function.kernel).map(|bytes| bytes.map(Arg::Bytes));
    let arguments = arguments.collect::<Result<SmallVec<[Arg<'_>; FEW]>, _>>()?;
    let special = match attributes.cluster() {
        cluster if attributes.is_cooperative() => {
            Some(loaded.module.cooperative_kernel(function.kernel.name(), cluster))
        }
        Some(size) => Some(loaded.module.cluster_kernel(function.kernel.name(), size)),
        None => None,
    };
    let special = special.transpose().map_err(|error| loaded.refuse(error))?;
    let kernel = match &special {
        Some(kernel) => kernel,
        None => function.translated()?,
    };
    texture_reference::update(context, loaded)?;
    // SAFETY: CUDA's contract with the caller: the arguments are what the kernel was written for.
    let launched = unsafe { kernel.launch_on(stream, config, &arguments) };
    context::state::launched();
    launched.map_err(|error| match error {
        ptx2spv_runtime::Error::Translation(_) => loaded.refuse(error),
        // A launch of a kernel that launches others waits for it, and reports its errors.
        error => context.failed(error),
    })
}

/// A launch in a stream, or as a node of the graph that the stream is captured into, which has copies of the arguments.
fn submit(
    stream: &Used,
    handle: FunctionHandle,
    config: LaunchConfig,
    attributes: Attributes,
    arguments: Arguments<'_>,
) -> Result {
    if let Some(point) = stream.point()? {
        let launch = || {
            let handle = library::kernel_on(handle, &stream.context.device)?;
            let function = handle.get()?;
            check_shared(&function, &config)?;
            let threads = config.block.into_iter().try_fold(1, u32::checked_mul);
            if !threads.is_some_and(|threads| (1..=function.kernel.attributes().max_threads).contains(&threads)) {
                return Err(INVALID_VALUE.because("a block of no threads, or of more than the kernel's"));
            }
            Launch::new(handle, config, attributes, arguments)
        };
        // A launch that fails leaves a capture that isn't what the program meant.
        return stream.submit(Arc::new(launch().map_err(|code| point.sequence.invalidate(code))?));
    }
    let function = handle.get()?;
    let function = if function.loaded.device.is(&stream.context.device) {
        function
    } else {
        library::kernel_on(handle, &stream.context.device)?.get()?
    };
    run(&function, &config, &attributes, arguments, &stream.context, &stream.stream)
}

pub(crate) struct Launch {
    handle: FunctionHandle,
    function: Arc<Function>,
    config: LaunchConfig,
    attributes: Attributes,
    /// The arguments, each at its parameter's offset.
    buffer: Vec<u8>,
    /// Pointers to the arguments, for programs that ask for a node's parameters.
    pointers: Vec<Memory>,
}

impl Launch {
    fn new(
        handle: FunctionHandle,
        config: LaunchConfig,
        attributes: Attributes,
        arguments: Arguments<'_>,
    ) -> Result<Self> {
        let function = handle.get()?;
        let buffer = arguments.to_buffer(&function.kernel)?;
        let pointers = Arguments::Buffer(&buffer).each(&function.kernel).map(|bytes| Ok(Memory::of(bytes?)));
        let pointers = pointers.collect::<Result<_>>()?;
        Ok(Self { handle, function, config, attributes, buffer, pointers })
    }

    /// The parameters as of a graph's node. They point into this launch.
    fn node_params(&self) -> NodeParamsV2 {
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
        NodeParamsV2 { first, kernel: Handle::NULL, context: Handle::NULL }
    }

    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The launch with other attributes.
    pub fn with_attributes(&self, attributes: Attributes) -> Result<SharedCommand> {
        Ok(Arc::new(Self::new(self.handle, self.config, attributes, Arguments::Buffer(&self.buffer))?))
    }
}

impl Command for Launch {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        let Self { function, config, attributes, buffer, .. } = self;
        run(function, config, attributes, Arguments::Buffer(buffer), context, stream)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Kernel
    }

    /// New parameters say nothing of a node's attributes, which stay.
    fn instead_of(&self, replaced: &SharedCommand) -> Option<Result<SharedCommand>> {
        command::of_type::<Self>(replaced).map(|replaced| self.with_attributes(replaced.attributes.clone()))
    }
}

pub(crate) fn config(grid: [c_uint; 3], block: [c_uint; 3], shared_bytes: c_uint) -> LaunchConfig {
    LaunchConfig::new(grid, block).with_shared(shared_bytes)
}

pub(crate) fn kernel(
    function: FunctionHandle,
    config: LaunchConfig,
    stream: StreamHandle,
    params: In<Memory>,
    extra: In<Memory>,
    attributes: Attributes,
) -> Result {
    submit(&stream::used(stream)?, function, config, attributes, Arguments::new(params, extra)?)
}

/// Launches with all arguments in one buffer.
pub(crate) fn with_bytes(function: FunctionHandle, config: LaunchConfig, stream: StreamHandle, bytes: &[u8]) -> Result {
    submit(&stream::used(stream)?, function, config, Attributes::default(), Arguments::Buffer(bytes))
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

/// More attributes than there are kinds.
const MOST_ATTRIBUTES: c_uint = 64;

impl Config {
    /// The attributes by number.
    pub fn attributes(&self) -> Result<Attributes> {
        if self.attribute_count > MOST_ATTRIBUTES {
            return Err(INVALID_VALUE);
        }
        let mut attributes = Attributes::default();
        for index in 0..self.attribute_count as usize {
            let attribute = self.attributes.at(index)?;
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
) -> Result {
    let config = config.get()?;
    let used = stream::used(config.stream)?;
    let attributes = config.attributes()?;
    let events: Vec<_> = attributes.events().map(EventHandle::from_value).collect();
    for event in &events {
        event.get()?;
    }
    let launch_config = LaunchConfig::new(config.grid, config.block).with_shared(config.shared_bytes);
    submit(&used, function, launch_config, attributes, Arguments::new(params, extra)?)?;
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
    context: ContextHandle,
}

impl NodeParams {
    /// A library's kernel is that of the context's device, or of the current one's.
    fn command_in(self, context: ContextHandle) -> Result<SharedCommand> {
        let context = if context.is_null() { context::current_if_any()? } else { Some(context.get()?) };
        let function = match context.filter(|_| library::of_kernel(self.function).is_ok()) {
            Some(context) => library::kernel_on(self.function, &context.device)?,
            None => self.function,
        };
        let config = LaunchConfig::new(self.grid, self.block).with_shared(self.shared_bytes);
        let arguments = Arguments::new(self.params, self.extra)?;
        Ok(Arc::new(Launch::new(function, config, Attributes::default(), arguments)?))
    }
}

impl Description for NodeParams {
    type Command = Launch;

    fn of(launch: &Launch) -> Self {
        launch.node_params().first
    }

    fn command(self) -> Result<SharedCommand> {
        self.command_in(Handle::NULL)
    }
}

impl Description for NodeParamsV2 {
    type Command = Launch;

    fn of(launch: &Launch) -> Self {
        launch.node_params()
    }

    fn command(self) -> Result<SharedCommand> {
        let function = if self.first.function.is_null() { self.kernel } else { self.first.function };
        NodeParams { function, ..self.first }.command_in(self.context)
    }
}

layouts! {
    Config = 56, stream at 32, attribute_count at 48;
    Attribute = 72;
    NodeParams = 56;
    NodeParamsV2 = 72;
}
