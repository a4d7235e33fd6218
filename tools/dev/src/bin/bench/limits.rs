//! The chip's limits, measured by a copy and by chains of arithmetic in the same run as the kernels.

use std::time::Duration;

use anyhow::Result;
use ptx2spv_translator::Math;
use serde::Serialize;

use crate::devices::Devices;
use crate::sides::{Code, Side, cuda_times, prepare, vulkan_times};
use crate::workloads::work::{Unit, Work};
use crate::workloads::{Workload, limits};

/// The highest rate of each unit per second, by CUDA or by Vulkan, whichever is faster.
#[derive(Default)]
pub struct Limits(Vec<(Unit, f64)>);

/// The rate of a kernel, and its share of the chip's limit.
#[derive(Clone, Copy, Serialize)]
pub struct Achieved {
    /// Whether the rate is in bytes instead of operations.
    pub bytes: bool,
    pub per_second: f64,
    pub share: f64,
}

impl Limits {
    /// Measures the limits of units, by small launches that fill the chip.
    pub fn measure(devices: &Devices, units: &[Unit], quick: bool, repeats: u32) -> Result<Self> {
        let mut limits = Self::default();
        for (workload, work) in limits::all(quick).into_iter().filter(|(_, work)| units.contains(&work.unit)) {
            if let Some(fastest) = fastest(devices, &workload, repeats)? {
                limits.0.push((work.unit, work.count as f64 / fastest.as_secs_f64()));
            }
        }
        Ok(limits)
    }

    /// The work with the highest share of its limit.
    pub fn achieved(&self, works: impl IntoIterator<Item = Work>, seconds: f64) -> Option<Achieved> {
        let achieved = |work: Work| {
            let (_, limit) = self.0.iter().find(|(unit, _)| *unit == work.unit)?;
            let per_second = work.count as f64 / seconds;
            Some(Achieved { bytes: work.unit == Unit::Byte, per_second, share: per_second / limit })
        };
        works.into_iter().filter_map(achieved).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// A line for the head of the report.
    pub fn note(&self) -> String {
        let text = |&(unit, rate): &(Unit, f64)| match unit {
            Unit::Byte => format!("{} by a copy", rate_text(true, rate)),
            Unit::F32 => format!("{} on f32", rate_text(false, rate)),
            Unit::F64 => format!("{} on f64", rate_text(false, rate)),
            Unit::F16 => format!("{} on f16", rate_text(false, rate)),
            Unit::S8 => format!("{} on bytes", rate_text(false, rate)),
            Unit::MatrixF16 => format!("{} on f16 by mma.sync", rate_text(false, rate)),
            Unit::MatrixTf32 => format!("{} on tf32 by mma.sync", rate_text(false, rate)),
            Unit::MatrixS8 => format!("{} on bytes by mma.sync", rate_text(false, rate)),
        };
        format!("Limits measured in the same run: {}.", self.0.iter().map(text).collect::<Vec<_>>().join(", "))
    }
}

impl std::fmt::Display for Achieved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {:.0} %", rate_text(self.bytes, self.per_second), 100.0 * self.share)
    }
}

fn rate_text(bytes: bool, rate: f64) -> String {
    let unit = if bytes { "B" } else { "op" };
    if rate >= 1e12 { format!("{:.2} T{unit}/s", rate / 1e12) } else { format!("{:.1} G{unit}/s", rate / 1e9) }
}

fn fastest(devices: &Devices, workload: &Workload, repeats: u32) -> Result<Option<Duration>> {
    let case = prepare(workload)?;
    let mut side = Side::default();
    if let Some(context) = &devices.cuda {
        cuda_times(context, &case, repeats, &mut side)?;
    }
    if let Some(device) = &devices.vulkan {
        vulkan_times(device, &case, Code::Translation(Math::default()), repeats, &mut side)?;
    }
    Ok(side.times.into_iter().min())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_is_closest_counts() {
        let limits = Limits(vec![(Unit::Byte, 4e12), (Unit::F32, 60e12)]);
        let works = [Work { unit: Unit::Byte, count: 1_000_000_000 }, Work { unit: Unit::F32, count: 30_000_000_000 }];
        assert_eq!(limits.achieved(works, 1e-3).unwrap().to_string(), "30.00 Top/s, 50 %");
        assert_eq!(limits.achieved([works[0]], 1e-3).unwrap().to_string(), "1.00 TB/s, 25 %");
        assert!(limits.achieved([Work { unit: Unit::F64, count: 1 }], 1.0).is_none());
    }
}
