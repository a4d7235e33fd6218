//! PTX's scalar types and the rules for which register may stand where which type is expected
//! (PTX sections 5.2 and 9.2.2, tables "Operand Size Exceeding Instruction-Type Size").

use std::fmt;

macro_rules! scalar_types {
    ($($variant:ident = $name:literal, $bits:literal, $class:ident;)*) => {
        /// A fundamental or packed type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum ScalarType { $($variant,)* }

        impl ScalarType {
            /// The type of that keyword (without the dot), if it is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            /// The keyword without the dot.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Width in bits; a predicate has 1, opaque references have the 64 of a handle.
            pub fn bits(self) -> u32 {
                match self { $(Self::$variant => $bits,)* }
            }

            /// The class of the type.
            pub fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)* }
            }
        }
    };
}

scalar_types! {
    U8 = "u8", 8, Unsigned;
    U16 = "u16", 16, Unsigned;
    U32 = "u32", 32, Unsigned;
    U64 = "u64", 64, Unsigned;
    S8 = "s8", 8, Signed;
    S16 = "s16", 16, Signed;
    S32 = "s32", 32, Signed;
    S64 = "s64", 64, Signed;
    B8 = "b8", 8, Bits;
    B16 = "b16", 16, Bits;
    B32 = "b32", 32, Bits;
    B64 = "b64", 64, Bits;
    B128 = "b128", 128, Bits;
    F16 = "f16", 16, Float;
    F32 = "f32", 32, Float;
    F64 = "f64", 64, Float;
    Bf16 = "bf16", 16, Float;
    Tf32 = "tf32", 32, Float;
    F16x2 = "f16x2", 32, Packed;
    Bf16x2 = "bf16x2", 32, Packed;
    U16x2 = "u16x2", 32, Packed;
    S16x2 = "s16x2", 32, Packed;
    U8x4 = "u8x4", 32, Packed;
    S8x4 = "s8x4", 32, Packed;
    E4m3x2 = "e4m3x2", 16, Packed;
    E5m2x2 = "e5m2x2", 16, Packed;
    E2m1x2 = "e2m1x2", 8, Packed;
    E2m3x2 = "e2m3x2", 16, Packed;
    E3m2x2 = "e3m2x2", 16, Packed;
    E4m3x4 = "e4m3x4", 32, Packed;
    E5m2x4 = "e5m2x4", 32, Packed;
    E2m1x4 = "e2m1x4", 16, Packed;
    E2m3x4 = "e2m3x4", 32, Packed;
    E3m2x4 = "e3m2x4", 32, Packed;
    S2f6x2 = "s2f6x2", 16, Packed;
    Ue8m0x2 = "ue8m0x2", 16, Packed;
    F32x2 = "f32x2", 64, Packed;
    B1 = "b1", 1, Element;
    U4 = "u4", 4, Element;
    S4 = "s4", 4, Element;
    E4m3 = "e4m3", 8, Element;
    E5m2 = "e5m2", 8, Element;
    Pred = "pred", 1, Predicate;
    TexRef = "texref", 64, Opaque;
    SamplerRef = "samplerref", 64, Opaque;
    SurfRef = "surfref", 64, Opaque;
}

/// The meaning of a type's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Class {
    Unsigned,
    Signed,
    Bits,
    Float,
    Packed,
    /// Of elements of matrices alone.
    Element,
    Predicate,
    Opaque,
}

impl ScalarType {
    /// Size in memory in bytes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// `.sN`
    pub fn is_signed(self) -> bool {
        self.class() == Class::Signed
    }

    /// `.bf16` and `.bf16x2`
    pub fn is_bfloat(self) -> bool {
        matches!(self, ScalarType::Bf16 | ScalarType::Bf16x2)
    }

    /// `.fN` and its relatives.
    pub fn is_float(self) -> bool {
        self.class() == Class::Float
    }

    /// The integer type of twice the width and the same sign, as `.wide` results have.
    pub fn widened(self) -> Option<Self> {
        match self {
            Self::U16 => Some(Self::U32),
            Self::S16 => Some(Self::S32),
            Self::U32 => Some(Self::U64),
            Self::S32 => Some(Self::S64),
            _ => None,
        }
    }

    /// Whether a register of this type may be an operand of instruction type `wanted`: equal widths, and classes that agree.
    pub fn fits(self, wanted: Self) -> bool {
        self.bits() == wanted.bits() && self.classes_agree(wanted)
    }

    /// As [`Self::fits`], but the register may be wider: the rule of `ld`, `st` and `cvt`. As ptxas has it, wider registers of any
    /// class have room for bits, those of floats don't for integers, and only those of bits do for floats.
    pub fn fits_relaxed(self, wanted: Self) -> bool {
        use Class::*;
        if self.bits() == wanted.bits() {
            return self.classes_agree(wanted);
        }
        let has_room = match wanted.class() {
            Bits => matches!(self.class(), Unsigned | Signed | Bits | Float | Packed),
            Unsigned | Signed => matches!(self.class(), Unsigned | Signed | Bits | Packed),
            Float | Packed | Element | Predicate | Opaque => self.class() == Bits,
        };
        self.bits() > wanted.bits() && has_room
    }

    /// As [`Self::fits`] for types that instructions have whatever their modifiers say. As ptxas has it, such an operand is no
    /// pair of halves.
    pub fn fits_fixed(self, wanted: Self) -> bool {
        self.fits(wanted) && (self.class() != Class::Packed || matches!(wanted.class(), Class::Packed | Class::Bits))
    }

    /// As [`Self::fits`] for an address as a value, which may have 32 bits whatever addresses of the module have.
    pub fn fits_address(self, wanted: Self) -> bool {
        self.fits(wanted) || self.fits_fixed(Self::U32)
    }

    fn classes_agree(self, wanted: Self) -> bool {
        use Class::*;
        match (self.class(), wanted.class()) {
            (Predicate, Predicate) => true,
            (Predicate, _) | (_, Predicate) => false,
            (Bits, _) | (_, Bits) => true,
            // As ptxas has it, a register of type .f16x2 holds bits, but not a single float.
            (Unsigned | Signed | Packed, Unsigned | Signed) => true,
            (Packed, Packed) if matches!(wanted, Self::U16x2 | Self::S16x2) => true,
            // Floats and packed types live in registers of their own type or of bits.
            (a, b) => a == b && self == wanted,
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}
