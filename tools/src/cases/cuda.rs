//! Runs launch cases on CUDA: the reference that our own results are held against.

use super::backend::{Backend, Failure, Outputs};
use super::prepare::{Argument, Prepared};
use crate::cuda::{Context, CudaError, Launch, Memory};

/// CUDA on the first NVIDIA device.
pub struct CudaBackend {
    /// `None` after a failure: a kernel's fault would poison everything that follows in its context.
    context: Option<Context>,
    name: String,
}

impl CudaBackend {
    /// Loads the driver.
    pub fn new() -> Result<Self, CudaError> {
        let context = Context::new()?;
        let name = format!("CUDA on {}", context.device_name()?);
        Ok(Self { context: Some(context), name })
    }
}

impl Backend for CudaBackend {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&mut self, case: &Prepared) -> Result<Outputs, Failure> {
        let context = match self.context.take() {
            Some(context) => context,
            None => Context::new().map_err(failure)?,
        };
        let outputs = run(&context, case).map_err(failure)?;
        self.context = Some(context);
        Ok(outputs)
    }
}

impl From<&Prepared> for Launch {
    fn from(case: &Prepared) -> Self {
        Self { grid: case.grid, block: case.block, dynamic_shared_bytes: case.dynamic_shared_bytes }
    }
}

fn run(context: &Context, case: &Prepared) -> Result<Outputs, CudaError> {
    let module = context.load(&case.ptx)?;
    let function = module.function(&case.entry)?;
    for (name, array) in &case.globals {
        module.variable(name)?.write(&array.bytes)?;
    }
    let memories = memories(context, &case.args)?;
    let bound = function.bind(Launch::from(case), parameters(&case.args, &memories))?;
    bound.in_clusters(case.cluster).launch()?;
    context.synchronize()?;
    let mut outputs = Outputs::default();
    for memory in &memories {
        outputs.buffers.push(memory.as_ref().map(|memory| memory.read(memory.len())).transpose()?);
    }
    for (name, &len) in &case.read_globals {
        outputs.globals.insert(name.clone(), module.variable(name)?.read(len)?);
    }
    Ok(outputs)
}

/// Makes the buffers among the arguments' parts; `None` for parts that are no buffers.
pub fn memories<'c>(context: &'c Context, args: &[Argument]) -> Result<Vec<Option<Memory<'c>>>, CudaError> {
    let memory = |arg: &Argument| match arg {
        Argument::Buffer(array) => context.upload(&array.bytes).map(Some),
        _ => Ok(None),
    };
    args.iter().flat_map(Argument::parts).map(memory).collect()
}

/// The bytes of every parameter, with the addresses of [`memories`].
pub fn parameters(args: &[Argument], memories: &[Option<Memory<'_>>]) -> Vec<Vec<u8>> {
    let mut addresses = memories.iter().flatten().map(Memory::address);
    args.iter().map(|arg| arg.bytes(&mut addresses)).collect()
}

fn failure(error: CudaError) -> Failure {
    if error.is_refusal() { Failure::Refused(error.to_string()) } else { Failure::Broken(error.to_string()) }
}
