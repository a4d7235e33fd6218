//! Restricts barriers to shared memory where threads of a block exchange no data through device memory.
//!
//! Some drivers fence device memory at each barrier that orders it, which takes longer than the barrier itself. A
//! barrier must order device memory
//!
//! * if a thread may write to it before the barrier, and another thread may access it afterwards; or
//! * if a thread may read it before, another may write it afterwards, and the read may still be in flight at the
//!   barrier.
//!
//! A read has finished once its result is stored to shared memory: a compiler can move neither that store past the
//! barrier nor the read past the store. So a block that gathers a tile of a matrix into shared memory needs only a
//! barrier for shared memory.
//!
//! Reads of memory that no thread writes don't count. Atomics and ordered accesses count as reads and writes.

use rustc_hash::FxHashMap;

use crate::index::IndexVec;
use crate::ir::{Access, Atomic, Binary, Block, Function, MemoryOrder, Op, Ordered, Space, Stmt, Type, Value, Var};

/// Relaxes barriers; see the module.
pub fn relax_barriers(function: &mut Function) {
    let mut before = Before::new(function);
    before.list(&function.body);
    let mut relaxing = Relaxing { before: before.barriers, after: Accesses::default() };
    relaxing.list(&mut function.body);
}

/// Reads of device memory, one bit each, in program order.
type Reads = u64;

/// Reads that aren't tracked one by one and never count as finished: reads with higher numbers, and reads of earlier
/// iterations of a loop.
const OTHERS: Reads = 1 << 63;

/// The state at a point of the walk, over all paths that lead there.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    /// Device memory may have been written.
    wrote: bool,
    /// Reads that may be in flight.
    reads: Reads,
    /// Reads in flight whose results a variable was computed from. Only variables with such reads have an entry.
    of: FxHashMap<Var, Reads>,
    /// No path leads to this point.
    unreachable: bool,
}

impl State {
    fn unreachable() -> Self {
        Self { unreachable: true, ..Self::default() }
    }

    /// The state where this path and another one meet.
    fn join(&mut self, other: &State) {
        if other.unreachable {
            return;
        }
        if self.unreachable {
            self.clone_from(other);
            return;
        }
        let reads = self.reads | other.reads;
        // A read that isn't in flight on a path may be attributed to any variable there.
        let given = |state: &State, var| state.of.get(&var).copied().unwrap_or(0) | !state.reads;
        let vars: Vec<Var> = self.of.keys().chain(other.of.keys()).copied().collect();
        let of = vars.into_iter().map(|var| (var, given(self, var) & given(other, var) & reads));
        self.of = of.filter(|(_, reads)| *reads != 0).collect();
        self.reads = reads;
        self.wrote |= other.wrote;
    }

    /// Joins another state, and returns whether that changes anything.
    #[inline(never)]
    fn widen(&mut self, other: &State) -> bool {
        let before = self.clone();
        self.join(other);
        *self != before
    }
}

/// Walks from the start to the end.
struct Before<'f> {
    function: &'f Function,
    state: State,
    /// Reads that each value was computed from.
    of: IndexVec<Value, Reads>,
    /// The number of the next read, and of the next barrier.
    read: u32,
    barrier: usize,
    next_loop: usize,
    /// The state at the start of each loop's body, as far as it is known.
    rounds: Vec<State>,
    /// The state at the exits of the innermost loop.
    exits: State,
    /// Before each barrier: whether device memory may have been written, and whether reads may be under way.
    barriers: Vec<(bool, bool)>,
}

impl<'f> Before<'f> {
    fn new(function: &'f Function) -> Self {
        Self {
            function,
            state: State::default(),
            of: IndexVec::filled(0, function.values.len()),
            read: 0,
            barrier: 0,
            next_loop: 0,
            rounds: Vec::new(),
            exits: State::unreachable(),
            barriers: Vec::new(),
        }
    }

