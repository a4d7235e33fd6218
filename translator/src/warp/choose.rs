//! Chooses how many threads an invocation carries, and the subgroup size for a kernel with warp operations.

use crate::ir::WARP_SIZE;
use crate::policy::Workgroups;
use ptx2spv_target::Packing;

/// Threads of a warp.
pub(super) const WARP: u32 = WARP_SIZE;

/// CUDA's limit for the threads of a block.
const MAX_THREADS: u32 = 1024;

/// CUDA's limit for the size of a block in z.
const MAX_DEPTH: u32 = 64;

/// The lanes of a warp in one invocation from which on a shuffle is long: each of them takes a value from each of them.
const MANY_LANES: u32 = 8;

/// The most such shuffles for which a warp is not laid into one invocation, where each is a short loop.
const MANY_SHUFFLES: usize = 16;

/// The blocks that a kernel must be able to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The blocks that the device takes with as few threads in an invocation as possible.
    Fitting,
    /// All blocks of up to this number of threads.
    UpTo(u32),
    /// Blocks of this size only.
    Of([u32; 3]),
}

impl Blocks {
    /// Whether a workgroup of the device can hold `cluster` blocks with one invocation for each thread.
    fn fit(self, workgroups: &Workgroups, cluster: u32) -> bool {
        let (threads, size) = match self {
            Self::Fitting => return true,
            Self::UpTo(threads) => (threads, [threads, threads, threads.min(MAX_DEPTH)]),
            Self::Of(size) => (product(size), size),
        };
        if cluster > 1 {
            return threads.saturating_mul(cluster) <= workgroups.row();
        }
        let within = size.iter().zip(workgroups.size).all(|(&size, most)| size <= most);
        within && threads <= workgroups.invocations
    }

    /// Threads of the largest block that may be launched.
    pub fn most_threads(self) -> u32 {
        self.threads().unwrap_or(MAX_THREADS)
    }

    /// The same in x, y or z.
    pub fn most(self, dimension: u8) -> u32 {
        match self {
            Self::Of(size) => {
                size.get(usize::from(dimension)).map_or(MAX_THREADS, |size| (*size).clamp(1, MAX_THREADS))
            }
            Self::Fitting | Self::UpTo(_) => self.most_threads(),
        }
    }

    /// Threads of the largest block. Blocks larger than CUDA allows need no room: they can't be launched.
    fn threads(self) -> Option<u32> {
        match self {
            Self::Fitting => None,
            Self::UpTo(threads) => Some(threads.clamp(1, MAX_THREADS)),
            Self::Of(size) => Some(product(size).clamp(1, MAX_THREADS)),
        }
    }
}

fn product(size: [u32; 3]) -> u32 {
    size.into_iter().fold(1, u32::saturating_mul)
}

/// The best mapping of a kernel with warp operations: subgroups of 32 if the target has them, else of the nearest size, or a whole warp in
/// one invocation if the target's subgroups can't be used or are so small that the kernel's `shuffles` from lanes that differ would become
/// long. An invocation carries as few lanes as fit a warp into a subgroup and a cluster of `cluster` blocks into a workgroup.
pub(super) fn for_warps(workgroups: &Workgroups, blocks: Blocks, cluster: u32, shuffles: usize) -> Packing {
    let least =
        |size: u32| enough(workgroups, blocks, cluster, Packing { subgroup_size: size, lanes: (WARP / size).max(1) });
    let packing = least(workgroups.subgroup.unwrap_or(1));
    // A block of a cluster takes a whole subgroup, however small it is.
    let threads = blocks.threads().unwrap_or(1);
    let fits = packing.invocations(threads).saturating_mul(cluster) <= workgroups.row();
    let long = packing.warp_lanes() >= MANY_LANES && shuffles > MANY_SHUFFLES;
    if fits && !long { packing } else { least(1) }
}

