//! An invocation: its registers, memory and position.

use rustc_hash::FxHashMap;

use super::convergence::Position;
use super::world::Who;
use crate::code::{Code, Pc, Slot};

#[derive(Debug)]
pub(super) struct Lane {
    /// The position in the workgroup, `LocalInvocationIndex`.
    pub index: u32,
    /// The subgroup, `SubgroupId`.
    pub subgroup: u32,
    /// The position in the subgroup, `SubgroupLocalInvocationId`.
    pub place: u32,
    pub state: State,
    /// The next instruction.
    pub pc: Pc,
    /// The active calls, outermost first.
    pub calls: Vec<Pc>,
    /// The iteration of each loop.
    pub rounds: Vec<u64>,
    /// The register file.
    pub registers: Vec<u64>,
    /// `Function` and `Private` memory.
    pub private: Vec<u8>,
    /// The undefined bits of registers and memory, if they are tracked.
    pub shadow: Option<Box<Shadow>>,
    /// Number of successive slices without changes of memory.
    pub idle_slices: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Can run.
    Ready,
    /// Repeats a cycle of states as long as memory has this version.
    Cycling { version: u64 },
    /// Waits at a subgroup operation or a subgroup barrier.
    AtGroup,
    /// Waits at a barrier of the workgroup.
    AtBarrier,
    /// Doesn't run any more.
    Ended,
}

/// The undefined bits of an invocation's registers and memory.
#[derive(Debug)]
pub(super) struct Shadow {
    /// Undefined bits of each register.
    pub undefined: Vec<u64>,
    /// For registers with undefined bits, the instruction that they come from.
    pub origins: Vec<Pc>,
    /// Undefined bits of each byte of memory.
    pub private: Vec<u8>,
    /// Addresses where undefined bits were stored, with the instruction that they come from.
    stored: FxHashMap<u64, Pc>,
}

impl Shadow {
    #[inline(always)]
    pub fn of<const N: usize>(&self, slots: [Slot; N]) -> [u64; N] {
        slots.map(|slot| self.undefined[slot as usize])
    }

    /// Sets the undefined bits of a register. Their origin is that of the first of `operands` with any, or else `pc`.
    #[inline]
    pub fn set(&mut self, d: Slot, undefined: u64, pc: Pc, operands: &[Slot]) {
        if undefined != 0 {
            let culprit = operands.iter().find(|&&slot| self.undefined[slot as usize] != 0);
            self.origins[d as usize] = culprit.map_or(pc, |&slot| self.origins[slot as usize]);
        }
        self.undefined[d as usize] = undefined;
    }

    /// Records that a register was stored at an address of the invocation's memory.
    #[inline(always)]
    pub fn note_stored(&mut self, address: u64, value: Slot) {
        if self.undefined[value as usize] != 0 {
            self.stored.insert(address, self.origins[value as usize]);
        }
    }

    /// The origin of undefined bits at an address of the invocation's memory; `pc` if they were never written.
    #[cold]
    pub fn stored_at(&self, address: u64, pc: Pc) -> Pc {
        self.stored.get(&address).copied().unwrap_or(pc)
    }

    /// Makes bytes of the invocation's memory undefined.
    pub fn forget(&mut self, bytes: std::ops::Range<usize>) {
        self.private[bytes.clone()].fill(u8::MAX);
        self.stored.retain(|address, _| !bytes.contains(&(*address as usize)));
    }
}

impl Lane {
    /// An invocation that has not begun.
    pub fn new(code: &Code, index: u32, subgroup: u32, place: u32, shadowed: bool) -> Self {
        let (slots, private) = (code.slots as usize, code.private_bytes as usize);
        let mut registers = vec![0; slots];
        registers[..code.constants.len()].copy_from_slice(&code.constants);
        let shadow = Shadow {
            undefined: vec![0; slots],
            origins: vec![0; slots],
            private: vec![0; private],
            stored: FxHashMap::default(),
        };
        let mut lane = Self {
            index,
            subgroup,
            place,
            state: State::Ready,
            pc: 0,
            calls: Vec::new(),
            rounds: vec![0; code.loops.len()],
            registers,
            private: vec![0; private],
            shadow: shadowed.then(|| shadow.into()),
            idle_slices: 0,
        };
        lane.restart(code);
        lane
    }

    /// The approximate number of host bytes for an invocation.
    pub fn bytes(code: &Code, shadowed: bool) -> u64 {
        let (slots, private) = (u64::from(code.slots), u64::from(code.private_bytes));
        let shadow = if shadowed { 12 * slots + private } else { 0 };
        8 * slots + private + shadow + size_of::<Self>() as u64
    }

    /// The size of the state that a [`Snapshot`] copies, in 64-bit words.
    pub fn words(&self) -> usize {
        self.registers.len() + self.private.len() / 8
    }

    /// Restarts as an invocation of another workgroup. Constants are never written, and other registers are written
    /// before they are read.
    pub fn restart(&mut self, code: &Code) {
        self.state = State::Ready;
        self.pc = code.start;
        self.calls.clear();
        self.idle_slices = 0;
        self.private.fill(0);
        if let Some(shadow) = &mut self.shadow {
            shadow.private.fill(u8::MAX);
            shadow.stored.clear();
        }
    }

    pub fn position(&self) -> Position<'_> {
        Position { calls: &self.calls, pc: self.pc, rounds: &self.rounds }
    }

    pub fn who(&self) -> Who {
        Who { lane: self.index, subgroup: self.subgroup, pc: self.pc }
    }

    /// Continues after an operation that it has waited for.
    pub fn go_on(&mut self) {
        self.state = State::Ready;
        self.pc += 1;
    }

    /// Whether the invocation waits for others.
    pub fn is_parked(&self) -> bool {
        matches!(self.state, State::AtGroup | State::AtBarrier)
    }
}

/// The complete state that determines an invocation's next steps, for detecting cycles.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pc: Pc,
    calls: Vec<Pc>,
    registers: Vec<u64>,
    private: Vec<u8>,
    /// The register that differed at the last comparison. It is mostly a loop counter, which will differ again.
    suspect: usize,
}

impl Snapshot {
    pub fn take(&mut self, lane: &Lane) {
        self.pc = lane.pc;
        self.calls.clone_from(&lane.calls);
        self.registers.clone_from(&lane.registers);
        self.private.clone_from(&lane.private);
        self.suspect = 0;
    }

    pub fn pc(&self) -> Pc {
        self.pc
    }

    pub fn matches(&mut self, calls: &[Pc], registers: &[u64], private: &[u8]) -> bool {
        if self.registers.get(self.suspect) != registers.get(self.suspect) {
            return false;
        }
        if let Some(other) = self.registers.iter().zip(registers).position(|(a, b)| a != b) {
            self.suspect = other;
            return false;
        }
        self.calls == calls && self.private == private
    }
}
