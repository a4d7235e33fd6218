//! Special registers (PTX chapter 10). Each has a defined meaning on devices that lack it.

use crate::decode::program::{LaneMask, ReservedShared, Special};
use crate::ir::{Binary, Builder, Builtin, Type, Value};
use crate::isa::types::ScalarType;
use crate::lower::device_words::fetch_add;
use crate::lower::layout::{RESERVED_SHARED, RESERVED_SHARED_USED};
use crate::lower::lowering::Lowering;
use crate::lower::memory::cluster;
use ptx2spv_interface::push_constant;

pub fn read(l: &mut Lowering<'_, '_>, special: Special) -> (Value, ScalarType) {
    let b = &l.b;
    let value = match special {
        Special::Tid(dimension) => b.builtin(Builtin::ThreadId(dimension)),
        Special::Ntid(dimension) => b.builtin(Builtin::BlockSize(dimension)),
        Special::Ctaid(dimension) => b.block_id(dimension),
        Special::ClusterId(dimension) => b.workgroup_number(dimension),
        Special::ClusterCount(dimension) => {
            let blocks = b.push_constant(Type::I32, push_constant::GRID_SIZE + 4 * u32::from(dimension));
            b.binary_const(Binary::DivUnsigned, blocks, cluster_extent(l.layout.cluster, dimension).into())
        }
        Special::ClusterCtaid(dimension) => b.cluster_place(dimension),
        Special::ClusterNctaid(dimension) => b.i32(cluster_extent(l.layout.cluster, dimension)),
        Special::ClusterRank => b.cluster_rank(),
        Special::ClusterSize => b.i32(l.layout.cluster.into_iter().product()),
        Special::Nctaid(dimension) => b.push_constant(Type::I32, push_constant::GRID_SIZE + 4 * u32::from(dimension)),
        // Warps are runs of 32 consecutive threads of the block, whatever the device's subgroups are.
        Special::LaneId => b.and_const(b.builtin(Builtin::ThreadIndex), 31),
        Special::WarpId => b.shr(b.builtin(Builtin::ThreadIndex), 5),
        Special::LaneMask(mask) => {
            let lane = b.and_const(b.builtin(Builtin::ThreadIndex), 31);
            let own = b.shl_by(b.i32(1), lane);
            let below = b.sub_const(own, 1);
            match mask {
                LaneMask::Equal => own,
                LaneMask::Less => below,
                LaneMask::LessEqual => b.or(below, own),
                LaneMask::GreaterEqual => b.not(below),
                LaneMask::Greater => b.not(b.or(below, own)),
            }
        }
        Special::DynamicSharedSize => b.builtin(Builtin::DynamicSharedBytes),
        Special::TotalSharedSize => {
            let unit = u64::from(l.layout.shared_unit);
            let total = shared_size(b, l.layout.dynamic_shared_offset() - l.layout.reserved_shared);
            b.and_const(b.add_const(total, unit - 1), u64::from(u32::MAX) & !(unit - 1))
        }
        Special::AggregateSharedSize => {
            shared_size(b, l.layout.dynamic_shared_offset() - l.layout.reserved_shared + RESERVED_SHARED)
        }
        // As on an H200, both parts begin where the reserved bytes do.
        Special::ReservedShared(what) => match what {
            ReservedShared::Begin | ReservedShared::Part(_) => cluster::own_address(b, 0),
            ReservedShared::End => cluster::own_address(b, RESERVED_SHARED_USED),
            ReservedShared::Capacity => b.i32(RESERVED_SHARED),
        },
        Special::Workspace { high } if l.layout.cooperative => {
            let (low, upper) = b.halves(b.push_constant(Type::I64, push_constant::WORKSPACE_ADDRESS));
            if high { upper } else { low }
        }
        // Launches that aren't cooperative have no workspace; kernels detect that by the zero.
        Special::Workspace { .. } => b.i32(0),
        Special::ExplicitCluster => return (b.bool(l.layout.explicit_cluster), ScalarType::Pred),
        Special::Clock => {
            let clock = clock(l);
            l.b.truncate(clock)
        }
        Special::ClockHigh => {
            let clock = clock(l);
            l.b.truncate(l.b.shr(clock, 32))
        }
        Special::Clock64 | Special::GlobalTimer => return (clock(l), ScalarType::U64),
        // The values of a device that has one multiprocessor, counts no events and runs no graph.
        Special::GridId => return (b.i64(0), ScalarType::U64),
        Special::Fixed(value, 64) => return (b.i64(value.into()), ScalarType::U64),
        Special::Fourth => b.i32(0),
        Special::Fixed(value, _) => b.i32(value),
    };
    (value, ScalarType::U32)
}

/// The size of a block's shared memory, with `static_bytes` of static memory.
fn shared_size(b: &Builder<'_>, static_bytes: u32) -> Value {
    b.add_const(b.builtin(Builtin::DynamicSharedBytes), static_bytes.into())
}

fn cluster_extent(size: [u32; 3], dimension: u8) -> u32 {
    size.get(usize::from(dimension)).copied().unwrap_or(1)
}

/// The device's clock. If the device has none, each read advances the time by one, so that a thread that waits for a time to pass makes
/// progress.
fn clock(l: &Lowering<'_, '_>) -> Value {
    let b = &l.b;
    let Some(offset) = l.layout.services.clock else { return b.builtin(Builtin::Clock) };
    let address = b.add_const(b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS), offset);
    let before = fetch_add(b, address, b.i32(1));
    b.zero_extend(b.add_const(before, 1))
}
