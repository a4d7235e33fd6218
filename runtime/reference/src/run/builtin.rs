//! Values of built-in inputs.

use super::lane::Lane;
use crate::code::BuiltIn;

/// The values from which all built-in inputs of a workgroup's invocations follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Workgroups of the dispatch.
    pub groups: [u32; 3],
    pub workgroup: [u32; 3],
    pub size: [u32; 3],
    pub subgroup_size: u32,
}

/// The position of an element of a grid, by its number.
pub(super) fn position(size: [u32; 3], number: u32) -> [u32; 3] {
    let [x, y, _] = size.map(|extent| extent.max(1));
    [number % x, number / x % y, number / x / y]
}

impl Shape {
    pub fn local(&self, index: u32) -> [u32; 3] {
        position(self.size, index)
    }

    /// A component of a built-in input.
    pub fn value(&self, lane: &Lane, builtin: BuiltIn, component: u8) -> u64 {
        let pick = |of: [u32; 3]| of.get(usize::from(component)).copied().unwrap_or(0).into();
        let place = u128::from(lane.place);
        let all = u128::MAX >> (128 - self.subgroup_size);
        let word = |mask: u128| (mask & all) >> (32 * (component & 3)) as u64 & 0xffff_ffff;
        let mask = match builtin {
            BuiltIn::NumWorkgroups => return pick(self.groups),
            BuiltIn::WorkgroupId => return pick(self.workgroup),
            BuiltIn::WorkgroupSize => return pick(self.size),
            BuiltIn::LocalInvocationId => return pick(self.local(lane.index)),
            BuiltIn::GlobalInvocationId => {
                let local = self.local(lane.index);
                let at = |i: usize| self.workgroup[i].wrapping_mul(self.size[i]).wrapping_add(local[i]);
                return pick([at(0), at(1), at(2)]);
            }
            BuiltIn::LocalInvocationIndex => return lane.index.into(),
            BuiltIn::SubgroupSize => return self.subgroup_size.into(),
            BuiltIn::NumSubgroups => return self.size.iter().product::<u32>().div_ceil(self.subgroup_size).into(),
            BuiltIn::SubgroupId => return lane.subgroup.into(),
            BuiltIn::SubgroupLocalInvocationId => return lane.place.into(),
            BuiltIn::SubgroupEqMask => 1 << place,
            BuiltIn::SubgroupGeMask => u128::MAX << place,
            BuiltIn::SubgroupGtMask => u128::MAX << place << 1,
            BuiltIn::SubgroupLeMask => u128::MAX >> (127 - place),
            BuiltIn::SubgroupLtMask => u128::MAX >> (127 - place) >> 1,
            // There are no others.
            _ => 0,
        };
        word(mask) as u64
    }
}
