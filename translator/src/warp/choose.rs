//! Which subgroups a kernel with operations of a warp is made for, and how many threads an invocation carries.

use crate::interface::Packing;
use crate::target::{Feature, Target};

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// The best mapping on a target for blocks of up to `threads` threads: subgroups of 32 where they can be had, else the
/// nearest size, and as few lanes as it takes for a warp in a subgroup and a block in a workgroup. Where subgroups can't be
/// relied on, an invocation carries a whole warp: that needs none.
pub(super) fn choose(target: &Target, threads: u32) -> Packing {
    let subgroup_size = subgroup_size(target).unwrap_or(1);
    let mut packing = Packing { subgroup_size, lanes: (WARP / subgroup_size).max(1) };
    let available = target.limits.max_compute_work_group_invocations.min(target.limits.max_compute_work_group_size[0]);
    while packing.invocations(threads) > available && packing.lanes < threads {
        packing.lanes *= 2;
    }
    packing
}

/// The size of the subgroups that a kernel can have, full ones with ballots and shuffles; `None` if there are none.
fn subgroup_size(target: &Target) -> Option<u32> {
    let sizes = &target.subgroups;
    let usable = target.has(Feature::ComputeFullSubgroups) && sizes.ballot && sizes.shuffle;
    if !usable || target.quirks.subgroups_unreliable {
        return None;
    }
    let asked = target.has(Feature::SubgroupSizeControl) && sizes.has_choice();
    // Where none can be asked for, full subgroups have the device's own size, whatever others it has: modules before SPIR-V
    // 1.6 don't allow that it varies.
    let size = if asked { WARP.clamp(sizes.min_size, sizes.max_size.max(sizes.min_size)) } else { sizes.size };
    (size.is_power_of_two() && size <= 128).then_some(size)
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
            target.subgroups.required_size = min != max;
            target.limits.max_compute_work_group_invocations = most;
            let packing = choose(&target, threads);
            assert_eq!((packing.subgroup_size, packing.lanes), expected);
            assert!(packing.invocations(threads) <= most && packing.span().is_multiple_of(WARP));
        }
    }
    #[test]
    fn without_subgroups_an_invocation_carries_a_warp() {
        type Change = fn(&mut Target);
        let alone = Packing { subgroup_size: 1, lanes: 32 };
        let changes: [(Change, Packing); 8] = [
            (|_| {}, Packing { subgroup_size: 32, lanes: 1 }),
            (|t| t.subgroups.ballot = false, alone),
            (|t| t.subgroups.shuffle = false, alone),
            (|t| t.quirks.subgroups_unreliable = true, alone),
            (|t| t.features.retain(|f| *f != Feature::ComputeFullSubgroups), alone),
            (|t| (t.subgroups.size, t.subgroups.required_size) = (24, false), alone),
            // Sizes vary, and none can be asked for.
            (|t| (t.subgroups.size, t.subgroups.required_size) = (16, false), Packing { subgroup_size: 16, lanes: 2 }),
            (|t| t.features.retain(|f| *f != Feature::SubgroupSizeControl), Packing { subgroup_size: 32, lanes: 1 }),
        ];
        for (index, (change, expected)) in changes.into_iter().enumerate() {
            let mut target = Target::reference();
            change(&mut target);
            assert_eq!(choose(&target, 1024), expected, "change {index}");
        }
    }
}
