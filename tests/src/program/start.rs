//! Initial values of registers and buffers.

use super::REGISTERS;

/// A thread's registers begin as its number in the grid plus one, times these factors.
pub(super) const SEEDS: [u32; REGISTERS] = [1, 0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1];

/// The initial value of the buffers' words.
pub const UNTOUCHED: u32 = 0xa5a5_a5a5;
