//! A ported program of CUDA's driver API: a comment at each step names the CUDA call that it replaces. It has two
//! streams, events, a struct by value and a module variable. docs/from-cuda.md goes through it.
//!
//! `cargo run -p ptx2spv-runtime --example port` runs this.

use std::error::Error;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use ptx2spv_runtime::{Device, DeviceSelector, LaunchConfig, Source};

/// `struct Line { float slope, start; }` of the kernel's source. `repr(C)` lays it out as C does; there must be no padding.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Line {
    /// The increase per unit.
    pub slope: f32,
    /// The value at zero.
    pub start: f32,
}

/// Prints the last number and the time.
pub fn main() -> Result<(), Box<dyn Error>> {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let (y, time) = on_line(&Device::open(&DeviceSelector::Default)?, Line { slope: 2.0, start: 1.0 }, 0.5, &x)?;
    println!("{:?} after {time:?}", y.last());
    Ok(())
}

/// `scale * (slope * x + start)`, and the time that it took.
pub fn on_line(device: &Device, line: Line, scale: f32, x: &[f32]) -> Result<(Vec<f32>, Duration), Box<dyn Error>> {
    // cuModuleLoadData, cuModuleGetFunction
    let module = device.load(&Source::new("line.ptx", include_str!("line.ptx")))?;
    let kernel = module.kernel("on_line")?;
    // cuModuleGetGlobal, cuMemcpyHtoD
    module.write_variable("scale", 0, &scale.to_le_bytes())?;
    // cuStreamCreate, cuEventCreate
    let (copying, computing) = (device.stream(), device.stream());
    let (copied, start, end) = (device.event(), device.timing_event()?, device.timing_event()?);
    // cuMemAlloc
    let input = device.alloc_slice::<f32>(x.len())?;
    let output = device.alloc_slice::<f32>(x.len())?;
    // cuMemcpyHtoDAsync, cuEventRecord
    copying.write(input.address(), bytemuck::cast_slice(x))?;
    copied.record(&copying)?;
    // cuStreamWaitEvent, cuEventRecord
    computing.wait_event(&copied)?;
    start.record(&computing)?;
    // cuLaunchKernel: the arguments in the order of the parameters, a struct as its bytes
    let n = u32::try_from(x.len())?;
    let launch = kernel.launcher().stream(&computing).arg(&input).arg(&output).arg(n).value(&line);
    // SAFETY: the kernel reads and writes n numbers, and both slices hold n.
    unsafe { launch.launch(&LaunchConfig::linear(n, 256)) }?;
    // cuEventRecord, cuStreamSynchronize
    end.record(&computing)?;
    computing.synchronize()?;
    // cuMemcpyDtoH, cuEventElapsedTime; objects are freed when they go out of scope
    Ok((output.to_vec()?, end.elapsed_since(&start)?))
}
