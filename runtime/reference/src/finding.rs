//! What the reference device reports: modules that the target can't run, and faults of a run.

use std::fmt;

/// A module that is malformed or that the target can't run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {message}")]
pub struct Refusal {
    /// The rule that it breaks: a feature by Vulkan's name, a limit by Vulkan's name, a VUID, or a section of the SPIR-V
    /// specification.
    pub rule: String,
    /// What breaks it.
    pub message: String,
}

/// Something undefined or forbidden that a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// What happened, in words: addresses, sizes, the nearest allocation, the other access of a race.
    pub message: String,
    /// The invocation that did it.
    pub site: Site,
    /// The other access of a race, or the origin of an undefined value.
    pub other: Option<Site>,
    /// How many more times the same kind of finding occurred at the same instruction.
    pub repeated: u64,
}

/// An instruction that an invocation ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The entry point.
    pub entry: String,
    /// The SPIR-V instruction; `None` where a kernel has found out itself.
    pub instruction: Option<SpirvInstruction>,
    /// Source file and line, if the module says so (`OpLine`).
    pub line: Option<(String, u32)>,
    /// Where that line comes from, if who found it knows.
    pub origin: Option<String>,
    /// The workgroup; `None` where no single invocation is meant.
    pub workgroup: Option<[u32; 3]>,
    /// The invocation's place in it.
    pub local: Option<[u32; 3]>,
}

/// An instruction of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvInstruction {
    /// Disassembled.
    pub text: String,
    /// Index of its first word in the module.
    pub word: u32,
}

/// Kinds of findings. All but those marked end the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// An access outside of every allocation, or of a variable.
    OutOfBounds,
    /// An access to an allocation that was freed.
    UseAfterFree,
    /// An access at an address that is no multiple of the alignment it promises.
    Misaligned,
    /// A write to memory that may only be read.
    ReadOnly,
    /// An uninitialised value on which a branch, an address or an atomic depends. The run goes on.
    Uninitialised,
    /// As before, for the undefined result of an operation such as a shift by more than the width, or the value of an
    /// inactive invocation. The run goes on.
    Undefined,
    /// Two accesses that nothing orders, at least one of which writes and at least one of which isn't atomic. The run
    /// goes on.
    Race,
    /// Threads of a warp at different barrier instructions that they must execute together. The run goes on.
    DivergedWarp,
    /// A barrier that not all invocations reach.
    DivergentBarrier,
    /// Invocations wait for each other for ever.
    Deadlock,
    /// The step budget is used up.
    StepBudget,
    /// `OpUnreachable` was reached.
    Unreachable,
}

impl FindingKind {
    /// Whether the dispatch can go on after it.
    pub fn is_fatal(self) -> bool {
        !matches!(self, Self::Uninitialised | Self::Undefined | Self::Race | Self::DivergedWarp)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out-of-bounds access",
            Self::UseAfterFree => "use of freed memory",
            Self::Misaligned => "misaligned access",
            Self::ReadOnly => "write to read-only memory",
            Self::Uninitialised => "uninitialised value",
            Self::Undefined => "undefined value",
            Self::Race => "data race",
            Self::DivergedWarp => "barrier in divergent code",
            Self::DivergentBarrier => "barrier in non-uniform control flow",
            Self::Deadlock => "deadlock",
            Self::StepBudget => "step budget exceeded",
            Self::Unreachable => "unreachable code reached",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  at {}", self.kind.name(), self.message, self.site)?;
        if let Some(other) = &self.other {
            write!(f, "\n  and {other}")?;
        }
        if self.repeated > 0 {
            write!(f, "\n  … and {} more times", self.repeated)?;
        }
        Ok(())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.line {
            write!(f, "{file}:{line}: ")?;
        }
        if let Some(SpirvInstruction { text, word }) = &self.instruction {
            write!(f, "`{text}` (word {word} of the module) in ")?;
        }
        write!(f, "{}", self.entry)?;
        if let Some(workgroup) = self.workgroup {
            write!(f, ", block {workgroup:?}")?;
        }
        if let Some(local) = self.local {
            write!(f, ", thread {local:?}")?;
        }
        match &self.origin {
            Some(origin) => write!(f, ", from {origin}"),
            None => Ok(()),
        }
    }
}
