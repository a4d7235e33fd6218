//! The interfaces to measure: the same launch through CUDA's driver and through ptx2spv.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use ptx2spv::cases::device::Made;
use ptx2spv::cases::prepare::Prepared;
use ptx2spv::cases::{Outputs, Ptx, argument_text, cuda};
use ptx2spv::cuda::{Context, Launch};
use ptx2spv_runtime::{Device, Kernel, LaunchConfig, LoadOptions, Module};
use ptx2spv_translator::{Math, Options};

use crate::twins;
use crate::workloads::Workload;

/// Launches before the measurement, while caches, clocks and lazy loading settle.
const WARM_UP: u32 = 5;

/// The code to launch on Vulkan.
#[derive(Clone, Copy)]
pub enum Code {
    /// The kernel's translation.
    Translation(Math),
    /// The kernel's GLSL twin.
    Glsl,
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Code::Translation(math) => math.fmt(f),
            Code::Glsl => f.write_str("GLSL"),
        }
    }
}

/// The measurements of one interface.
#[derive(Default)]
pub struct Side {
    /// The results of the first launch.
    pub outputs: Option<Outputs>,
    pub times: Vec<Duration>,
    /// Time of the steps before the first launch: loading or translating, and making a pipeline.
    pub load: Option<Duration>,
    pub pipeline: Option<Duration>,
    pub error: Option<String>,
}

impl Side {
    /// Records the first error.
    pub fn fail(&mut self, result: Result<()>) {
        self.error = self.error.take().or(result.err().map(|error| format!("{error:#}")));
    }
}

/// Makes the launch's inputs.
pub fn prepare(workload: &Workload) -> Result<Prepared> {
    let (args, textures) = argument_text::parse_all(&workload.args)?;
    let ptx = Ptx::new(format!("{}.ptx", workload.entry), workload.ptx);
    Ok(Prepared {
        name: workload.name.to_owned(),
        grid: workload.grid,
        block: workload.block,
        dynamic_shared_bytes: workload.shared,
        textures,
        args,
        ..Prepared::new(ptx, workload.entry)
    })
}

/// Measures launches, and adds their times.
pub fn cuda_times(context: &Context, case: &Prepared, repeats: u32, side: &mut Side) -> Result<()> {
    let start = Instant::now();
    let module = context.load(case.ptx.text())?;
    side.load.get_or_insert(start.elapsed());
    let made = cuda::Made::new(context, case)?;
    made.bind(&module, case)?;
    let kernel = module.function(&case.entry)?.bind(Launch::from(case), made.bytes.clone())?;
    kernel.launch()?;
    context.synchronize()?;
    if side.outputs.is_none() {
        side.outputs = Some(made.read()?);
    }
    for index in 0..WARM_UP + repeats {
        let milliseconds = context.time(|| kernel.launch())?;
        if index >= WARM_UP {
            side.times.push(Duration::from_secs_f64(f64::from(milliseconds) / 1e3));
        }
    }
    Ok(())
}

/// Measures launches, and adds their times. Does nothing if the kernel has no such code.
pub fn vulkan_times(device: &Device, case: &Prepared, code: Code, repeats: u32, side: &mut Side) -> Result<()> {
    let start = Instant::now();
    let Some((module, kernel)) = load(device, case, code)? else { return Ok(()) };
    let config = LaunchConfig::from(case);
    let pipeline = kernel.prepare(&config)?.pipeline;
    side.load.get_or_insert(start.elapsed().saturating_sub(pipeline));
    side.pipeline.get_or_insert(pipeline);
    let made = Made::new(device, case)?;
    made.bind(&module, case)?;
    let args = made.arguments(case);
    // SAFETY: the workloads, and the launch cases that a developer names, pass the arguments that their kernels were
    // written for.
    unsafe { kernel.launch(&config, &args) }?;
    device.synchronize()?;
    if side.outputs.is_none() {
        side.outputs = Some(made.read()?);
    }
    // SAFETY: as above.
    let time = |repeats| unsafe { kernel.time(&config, &args, repeats) };
    time(WARM_UP)?;
    side.times.extend(time(repeats).context("timing")?);
    Ok(())
}

/// Loads the kernel, without a cache; `None` if it has no such code.
pub fn load(device: &Device, case: &Prepared, code: Code) -> Result<Option<(Module, Kernel)>> {
    let source = case.ptx.source();
    let (module, entry) = match code {
        Code::Translation(math) => (device.load_with(source, LoadOptions::uncached(math))?, case.entry.as_str()),
        Code::Glsl => match twins::of(&case.entry) {
            Some(spirv) => (twins::load(device, source, spirv)?, twins::ENTRY),
            None => return Ok(None),
        },
    };
    let kernel = module.kernel(entry)?;
    Ok(Some((module, kernel)))
}

/// Bytes of the SPIR-V module to launch.
pub fn spirv_bytes(device: &Device, case: &Prepared, code: Code) -> Result<usize> {
    let Code::Translation(math) = code else {
        return twins::of(&case.entry).map(<[u8]>::len).context("there is no twin");
    };
    let entries = [case.entry.clone()];
    let options = Options::new(device.target()).entries(Some(&entries)).math(math);
    Ok(4 * case.ptx.program()?.translate(&options)?.spirv.len())
}
