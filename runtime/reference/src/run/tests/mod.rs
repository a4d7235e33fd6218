//! Tests of the engine with hand-made code.

mod convergence;
mod faults;
mod group;
mod schedule;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use super::{Knowledge, Launch, Program, run_plain};
use crate::code::{
    Atomic, AtomicOp, Barrier, Binary, Block, BuiltIn, Class, Code, Group, GroupOp, Inst, MemoryAccess, Origin, Pc,
    Scan, Scope, Semantics, Slot, Unary,
};
use crate::config::{Mode, Trace};
use crate::finding::Finding;
use crate::memory::device::Memory;
use crate::run::Findings;

/// The address of the first allocation.
const BUFFER: u64 = 1 << 36;

/// Registers reserved for constants.
const CONSTANTS: u32 = 64;

/// Semantics that order everything.
const ALL: Semantics = Semantics {
    acquire: true,
    release: true,
    available: true,
    visible: true,
    device: true,
    workgroup: true,
    volatile: false,
};

/// Assembles code. Jumps refer to blocks, which are replaced by instructions at the end.
struct Assembler {
    code: Code,
}

impl Assembler {
    fn new(workgroup_size: u32) -> Self {
        let code = Code {
            slots: CONSTANTS,
            workgroup_size: [workgroup_size, 1, 1],
            accesses: vec![MemoryAccess { non_private: true, ..MemoryAccess::default() }],
            ..Code::default()
        };
        Self { code }
    }

    /// Begins a block, given the loops around it and its forward successors.
    fn block(&mut self, loops: &[u32], forward: &[u32]) {
        let (loops, forward) = (loops.to_vec(), forward.to_vec());
        self.code.blocks.push(Block { start: self.code.insts.len() as Pc, loops, forward });
    }

    fn put(&mut self, inst: Inst) {
        let block = self.code.blocks.len() as u32 - 1;
        let word = self.code.insts.len() as u32;
        self.code.insts.push(inst);
        self.code.places.push(Origin { word, block, line: None });
    }

    fn slot(&mut self) -> Slot {
        self.slots(1)
    }

    fn slots(&mut self, count: u32) -> Slot {
        self.code.slots += count;
        self.code.slots - count
    }

    fn constant(&mut self, value: u64) -> Slot {
        let known = self.code.constants.iter().position(|&constant| constant == value);
        known.unwrap_or_else(|| {
            self.code.constants.push(value);
            assert!(self.code.constants.len() as u32 <= CONSTANTS);
            self.code.constants.len() - 1
        }) as Slot
    }

    fn builtin(&mut self, builtin: BuiltIn) -> Slot {
        let d = self.slot();
        self.put(Inst::Builtin { builtin, component: 0, d });
        d
    }

    fn binary(&mut self, op: Binary, a: Slot, b: Slot) -> Slot {
        let d = self.slot();
        self.put(Inst::Binary { op, bits: 32, d, a, b });
        d
    }

    /// Compares a register with a value.
    fn is(&mut self, a: Slot, value: u64) -> Slot {
        let b = self.constant(value);
        self.binary(Binary::IEqual, a, b)
    }

    fn add(&mut self, d: Slot, value: u64) {
        let b = self.constant(value);
        self.put(Inst::Binary { op: Binary::IAdd, bits: 32, d, a: d, b });
    }

    /// The address of the 4-byte element `index` after an address.
    fn element(&mut self, base: u64, index: Slot) -> Slot {
        let (d, a) = (self.slot(), self.constant(base));
        self.put(Inst::Index { bits: 32, d, a, index, stride: 4, count: 0 });
        d
    }

    /// Stores 32 bits into element `index` of the buffer.
    fn store(&mut self, index: Slot, value: Slot) {
        let pointer = self.element(BUFFER, index);
        self.put(Inst::Access { class: Class::Device, pointer, bytes: 4, align: 4, write: true });
        self.put(Inst::Store { class: Class::Device, bytes: 4, how: 0, value, pointer, offset: 0 });
    }

    /// Loads element `index` of the buffer.
    fn fetch(&mut self, index: Slot) -> Slot {
        let pointer = self.element(BUFFER, index);
        self.load(Class::Device, pointer)
    }

    /// Branches depending on whether a register has a value.
    fn branch_if(&mut self, a: Slot, value: u64, yes: u32, no: u32) {
        let condition = self.is(a, value);
        self.put(Inst::Branch { condition, yes, no });
    }

    /// The number of invocations that are here together, of a subgroup of at most 32.
    fn count(&mut self) -> Slot {
        let one = self.constant(1);
        let (a, d) = (self.group(GroupOp::Ballot, 1, one, one), self.slot());
        self.put(Inst::Unary { op: Unary::BitCount, bits: 32, d, a });
        d
    }

    fn load(&mut self, class: Class, pointer: Slot) -> Slot {
        let d = self.slot();
        self.put(Inst::Access { class, pointer, bytes: 4, align: 4, write: false });
        self.put(Inst::Load { class, bytes: 4, how: 0, d, pointer, offset: 0 });
        d
    }

