//! Allocations of launches on the host. A test program of its own: its allocator counts.

mod counting;

use ptx2spv_runtime::{Arg, Device, DeviceSelector, Error, LaunchConfig};
use ptx2spv_translator::Source;

/// A kernel with its parameters in push constants, one with so many that they lie in device memory, one that may report something,
/// and one with more shared memory than some devices have.
const PTX: &str = include_str!("ptx/allocations.ptx");

const LAUNCHES: u32 = 1000;

#[test]
fn launches_allocate_nothing() -> Result<(), Error> {
    let device = Device::open(&DeviceSelector::Default)?;
    if device.as_reference().is_some() {
        // The interpreter runs a launch at once, and makes threads for that.
        return Ok(());
    }
    let module = device.load(&Source::new("allocations.ptx", PTX))?;
    let sum = device.upload(&[0_u32])?;
    let mut bytes = [0; 4000];
    bytes[3996] = 1;
    let (stream, mut rounds) = (device.stream(), 0);
    let cases = [("few", Arg::U32(1)), ("many", Arg::Bytes(&bytes)), ("reports", Arg::U32(1)), ("shares", Arg::U32(1))];
    for (name, by) in cases {
        let kernel = module.kernel(name)?;
        let shared = if name == "shares" { 64 << 10 } else { 0 };
        let (config, args) = (LaunchConfig::linear(1, 1).with_shared(shared), [(&sum).into(), by]);
        let launch = |count: u32| {
            (0..count).try_for_each(|_| {
                // SAFETY: the kernel adds to one number.
                unsafe { kernel.launch(&config, &args) }?;
                // SAFETY: as above.
                unsafe { kernel.launch_on(&stream, &config, &args) }
            })
        };
        rounds += counting::until_none(name, || launch(LAUNCHES))?;
        device.synchronize()?;
    }
    assert_eq!(sum.download::<u32>()?, [rounds * 2 * LAUNCHES]);
    Ok(())
}