    fn list(&mut self, block: &Block) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    /// Does nothing but recurse, because the recursion must fit a small stack.
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                let start = self.state.clone();
                self.list(then);
                let end = std::mem::replace(&mut self.state, start);
                self.list(otherwise);
                self.state.join(&end);
            }
            Stmt::Loop(body) => self.repeat(body),
            _ => self.straight_line(stmt),
        }
    }

    /// A statement without nested lists.
    #[inline(never)]
    fn straight_line(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(value, op) => self.set(*value, self.op(op, self.function.type_of(*value))),
            Stmt::Set(var, value) => {
                let reads = self.of(*value);
                if reads == 0 {
                    self.state.of.remove(var);
                } else {
                    self.state.of.insert(*var, reads);
                }
            }
            Stmt::Load { results, access, address } => {
                self.shared(access, [*address]);
                self.state.wrote |= in_device_memory(access) && access.order != MemoryOrder::Weak;
                let reads = if in_device_memory(access) { self.start_read(access) } else { 0 };
                for result in results {
                    self.set(*result, reads);
                }
            }
            Stmt::Store { values, access, address } => {
                self.state.wrote |= in_device_memory(access);
                self.shared(access, values.iter().chain([address]).copied());
            }
            Stmt::Atomic(Atomic { result, access, address, operand, compare, .. }) => {
                self.state.wrote |= in_device_memory(access);
                self.shared(access, [*address, *operand].into_iter().chain(*compare));
                if let Some(result) = result {
                    self.set(*result, 0);
                }
            }
            Stmt::Break => {
                let state = std::mem::replace(&mut self.state, State::unreachable());
                self.exits.join(&state);
            }
            Stmt::Barrier(_) => {
                let found = (self.state.wrote, self.state.reads != 0);
                match self.barriers.get_mut(self.barrier) {
                    Some(barrier) => *barrier = (barrier.0 | found.0, barrier.1 | found.1),
                    None => self.barriers.push(found),
                }
                self.barrier += 1;
            }
            Stmt::Warp(warp) => warp.results.iter().for_each(|result| self.set(*result, 0)),
            Stmt::Subgroup(results, _) => results.iter().for_each(|result| self.set(*result, 0)),
            Stmt::At(_) | Stmt::Report(..) | Stmt::Arrive(_) | Stmt::Fence(_) | Stmt::Return(_) => {}
            Stmt::If { .. } | Stmt::Loop(_) => {}
        }
    }

    /// Repeats a loop's body until the state at its start no longer changes.
    fn repeat(&mut self, body: &Block) {
        let outer = std::mem::replace(&mut self.exits, State::unreachable());
        let number = self.next_loop;
        let (read, barrier, next_loop) = (self.read, self.barrier, number + 1);
        // A nested loop begins with the state of its last visit, so that nested loops converge soon.
        let mut start = self.rounds.get(number).cloned().unwrap_or_else(State::unreachable);
        start.join(&self.state);
        // This ends: at the start, a read that is in flight stays so, and what was not computed from it doesn't become so again.
        loop {
            (self.read, self.barrier, self.next_loop) = (read, barrier, next_loop);
            self.state.clone_from(&start);
            self.list(body);
            if !start.widen(&self.state) {
                break;
            }
        }
        if self.rounds.len() <= number {
            self.rounds.resize(number + 1, State::unreachable());
        }
        if let Some(round) = self.rounds.get_mut(number) {
            *round = start;
        }
        self.state = std::mem::replace(&mut self.exits, outer);
    }

    /// Starts a read and returns its bit.
    fn start_read(&mut self, access: &Access) -> Reads {
        let bit = if access.order == MemoryOrder::Weak { 1_u64.checked_shl(self.read) } else { None };
        let bit = bit.unwrap_or(OTHERS);
        self.read += 1;
        if self.state.reads & bit != 0 {
            self.state.reads |= OTHERS;
        }
        self.state.reads |= bit;
        for reads in self.state.of.values_mut() {
            *reads &= !bit;
        }
        self.state.of.retain(|_, reads| *reads != 0);
        bit
    }

    /// Notes that the operands of an access to shared memory have been read.
    fn shared(&mut self, access: &Access, operands: impl IntoIterator<Item = Value>) {
        if access.space == Space::Shared {
            let reads = operands.into_iter().fold(0, |reads, value| reads | self.of(value));
            self.state.reads &= !(reads & !OTHERS);
        }
    }

    /// The reads that an operation with this result type must wait for, whatever order of evaluation a compiler
    /// chooses.
    fn op(&self, op: &Op, ty: Type) -> Reads {
        match *op {
            Op::Get(var) => self.state.of.get(&var).copied().unwrap_or(0),
            // A compiler may turn a selection into a branch, which reads only one of the values.
            Op::Select(condition, then, otherwise) => self.of(condition) | self.of(then) & self.of(otherwise),
            Op::Binary(Binary::And | Binary::Or, a, b) if ty == Type::Bool => self.of(a) & self.of(b),
            _ => {
                let mut reads = 0;
                crate::ir::for_each_op_operand(*op, |value| reads |= self.of(value));
                reads
            }
        }
    }

    fn of(&self, value: Value) -> Reads {
        self.of.at(value).copied().unwrap_or(0)
    }

    fn set(&mut self, value: Value, reads: Reads) {
        if let Some(entry) = self.of.at_mut(value) {
            *entry = reads;
        }
    }
}

/// Whether an access may touch device memory that other threads may write.
fn in_device_memory(access: &Access) -> bool {
    matches!(access.space, Space::Global | Space::Generic) && !access.read_only
}

/// Accesses to device memory.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    any: bool,
    writes: bool,
}

/// Walks from the end to the start.
struct Relaxing {
    /// The barriers before the current point; see [`Before::barriers`].
    before: Vec<(bool, bool)>,
    /// The accesses after the current point.
    after: Accesses,
}

impl Relaxing {
    fn list(&mut self, block: &mut Block) {
        for stmt in block.iter_mut().rev() {
            match stmt {
                Stmt::Barrier(ordered) => {
                    let (wrote, reads) = self.before.pop().unwrap_or((true, true));
                    if !(wrote && self.after.any || reads && self.after.writes) {
                        *ordered = Ordered::Shared;
                    }
                }
                Stmt::If { then, otherwise, .. } => {
                    let after = self.after;
                    self.list(otherwise);
                    let before_otherwise = std::mem::replace(&mut self.after, after);
                    self.list(then);
                    self.after.any |= before_otherwise.any;
                    self.after.writes |= before_otherwise.writes;
                }
                Stmt::Loop(body) => {
                    // Another iteration may follow.
                    self.count(body);
                    self.list(body);
                }
                _ => self.count(std::slice::from_ref(stmt)),
            }
        }
    }

    /// Adds the accesses of statements, including nested ones.
    fn count(&mut self, block: &[Stmt]) {
        for stmt in block {
            stmt.lists().for_each(|list| self.count(list));
            if let Some((access, _)) = stmt.access()
                && in_device_memory(access)
            {
                self.after.any = true;
                self.after.writes |= !matches!(stmt, Stmt::Load { .. }) || access.order != MemoryOrder::Weak;
            }
        }
    }
}
