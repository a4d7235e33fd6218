//! Checks whether invocations of a subgroup reconverge after divergence even where Vulkan doesn't promise it. The
//! threads of the kernel (`reconvergence.ptx`) diverge in loops, conditions and by exiting, and execute warp operations
//! right afterwards.
//!
//! The probe runs wherever kernels would use subgroups. Unlike for single instructions, right results are no proof.

use ptx2spv_translator::Source;

use super::findings::{Attempt, stopped};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::args::LaunchConfig;

/// Threads of a warp.
const WARP: u32 = 32;
/// Threads of a block, unless the device's limit is lower: several subgroups, which diverge too.
const BLOCK: u32 = 8 * WARP;
const BLOCKS: u32 = 32;
/// Number of launches. Threads diverge differently in each.
const LAUNCHES: u32 = 3;

/// Runs the probe.
///
/// # Errors
/// Those of launches. A stopped launch is a result, not an error.
pub(super) fn attempt(device: &Device) -> Result<Attempt> {
    let (limits, subgroups) = (&device.target().limits, &device.target().subgroups);
    let room = limits.max_compute_work_group_invocations.min(limits.max_compute_work_group_size[0]);
    let block = BLOCK.min(room / WARP * WARP);
    // If a subgroup has several warps that leave a loop at different times, it leaves the loop when ballots say so.
    // Wrong ballots would keep it there for ever, so warps of one block have to agree then.
    let size = if subgroups.has_choice() { subgroups.min_size } else { subgroups.size };
    let rounds = if size <= WARP { Rounds::OfWarps } else { Rounds::OfBlocks };

    let module = device.load(&Source::new("self-test", rounds.ptx()))?;
    let kernel = match module.kernel("reconvergence") {
        Err(Error::Translation(_)) => return Ok(Attempt::Impossible),
        kernel => kernel?,
    };
    if kernel.entry().packing.is_none_or(|packing| packing.subgroup_size == 1) {
        return Ok(Attempt::Impossible);
    }
    let threads = block * BLOCKS;
    let output = device.alloc(u64::from(threads) * 4)?;
    for salt in (0..LAUNCHES).map(|launch| launch * threads) {
        let config = LaunchConfig::new([BLOCKS, 1, 1], [block, 1, 1]);
        let mut results = vec![0_u32; threads as usize];
        // SAFETY: the self-test's kernel writes one element of the buffer for each thread.
        let run = unsafe { kernel.launch(&config, &[(&output).into(), salt.into()]) }
            .and_then(|()| output.read(0, bytemuck::cast_slice_mut(&mut results)));
        if let Some(error) = stopped(run)? {
            return Ok(Attempt::Wrong(error.to_string()));
        }
        let warps = (0..threads / WARP).map(|warp| (warp * WARP / block, warp * WARP % block / WARP));
        let expected = warps.flat_map(|(index, warp)| rounds.warp(salt + index * block, index, warp));
        let pairs = results.into_iter().zip(expected).enumerate();
        if let Some((thread, (found, expected))) = pairs.into_iter().find(|(_, (found, expected))| found != expected) {
            return Ok(Attempt::Wrong(format!(
                "threads that diverge do not reconverge: 0x{found:08x} instead of 0x{expected:08x} in thread {thread}"
            )));
        }
    }
    Ok(Attempt::Right)
}

/// What determines how often threads repeat most of the kernel: the warp's number or the block's.
#[derive(Clone, Copy)]
enum Rounds {
    OfWarps,
    OfBlocks,
}

impl Rounds {
    fn ptx(self) -> String {
        let number = match self {
            Self::OfWarps => "%warpid",
            Self::OfBlocks => "%ctaid.x",
        };
        include_str!("reconvergence.ptx").replace("ROUNDS", number)
    }

    /// The expected results of a warp. `first` is the salt plus the number of the block's first thread.
    fn warp(self, first: u32, block: u32, warp: u32) -> [u32; WARP as usize] {
        let mut hash: [u32; WARP as usize] = std::array::from_fn(|lane| {
            let hash = first.wrapping_add(warp * WARP + lane as u32).wrapping_mul(0x9e37_79b1);
            (hash ^ hash >> 15).wrapping_mul(0x85eb_ca77)
        });
        let (mut x, mut digest) = (hash, [0_u32; WARP as usize]);
        let rounds = match self {
            Self::OfWarps => warp,
            Self::OfBlocks => block,
        };
        for _ in 0..=rounds & 3 {
            for (x, hash) in x.iter_mut().zip(hash) {
                for trip in 0..hash >> 29 {
                    *x = x.wrapping_mul(5).wrapping_add(trip);
                    if *x & 0x700 == 0 {
                        break;
                    }
                }
            }
            let all = ballot(x, 0x10);
            if all & 2 != 0 {
                for x in &mut x {
                    match (*x & 0x20 != 0, *x & 0x40 != 0) {
                        (true, true) => *x = x.wrapping_mul(3).wrapping_add(all),
                        (true, false) => {}
                        (false, _) => *x ^= all,
                    }
                }
                let before = x;
                x = std::array::from_fn(|lane| before[lane ^ 1].wrapping_mul(7).wrapping_add(before[lane]));
            }
            let some = ballot(x, 0x80) & ballot(x, 0x1000);
            for (lane, digest) in digest.iter_mut().enumerate() {
                let more = if x[lane] & 0x80 != 0 { some } else { 0 };
                *digest = digest.wrapping_mul(31).wrapping_add(all).wrapping_add(more);
                x[lane] = x[lane].wrapping_mul(9).wrapping_add(*digest);
                hash[lane] = hash[lane].wrapping_mul(13).wrapping_add(1);
            }
        }
        let last = x.map(|x| x & 0x300 != 0);
        let of_last = (0..WARP).filter(|&lane| last[lane as usize] && x[lane as usize] & 0x2000 != 0);
        let of_last = of_last.fold(0, |mask, lane| mask | 1 << lane);
        std::array::from_fn(|lane| match last[lane] {
            true => digest[lane].wrapping_mul(31).wrapping_add(of_last),
            false => digest[lane],
        })
    }
}

/// The mask of lanes whose value has a bit set.
fn ballot(values: [u32; WARP as usize], bit: u32) -> u32 {
    values.into_iter().rev().fold(0, |mask, value| mask << 1 | u32::from(value & bit != 0))
}
