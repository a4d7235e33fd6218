//! `bench opencl`: a Vulkan CPU device through ptx2spv, compared with an OpenCL implementation on the same cores that
//! runs twins of the kernels.

use std::time::Duration;
use std::{array, fs, ptr};

use anyhow::{Context as _, Error, Result};
use clap::Args;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{self, CL_DEVICE_TYPE_CPU};
use opencl3::kernel::{Kernel, set_kernel_arg};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, ClMem as _};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use ptx2spv::cases::Outputs;
use ptx2spv::cases::device::Made;
use ptx2spv::cases::prepare::{Argument, Prepared};
use ptx2spv::cli;
use ptx2spv_runtime::{Device, DeviceSelector, Instance, InstanceOptions, LaunchConfig};
use ptx2spv_translator::Math;
use serde::Serialize;

use crate::report::{Report, milliseconds};
use crate::results::distance;
use crate::selection::Selection;
use crate::sides::{Code, load, prepare};
use crate::workloads::{self, Workload};

/// Measure a CPU device, compared with OpenCL on the same cores, by the processor time of all threads.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// Number of measurements, alternating; the shortest counts, since other programs may use the cores too.
    #[arg(long, default_value_t = 7, value_name = "N")]
    rounds: u32,
    /// Vulkan device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
    /// Accuracy of float arithmetic to measure; may be given several times.
    #[arg(long, default_values = ["exact", "fast"], value_name = "HOW")]
    math: Vec<Math>,
}

impl Arguments {
    /// The translations in the order of the arguments, then the GLSL twin, which shows the driver's own speed.
    fn codes(&self) -> Vec<Code> {
        self.math.iter().map(|&math| Code::Translation(math)).chain([Code::Glsl]).collect()
    }
}

