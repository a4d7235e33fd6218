//! Runs launch cases on CUDA, the reference for our own results.

use super::backend::{Backend, Failure, Outputs};
use super::cuda_images::Images;
use super::prepare::{Argument, Prepared};
use crate::cuda::textures::Object;
use crate::cuda::{Context, CudaError, Launch, Memory, Module};

/// CUDA on the first NVIDIA device.
pub struct CudaBackend {
    /// `None` after a failure, because a kernel's fault makes the context unusable, and after a cooperative launch, because later
    /// ordinary launches in its context would find its grid's workspace.
    context: Option<Context>,
    name: String,
    /// The assembler's level of optimization.
    level: usize,
}

impl CudaBackend {
    /// Loads the driver.
    pub fn new() -> Result<Self, CudaError> {
        let context = Context::new()?;
        let name = format!("CUDA on {}", context.device_name()?);
        Ok(Self { context: Some(context), name, level: Context::MOST_OPTIMIZED })
    }

    /// Loads the driver, whose assembler is to optimize nothing.
    pub fn unoptimized() -> Result<Self, CudaError> {
        Ok(Self { level: 0, ..Self::new()? })
    }
}

impl Backend for CudaBackend {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&mut self, case: &Prepared) -> Result<Outputs, Failure> {
        if let Some(math) = case.math {
            return Err(Failure::TooLarge(format!("CUDA has its own arithmetic, the case that of `{math}`")));
        }
        let context = match self.context.take() {
            Some(context) => context,
            None => Context::new().map_err(failure)?,
        };
        let outputs = run(&context, case, self.level).map_err(failure)?;
        self.context = Some(context).filter(|_| !case.cooperative);
        Ok(outputs)
    }
}

impl From<&Prepared> for Launch {
    fn from(case: &Prepared) -> Self {
        Self { grid: case.grid, block: case.block, dynamic_shared_bytes: case.dynamic_shared_bytes }
    }
}

fn run(context: &Context, case: &Prepared, level: usize) -> Result<Outputs, CudaError> {
    let module = context.load_optimized(case.ptx.text(), level)?;
    let function = module.function(&case.entry)?;
    for (name, array) in &case.globals {
        module.variable(name)?.write(&array.bytes)?;
    }
    let made = Made::new(context, case)?;
    made.bind(&module, case)?;
    let bound = function.bind(Launch::from(case), made.bytes.clone())?;
    bound.in_clusters(case.cluster).cooperatively(case.cooperative).launch()?;
    context.synchronize()?;
    let mut outputs = made.read()?;
    for (name, &len) in &case.read_globals {
        outputs.globals.insert(name.clone(), module.variable(name)?.read(len)?);
    }
    Ok(outputs)
}

/// A case's arguments on CUDA.
pub struct Made<'c> {
    parts: Vec<Part<'c>>,
    images: Images<'c>,
    /// The bytes of each parameter.
    pub bytes: Vec<Vec<u8>>,
}

enum Part<'c> {
    /// Passed by value.
    Value,
    Buffer(Memory<'c>),
    Object(Object<'c>),
    /// A buffer, and the objects of the handles in it.
    Handles {
        memory: Memory<'c>,
        _objects: Vec<Object<'c>>,
    },
}

impl<'c> Made<'c> {
    /// Makes the buffers, images and objects of a case.
    pub fn new(context: &'c Context, case: &Prepared) -> Result<Self, CudaError> {
        let images = Images::new(context, &case.textures)?;
        let part = |arg: &Argument| {
            Ok(match arg {
                Argument::Buffer(array) => Part::Buffer(context.upload(&array.bytes)?),
                Argument::Object(object) => Part::Object(images.make(context, object)?),
                Argument::Handles(objects) => {
                    let made = objects.iter().map(|object| images.make(context, object));
                    let made = made.collect::<Result<Vec<_>, _>>()?;
                    let handles: Vec<u8> = made.iter().flat_map(|object| object.handle().to_le_bytes()).collect();
                    Part::Handles { memory: context.upload(&handles)?, _objects: made }
                }
                _ => Part::Value,
            })
        };
        let parts = case.args.iter().flat_map(Argument::parts).map(part).collect::<Result<Vec<_>, CudaError>>()?;
        let mut addresses = parts.iter().filter_map(|part| match part {
            Part::Value => None,
            Part::Buffer(memory) | Part::Handles { memory, .. } => Some(memory.address()),
            Part::Object(object) => Some(object.handle()),
        });
        let bytes = case.args.iter().map(|arg| arg.bytes(&mut addresses)).collect();
        Ok(Self { images, parts, bytes })
    }

    /// Binds the module's references.
    pub fn bind(&self, module: &Module<'_>, case: &Prepared) -> Result<(), CudaError> {
        case.textures.references.iter().try_for_each(|(name, object)| self.images.bind(module, name, object))
    }

    /// Reads the buffers and images.
    pub fn read(&self) -> Result<Outputs, CudaError> {
        let mut outputs = Outputs { images: self.images.read()?, ..Outputs::default() };
        for part in &self.parts {
            outputs.buffers.push(match part {
                Part::Buffer(memory) => Some(memory.read(memory.len())?),
                _ => None,
            });
        }
        Ok(outputs)
    }
}

fn failure(error: CudaError) -> Failure {
    if error.is_refusal() { Failure::Refused(error.to_string()) } else { Failure::Broken(error.to_string()) }
}
