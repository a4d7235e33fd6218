//! An instruction that the self-test tries.

use ptx2spv_translator::target::Facts;

use super::operands::{Operands, double, double_nans, ends, half, halves, near_half, single, single_nans, tiny, unary};

/// A fact of the device.
pub type Fact = fn(&mut Facts) -> &mut bool;

/// The size of operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Single,
    Double,
}

impl Width {
    /// In bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// The bytes in memory.
    pub fn bytes(self, bits: u64) -> impl Iterator<Item = u8> {
        bits.to_le_bytes().into_iter().take(self.size())
    }

    /// The bits from bytes in memory.
    pub fn bits(bytes: &[u8]) -> u64 {
        bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }
}

/// An instruction on floats.
pub struct Instruction {
    /// PTX that computes the result `%r` from the operands `%a`, `%b` and `%c`, which are untyped registers. `%out` is
    /// the result's address, and `%cell` the address of a word of shared memory.
    pub text: &'static str,
    /// The width of operands and result.
    pub width: Width,
    /// The operands to test.
    pub operands: fn() -> Vec<Operands>,
    /// Whether a result is right.
    pub right: fn(Operands, u64) -> bool,
}

/// Makes an instruction for each kind of operands: the width, and the operands to test.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $width:ident, $operands:expr;)*) => {
        impl Instruction {
            $($(#[$doc])* pub const fn $name(text: &'static str, right: fn(Operands, u64) -> bool) -> Self {
                Self { text, width: Width::$width, operands: $operands, right }
            })*
        }
    };
}

kinds! {
    single: Single, single;
    double: Double, double;
    unary: Single, unary;
    ends: Single, ends;
    tiny: Single, tiny;
    /// An instruction on pairs of f16.
    halves: Single, halves;
    /// An instruction on the f16 in the operand's lower half.
    half: Single, half;
    /// An instruction on f32 that rounds to f16.
    near_half: Single, near_half;
    single_nan: Single, single_nans;
    double_nan: Double, double_nans;
}

impl Instruction {
    /// Whether the instruction computes with 64-bit floats.
    pub fn needs_doubles(&self) -> bool {
        self.text.contains("f64")
    }

    /// Describes an application of the instruction.
    pub fn describe(&self, operands: Operands, result: u64) -> String {
        let digits = 2 * self.width.size();
        let given = ["%a", "%b", "%c"].into_iter().zip(operands).filter(|(name, _)| self.text.contains(name));
        let given: Vec<String> = given.map(|(name, bits)| format!("{name} = 0x{bits:0digits$x}")).collect();
        format!("`{}` with {} gives 0x{result:0digits$x}", self.text, given.join(", "))
    }

    /// A module with a kernel `probe` of operands, results and their number.
    pub fn ptx(&self) -> String {
        let size = self.width.size();
        let (bits, triple, text) = (8 * size, 3 * size, self.text);
        format!(
            ".version 8.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 operands, .param .u64 results, .param .u32 count)
{{
    .shared .align 8 .b8 cells[2048];
    .reg .pred %p, %beyond;
    .reg .b16 %half, %rest;
    .reg .b32 %i, %n, %cell, %base, %word;
    .reg .b64 %in, %out, %at;
    .reg .b{bits} %a, %b, %c, %r;
    .reg .f64 %wide;
    mov.u32 %i, %tid.x;
    mov.u32 %base, cells;
    mad.lo.u32 %cell, %i, {size}, %base;
    mov.u32 %n, %ntid.x;
    mov.u32 %word, %ctaid.x;
    mad.lo.u32 %i, %word, %n, %i;
    ld.param.u32 %n, [count];
    setp.ge.u32 %beyond, %i, %n;
    @%beyond ret;
    ld.param.u64 %in, [operands];
    ld.param.u64 %out, [results];
    mul.wide.u32 %at, %i, {triple};
    add.u64 %in, %in, %at;
    mul.wide.u32 %at, %i, {size};
    add.u64 %out, %out, %at;
    ld.global.b{bits} %a, [%in];
    ld.global.b{bits} %b, [%in+{size}];
    ld.global.b{bits} %c, [%in+{two}];
    {text}
    st.global.b{bits} [%out], %r;
    ret;
}}
",
            two = 2 * size
        )
    }
}