/// OpenCL twins by the names of the kernels.
macro_rules! twins {
    ($($entry:literal),* $(,)?) => {
        &[$(($entry, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/opencl/", $entry, ".cl")))),*]
    };
}

const TWINS: &[(&str, &str)] = twins![
    "nbody",
    "matmul_tiled",
    "mandelbrot",
    "black_scholes",
    "reduce_atomic",
    "softmax",
    "kmeans",
    "stencil3d_f32",
    "median",
    "md5",
];

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    size: String,
    opencl_seconds: f64,
    /// The results of each of [`Arguments::codes`].
    vulkan: Vec<Option<VulkanRow>>,
}

#[derive(Serialize)]
struct VulkanRow {
    code: String,
    seconds: f64,
    /// Vulkan's time divided by OpenCL's.
    ratio: f64,
    results: String,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let opencl = OpenCl::open()?;
    let vulkan = Instance::new(&InstanceOptions::default())?.open(&arguments.device)?;
    let mut report = Report::new(&["kernel", "size", "OpenCL ms"]);
    let codes = arguments.codes();
    report.head.extend(codes.iter().map(|code| format!("{code} / OpenCL")));
    report.head.extend(codes.iter().map(|code| format!("{code} results")));
    let info = vulkan.info();
    report.notes.push(format!("OpenCL: {}", opencl.device.name()?));
    report.notes.push(format!("Vulkan: {}, {} {}", info.name, info.driver_name, info.driver_info));
    report.notes.push(format!("Processor time of all threads; the shortest of {} launches.", arguments.rounds));
    for workload in workloads::for_cpus() {
        if arguments.selection.takes(&workload) {
            cli::note(format_args!("{} …", workload.name));
            let row = measure_workload(&codes, arguments.rounds, &opencl, &vulkan, &workload)?;
            report.push(cells(&row), &row)?;
        }
    }
    Ok(report)
}

fn cells(row: &Row) -> Vec<String> {
    let time = milliseconds(Some(Duration::from_secs_f64(row.opencl_seconds)));
    let mut cells = vec![row.kernel.to_owned(), row.size.clone(), time];
    let cell = |show: &dyn Fn(&VulkanRow) -> String| {
        let cells = row.vulkan.iter().map(|row| row.as_ref().map_or_else(|| "–".to_owned(), show));
        cells.collect::<Vec<_>>()
    };
    cells.extend(cell(&|row| format!("{:.2}", row.ratio)));
    cells.extend(cell(&|row| row.results.clone()));
    cells
}

fn measure_workload(codes: &[Code], rounds: u32, opencl: &OpenCl, vulkan: &Device, workload: &Workload) -> Result<Row> {
    let case = prepare(workload)?;
    let mut twin = Best::default();
    let mut ours: Vec<Best> = codes.iter().map(|_| Best::default()).collect();
    run_opencl(opencl, &case, rounds, &mut twin)?;
    for (&code, best) in codes.iter().zip(&mut ours) {
        run_vulkan(vulkan, &case, code, rounds, best)?;
    }
    // A second round, so that a slow phase affects both.
    run_opencl(opencl, &case, rounds, &mut twin)?;
    let (opencl_seconds, expected) = twin.result().context("no rounds")?;
    let vulkan = codes.iter().zip(ours).map(|(code, best)| {
        let (seconds, outputs) = best.result()?;
        let results = distance(&case, &expected, &outputs);
        Some(VulkanRow { code: code.to_string(), seconds, ratio: seconds / opencl_seconds, results })
    });
    Ok(Row { kernel: workload.name, size: workload.size.clone(), opencl_seconds, vulkan: vulkan.collect() })
}

/// The shortest time, and the results of the first launch.
#[derive(Default)]
struct Best {
    time: Option<Duration>,
    outputs: Option<Outputs>,
}

impl Best {
    fn add(&mut self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let start = processor_time()?;
        work()?;
        let time = processor_time()?.saturating_sub(start);
        self.time = Some(self.time.map_or(time, |best| best.min(time)));
        Ok(())
    }

    /// `None` if nothing ran.
    fn result(self) -> Option<(f64, Outputs)> {
        Some((self.time?.as_secs_f64(), self.outputs?))
    }
}

/// The first CPU of any platform.
struct OpenCl {
    device: device::Device,
    queue: CommandQueue,
    context: Context,
}

impl OpenCl {
    fn open() -> Result<Self> {
        let devices = device::get_all_devices(CL_DEVICE_TYPE_CPU).context("OpenCL's loader")?;
        let device = device::Device::new(*devices.first().context("no platform has a CPU")?);
        let context = Context::from_device(&device)?;
        // SAFETY: the device is the context's.
        let queue = unsafe { CommandQueue::create(&context, device.id(), 0) }?;
        Ok(Self { device, queue, context })
    }
}

fn run_opencl(OpenCl { queue, context, .. }: &OpenCl, case: &Prepared, rounds: u32, best: &mut Best) -> Result<()> {
    let twin = TWINS.iter().find(|(entry, _)| *entry == case.entry);
    let &(entry, source) = twin.with_context(|| format!("{} has no twin", case.entry))?;
    let program = Program::create_and_build_from_source(context, source, "").map_err(Error::msg)?;
    let kernel = Kernel::create(&program, entry)?;
    let mut buffers = Vec::new();
    for (argument, index) in case.args.iter().zip(0..) {
        buffers.push(match argument {
            Argument::Buffer(array) => {
                let (size, from) = (array.bytes.len(), array.bytes.as_ptr().cast_mut().cast());
                // SAFETY: the bytes are only read, and only during the call.
                let buffer = unsafe { Buffer::<u8>::create(context, CL_MEM_COPY_HOST_PTR, size, from) }?;
                // SAFETY: a handle; the buffer lives until all launches have finished.
                unsafe { kernel.set_arg(index, &buffer.get()) }?;
                Some((buffer, size))
            }
            Argument::Value(bytes) => {
                // SAFETY: the size is the slice's; OpenCL compares it with the parameter's.
                let set = unsafe { set_kernel_arg(kernel.get(), index, bytes.len(), bytes.as_ptr().cast()) };
                set.map_err(|code| Error::msg(format!("clSetKernelArg fails with {code}")))?;
                None
            }
            _ => anyhow::bail!("{} has an argument that twins can't have", case.entry),
        });
    }
    let block = case.block.map(|threads| threads as usize);
    let grid: [usize; 3] = array::from_fn(|axis| case.grid[axis] as usize * block[axis]);
    let launch = || {
        let (kernel, start) = (kernel.get(), ptr::null());
        // SAFETY: both arrays have three sizes, and the twin is written for these arguments.
        unsafe { queue.enqueue_nd_range_kernel(kernel, 3, start, grid.as_ptr(), block.as_ptr(), &[]) }?;
        Ok(queue.finish()?)
    };
    launch()?;
    if best.outputs.is_none() {
        let read = |(buffer, size): &(Buffer<u8>, usize)| {
            let mut bytes = vec![0; *size];
            // SAFETY: there is space for all bytes, and the call waits.
            unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut bytes, &[]) }?;
            anyhow::Ok(bytes)
        };
        let bytes = buffers.iter().map(|buffer| buffer.as_ref().map(read).transpose());
        best.outputs = Some(Outputs { buffers: bytes.collect::<Result<_>>()?, ..Outputs::default() });
    }
    (0..rounds).try_for_each(|_| best.add(launch))
}

/// Does nothing if the kernel has no such code.
fn run_vulkan(device: &Device, case: &Prepared, code: Code, rounds: u32, best: &mut Best) -> Result<()> {
    let Some((_, kernel)) = load(device, case, code)? else { return Ok(()) };
    let made = Made::new(device, case)?;
    let (args, config) = (made.arguments(case), LaunchConfig::from(case));
    let launch = || {
        // SAFETY: the workloads give their kernels what these were written for.
        unsafe { kernel.launch(&config, &args) }?;
        Ok(device.synchronize()?)
    };
    launch()?;
    if best.outputs.is_none() {
        best.outputs = Some(made.read()?);
    }
    (0..rounds).try_for_each(|_| best.add(launch))
}

/// The processor time of this process's current threads.
fn processor_time() -> Result<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        // The thread may have ended since.
        let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        nanoseconds += text.split_whitespace().next().context("schedstat is empty")?.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
