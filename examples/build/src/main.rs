//! Adds a multiple of one array to another. `build.rs` has translated the kernel: run time needs neither PTX nor the
//! translator.
//!
//! `cargo run` in this folder runs it.

use std::error::Error;

use ptx2spv_runtime::interface::Bundle;
use ptx2spv_runtime::{Arg, Device, DeviceSelector, LaunchConfig};

const KERNELS: &str = include_str!(concat!(env!("OUT_DIR"), "/saxpy.json"));

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open(&DeviceSelector::Default)?;
    let bundle: Bundle = serde_json::from_str(KERNELS)?;
    // SAFETY: the translator made the bundle.
    let module = unsafe { device.load_bundle(&bundle) }?;
    let n = 1000_u32;
    let x = device.upload(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = device.upload(&vec![1_f32; n as usize])?;
    let args = [n.into(), 2_f32.into(), Arg::Pointer(&x), Arg::Pointer(&y)];
    // SAFETY: both buffers hold n numbers.
    unsafe { module.kernel("saxpy")?.launch(&LaunchConfig::linear(n, 256), &args) }?;
    let sums = y.download::<f32>()?;
    assert!((0..n).all(|i| sums[i as usize] == 2. * i as f32 + 1.));
    println!("{}: 2 * 999 + 1 = {}", device.info().name, sums[999]);
    Ok(())
}
