//! Which subgroups a kernel with operations of a warp is made for, and how many threads an invocation carries.

use crate::diagnostic::ErrorKind;
use crate::interface::Packing;
use crate::target::{Feature, Target};

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// The best mapping on a target for so many blocks of up to `threads` threads in a workgroup: subgroups of 32 where they
/// can be had, else the nearest size, and as few lanes as it takes for a warp in a subgroup and the blocks in a workgroup.
pub(super) fn choose(target: &Target, threads: u32, blocks: u32) -> Result<Packing, ErrorKind> {
    let needed_for = || "an operation of a warp".to_owned();
    if !target.has(Feature::ComputeFullSubgroups) {
        return Err(ErrorKind::MissingFeature { feature: Feature::ComputeFullSubgroups, needed_for: needed_for() });
    }
    let sizes = &target.subgroups;
    let subgroup_size = if sizes.min_size == sizes.max_size {
        sizes.size
    } else if target.has(Feature::SubgroupSizeControl) && sizes.required_size {
        WARP.clamp(sizes.min_size, sizes.max_size.max(sizes.min_size))
    } else {
        return Err(ErrorKind::MissingFeature { feature: Feature::SubgroupSizeControl, needed_for: needed_for() });
    };
    if !subgroup_size.is_power_of_two() || subgroup_size > 128 {
        return Err(ErrorKind::Unsupported(format!("operations of a warp on subgroups of {subgroup_size}")));
    }
    let mut packing = Packing { subgroup_size, lanes: (WARP / subgroup_size).max(1) };
    let available = target.limits.max_compute_work_group_invocations.min(target.limits.max_compute_work_group_size[0]);
    while packing.invocations(threads).saturating_mul(blocks) > available && packing.lanes < threads {
        packing.lanes *= 2;
    }
    Ok(packing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_lies_in_a_subgroup_and_a_block_in_a_workgroup() {
        let mut target = Target::reference();
        for (min, max, threads, most, expected) in [
            (32, 32, 1024, 1024, (32, 1)),
            (1, 128, 1024, 1024, (32, 1)),
            (4, 16, 1024, 1024, (16, 2)),
            (8, 8, 1024, 1024, (8, 4)),
            (64, 128, 1024, 1024, (64, 1)),
            (1, 1, 1024, 1024, (1, 32)),
            (32, 32, 1024, 256, (32, 4)),
            (4, 4, 1024, 128, (4, 8)),
            (64, 64, 1024, 128, (64, 8)),
            (32, 32, 256, 256, (32, 1)),
        ] {
            target.subgroups.min_size = min;
            target.subgroups.max_size = max;
            target.subgroups.size = min;
            target.limits.max_compute_work_group_invocations = most;
            let packing = choose(&target, threads, 1).unwrap();
            assert_eq!((packing.subgroup_size, packing.lanes), expected);
            assert!(packing.invocations(threads) <= most && packing.span().is_multiple_of(WARP));
        }
    }
}
