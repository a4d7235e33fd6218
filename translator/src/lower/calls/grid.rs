//! The `cudaCG…` functions on a cooperative launch's grid, which CUDA's device runtime had before cooperative groups stopped using it. A
//! handle identifies a group; the grid's handle is the address of the launch's workspace. The values written, also on failure, are those of
//! an H200.

use crate::decode::program::Special;
use crate::ir::{Access, Builder, Builtin, Compare, MemoryOrder, Space, Type, Value};
use crate::lower::lowering::Lowering;
use crate::lower::thread::special;
use ptx2spv_interface::push_constant;

/// `cudaCGScopeGrid`
const SCOPE_GRID: u64 = 1;
/// `cudaErrorUnknown`
pub const UNKNOWN: u32 = 999;

const GENERIC: Access = Access { space: Space::Generic, bytes: 4, order: MemoryOrder::Weak, read_only: false };

/// `cudaCGGetIntrinsicHandle`: zero if there is no such group.
pub fn handle(l: &mut Lowering<'_, '_>, scope: Value) -> Value {
    let none = l.b.i64(0);
    if !l.layout.cooperative {
        return none;
    }
    let workspace = l.b.push_constant(Type::I64, push_constant::WORKSPACE_ADDRESS);
    l.b.select(l.b.compare_const(Compare::Equal, scope, SCOPE_GRID), workspace, none)
}

/// `cudaCGGetSize`
pub fn size(l: &mut Lowering<'_, '_>, threads: Value, grids: Value, handle: Value) -> Value {
    let all = blocks(l);
    let block = block_threads(l);
    answer(&l.b, handle, (threads, l.b.mul(all, block)), grids)
}

/// `cudaCGGetRank`
pub fn rank(l: &mut Lowering<'_, '_>, thread: Value, grid: Value, handle: Value) -> Value {
    let mut number = l.b.i32(0);
    for dimension in [2, 1, 0] {
        let count = special::read(l, Special::Nctaid(dimension)).0;
        let own = special::read(l, Special::Ctaid(dimension)).0;
        let before = l.b.mul(number, count);
        number = l.b.add(before, own);
    }
    let block = block_threads(l);
    let before = l.b.mul(number, block);
    let number = l.b.add(before, l.b.builtin(Builtin::ThreadIndex));
    answer(&l.b, handle, (thread, number), grid)
}

pub fn blocks(l: &mut Lowering<'_, '_>) -> Value {
    let [x, y, z] = [0, 1, 2].map(|dimension| special::read(l, Special::Nctaid(dimension)).0);
    l.b.mul(l.b.mul(x, y), z)
}

fn block_threads(l: &mut Lowering<'_, '_>) -> Value {
    let [x, y, z] = [0, 1, 2].map(|dimension| special::read(l, Special::Ntid(dimension)).0);
    l.b.mul(l.b.mul(x, y), z)
}

/// Writes a value and 1 through the two pointers that aren't null, or zeros if there is no group; gives the error.
fn answer(b: &Builder<'_>, handle: Value, (first, value): (Value, Value), second: Value) -> Value {
    let is_group = b.is_nonzero(handle);
    let [zero, one, unknown] = [0, 1, UNKNOWN].map(|number| b.i32(number));
    for (pointer, value) in [(first, value), (second, one)] {
        let value = b.select(is_group, value, zero);
        b.if_(b.is_nonzero(pointer), |b| b.store(GENERIC, pointer, vec![value]));
    }
    b.select(is_group, zero, unknown)
}
