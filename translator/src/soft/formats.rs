//! The formats.

use crate::ir::Type;

/// A binary format of IEEE 754, or a similar one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits altogether.
    pub bits: u32,
    /// Bits of a significand, the implied one included.
    pub precision: u32,
    /// The bias of exponents.
    pub bias: u32,
    /// The NaN that NVIDIA's hardware gives.
    pub nan: u64,
}

/// `F32`.
pub const SINGLE: Format = Format { bits: 32, precision: 24, bias: 127, nan: 0x7fff_ffff };
/// `F64`.
pub const DOUBLE: Format = Format { bits: 64, precision: 53, bias: 1023, nan: 0xfff8_0000_0000_0000 };
/// PTX's `.f16`.
pub const HALF: Format = Format { bits: 16, precision: 11, bias: 15, nan: 0x7fff };
/// PTX's `.bf16`, the upper half of an `F32`.
pub const BFLOAT: Format = Format { bits: 16, precision: 8, bias: 127, nan: 0x7fff };
/// PTX's `.tf32`, an `F32` without its 13 lowest bits.
pub const TENSOR: Format = Format { bits: 19, precision: 11, bias: 127, nan: 0x3_ffff };
/// PTX's `.e4m3`. It has no infinities, and one NaN of either sign; numbers take the rest of their exponent.
pub const E4M3: Format = Format { bits: 8, precision: 4, bias: 7, nan: 0x7f };
/// PTX's `.e5m2`.
pub const E5M2: Format = Format { bits: 8, precision: 3, bias: 15, nan: 0x7f };
/// PTX's `.e2m1`. Like the next two, all its bits are numbers: NaN becomes the largest.
pub const E2M1: Format = Format { bits: 4, precision: 2, bias: 1, nan: 0x7 };
/// PTX's `.e2m3`.
pub const E2M3: Format = Format { bits: 6, precision: 4, bias: 1, nan: 0x1f };
/// PTX's `.e3m2`.
pub const E3M2: Format = Format { bits: 6, precision: 3, bias: 3, nan: 0x1f };

impl Format {
    /// The format of a type; `F64`'s for any but `F32`.
    pub fn of(ty: Type) -> Format {
        if ty == Type::F32 { SINGLE } else { DOUBLE }
    }

    /// The bit of the sign.
    pub const fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// The implied bit of normal numbers, which is also the bits of the least normal number.
    pub const fn hidden(self) -> u64 {
        1 << (self.precision - 1)
    }

    /// Bits of 1.0.
    pub fn one(self) -> u64 {
        self.hidden() * u64::from(self.bias)
    }

    /// Bits of infinity, or of the magnitude after the largest number. Larger magnitudes are NaN.
    pub fn infinity(self) -> u64 {
        match self {
            E4M3 => self.nan,
            E2M1 | E2M3 | E3M2 => self.sign(),
            _ => self.hidden() * u64::from(self.top_exponent()),
        }
    }

    /// Bits of the largest number.
    pub fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// The exponent of infinities and NaNs.
    pub fn top_exponent(self) -> u32 {
        2 * self.bias + 1
    }
}