    fn atomic(&mut self, op: AtomicOp, class: Class, pointer: Slot, value: Slot) -> Slot {
        let d = self.slot();
        self.put(Inst::Access { class, pointer, bytes: 4, align: 4, write: op != AtomicOp::Load });
        let (scope, semantics) = (Scope::Device, ALL);
        let (bits, comparator, unequal) = (32, value, Semantics::default());
        self.code.atomics.push(Atomic { op, class, bits, d, pointer, value, comparator, scope, semantics, unequal });
        self.put(Inst::Atomic(self.code.atomics.len() as u32 - 1));
        d
    }

    fn group(&mut self, op: GroupOp, bits: u8, value: Slot, other: Slot) -> Slot {
        let group = Group { op, bits, components: 1, d: 0, value, other };
        let d = self.slots(group.results());
        self.code.groups.push(Group { d, ..group });
        self.put(Inst::Group(self.code.groups.len() as u32 - 1));
        d
    }

    fn barrier(&mut self, execution: Scope) {
        self.code.barriers.push(Barrier { execution, memory: execution, semantics: ALL });
        self.put(Inst::Barrier(self.code.barriers.len() as u32 - 1));
    }

    fn a_loop(&mut self, header: u32) -> u32 {
        self.code.loops.push(header);
        self.code.loops.len() as u32 - 1
    }

    /// Enters a loop at a block.
    fn enter(&mut self, index: u32, to: u32) {
        self.put(Inst::EnterLoop(index));
        self.put(Inst::Jump(to));
    }

    fn next_round(&mut self, index: u32, to: u32) {
        self.put(Inst::NextRound(index));
        self.put(Inst::Jump(to));
    }

    /// The code, with jumps to blocks turned into jumps to instructions.
    fn finish(mut self) -> Code {
        let Code { insts, blocks, .. } = &mut self.code;
        let start = |block: &mut Pc| *block = blocks[*block as usize].start;
        for inst in insts {
            match inst {
                Inst::Jump(to) | Inst::Call(to) => start(to),
                Inst::Branch { yes, no, .. } => [yes, no].into_iter().for_each(start),
                _ => {}
            }
        }
        self.code.constants.resize(CONSTANTS as usize, 0);
        self.code
    }

    fn runs(self, subgroup: u32) -> Run {
        Run {
            program: Arc::new(Program::new(self.finish(), "main", subgroup, |word| format!("instruction {word}"))),
            groups: 1,
            input: Vec::new(),
            words: 4096,
            freed: false,
            threads: 2,
            mode: Mode::default(),
            step_budget: Some(100_000_000),
            trace: None,
        }
    }
}

/// All modes, with several seeds for the adversarial ones.
fn modes() -> impl Iterator<Item = (bool, Option<u64>)> {
    [(false, None), (true, None)].into_iter().chain((0..8).flat_map(|seed| [(false, Some(seed)), (true, Some(seed))]))
}

struct Run {
    program: Arc<Program>,
    groups: u32,
    /// The initial contents of the buffer; the rest of its `words` are zero.
    input: Vec<u32>,
    words: usize,
    /// Whether the buffer is freed before the run.
    freed: bool,
    threads: usize,
    mode: Mode,
    step_budget: Option<u64>,
    trace: Option<Trace>,
}

struct Outcome {
    result: Result<(), Box<Finding>>,
    found: Vec<Finding>,
    words: Vec<u32>,
    trace: Vec<String>,
}

impl Run {
    fn groups(mut self, groups: u32) -> Self {
        self.groups = groups;
        self
    }

    fn mode(mut self, check: bool, seed: Option<u64>) -> Self {
        self.mode = Mode { check, seed };
        self
    }

    fn run(&self) -> Outcome {
        let mut memory = Memory::new();
        let buffer = memory.allocate(4 * self.words as u64).unwrap();
        assert_eq!(buffer, BUFFER);
        memory.write(buffer, &self.input.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        if self.freed {
            memory.free(buffer);
        }
        let log = Mutex::default();
        let launch = Launch {
            program: &self.program,
            groups: [self.groups, 1, 1],
            push_constants: &[1, 2, 3, 4],
            shadowed: self.mode.check,
            threads: if self.mode == Mode::default() { self.threads } else { 1 },
            steps: AtomicU64::new(0),
            step_budget: self.step_budget,
            trace: self.trace,
            log: &log,
        };
        let mut findings = Findings::default();
        let result = if self.mode == Mode::default() {
            run_plain(&launch, &memory)
        } else {
            let mut knowledge = Knowledge::new(self.mode);
            knowledge.strict.allocate(1);
            knowledge.strict.host_write(1, 0, 4 * self.words as u64);
            knowledge.run(&self.program, &launch, &memory, &mut findings)
        };
        let mut bytes = vec![0; 4 * self.words];
        if !self.freed {
            memory.read(buffer, &mut bytes).unwrap();
        }
        let words = bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        Outcome { result, found: findings.take(), words, trace: super::Log::take(&log) }
    }

    /// The contents of the buffer after a run without findings.
    fn words(&self) -> Vec<u32> {
        let Outcome { result, found, words, .. } = self.run();
        assert_eq!((result, found), (Ok(()), Vec::new()));
        words
    }
}
