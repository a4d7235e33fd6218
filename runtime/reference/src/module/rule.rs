//! Rules that refusals cite when no valid usage identifier of Vulkan fits.

/// Words, word counts, opcodes.
pub const PHYSICAL: &str = "SPIR-V 2.3 Physical Layout of a SPIR-V Module and Instruction";
/// The order of instructions.
pub const LAYOUT: &str = "SPIR-V 2.4 Logical Layout of a Module";
/// Loops and selections.
pub const STRUCTURE: &str = "SPIR-V 2.11 Structured Control Flow";
/// Ids, types, control flow.
pub const UNIVERSAL: &str = "SPIR-V 2.16.1 Universal Validation Rules";
/// Sizes that need not be accepted.
pub const LIMITS: &str = "SPIR-V 2.17 Universal Limits";
/// What a single instruction demands.
pub const INSTRUCTION: &str = "SPIR-V 3.3 Instructions";
/// Offsets and strides in memory.
pub const OFFSETS: &str = "Vulkan, Offset and Stride Assignment";
/// What is valid, but beyond compute shaders or this device.
pub const UNSUPPORTED: &str = "not supported by the reference device";
