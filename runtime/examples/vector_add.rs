//! Adds two vectors on the default Vulkan device.

use ptx2spv_runtime::{Device, DeviceSelector, LaunchConfig, Source};

/// Prints the last sum.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(&DeviceSelector::Default)?;
    let ptx = include_str!("../../tests/kernels/vector_add.ptx");
    let module = device.load(&Source::new("vector_add.ptx", ptx))?;
    let kernel = module.kernel("vector_add")?;

    let n = 1_000_u32;
    let a = device.upload(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let b = device.upload(&vec![0.5_f32; n as usize])?;
    let sums = device.alloc(4 * u64::from(n))?;
    // SAFETY: `vector_add` takes three arrays of `n` floats and `n`, and stays inside of the arrays.
    unsafe { kernel.launch(&LaunchConfig::linear(n, 256), &[(&a).into(), (&b).into(), (&sums).into(), n.into()]) }?;

    let sums: Vec<f32> = sums.download()?;
    println!("{} + 0.5 = {} on {}", n - 1, sums[n as usize - 1], device.info().name);
    Ok(())
}
