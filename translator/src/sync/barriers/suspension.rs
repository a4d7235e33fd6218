//! Blocks that end a dispatch and go on in the next. Where a cooperative launch's threads wait for other blocks, their block saves its state and ends the
//! dispatch. Where threads have no rounds of long loops left ([`pause_in_loops`](crate::sync::pause_in_loops)), their block does so too. The host
//! dispatches the grid again until all blocks have ended.
//!
//! So a cooperative launch needs no forward progress between workgroups, which Vulkan doesn't promise. Registers that are live around the loop of the
//! [state machine](super::state_machine), local memory and shared memory go to the launch's [workspace]: for each workgroup its status, its
//! shared memory, and then word by word those of all its threads.

use super::operations::{GLOBAL, block_threads, head};
use super::rounds_left::RoundsLeft;
use crate::ir::{
    Access, Atomic, AtomicOp, Builder, Builtin, Compare, Function, MemoryOrder, Scope, Space, Type, Value, Var, VarSet,
};
use ptx2spv_interface::{push_constant, workspace};

/// Status of a block that is to go on in the next dispatch. A block that hasn't run yet has status zero.
const SUSPENDED: u32 = 1;
/// Status of a block that has ended.
pub const ENDED: u32 = 2;

const SHARED: Access = Access { space: Space::Shared, ..GLOBAL };
const LOCAL: Access = Access { space: Space::Local, ..GLOBAL };
/// Alignment of local memory in the workspace: the size of the widest access.
const LOCAL_ALIGN: u32 = 16;

/// The way to suspend blocks of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Suspending {
    /// Offset of the workspace's address in the push constants.
    pub workspace: u32,
    pub numbers: Numbers,
    /// Whether threads poll memory that other blocks write.
    pub polls: bool,
    /// The rounds of threads that pause in long loops.
    pub rounds: Option<RoundsLeft>,
}

impl Suspending {
    /// The state that a block saves, with the variables that are live where its threads go on.
    pub fn block(self, function: &Function, mut live: VarSet) -> Block {
        for own in self.rounds.into_iter().flat_map(RoundsLeft::variables) {
            live.remove(own);
        }
        Block::with_words(self.workspace, self.numbers, function, &live, 0)
    }
}

/// The numbers by which workgroups find their parts of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// The numbers in the grid, whose workspace begins as zeros.
    Grid,
    /// The numbers in the dispatch, whose workspace counts dispatches.
    Dispatch,
}

/// The most words of local memory that are copied. Each takes a round of the driver's when it is saved and when it is restored.
const MOST_COPIED: u32 = 512;

/// The layout of the workgroups' parts of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedLayout {
    /// Offset of the workspace's address in the push constants.
    address: u32,
    /// The numbering of the workgroups.
    numbers: Numbers,
    /// Words that a thread saves.
    words: u32,
    /// Bytes of each thread's local memory, a multiple of 16, if it is in the workspace all the time: zero if it is copied there.
    local_bytes: u32,
    /// Bytes of shared memory, whole words, and those of them that are the translator's.
    shared_bytes: u32,
    own_shared_bytes: u32,
}

/// The state that a block saves.
pub struct Block {
    layout: SavedLayout,
    /// Words before those of the variables.
    own_words: u32,
    /// Variables, whose words follow each other.
    vars: Vec<Var>,
    /// The words so far.
    var_words: u32,
    /// Words of local memory that are copied.
    local_words: u32,
}

/// The places of the parts of a block's state in the workspace.
pub struct SavedState {
    /// Address of its status.
    pub status: Value,
    /// Address of its shared memory.
    shared: Value,
    /// Bytes of its shared memory; `I32`.
    shared_bytes: Value,
    /// Address of the thread's local memory, if that is in the workspace all the time.
    local: Value,
    /// Address of the first word of the thread.
    own: Value,
    /// The thread's number in the workgroup, and the number of the workgroup's threads; `I32`.
    index: Value,
    threads: Value,
    /// Bytes from one word of the thread to the next; `I64`.
    step: Value,
}

impl SavedLayout {
    /// Words that a thread saves.
    pub fn words(self) -> u32 {
        self.words
    }

    /// Whether local memory is in the workspace all the time.
    pub fn has_local(self) -> bool {
        self.local_bytes > 0
    }

    /// Address of the thread's local memory, where the kernel begins.
    pub fn local(self, b: &Builder<'_>) -> Value {
        self.place(b).local
    }

