//! A thread's block in the grid, from the launch's parameters.

use super::{Binary, Builder, Builtin, Type, Value};
use ptx2spv_interface::push_constant;

impl Builder<'_> {
    /// The number of the thread's block in its cluster.
    pub fn cluster_rank(&self) -> Value {
        if self.function(|function| function.cluster.is_some()) {
            self.builtin(Builtin::ClusterRank)
        } else {
            self.i32(0)
        }
    }

    /// The position of the thread's block in its cluster, in dimension 0, 1 or 2.
    pub fn cluster_place(&self, dimension: u8) -> Value {
        let size = self.cluster_size();
        let before: u32 = size.iter().take(dimension.into()).product();
        let rank = self.cluster_rank();
        let row = self.binary_const(Binary::DivUnsigned, rank, before.into());
        self.binary_const(Binary::RemUnsigned, row, extent(size, dimension).into())
    }

    /// The number of the workgroup, which is a block or a cluster, in a dimension. A large grid runs as several dispatches, each with its
    /// own base.
    pub fn workgroup_number(&self, dimension: u8) -> Value {
        let base = self.push_constant(Type::I32, push_constant::GRID_BASE + 4 * u32::from(dimension));
        let own = self.builtin(Builtin::WorkgroupId(dimension));
        self.add(base, own)
    }

    /// `%ctaid` in a dimension.
    pub fn block_id(&self, dimension: u8) -> Value {
        let number = self.workgroup_number(dimension);
        let first = self.mul_const(number, extent(self.cluster_size(), dimension).into());
        let own = self.cluster_place(dimension);
        self.add(first, own)
    }

    fn cluster_size(&self) -> [u32; 3] {
        self.function(|function| function.cluster).map_or([1; 3], |cluster| cluster.size)
    }
}

fn extent(size: [u32; 3], dimension: u8) -> u32 {
    size.get(usize::from(dimension)).copied().unwrap_or(1)
}
