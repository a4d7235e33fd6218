//! Parameters and state of a dispatch.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::builtin::Shape;
use super::convergence::Convergence;
use super::direct::Direct;
use super::lane::Lane;
use crate::code::{Code, Pc, SourceLine};
use crate::config::Trace;
use crate::finding::{Finding, Site, SpirvInstruction};
use crate::memory::Fault;

/// Maximum host bytes for the invocations of running workgroups.
pub(super) const ROOM: u64 = 4 << 30;

/// An entry point that is ready to run.
pub(crate) struct Program {
    pub code: Code,
    pub entry: String,
    pub subgroup_size: u32,
    /// Disassembles the instruction that begins at a word.
    pub disassemble: Box<dyn Fn(u32) -> String + Send + Sync>,
    pub(super) convergence: Convergence,
    /// The code's instructions for plain runs.
    pub(super) directs: Box<[Direct]>,
}

impl Program {
    pub fn new(
        code: Code,
        entry: impl Into<String>,
        subgroup_size: u32,
        disassemble: impl Fn(u32) -> String + Send + Sync + 'static,
    ) -> Self {
        let (convergence, directs) = (Convergence::new(&code), Direct::all(&code.insts));
        Self { code, entry: entry.into(), subgroup_size, disassemble: Box::new(disassemble), convergence, directs }
    }

    /// Host bytes for the invocations of a workgroup.
    pub(super) fn workgroup_bytes(&self, shadowed: bool) -> u64 {
        let invocations = self.code.workgroup_size.iter().map(|&extent| u64::from(extent)).product::<u64>();
        invocations.saturating_mul(Lane::bytes(&self.code, shadowed))
    }

    /// Whether the invocations of a workgroup are likely to fit into the host's memory.
    pub fn fits(&self, shadowed: bool) -> bool {
        self.workgroup_bytes(shadowed) <= ROOM
    }

    /// The first word of the SPIR-V instruction that an instruction comes from.
    pub(super) fn word(&self, pc: Pc) -> u32 {
        self.code.places.get(pc as usize).map_or(0, |place| place.word)
    }

    pub(super) fn site(&self, pc: Pc, workgroup: Option<[u32; 3]>, local: Option<[u32; 3]>) -> Site {
        let word = self.word(pc);
        let instruction = Some(SpirvInstruction { text: (self.disassemble)(word), word });
        Site { entry: self.entry.clone(), instruction, line: self.line(pc), origin: None, workgroup, local }
    }

    /// The source line of an instruction, if the module has it.
    pub(super) fn line(&self, pc: Pc) -> Option<(String, u32)> {
        let SourceLine { file, line } = self.code.places.get(pc as usize)?.line?;
        Some((self.code.files.get(file as usize)?.clone(), line))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("entry", &self.entry).field("code", &self.code).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub program: &'a Program,
    /// Number of workgroups in x, y and z.
    pub groups: [u32; 3],
    pub push_constants: &'a [u8],
    /// Whether undefined bits are tracked.
    pub shadowed: bool,
    pub threads: usize,
    /// Number of instructions run so far.
    pub steps: AtomicU64,
    /// Maximum number of instructions.
    pub step_budget: Option<u64>,
    pub trace: Option<Trace>,
    pub log: &'a Mutex<Log>,
}

impl Launch<'_> {
    pub(super) fn traces(&self, shape: &Shape, lane: u32) -> bool {
        self.trace.is_some_and(|trace| trace.workgroup == shape.workgroup && trace.local == shape.local(lane))
    }

    pub(super) fn site(&self, pc: Pc, shape: &Shape, lane: u32) -> Site {
        self.program.site(pc, Some(shape.workgroup), Some(shape.local(lane)))
    }

    pub(super) fn fatal(&self, fault: Fault, pc: Pc, shape: &Shape, lane: u32) -> Box<Finding> {
        let Fault { kind, message } = fault;
        Finding::new(kind, message, self.site(pc, shape, lane), None).into()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(super) lines: Vec<String>,
    /// The instruction at the end of the last line, and the length of the line before an address that the next
    /// instruction may still adjust.
    pub(super) last: Option<(Pc, Option<usize>)>,
}

impl Log {
    pub fn take(log: &Mutex<Self>) -> Vec<String> {
        std::mem::take(&mut *lock(log)).lines
    }
}

/// Locks a mutex, even after a thread has panicked: no mutex guards a half-made change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