    /// The places of the parts of a block's state.
    fn place(self, b: &Builder<'_>) -> SavedState {
        let mut threads = block_threads(b);
        let mut index = b.builtin(Builtin::ThreadIndex);
        let mut extents = [1; 3];
        if let Some(cluster) = b.function(|function| function.cluster) {
            let before = b.mul(b.cluster_rank(), threads);
            index = b.add(before, index);
            threads = b.mul_const(threads, cluster.blocks().into());
            extents = cluster.size;
        }
        let shared_bytes =
            if b.function(|function| function.dynamic_shared) || b.function(|function| function.cluster).is_some() {
                let kernel = b.builtin(Builtin::SharedBytes);
                b.add_const(kernel, self.own_shared_bytes.into())
            } else {
                b.function(|function| function.shared_bytes = function.shared_bytes.max(self.shared_bytes));
                b.i32(self.shared_bytes)
            };
        let mut number = None;
        for (dimension, extent) in (0..3_u8).zip(extents).rev() {
            let offset = 4 * u32::from(dimension);
            let mut own = b.builtin(Builtin::WorkgroupId(dimension));
            if self.numbers == Numbers::Grid {
                own = b.add(b.push_constant(Type::I32, push_constant::GRID_BASE + offset), own);
            }
            let own = b.zero_extend(own);
            number = Some(match number {
                None => own,
                Some(number) => {
                    let count = match self.numbers {
                        Numbers::Grid => {
                            let blocks = b.push_constant(Type::I32, push_constant::GRID_SIZE + offset);
                            b.div_unsigned(blocks, b.i32(extent))
                        }
                        Numbers::Dispatch => b.builtin(Builtin::WorkgroupCount(dimension)),
                    };
                    let before = b.mul(number, b.zero_extend(count));
                    b.add(before, own)
                }
            });
        }
        let number = number.unwrap_or_else(|| b.i64(0));
        let step = b.shl(b.zero_extend(threads), 2);
        let all_words = b.mul_const(step, self.words.into());
        // What follows is aligned.
        let up = b.add_const(shared_bytes, u64::from(workspace::ALIGN - 1));
        let long_shared = b.zero_extend(b.and_const(up, u64::from(!(workspace::ALIGN - 1))));
        let before = b.mul(number, b.add_const(b.add(all_words, long_shared), workspace::BLOCK_HEADER));
        let first = b.add_const(b.push_constant(Type::I64, self.address), workspace::BLOCKS);
        let status = b.add(first, before);
        let shared = b.add_const(status, workspace::BLOCK_HEADER);
        let local = b.add(shared, long_shared);
        let (local, words) = if self.has_local() {
            let before = |b: &Builder<'_>, threads| b.mul_const(b.zero_extend(threads), self.local_bytes.into());
            (b.add(local, before(b, index)), b.add(local, before(b, threads)))
        } else {
            (local, local)
        };
        let own = b.add(words, b.shl(b.zero_extend(index), 2));
        SavedState { status, shared, shared_bytes, local, own, index, threads, step }
    }
}

impl Block {
    /// The state of a block: these variables, and those that every block needs. The first `own_words` words of each thread are for the caller's use.
    pub fn with_words(address: u32, numbers: Numbers, function: &Function, live: &VarSet, own_words: u32) -> Self {
        let mut live = live.clone();
        if let Some(exited) = function.exited {
            live.insert(exited);
        }
        let vars: Vec<Var> = live.iter().collect();
        let words = vars.iter().map(|var| if function.vars.at(*var) == Some(&Type::I64) { 2 } else { 1 });
        let var_words = own_words + words.sum::<u32>();
        let local_words = function.local_bytes.div_ceil(4);
        let (local_bytes, local_words, words) = if local_words > MOST_COPIED {
            // All of it is aligned as vectors are, in all blocks.
            let bytes = function.local_bytes.next_multiple_of(LOCAL_ALIGN);
            (bytes, 0, (bytes / 4).saturating_add(var_words.next_multiple_of(LOCAL_ALIGN / 4)))
        } else {
            (0, local_words, var_words + local_words)
        };
        // Whole words are saved.
        let shared_bytes = function.shared_bytes.next_multiple_of(4);
        let own_shared_bytes = function.own_shared_bytes;
        let layout = SavedLayout { address, numbers, words, local_bytes, shared_bytes, own_shared_bytes };
        Self { layout, own_words, vars, var_words, local_words }
    }

    /// The layout of the block's part of the workspace.
    pub fn layout(&self) -> SavedLayout {
        self.layout
    }

    /// The places of the parts of the block's state.
    pub fn place(&self, b: &Builder<'_>) -> SavedState {
        self.layout.place(b)
    }

    /// Address of a word of the thread's own.
    pub fn word(b: &Builder<'_>, place: &SavedState, number: u32) -> Value {
        b.add(place.own, b.mul_const(place.step, number.into()))
    }

