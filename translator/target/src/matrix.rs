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

/// The types of a product that Vulkan's matrix units may compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitTypes {
    /// f16, summed in f16 or in f32.
    Halves {
        /// Whether the sums are in f16.
        alone: bool,
    },
    /// bf16, summed in f32.
    Bfloats,
    /// Bytes, summed in 32 bits.
    Bytes {
        /// Whether the bytes of A and of B are signed.
        are_signed: [bool; 2],
    },
}

impl UnitTypes {
    /// The rows of the first factor, the columns of the second one, and the elements in the direction of the sum. Devices are known to have f16 and bytes
    /// in the shapes of `mma.sync`, and bf16 with twice as many columns.
    pub fn shape(self) -> [u32; 3] {
        match self {
            Self::Halves { .. } => [16, 8, 16],
            Self::Bfloats => [16, 16, 16],
            Self::Bytes { .. } => [16, 8, 32],
        }
    }
}

impl MatrixTypes {
    /// The types for a matrix unit; `None` where no device is known to have them as Vulkan's matrices.
    pub fn for_unit(self) -> Option<UnitTypes> {
        Some(match self {
            Self::F16 => UnitTypes::Halves { alone: false },
            Self::F16Alone => UnitTypes::Halves { alone: true },
            Self::Bf16 => UnitTypes::Bfloats,
            Self::S8 => UnitTypes::Bytes { are_signed: [true, true] },
            Self::S8U8 => UnitTypes::Bytes { are_signed: [true, false] },
            Self::U8S8 => UnitTypes::Bytes { are_signed: [false, true] },
            Self::U8 => UnitTypes::Bytes { are_signed: [false, false] },
            Self::Tf32
            | Self::E4m3
            | Self::E4m3E5m2
            | Self::E5m2E4m3
            | Self::E5m2
            | Self::E4m3Alone
            | Self::E4m3E5m2Alone
            | Self::E5m2E4m3Alone
            | Self::E5m2Alone => return None,
        })
    }

    /// The number of products of 16 by 8 elements, with the same first factor, that a unit computes at once.
    pub fn tiles_of_unit(self) -> u32 {
        self.for_unit().map_or(1, |unit| unit.shape()[1] / 8)
    }

    /// The same with signed bytes in place of bytes of which one matrix' are unsigned. Two such products make one.
    pub fn with_signed_bytes(self) -> Self {
        match self {
            Self::S8U8 | Self::U8S8 => Self::S8,
            other => other,
        }
    }

    /// Whether the factors are bytes.
    pub fn is_of_bytes(self) -> bool {
        matches!(self.for_unit(), Some(UnitTypes::Bytes { .. }))
    }

    /// The types of products of bytes, with the signedness of A and of B.
    pub fn of_bytes(are_signed: [bool; 2]) -> Self {
        match are_signed {
            [true, true] => Self::S8,
            [true, false] => Self::S8U8,
            [false, true] => Self::U8S8,
            [false, false] => Self::U8,
        }
    }
}
