//! Findings: faults of kernels, and their places.

use std::fmt;

/// Undefined or forbidden behavior during a run.
///
/// ```
/// use ptx2spv_reference::{Config, Device, Finding};
///
/// let device = Device::new(Config::default());
/// let buffer = device.allocate(16).unwrap();
/// let finding: Finding = device.write(buffer + 12, &[0; 8]).unwrap_err();
/// assert!(finding.to_string().starts_with("out-of-bounds access: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// A description: addresses, sizes, the nearest allocation, the other access of a race.
    pub message: String,
    /// The place where it happened.
    pub site: Site,
    /// The other access of a race, or the origin of an undefined value.
    pub other: Option<Site>,
    /// Number of further findings of the same kind at the same instruction.
    pub repeated: u64,
}

/// An instruction that an invocation ran.
///
/// ```
/// use ptx2spv_reference::{Config, Device, Dispatch, Site, SpirvInstruction, Trace};
/// # use ptx2spv_translator::{Options, Program, Source};
/// # let text = ".version 6.0\n.target sm_50\n.address_size 64
/// # .entry wild() { .reg .b64 %rd<2>; mov.u64 %rd1, 16; st.global.u32 [%rd1], 0; ret; }";
///
/// let trace = Trace { workgroup: [0; 3], local: [0; 3] };
/// let device = Device::new(Config { trace: Some(trace), ..Config::default() });
/// // A kernel that stores to address 16.
/// # let source = Source::new("wild.ptx", text);
/// # let program = Program::new(&source).unwrap();
/// # let translation = program.translate(&Options::new(&device.config().target)).unwrap();
/// # let shader = device.shader(&translation.spirv).unwrap();
/// # let pipeline = device.pipeline(&shader, "wild", &[], None).unwrap();
/// # let dispatch = Dispatch { groups: [1; 3], push_constants: &[0; 128] };
/// let Site { entry, workgroup, local, instruction, .. } = device.dispatch(&pipeline, &dispatch).unwrap_err().site;
/// assert_eq!((entry.as_str(), workgroup, local), ("wild", Some([0; 3]), Some([0; 3])));
/// let SpirvInstruction { text, word } = instruction.unwrap();
/// assert!(text.contains("OpStore") && (word as usize) < translation.spirv.len());
/// assert!(device.take_trace().iter().any(|line| line.contains("OpStore")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The entry point.
    pub entry: String,
    /// The SPIR-V instruction; `None` if the kernel's own checks found the fault.
    pub instruction: Option<SpirvInstruction>,
    /// Source file and line, if the module has them (`OpLine`).
    pub line: Option<(String, u32)>,
    /// The origin of that line, if known.
    pub origin: Option<String>,
    /// The workgroup; `None` if the finding is not about a single invocation.
    pub workgroup: Option<[u32; 3]>,
    /// The invocation's position in the workgroup.
    pub local: Option<[u32; 3]>,
}

/// An instruction of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvInstruction {
    /// The disassembled instruction.
    pub text: String,
    /// Index of the first word in the module.
    pub word: u32,
}

/// Kinds of findings. Unless stated otherwise, they end the dispatch.
///
/// ```
/// use ptx2spv_reference::{Config, Device, FindingKind, Mode};
///
/// let device = Device::new(Config { mode: Mode { check: true, seed: None }, ..Config::default() });
/// let buffer = device.allocate(16).unwrap();
/// device.free(buffer);
/// let finding = device.read(buffer, &mut [0; 4]).unwrap_err();
/// assert_eq!(finding.kind, FindingKind::UseAfterFree);
/// assert!(finding.kind.is_fatal());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// An access outside of every allocation, or of a variable.
    OutOfBounds,
    /// An access to an allocation that was freed.
    UseAfterFree,
    /// An access that is not aligned as promised.
    Misaligned,
    /// A write to read-only memory.
    ReadOnly,
    /// A branch, an address or an atomic depends on an uninitialized value. The run continues.
    Uninitialised,
    /// A branch, an address or an atomic depends on the undefined result of an operation (such as a shift by more than
    /// the width), or on the value of an inactive invocation. The run continues.
    Undefined,
    /// Two unordered accesses, at least one a write and at least one not atomic. The run continues.
    Race,
    /// Threads of a warp are at different barrier instructions that they have to execute together. The run continues.
    DivergedWarp,
    /// Not all invocations reach a barrier.
    DivergentBarrier,
    /// Invocations wait for each other for ever.
    Deadlock,
    /// The step budget is exhausted.
    StepBudget,
    /// `OpUnreachable` was reached.
    Unreachable,
}

impl Finding {
    /// A finding that occurred once.
    pub fn new(kind: FindingKind, message: impl Into<String>, site: Site, other: Option<Site>) -> Self {
        Self { kind, message: message.into(), site, other, repeated: 0 }
    }
}

impl FindingKind {
    /// Whether the finding ends the dispatch.
    pub fn is_fatal(self) -> bool {
        !matches!(self, Self::Uninitialised | Self::Undefined | Self::Race | Self::DivergedWarp)
    }

    /// The name in reports.
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