    /// Copies shared memory to the workspace or back.
    pub fn shared(b: &Builder<'_>, place: &SavedState, save: bool) {
        let next = b.var(Type::I32);
        b.set(next, b.shl(place.index, 2));
        let step = b.shl(place.threads, 2);
        b.loop_(|b| {
            let at = b.get(next);
            let inside = b.compare(Compare::LessUnsigned, at, place.shared_bytes);
            b.if_else(inside, |_| {}, Builder::break_);
            copy(b, (SHARED, at), (GLOBAL, b.add(place.shared, b.zero_extend(at))), save);
            b.set(next, b.add(at, step));
        });
    }

    /// Copies the thread's local memory to the workspace or back, unless it is there all the time.
    fn local(&self, b: &Builder<'_>, place: &SavedState, save: bool) {
        if self.local_words == 0 {
            return;
        }
        let (next, there) = (b.var(Type::I32), b.var(Type::I64));
        b.set(next, b.i32(0));
        let first = Self::word(b, place, self.var_words);
        b.set(there, first);
        b.loop_(|b| {
            let at = b.get(next);
            let inside = b.compare_const(Compare::LessUnsigned, at, (4 * self.local_words).into());
            b.if_else(inside, |_| {}, Builder::break_);
            let to = b.get(there);
            copy(b, (LOCAL, at), (GLOBAL, to), save);
            b.set(next, b.add_const(at, 4));
            b.set(there, b.add(to, place.step));
        });
    }

    /// Saves all but the status.
    pub fn save(&self, b: &Builder<'_>) {
        let place = self.place(b);
        self.save_own(b, &place);
        Self::shared(b, &place, true);
    }

    /// Saves the thread's own state.
    pub fn save_own(&self, b: &Builder<'_>, place: &SavedState) {
        let mut address = Self::word(b, place, self.own_words);
        for var in &self.vars {
            let value = b.get(*var);
            let words = match b.type_of(value) {
                Type::I64 => <[Value; 2]>::from(b.halves(value)).to_vec(),
                Type::Bool => vec![b.bool_to(Type::I32, value)],
                _ => vec![value],
            };
            for word in words {
                b.store(GLOBAL, address, vec![word]);
                address = b.add(address, place.step);
            }
        }
        self.local(b, place, true);
    }

    /// Restores the saved state, if there is one; gives the status.
    pub fn restore(&self, b: &Builder<'_>) -> Value {
        let place = self.place(b);
        let mut status = b.load_one(GLOBAL, place.status);
        if self.layout.numbers == Numbers::Dispatch {
            let dispatch = head(b, self.layout.address, workspace::DISPATCH);
            status = b.select(b.is_zero(dispatch), dispatch, status);
        }
        let goes_on = b.compare_const(Compare::Equal, status, SUSPENDED.into());
        b.if_(goes_on, |b| {
            self.restore_own(b, &place);
            Self::shared(b, &place, false);
        });
        status
    }

    /// Restores the thread's own state.
    pub fn restore_own(&self, b: &Builder<'_>, place: &SavedState) {
        let mut address = Self::word(b, place, self.own_words);
        for var in &self.vars {
            let word = b.load_one(GLOBAL, address);
            address = b.add(address, place.step);
            let value = match b.var_type(*var) {
                Type::I64 => {
                    let high = b.load_one(GLOBAL, address);
                    address = b.add(address, place.step);
                    b.join(word, high)
                }
                Type::Bool => b.is_nonzero(word),
                _ => word,
            };
            b.set(*var, value);
        }
        self.local(b, place, false);
    }

    /// Writes the status, and tells the host whether a block is to go on and whether it has made progress. For one thread.
    pub fn note(&self, b: &Builder<'_>, goes_on: Value, active: Value) {
        let place = self.place(b);
        let [suspended, ended] = [SUSPENDED, ENDED].map(|status| b.i32(status));
        let has_ended = b.compare_const(Compare::Equal, b.load_one(GLOBAL, place.status), ENDED.into());
        b.store(GLOBAL, place.status, vec![b.select(goes_on, suspended, ended)]);
        b.if_(goes_on, |b| self.count(b, workspace::SUSPENDED));
        let progress = b.or(active, b.not(b.or(goes_on, has_ended)));
        b.if_(progress, |b| self.count(b, workspace::PROGRESS));
    }

    /// Adds one to a word of the workspace's head.
    pub fn count(&self, b: &Builder<'_>, word: u64) {
        let address = b.add_const(b.push_constant(Type::I64, self.layout.address), word);
        let access = Access { order: MemoryOrder::Relaxed(Scope::Device), ..GLOBAL };
        let operand = b.i32(1);
        b.atomic(Atomic { result: None, op: AtomicOp::Add, access, address, operand, compare: None });
    }
}

/// Copies a word from `own` to `saved`, or back if `save` is false.
fn copy(b: &Builder<'_>, own: (Access, Value), saved: (Access, Value), save: bool) {
    let (from, to) = if save { (own, saved) } else { (saved, own) };
    b.store(to.0, to.1, vec![b.load_one(from.0, from.1)]);
}
