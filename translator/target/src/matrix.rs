//! Products of matrices.

use serde::{Deserialize, Serialize};

/// The types of a product of matrices: of the factors A and B, and of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatrixTypes {
    /// f16, summed in f32.
    F16,
    /// f16, summed in f16.
    F16Alone,
    /// bf16, summed in f32.
    Bf16,
    /// tf32, summed in f32.
    Tf32,
    /// Signed bytes, summed in 32 bits, as all bytes.
    S8,
    /// Signed and unsigned bytes.
    S8U8,
    /// Unsigned and signed bytes.
    U8S8,
    /// Unsigned bytes.
    U8,
    /// e4m3, summed in f32 as `wgmma` does it, as all floats of eight bits.
    E4m3,
    /// e4m3 and e5m2.
    E4m3E5m2,
    /// e5m2 and e4m3.
    E5m2E4m3,
    /// e5m2.
    E5m2,
    /// e4m3, summed in f16.
    E4m3Alone,
    /// e4m3 and e5m2, summed in f16.
    E4m3E5m2Alone,
    /// e5m2 and e4m3, summed in f16.
    E5m2E4m3Alone,
    /// e5m2, summed in f16.
    E5m2Alone,
}

impl MatrixTypes {
    /// The same with signed bytes in place of bytes of which one matrix' are unsigned. Two such products make one.
    pub fn with_signed_bytes(self) -> Self {
        match self {
            Self::S8U8 | Self::U8S8 => Self::S8,
            other => other,
        }
    }

    /// Those of bytes.
    pub fn of_bytes(are_signed: [bool; 2]) -> Self {
        match are_signed {
            [true, true] => Self::S8,
            [true, false] => Self::S8U8,
            [false, true] => Self::U8S8,
            [false, false] => Self::U8,
        }
    }
}
