//! Special registers (PTX chapter 10). Each has a stated meaning on devices that lack it.

use super::device_words::fetch_add;
use super::layout::{Layout, RESERVED_SHARED};
use super::{Lowering, cluster};
use crate::decode::program::{LaneMask, ReservedShared, Special};
use crate::interface::push_constant;
use crate::ir::{Binary, Builder, Builtin, Type, Value};
use crate::isa::types::ScalarType;

/// Reads a special register.
pub fn read(l: &mut Lowering<'_, '_>, special: Special) -> (Value, ScalarType) {
    let b = &mut l.b;
    let value = match special {
        Special::Tid(dimension) => b.builtin(Builtin::ThreadId(dimension)),
        Special::Ntid(dimension) => b.builtin(Builtin::BlockSize(dimension)),
        Special::Ctaid(dimension) => {
            let number = workgroup_number(b, dimension);
            let first = b.mul_const(number, cluster_extent(l.layout.cluster, dimension).into());
            let own = cluster::place(b, l.layout.cluster, dimension);
            b.add(first, own)
        }
        Special::ClusterId(dimension) => workgroup_number(b, dimension),
        Special::ClusterCount(dimension) => {
            let blocks = b.push_constant(Type::I32, push_constant::GRID_SIZE + 4 * u32::from(dimension));
            b.binary_const(Binary::DivUnsigned, blocks, cluster_extent(l.layout.cluster, dimension).into())
        }
        Special::ClusterCtaid(dimension) => cluster::place(b, l.layout.cluster, dimension),
        Special::ClusterNctaid(dimension) => b.i32(cluster_extent(l.layout.cluster, dimension)),
        Special::ClusterRank => b.cluster_rank(),
        Special::ClusterSize => b.i32(l.layout.cluster.into_iter().product()),
        Special::Nctaid(dimension) => b.push_constant(Type::I32, push_constant::GRID_SIZE + 4 * u32::from(dimension)),
        // Warps are runs of 32 consecutive threads of the block, whatever the device's subgroups are.
        Special::LaneId => {
            let index = b.builtin(Builtin::ThreadIndex);
            b.and_const(index, 31)
        }
        Special::WarpId => {
            let index = b.builtin(Builtin::ThreadIndex);
            b.shr(index, 5)
        }
        Special::LaneMask(mask) => {
            let index = b.builtin(Builtin::ThreadIndex);
            let lane = b.and_const(index, 31);
            let one = b.i32(1);
            let own = b.shl_by(one, lane);
            let below = b.sub_const(own, 1);
            match mask {
                LaneMask::Equal => own,
                LaneMask::Less => below,
                LaneMask::LessEqual => b.or(below, own),
                LaneMask::GreaterEqual => b.not(below),
                LaneMask::Greater => {
                    let others = b.or(below, own);
                    b.not(others)
                }
            }
        }
        Special::DynamicSharedSize => b.builtin(Builtin::DynamicSharedBytes),
        Special::TotalSharedSize => {
            shared_size(b, l.layout, l.layout.dynamic_shared_offset() - l.layout.reserved_shared)
        }
        Special::AggregateSharedSize => shared_size(b, l.layout, l.layout.dynamic_shared_offset()),
        Special::ReservedShared(what) => match what {
            ReservedShared::Begin | ReservedShared::Part(0) => cluster::own_address(b, 0),
            ReservedShared::Part(_) => cluster::own_address(b, RESERVED_SHARED / 2),
            ReservedShared::End => cluster::own_address(b, RESERVED_SHARED),
            ReservedShared::Capacity => b.i32(RESERVED_SHARED),
        },
        Special::ExplicitCluster => return (b.bool(l.layout.explicit_cluster), ScalarType::Pred),
        Special::Clock => {
            let clock = clock(l);
            l.b.truncate(clock)
        }
        Special::ClockHigh => {
            let clock = clock(l);
            let high = l.b.shr(clock, 32);
            l.b.truncate(high)
        }
        Special::Clock64 | Special::GlobalTimer => return (clock(l), ScalarType::U64),
        // What a device says of itself that has one multiprocessor, counts no events and runs no graph.
        Special::GridId => return (b.i64(0), ScalarType::U64),
        Special::Fixed(value, 64) => return (b.i64(value.into()), ScalarType::U64),
        Special::Fourth => b.i32(0),
        Special::Fixed(value, _) => b.i32(value),
    };
    (value, ScalarType::U32)
}

/// The size of a block's shared memory, of which so many bytes are static, in the units in which hardware gives it away.
fn shared_size(b: &mut Builder<'_>, layout: &Layout, static_bytes: u32) -> Value {
    let dynamic = b.builtin(Builtin::DynamicSharedBytes);
    let total = b.add_const(dynamic, u64::from(static_bytes) + u64::from(layout.shared_unit) - 1);
    b.and_const(total, u64::from(!(layout.shared_unit - 1)))
}

/// The number of the workgroup, which is the block's or the cluster's. A large grid runs as several dispatches, each with
/// its base.
fn workgroup_number(b: &mut Builder<'_>, dimension: u8) -> Value {
    let base = b.push_constant(Type::I32, push_constant::GRID_BASE + 4 * u32::from(dimension));
    let own = b.builtin(Builtin::WorkgroupId(dimension));
    b.add(base, own)
}

/// The size of clusters in one dimension.
fn cluster_extent(size: [u32; 3], dimension: u8) -> u32 {
    size.get(usize::from(dimension)).copied().unwrap_or(1)
}

/// The device's counter. Where it has none, time goes on by one with each look at the clock: a thread that waits for a time
/// to pass gets on.
fn clock(l: &mut Lowering<'_, '_>) -> Value {
    let b = &mut l.b;
    let Some(offset) = l.layout.services.clock else { return b.builtin(Builtin::Clock) };
    let base = b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS);
    let address = b.add_const(base, offset);
    let one = b.i32(1);
    let before = fetch_add(b, address, one);
    let now = b.add_const(before, 1);
    b.zero_extend(now)
}