/// The mapping of a kernel without warp operations; `None` if one invocation for each thread suffices.
pub(super) fn for_threads(workgroups: &Workgroups, blocks: Blocks, cluster: u32) -> Option<Packing> {
    (!blocks.fit(workgroups, cluster))
        .then(|| enough(workgroups, blocks, cluster, Packing { subgroup_size: 1, lanes: 1 }))
}

/// A mapping with enough lanes for `cluster` of the largest blocks.
fn enough(workgroups: &Workgroups, blocks: Blocks, cluster: u32, mut packing: Packing) -> Packing {
    let threads = blocks.threads().unwrap_or(1);
    while packing.invocations(threads).saturating_mul(cluster) > workgroups.row() && packing.lanes < threads {
        packing.lanes *= 2;
    }
    packing
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv_target::{Feature, Target};

    /// The reference device with subgroups of these sizes and `invocations` invocations.
    fn device(min_size: u32, max_size: u32, invocations: u32) -> Target {
        let mut target = Target::reference();
        target.subgroups.min_size = min_size;
        target.subgroups.max_size = max_size;
        target.subgroups.size = min_size;
        target.limits.max_compute_work_group_invocations = invocations;
        target.limits.max_compute_work_group_size = [invocations, invocations, 64];
        target
    }

    #[test]
    fn a_warp_lies_in_a_subgroup_and_a_block_in_a_workgroup() {
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
            let packing = for_warps(&Workgroups::new(&device(min, max, most)), Blocks::UpTo(threads), 1, 0);
            assert_eq!((packing.subgroup_size, packing.lanes), expected);
            assert!(packing.invocations(threads) <= most && packing.span().is_multiple_of(WARP));
        }
        // Smaller blocks don't pay for larger blocks.
        assert_eq!(
            for_warps(&Workgroups::new(&device(32, 32, 256)), Blocks::Fitting, 1, 0),
            Packing { subgroup_size: 32, lanes: 1 }
        );
    }

    #[test]
    fn many_shuffles_take_a_warp_in_an_invocation_where_subgroups_are_small() {
        for (size, shuffles, expected) in [(4, 16, (4, 8)), (4, 17, (1, 32)), (8, 1000, (8, 4)), (32, 1000, (32, 1))] {
            let packing = for_warps(&Workgroups::new(&device(size, size, 1024)), Blocks::Fitting, 1, shuffles);
            assert_eq!((packing.subgroup_size, packing.lanes), expected);
        }
    }

    /// A target on which invocations of a subgroup don't reconverge.
    fn part(target: &mut Target) {
        target.features.remove(&Feature::ShaderMaximalReconvergence);
        target.features.remove(&Feature::ShaderSubgroupUniformControlFlow);
        target.facts.subgroups_reconverge = false;
    }

    #[test]
    fn subgroups_serve_that_meet_again_by_promise_or_by_experience() {
        let reasons: [fn(&mut Target); 3] = [
            |target| target.facts.subgroups_reconverge = true,
            |target| target.features.extend([Feature::ShaderMaximalReconvergence]),
            |target| {
                target
                    .features
                    .extend([Feature::ShaderMaximalReconvergence, Feature::ShaderSubgroupUniformControlFlow]);
                target.quirks.maximal_reconvergence_wrong = true;
            },
        ];
        for reason in reasons {
            let mut target = device(8, 64, 128);
            part(&mut target);
            reason(&mut target);
            assert_eq!(
                for_warps(&Workgroups::new(&target), Blocks::Fitting, 1, 0),
                Packing { subgroup_size: 32, lanes: 1 }
            );
        }
    }

    #[test]
    fn a_warp_lies_in_an_invocation_where_subgroups_do_not_serve() {
        let alone = Packing { subgroup_size: 1, lanes: 32 };
        let lacks: [fn(&mut Target); 7] = [
            |target| target.subgroups.ballot = false,
            |target| target.subgroups.shuffle = false,
            |target| target.quirks.subgroups_unreliable = true,
            |target| target.features.retain(|feature| *feature != Feature::SubgroupSizeControl),
            |target| target.features.retain(|feature| *feature != Feature::ComputeFullSubgroups),
            part,
            |target| {
                part(target);
                target.features.insert(Feature::ShaderMaximalReconvergence);
                target.quirks.maximal_reconvergence_wrong = true;
            },
        ];
        for lack in lacks {
            let mut target = device(8, 64, 128);
            lack(&mut target);
            assert_eq!(for_warps(&Workgroups::new(&target), Blocks::UpTo(1024), 1, 0), alone);
        }
    }

    #[test]
    fn where_no_size_can_be_asked_for_it_is_the_usual_one() {
        let mut target = device(8, 64, 128);
        target.subgroups.required_size = false;
        target.subgroups.size = 16;
        assert_eq!(
            for_warps(&Workgroups::new(&target), Blocks::Fitting, 1, 0),
            Packing { subgroup_size: 16, lanes: 2 }
        );
    }

    #[test]
    fn clusters_of_small_blocks_need_no_subgroup_each() {
        let narrow = device(64, 64, 64);
        assert_eq!(
            for_warps(&Workgroups::new(&narrow), Blocks::UpTo(32), 1, 0),
            Packing { subgroup_size: 64, lanes: 1 }
        );
        assert_eq!(
            for_warps(&Workgroups::new(&narrow), Blocks::UpTo(32), 8, 0),
            Packing { subgroup_size: 1, lanes: 32 }
        );
        assert_eq!(
            for_warps(&Workgroups::new(&device(64, 64, 512)), Blocks::UpTo(32), 8, 0),
            Packing { subgroup_size: 64, lanes: 1 }
        );
    }

    #[test]
    fn blocks_that_fit_are_not_packed() {
        let target = device(32, 32, 256);
        let lanes = |blocks| {
            for_threads(&Workgroups::new(&target), blocks, 1).map(|packing| (packing.subgroup_size, packing.lanes))
        };
        for blocks in [Blocks::Fitting, Blocks::UpTo(256), Blocks::Of([16, 16, 1]), Blocks::Of([2, 2, 64])] {
            assert_eq!(lanes(blocks), None, "{blocks:?}");
        }
        for (blocks, expected) in [
            (Blocks::UpTo(257), 2),
            (Blocks::UpTo(1024), 4),
            (Blocks::UpTo(u32::MAX), 4),
            (Blocks::Of([1, 512, 1]), 2),
            (Blocks::Of([1, 1, 65]), 1),
            (Blocks::Of([u32::MAX; 3]), 4),
        ] {
            assert_eq!(lanes(blocks), Some((1, expected)), "{blocks:?}");
        }
        let narrow = Target { limits: device(32, 32, 128).limits, ..target.clone() };
        assert_eq!(
            for_threads(&Workgroups::new(&narrow), Blocks::UpTo(1024), 1),
            Some(Packing { subgroup_size: 1, lanes: 8 })
        );
        let mut flat = target.clone();
        flat.limits.max_compute_work_group_size = [256, 64, 64];
        // Any shape of them must fit.
        assert_eq!(
            for_threads(&Workgroups::new(&flat), Blocks::UpTo(65), 1),
            Some(Packing { subgroup_size: 1, lanes: 1 })
        );
        assert_eq!(for_threads(&Workgroups::new(&flat), Blocks::Of([65, 1, 1]), 1), None);
    }

    #[test]
    fn the_blocks_of_a_cluster_share_the_room() {
        let target = device(32, 32, 256);
        assert_eq!(
            for_warps(&Workgroups::new(&target), Blocks::UpTo(128), 4, 0),
            Packing { subgroup_size: 32, lanes: 2 }
        );
        assert_eq!(for_threads(&Workgroups::new(&target), Blocks::Of([8, 8, 1]), 4), None);
        assert_eq!(
            for_threads(&Workgroups::new(&target), Blocks::UpTo(65), 4),
            Some(Packing { subgroup_size: 1, lanes: 2 })
        );
    }
}
