//! The grid barrier of a cooperative launch for the runtime's function, in the form that CUDA's compiler gives to `grid.sync()`: the first
//! thread of each block adds to a word and waits until its upper bit has changed, between two barriers of the block.

use super::{Build, Instance};
use crate::cfg::{Barrier, BlockId, End, Kind, Stop};
use crate::decode::program::Special;
use crate::ir::{Access, Atomic, AtomicOp, Builtin, MemoryOrder, Scope, Space, Type, Value};
use crate::lower::calls::grid;
use crate::lower::lowering::Lowering;
use crate::lower::thread::special;
use ptx2spv_interface::workspace;

/// The word of the barrier.
const WORD: Access =
    Access { space: Space::Global, bytes: 4, order: MemoryOrder::Acquire(Scope::Device), read_only: false };

impl<'p> Build<'p> {
    /// Makes all threads of the grid wait for each other if the handle, the address of a workspace, isn't zero. Gives the error.
    pub(super) fn grid_barrier(&mut self, instance: &mut Instance<'p>, handle: Value) -> Value {
        let [error, before] = [(); 2].map(|()| self.function.var(Type::I32));
        let address = self.function.var(Type::I64);
        let [gather, lead, arrive, wait, leave, done, after] = [(); 7].map(|()| self.new_block());

        let given = self.with(instance, |l| {
            l.b.set(error, l.b.i32(grid::UNKNOWN));
            l.b.set(address, l.b.add_const(handle, workspace::BARRIER));
            l.b.is_nonzero(handle)
        });
        self.finish(instance, End::Branch { condition: given, then: gather, otherwise: after }, gather);
        self.block_barrier(instance, lead);
        let first = self.with(instance, |l| l.b.is_zero(l.b.builtin(Builtin::ThreadIndex)));
        self.finish(instance, End::Branch { condition: first, then: arrive, otherwise: leave }, arrive);
        self.with(instance, |l| {
            let share = share(l);
            let seen = l.b.value(Type::I32);
            let address = l.b.get(address);
            let access = Access { order: MemoryOrder::AcquireRelease(Scope::Device), ..WORD };
            let op = AtomicOp::Add;
            l.b.atomic(Atomic { result: Some(seen), op, access, address, operand: share, compare: None });
            l.b.set(before, seen);
        });
        self.finish(instance, End::Goto(wait), wait);
        let open = self.with(instance, |l| {
            let changed = l.b.xor(l.b.load_one(WORD, l.b.get(address)), l.b.get(before));
            l.b.is_nonzero(l.b.shr(changed, 31))
        });
        self.finish(instance, End::Branch { condition: open, then: leave, otherwise: wait }, leave);
        self.block_barrier(instance, done);
        self.with(instance, |l| {
            l.b.set(error, l.b.i32(0));
        });
        self.finish(instance, End::Goto(after), after);
        self.with(instance, |l| l.b.get(error))
    }

    /// A barrier of the block at the end of the current one.
    fn block_barrier(&mut self, instance: &mut Instance<'p>, next: BlockId) {
        let id = self.with(instance, |l| l.b.i32(0));
        let barrier = Barrier { kind: Kind::Sync, id, count: None, cluster: false, aligned: false };
        self.stop(instance, Stop::Barrier(barrier));
        self.finish(instance, End::Goto(next), next);
    }
}

/// The number that a block adds to the word, chosen so that the sum over all blocks flips only the upper bit.
fn share(l: &mut Lowering<'_, '_>) -> Value {
    let blocks = grid::blocks(l);
    let rest = l.b.sub(l.b.i32((1 << 31) + 1), blocks);
    let [x, y, z] = [0, 1, 2].map(|dimension| special::read(l, Special::Ctaid(dimension)).0);
    let place = l.b.or(l.b.or(x, y), z);
    l.b.select(l.b.is_zero(place), rest, l.b.i32(1))
}
