//! Values of built-in inputs.

use super::lane::Lane;
use crate::code::Builtin;

/// The values from which all built-in inputs of a workgroup's invocations follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Workgroups of the dispatch.
    pub groups: [u32; 3],
    /// The workgroup's position.
    pub workgroup: [u32; 3],
    /// The size of the workgroup.
    pub size: [u32; 3],
    /// The size of subgroups.
    pub subgroup_size: u32,
}

impl Shape {
    /// The position of an invocation in the workgroup.
    pub fn local(&self, index: u32) -> [u32; 3] {
        let [x, y, _] = self.size.map(|extent| extent.max(1));
        [index % x, index / x % y, index / x / y]
    }

    /// A component of a built-in input.
    pub fn value(&self, lane: &Lane, builtin: Builtin, component: u8) -> u64 {
        let pick = |of: [u32; 3]| of.get(usize::from(component)).copied().unwrap_or(0).into();
        let place = u128::from(lane.place);
        let all = u128::MAX >> (128 - self.subgroup_size);
        let word = |mask: u128| (mask & all) >> (32 * (component & 3)) as u64 & 0xffff_ffff;
        let mask = match builtin {
            Builtin::NumWorkgroups => return pick(self.groups),
            Builtin::WorkgroupId => return pick(self.workgroup),
            Builtin::WorkgroupSize => return pick(self.size),
            Builtin::LocalInvocationId => return pick(self.local(lane.index)),
            Builtin::GlobalInvocationId => {
                let local = self.local(lane.index);
                let at = |i: usize| self.workgroup[i].wrapping_mul(self.size[i]).wrapping_add(local[i]);
                return pick([at(0), at(1), at(2)]);
            }
            Builtin::LocalInvocationIndex => return lane.index.into(),
            Builtin::SubgroupSize => return self.subgroup_size.into(),
            Builtin::NumSubgroups => return self.size.iter().product::<u32>().div_ceil(self.subgroup_size).into(),
            Builtin::SubgroupId => return lane.subgroup.into(),
            Builtin::SubgroupLocalInvocationId => return lane.place.into(),
            Builtin::SubgroupEqMask => 1 << place,
            Builtin::SubgroupGeMask => u128::MAX << place,
            Builtin::SubgroupGtMask => u128::MAX << place << 1,
            Builtin::SubgroupLeMask => u128::MAX >> (127 - place),
            Builtin::SubgroupLtMask => u128::MAX >> (127 - place) >> 1,
        };
        word(mask) as u64
    }
}
