//! The self-test of a device: runs instructions that trust the device's own arithmetic, and judges their results.
//!
//! Vulkan lets division, square root, `Fma` and the like round loosely, and says nothing of devices that do better. So at its
//! first use a device is asked: each instruction of [`instructions`] is translated as if all [`Facts`] held, runs on some
//! hundred thousand operands, and a fact holds where all results are right. [`cache`] keeps the answer for the driver's
//! version. What is no arithmetic, such as bugs of drivers, is not found out here.

mod cache;
mod instructions;
mod judge;
mod operands;

use std::ops::ControlFlow;

use ptx2spv_translator::target::Facts;
use ptx2spv_translator::{Source, Target};

pub use cache::CACHE_VARIABLE;
pub(crate) use cache::{keep, known};

use crate::device::Device;
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::launch::LaunchConfig;
use instructions::{Instruction, Width};

/// Threads of a block: what every Vulkan device can run.
const BLOCK: u32 = 128;

/// A device's description as the self-test needs it: everything is trusted.
pub(crate) fn trusting(info: &DeviceInfo) -> DeviceInfo {
    DeviceInfo { target: Target { facts: Facts::ALL, ..info.target.clone() }, ..info.clone() }
}

/// Finds out what the arithmetic of a device does, which must have been opened as [`trusting`].
///
/// # Errors
/// Those of launches. What the device can't run is not trusted.
pub(crate) fn measure(device: &Device) -> Result<Facts, Error> {
    let mut facts = Facts::ALL;
    for (fact, instructions) in instructions::all() {
        let mut trusted = false;
        for instruction in instructions {
            match is_right(device, instruction)? {
                Some(true) => trusted = true,
                Some(false) => {
                    trusted = false;
                    break;
                }
                // It can't be used either.
                None => {}
            }
        }
        *fact(&mut facts) = trusted;
    }
    Ok(facts)
}

/// Whether an instruction gives what it should on all its operands; `None` if the device can't run it.
fn is_right(device: &Device, instruction: &Instruction) -> Result<Option<bool>, Error> {
    let module = device.load(&Source::new("self-test", instruction.ptx()))?;
    let kernel = match module.kernel("probe") {
        Err(Error::Translation(_)) => return Ok(None),
        kernel => kernel?,
    };
    let operands = (instruction.operands)();
    let bytes: Vec<u8> = operands.iter().flatten().flat_map(|bits| instruction.width.bytes(*bits)).collect();
    let input = device.upload(&bytes)?;
    let size = instruction.width.size();
    let output = device.alloc(operands.len() as u64 * size as u64)?;
    let count = u32::try_from(operands.len()).unwrap_or(u32::MAX);
    kernel.launch(&LaunchConfig::linear(count, BLOCK), &[(&input).into(), (&output).into(), count.into()])?;
    let mut results = vec![0; operands.len() * size];
    output.read(0, &mut results)?;
    let judged = operands.iter().zip(results.chunks_exact(size)).try_for_each(|(operands, bytes)| {
        if (instruction.right)(*operands, Width::bits(bytes)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    Ok(Some(judged.is_continue()))
}
