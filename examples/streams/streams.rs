//! Copies and kernels that overlap: a long vector goes through the device in parts, in two streams that take turns.
//!
//! `cargo run -p ptx2spv-runtime --example streams` runs this.

use std::error::Error;
use std::time::Duration;

use ptx2spv_runtime::{Device, DeviceSelector, LaunchConfig, Source};

/// Numbers in a part.
const PART: usize = 1 << 16;

/// Scales a vector, and prints how long the device took.
pub fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open(&DeviceSelector::Default)?;
    let x: Vec<f32> = (0..16 * PART).map(|i| i as f32).collect();
    let (y, time) = scale(&device, 2.0, &x)?;
    println!("{}: {} numbers in {time:?}, the last one is {:?}", device.info().name, y.len(), y.last());
    Ok(())
}

/// `a * x`, and the time that the device took. While one part is computed, the other stream can copy its own.
pub fn scale(device: &Device, a: f32, x: &[f32]) -> Result<(Vec<f32>, Duration), Box<dyn Error>> {
    let source = Source::new("saxpy.ptx", include_str!("../../tests/kernels/saxpy.ptx"));
    let kernel = device.load(&source)?.kernel("saxpy")?;
    let bytes = |numbers: usize| (numbers * size_of::<f32>()) as u64;
    // Copies of pinned memory don't wait: the results of all parts gather there.
    let results = device.alloc_pinned(bytes(x.len()).max(1))?;
    let lane = || -> Result<_, ptx2spv_runtime::Error> {
        Ok((device.stream(), device.alloc_slice::<f32>(PART)?, device.alloc_slice::<f32>(PART)?))
    };
    let lanes = [lane()?, lane()?];
    let [(first, ..), (second, ..)] = &lanes;
    let (start, end) = (device.timing_event()?, device.timing_event()?);

    start.record(first)?;
    second.wait_event(&start)?;
    for (index, part) in x.chunks(PART).enumerate() {
        let (stream, input, output) = &lanes[index % 2];
        stream.write(input.address(), bytemuck::cast_slice(part))?;
        stream.set(output.address(), 0_u32, part.len() as u64)?;
        let launcher = kernel.launcher().stream(stream).arg(a).arg(input).arg(output).arg(part.len() as u32);
        // SAFETY: the kernel reads and writes as many numbers as the last argument says, and both slices have them.
        unsafe { launcher.launch(&LaunchConfig::linear(part.len() as u32, 256)) }?;
        stream.copy(output.address(), results.address() + bytes(index * PART), bytes(part.len()))?;
    }
    let last = device.event();
    last.record(second)?;
    first.wait_event(&last)?;
    end.record(first)?;
    end.synchronize()?;

    // SAFETY: everything that was launched has finished.
    let results = unsafe { results.bytes() };
    let results = bytemuck::pod_collect_to_vec(&results[..size_of_val(x)]);
    Ok((results, end.elapsed_since(&start)?))
}
