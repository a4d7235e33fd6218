//! An invocation: its registers, its own memory and where it stands.

use rustc_hash::FxHashMap;

use super::convergence::Position;
use super::world::Who;
use crate::code::{Code, Pc, Slot};

/// An invocation.
#[derive(Debug)]
pub(super) struct Lane {
    /// Its place in the workgroup, `LocalInvocationIndex`.
    pub index: u32,
    /// Its subgroup, `SubgroupId`.
    pub subgroup: u32,
    /// Its place in the subgroup, `SubgroupLocalInvocationId`.
    pub place: u32,
    /// What it is doing.
    pub state: State,
    /// Its next instruction.
    pub pc: Pc,
    /// The calls that it is in, outermost first.
    pub calls: Vec<Pc>,
    /// The rounds of loops.
    pub rounds: Vec<u64>,
    /// Its registers.
    pub registers: Vec<u64>,
    /// `Function` and `Private` memory.
    pub private: Vec<u8>,
    /// The undefined bits of both, if they are tracked.
    pub shadow: Option<Box<Shadow>>,
    /// Slices in a row that it used up without changing memory.
    pub idle_slices: u32,
}

/// What an invocation is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can go on.
    Ready,
    /// It repeats a cycle of states as long as memory is unchanged since this version.
    Cycling { version: u64 },
    /// It waits at an operation of the subgroup, or a barrier of it.
    AtGroup,
    /// It waits at a barrier of the workgroup.
    AtBarrier,
    /// It is done.
    Ended,
}

/// Which bits of an invocation's registers and memory are undefined.
#[derive(Debug)]
pub(super) struct Shadow {
    /// Of registers.
    pub undefined: Vec<u64>,
    /// For registers with undefined bits, the instruction that these came from.
    pub origins: Vec<Pc>,
    /// Of memory.
    pub private: Vec<u8>,
    /// Where in memory undefined bits were stored, with the instruction that they came from.
    stored: FxHashMap<u64, Pc>,
}

impl Shadow {
    /// Which bits of some registers are undefined.
    #[inline(always)]
    pub fn of<const N: usize>(&self, slots: [Slot; N]) -> [u64; N] {
        slots.map(|slot| self.undefined[slot as usize])
    }

    /// Sets which bits of a register are undefined. Where they come from is the first of `operands` with any, else `pc`.
    #[inline]
    pub fn set(&mut self, d: Slot, undefined: u64, pc: Pc, operands: &[Slot]) {
        if undefined != 0 {
            let culprit = operands.iter().find(|&&slot| self.undefined[slot as usize] != 0);
            self.origins[d as usize] = culprit.map_or(pc, |&slot| self.origins[slot as usize]);
        }
        self.undefined[d as usize] = undefined;
    }
}

impl Shadow {
    /// Notes that a register was stored at an address of the invocation's memory.
    #[inline(always)]
    pub fn note_stored(&mut self, address: u64, value: Slot) {
        if self.undefined[value as usize] != 0 {
            self.stored.insert(address, self.origins[value as usize]);
        }
    }

    /// Where undefined bits at an address of the invocation's memory come from; `pc` if they were never written.
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

    /// Bytes of the host that an invocation takes, about.
    pub fn bytes(code: &Code, shadowed: bool) -> u64 {
        let (slots, private) = (u64::from(code.slots), u64::from(code.private_bytes));
        let shadow = if shadowed { 12 * slots + private } else { 0 };
        8 * slots + private + shadow + size_of::<Self>() as u64
    }

    /// Begins anew, as an invocation of another workgroup. Constants are never written, and other registers not read
    /// before they are.
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

    /// Where it stands.
    pub fn position(&self) -> Position<'_> {
        Position { calls: &self.calls, pc: self.pc, rounds: &self.rounds }
    }

    /// Who it is, and where it stands.
    pub fn who(&self) -> Who {
        Who { lane: self.index, subgroup: self.subgroup, pc: self.pc }
    }

    /// Goes on after what it has waited at.
    pub fn go_on(&mut self) {
        self.state = State::Ready;
        self.pc += 1;
    }

    /// Whether it waits for others.
    pub fn is_parked(&self) -> bool {
        matches!(self.state, State::AtGroup | State::AtBarrier)
    }
}

/// All of an invocation that decides what it does next, to be seen again when it goes round in a circle.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pc: Pc,
    calls: Vec<Pc>,
    registers: Vec<u64>,
    private: Vec<u8>,
    /// A register that differed when last compared: a loop's counter mostly, which will differ again.
    suspect: usize,
}

impl Snapshot {
    /// Takes a snapshot of a lane.
    pub fn take(&mut self, lane: &Lane) {
        self.pc = lane.pc;
        self.calls.clone_from(&lane.calls);
        self.registers.clone_from(&lane.registers);
        self.private.clone_from(&lane.private);
        self.suspect = 0;
    }

    /// The next instruction at that time.
    pub fn pc(&self) -> Pc {
        self.pc
    }

    /// Whether an invocation with this state would now do as it did then.
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
