//! Splits long grids into several submissions, each with as many blocks as fit the time limit.
//!
//! This module only computes numbers of blocks; [`crate::launch`] submits and measures.

use std::time::Duration;

use crate::backend::launch::Part;
use crate::error::Result;
use crate::module::code::BlockRate;

/// Runs a grid part by part. `run` submits a part, waits for it, and returns the time it took, or `None` if the launch
/// ended early.
pub(crate) fn run_in_parts(
    grid: [u32; 3],
    most: Duration,
    rate: &mut BlockRate,
    mut run: impl FnMut(Part) -> Result<Option<Duration>>,
) -> Result {
    let mut next = [0; 3];
    while let Some(count) = part(grid, next, rate.blocks()) {
        let Some(time) = run((next, count))? else { return Ok(()) };
        rate.learn(count.iter().map(|&n| u64::from(n)).product(), time, most);
        next = after(grid, next, count);
    }
    Ok(())
}

/// The size of the next part, if there are blocks left: a part of a row, or whole rows, or whole layers.
fn part([width, height, depth]: [u32; 3], [x, y, z]: [u32; 3], blocks: u64) -> Option<[u32; 3]> {
    let at_most = |blocks: u64, left: u32| u32::try_from(blocks).map_or(left, |blocks| blocks.min(left));
    let layer = u64::from(width) * u64::from(height);
    if z >= depth || layer == 0 {
        None
    } else if x > 0 || blocks < width.into() {
        Some([at_most(blocks, width - x), 1, 1])
    } else if y > 0 || blocks < layer {
        Some([width, at_most(blocks / u64::from(width), height - y), 1])
    } else {
        Some([width, height, at_most(blocks / layer, depth - z)])
    }
}

/// The first block after a part.
fn after([width, height, _]: [u32; 3], [x, y, z]: [u32; 3], [nx, ny, nz]: [u32; 3]) -> [u32; 3] {
    if x + nx < width {
        [x + nx, y, z]
    } else if y + ny < height {
        [0, y + ny, z]
    } else {
        [0, 0, z + nz]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a grid on a simulated device that takes `fixed` nanoseconds for a submission and `each` for a block.
    /// Returns the parts with their times.
    fn run(grid: [u32; 3], most: Duration, rate: &mut BlockRate, fixed: u64, each: u64) -> Vec<(Part, Duration)> {
        let mut parts = Vec::new();
        run_in_parts(grid, most, rate, |part| {
            let blocks: u64 = part.1.iter().map(|&n| u64::from(n)).product();
            let time = Duration::from_nanos(fixed + blocks * each);
            parts.push((part, time));
            Ok(Some(time))
        })
        .unwrap();
        parts
    }

    #[test]
    fn parts_are_the_grid() {
        for (grid, each) in
            [([1, 1, 1], 1), ([1000, 1, 1], 400), ([7, 5, 3], 100), ([7, 5, 3], 3_000), ([1, 9, 100], 90)]
        {
            let mut seen = std::collections::BTreeSet::new();
            for ((base, count), _) in run(grid, Duration::from_micros(8), &mut BlockRate::default(), 50, each) {
                for z in base[2]..base[2] + count[2] {
                    for y in base[1]..base[1] + count[1] {
                        for x in base[0]..base[0] + count[0] {
                            assert!(seen.insert([x, y, z]), "twice");
                        }
                    }
                }
            }
            assert_eq!(seen.len() as u32, grid.iter().product::<u32>());
            assert!(seen.iter().all(|id| id.iter().zip(grid).all(|(&at, size)| at < size)));
        }
    }

    #[test]
    fn parts_take_as_long_as_asked_for() {
        let most = Duration::from_millis(100);
        // 10^8 blocks of 1 microsecond, with 20 microseconds for each submission.
        let parts = run([100_000_000, 1, 1], most, &mut BlockRate::default(), 20_000, 1_000);
        assert!(parts.iter().all(|(_, time)| *time <= most));
        // Once the rate is known, submissions take half of the limit.
        assert!((2_000..2_020).contains(&parts.len()), "{}", parts.len());
        // A part has at least one block.
        let parts = run([20, 1, 1], most, &mut BlockRate::default(), 0, 1_000_000_000);
        assert_eq!(parts.len(), 20);
    }

    #[test]
    fn what_was_learnt_serves_the_next_launch() {
        let most = Duration::from_millis(100);
        let mut rate = BlockRate::default();
        assert!(run([4096, 1, 1], most, &mut rate, 20_000, 1_000).len() > 1);
        assert_eq!(run([4096, 1, 1], most, &mut rate, 20_000, 1_000).len(), 1);
        // A small launch doesn't lower the rate, a slow one does.
        run([1, 1, 1], most, &mut rate, 40_000_000, 0);
        assert_eq!(run([4096, 1, 1], most, &mut rate, 20_000, 1_000).len(), 1);
        assert_eq!(run([4096, 1, 1], most, &mut rate, 0, 1_000_000).len(), 1);
        let slow = run([4096, 1, 1], most, &mut rate, 0, 1_000_000);
        assert!(slow.len() > 1 && slow.iter().all(|(_, time)| *time <= most), "{slow:?}");
    }

    #[test]
    fn the_largest_grids_end() {
        // Such a grid would take 2^63 nanoseconds.
        let grid = [i32::MAX as u32, 65_535, 65_535];
        let parts = run(grid, Duration::MAX, &mut BlockRate::default(), 0, 1);
        assert!(parts.len() < 64 && parts.len() > 1);
        let last = parts.last().unwrap().0;
        assert_eq!(after(grid, last.0, last.1), [0, 0, 65_535]);
        // A limit of zero, and parts that take no time.
        assert!(run([1000, 1000, 1000], Duration::ZERO, &mut BlockRate::default(), 0, 0).len() < 64);
    }

    #[test]
    fn a_launch_that_has_ended_goes_no_further() {
        let mut parts = 0;
        run_in_parts([9, 9, 9], Duration::from_secs(1), &mut BlockRate::default(), |_| {
            parts += 1;
            Ok((parts < 3).then_some(Duration::from_millis(1)))
        })
        .unwrap();
        assert_eq!(parts, 3);
    }
}
