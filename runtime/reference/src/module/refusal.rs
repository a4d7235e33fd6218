//! Refusals of modules that the target can't run, and the rules that they name.

/// A module that is malformed or that the target can't run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {message}")]
pub struct Refusal {
    /// The violated rule: a feature or limit by Vulkan's name, a VUID, or a section of the SPIR-V specification.
    pub rule: String,
    /// The violation, in words.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(rule: &str, message: impl Into<String>) -> Self {
        Self { rule: rule.into(), message: message.into() }
    }
}

/// Rules for refusals that no valid usage identifier of Vulkan covers.
pub(crate) mod rule {
    /// Words, word counts, opcodes.
    pub const PHYSICAL: &str = "SPIR-V 2.3 Physical Layout of a SPIR-V Module and Instruction";
    /// The order of instructions.
    pub const LAYOUT: &str = "SPIR-V 2.4 Logical Layout of a Module";
    /// Loops and selections.
    pub const STRUCTURE: &str = "SPIR-V 2.11 Structured Control Flow";
    /// Ids, types, control flow.
    pub const UNIVERSAL: &str = "SPIR-V 2.16.1 Universal Validation Rules";
    /// Sizes beyond the required limits.
    pub const LIMITS: &str = "SPIR-V 2.17 Universal Limits";
    /// Requirements of a single instruction.
    pub const INSTRUCTION: &str = "SPIR-V 3.3 Instructions";
    /// Offsets and strides in memory.
    pub const OFFSETS: &str = "Vulkan, Offset and Stride Assignment";
    /// Valid, but not for compute shaders, or not supported by this device.
    pub const UNSUPPORTED: &str = "not supported by the reference device";
}
