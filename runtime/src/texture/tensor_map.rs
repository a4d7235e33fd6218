//! Tensor maps: descriptions of tensors in device memory for `cp.async.bulk.tensor`, as made by CUDA's
//! `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`.
//!
//! A map is passed by value, or copied to device memory at a multiple of 64 bytes. Its 128 bytes are those of CUDA's
//! driver for compute capability 9.0. Their layout is described at the translator's `tensormap.replace`.

use std::fmt;

/// The type of a tensor's elements.
///
/// ```
/// use ptx2spv_runtime::TensorType;
///
/// assert_ne!(TensorType::F32, TensorType::F32Ftz);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TensorType {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    Bf16,
    /// Reductions flush subnormal numbers.
    F32Ftz,
    /// Loads round to tf32.
    Tf32,
    /// Reductions flush subnormal numbers, and loads round to tf32.
    Tf32Ftz,
}

impl TensorType {
    /// All types in the order of `CUtensorMapDataType`.
    pub const ALL: [TensorType; 13] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::S32,
        Self::U64,
        Self::S64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Bf16,
        Self::F32Ftz,
        Self::Tf32,
        Self::Tf32Ftz,
    ];

    /// Bytes of an element.
    pub fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    fn is_float(self) -> bool {
        !matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::S32 | Self::U64 | Self::S64)
    }

    /// The map's number for the type. The bit above it is set if loads round to tf32.
    fn code(self) -> u32 {
        match self {
            Self::U8 => 0,
            Self::U16 => 1,
            Self::U32 => 2,
            Self::S32 => 3,
            Self::U64 => 4,
            Self::S64 => 5,
            Self::F16 => 6,
            Self::F32 => 7,
            Self::F32Ftz => 8,
            Self::F64 => 9,
            Self::Bf16 => 10,
            Self::Tf32 => 7 | 1 << 9,
            Self::Tf32Ftz => 8 | 1 << 9,
        }
    }
}

/// The layout of the first dimension, the channels, in device memory.
///
/// ```
/// use ptx2spv_runtime::TensorInterleave;
///
/// assert_eq!(TensorInterleave::default(), TensorInterleave::None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TensorInterleave {
    /// In one piece (NHWC).
    #[default]
    None,
    /// In slices of 16 bytes (NC/8HWC8 with two bytes for each channel).
    Bytes16,
    /// In slices of 32 bytes (NC/16HWC16).
    Bytes32,
}

/// The permutation of a box's rows in shared memory.
///
/// ```
/// use ptx2spv_runtime::TensorSwizzle;
///
/// assert_eq!(TensorSwizzle::default(), TensorSwizzle::None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TensorSwizzle {
    /// No permutation.
    #[default]
    None,
    /// Chunks of 16 bytes within 32 bytes.
    Bytes32,
    /// Chunks of 16 bytes within 64 bytes.
    Bytes64,
    /// Chunks of 16 bytes within 128 bytes.
    Bytes128,
}

/// The properties of a tensor that all kinds of maps share.
///
/// ```
/// use ptx2spv_runtime::{Tensor, TensorInterleave, TensorMap, TensorSwizzle, TensorType};
///
/// // A matrix of 64 rows of 32 floats, of which boxes of 8 by 8 are moved.
/// let tensor = Tensor {
///     ty: TensorType::F32,
///     address: 4096,
///     sizes: &[32, 64],
///     strides: &[128],
///     steps: &[1, 1],
///     interleave: TensorInterleave::None,
///     swizzle: TensorSwizzle::None,
///     promotion: 0,
///     nan_outside: false,
/// };
/// TensorMap::tiled(&tensor, &[8, 8])?;
/// # Ok::<(), ptx2spv_runtime::TensorMapError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    /// The elements' type.
    pub ty: TensorType,
    /// Address of the first element, a multiple of 16.
    pub address: u64,
    /// Elements in each dimension: one to five dimensions, each of 1 to 2^32.
    pub sizes: &'a [u64],
    /// Bytes from one element to the next in every dimension except the first: multiples of 16 below 2^40.
    pub strides: &'a [u64],
    /// Steps between the elements that are copied, 1 to 8. The first one has no effect.
    pub steps: &'a [u32],
    /// The interleaving of channels, which takes three dimensions at least.
    pub interleave: TensorInterleave,
    /// The swizzle mode in shared memory.
    pub swizzle: TensorSwizzle,
    /// The L2 promotion, 0 to 3. It has no effect here.
    pub promotion: u32,
    /// Whether floats outside of the tensor are read as the NaN 0x7ff7…, instead of zero.
    pub nan_outside: bool,
}

/// The reason why a map can't be made.
///
/// ```
/// use ptx2spv_runtime::{Tensor, TensorInterleave, TensorMap, TensorSwizzle, TensorType};
///
/// // A matrix of 64 rows of 32 floats, of which boxes of 8 by 8 are moved.
/// let tensor = Tensor {
///     ty: TensorType::F32,
///     address: 4096,
///     sizes: &[32, 64],
///     strides: &[128],
///     steps: &[1, 1],
///     interleave: TensorInterleave::None,
///     swizzle: TensorSwizzle::None,
///     promotion: 0,
///     nan_outside: false,
/// };
/// let refused = TensorMap::tiled(&tensor, &[8]);
/// assert!(refused.unwrap_err().to_string().contains("dimensions"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TensorMapError(String);

fn refuse<T>(message: impl Into<String>) -> Result<T, TensorMapError> {
    Err(TensorMapError(message.into()))
}

/// The 128 bytes of a map, `CUtensorMap`.
///
/// ```
/// use ptx2spv_runtime::{Tensor, TensorInterleave, TensorMap, TensorSwizzle, TensorType};
///
/// // A matrix of 64 rows of 32 floats, of which boxes of 8 by 8 are moved.
/// let tensor = Tensor {
///     ty: TensorType::F32,
///     address: 4096,
///     sizes: &[32, 64],
///     strides: &[128],
///     steps: &[1, 1],
///     interleave: TensorInterleave::None,
///     swizzle: TensorSwizzle::None,
///     promotion: 0,
///     nan_outside: false,
/// };
/// let map = TensorMap::tiled(&tensor, &[8, 8])?;
/// assert_eq!(size_of_val(&map), 128);
/// # Ok::<(), ptx2spv_runtime::TensorMapError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct TensorMap([u8; 128]);

impl fmt::Debug for TensorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorMap(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, ")")
    }
}

impl TensorMap {
    /// A map for boxes of up to 256 elements in each dimension, as `cuTensorMapEncodeTiled` makes it.
    ///
    /// # Errors
    /// An argument that CUDA refuses.
    pub fn tiled(tensor: &Tensor<'_>, sizes: &[u32]) -> Result<TensorMap, TensorMapError> {
        let mut map = tensor.encode(1)?;
        if sizes.len() != tensor.sizes.len() {
            return refuse("the box and the tensor differ in the number of dimensions");
        }
        if sizes.iter().any(|size| !(1..=256).contains(size)) {
            return refuse("a box has 1 to 256 elements in each dimension");
        }
        tensor.check_row(sizes[0])?;
        let mut bytes = tensor.ty.bytes();
        for (index, (&size, &step)) in (0..).zip(sizes.iter().zip(tensor.steps)) {
            put(&mut map, 440 + 8 * index, 8, u64::from(size - 1));
            bytes *= u64::from(size / step);
        }
        put(&mut map, 512, 32, bytes);
        Ok(TensorMap(map))
    }

    /// A map for columns of pixels, like `cuTensorMapEncodeIm2col`: `channels` elements of the first dimension for each
    /// of `pixels` pixels, from the box between the corners. A corner has an offset for each dimension except the first
    /// and the last.
    ///
    /// # Errors
    /// An argument that CUDA refuses.
    pub fn im2col(
        tensor: &Tensor<'_>,
        corners: [&[i32]; 2],
        channels: u32,
        pixels: u32,
    ) -> Result<TensorMap, TensorMapError> {
        let mut map = tensor.encode(3)?;
        put(&mut map, 64, 1, 1);
        let [lower, upper] = corners;
        let between = tensor.sizes.len() - 2;
        if lower.len() != between || upper.len() != between {
            return refuse("corners have two dimensions fewer than the tensor");
        }
        let width = match between {
            1 => 16,
            2 => 8,
            _ => 5,
        };
        let least = -1i32 << (width - 1);
        for (index, (&lower, &upper)) in (0..).zip(lower.iter().zip(upper)) {
            if [lower, upper].iter().any(|corner| !(least..-least).contains(corner)) {
                return refuse(format!("corner offsets for this number of dimensions are {least} to {}", -least - 1));
            }
            // As CUDA's driver computes it, which doesn't look at the boxes of interleaved tensors.
            let size = tensor.sizes[index as usize + 1] as u32 as i32;
            let is_empty = size.wrapping_sub(1).wrapping_add(upper) < lower;
            if is_empty && tensor.interleave == TensorInterleave::None {
                return refuse("the box of the corners is empty");
            }
            put(&mut map, 448 + width * index, width, u64::from(lower.cast_unsigned()));
            put(&mut map, 464 + width * index, width, u64::from(upper.cast_unsigned()));
        }
        if !(1..=256).contains(&channels) || !(1..=1024).contains(&pixels) {
            return refuse("there are 1 to 256 channels for each pixel, and 1 to 1024 pixels");
        }
        tensor.check_row(channels)?;
        put(&mut map, 440, 8, u64::from(channels - 1));
        put(&mut map, 480, 10, u64::from(pixels - 1));
        put(&mut map, 512, 32, u64::from(channels) * u64::from(pixels) * tensor.ty.bytes());
        Ok(TensorMap(map))
    }

    /// The map with another address, like `cuTensorMapReplaceAddress`.
    ///
    /// # Errors
    /// The address is null or not a multiple of 16.
    pub fn with_address(mut self, address: u64) -> Result<TensorMap, TensorMapError> {
        if address == 0 || !address.is_multiple_of(16) {
            return refuse("a tensor's address is a multiple of 16");
        }
        put(&mut self.0, 0, 64, address);
        Ok(self)
    }

    /// The bytes to pass to kernels.
    pub fn bytes(&self) -> &[u8; 128] {
        &self.0
    }

    /// A map with these bytes.
    pub fn from_bytes(bytes: [u8; 128]) -> TensorMap {
        TensorMap(bytes)
    }
}

impl Tensor<'_> {
    /// Encodes the fields that tiled and im2col maps share.
    fn encode(&self, least_rank: usize) -> Result<[u8; 128], TensorMapError> {
        let rank = self.sizes.len();
        let is_interleaved = self.interleave != TensorInterleave::None;
        let least_rank = if is_interleaved { least_rank.max(3) } else { least_rank };
        if !(least_rank..=5).contains(&rank) {
            return refuse(format!("a tensor has {least_rank} to 5 dimensions, not {rank}"));
        }
        if self.strides.len() + 1 != rank || self.steps.len() != rank {
            return refuse("the number of strides or steps doesn't match the dimensions");
        }
        let unit = if self.interleave == TensorInterleave::Bytes32 { 32 } else { 16 };
        if !self.address.is_multiple_of(unit) || self.address >= 1 << 57 {
            return refuse(format!("the address of this tensor is a multiple of {unit} below 2^57"));
        }
        if self.sizes.iter().any(|size| !(1..=1 << 32).contains(size)) {
            return refuse("a dimension has 1 to 2^32 elements");
        }
        if self.strides.iter().any(|stride| !stride.is_multiple_of(unit) || *stride >= 1 << 40) {
            return refuse(format!("strides of this tensor are multiples of {unit} below 2^40"));
        }
        if self.steps.iter().any(|step| !(1..=8).contains(step)) {
            return refuse("steps between elements are 1 to 8");
        }
        if self.promotion > 3 {
            return refuse("the L2 promotion is 0 to 3");
        }
        if self.nan_outside && !self.ty.is_float() {
            return refuse("only floats can be NaN outside of a tensor");
        }
        let mut map = [0; 128];
        put(&mut map, 0, 64, self.address);
        put(&mut map, 68, 3, rank as u64 - 1);
        put(&mut map, 71, 10, self.ty.code().into());
        put(&mut map, 75, 2, self.interleave as u64);
        put(&mut map, 77, 2, self.swizzle as u64);
        put(&mut map, 79, 1, self.nan_outside.into());
        put(&mut map, 81, 2, self.promotion.into());
        for (index, &stride) in (0..).zip(self.strides) {
            put(&mut map, 96 + 32 * index, 32, stride >> 4);
            put(&mut map, 224 + 4 * index, 4, stride >> 36);
        }
        for (index, (&size, &step)) in (0..).zip(self.sizes.iter().zip(self.steps)) {
            put(&mut map, 256 + 32 * index, 32, size - 1);
            put(&mut map, 416 + 3 * index, 3, u64::from(step - 1));
        }
        let alignment = if self.swizzle == TensorSwizzle::None { 16 } else { 128 << self.swizzle as u64 };
        put(&mut map, 576, 32, alignment);
        Ok(map)
    }

    /// Checks the size of a box's row of `elements` elements.
    fn check_row(&self, elements: u32) -> Result<(), TensorMapError> {
        let bytes = u64::from(elements) * self.ty.bytes();
        if !bytes.is_multiple_of(16) {
            return refuse("a row of a box is a multiple of 16 bytes");
        }
        // Interleaved rows are slices, whose size doesn't depend on the box.
        let is_bounded = self.swizzle != TensorSwizzle::None && self.interleave == TensorInterleave::None;
        if is_bounded && bytes > 16 << self.swizzle as u64 {
            return refuse("a row of a box has at most as many bytes as the swizzle");
        }
        Ok(())
    }
}

/// Sets `count` zero bits from bit `first` on to the low bits of a number.
fn put(map: &mut [u8; 128], first: u32, count: u32, value: u64) {
    for bit in 0..count {
        let at = first + bit;
        let byte = &mut map[at as usize / 8];
        let mask = 1 << (at % 8);
        *byte = if value >> bit & 1 == 1 { *byte | mask } else { *byte & !mask };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 5] = [64, 32, 16, 8, 4];
    const STRIDES: [u64; 4] = [256, 8192, 131_072, 1 << 38];

    fn tensor(ty: TensorType, rank: usize) -> Tensor<'static> {
        Tensor {
            ty,
            address: 0x7f00_0000_1000,
            sizes: &SIZES[..rank],
            strides: &STRIDES[..rank - 1],
            steps: &[1, 3, 1, 8, 2][..rank],
            interleave: TensorInterleave::None,
            swizzle: TensorSwizzle::None,
            promotion: 0,
            nan_outside: false,
        }
    }

    fn words(map: &TensorMap) -> String {
        let words =
            map.0.chunks(4).map(|word| format!("{:x}", u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
        words.collect::<Vec<_>>().join(" ").trim_end_matches(" 0").to_owned()
    }

    /// The output of CUDA's driver 580.
    #[test]
    fn maps_are_those_of_cuda() {
        let made = [
            TensorMap::tiled(&Tensor { steps: &[1; 3], ..tensor(TensorType::F32, 3) }, &[16, 8, 4]),
            TensorMap::im2col(
                &Tensor { strides: &[128, 4096, 65536], steps: &[1; 4], ..tensor(TensorType::F16, 4) },
                [&[-1, -1], &[1, 1]],
                32,
                64,
            ),
        ];
        let made = made.map(|map| map.map(|map| words(&map)));
        let expected = [
            "1000 7f00 3a0 10 200 0 0 0 3f 1f f 0 0 f000000 307 0 800 0 10",
            "1000 7f00 331 8 100 1000 0 0 3f 1f f 7 0 1f000000 101ffff 3f 1000 0 10",
        ];
        assert_eq!(made, expected.map(|text| Ok(text.to_owned())));
    }

    /// Also the output of CUDA's driver 580, for tensors of 64 by 9 by 7 and more elements of 16 bits.
    #[test]
    fn interleaved_maps_are_those_of_cuda() {
        use TensorInterleave::{Bytes16, Bytes32};
        let (sizes, strides) = ([64, 9, 7, 5, 3], [128, 1280, 10240, 102_400]);
        let of = |rank: usize, interleave, swizzle| Tensor {
            address: 0,
            sizes: &sizes[..rank],
            strides: &strides[..rank - 1],
            steps: &[1; 5][..rank],
            interleave,
            swizzle,
            ..tensor(TensorType::U16, rank)
        };
        let made = [
            TensorMap::tiled(&of(3, Bytes16, TensorSwizzle::None), &[8, 3, 2]),
            TensorMap::tiled(&of(4, Bytes16, TensorSwizzle::Bytes64), &[8, 3, 2, 2]),
            TensorMap::tiled(&of(5, Bytes32, TensorSwizzle::Bytes32), &[8, 3, 2, 2, 2]),
            TensorMap::im2col(&of(4, Bytes16, TensorSwizzle::Bytes32), [&[-1, -2], &[1, 0]], 16, 20),
            TensorMap::im2col(&of(5, Bytes32, TensorSwizzle::Bytes128), [&[-1, -2, 0], &[1, 0, -1]], 16, 20),
            // No box of theirs is empty.
            TensorMap::im2col(&of(4, Bytes16, TensorSwizzle::Bytes32), [&[10, 0], &[0, 0]], 16, 20),
            TensorMap::tiled(&of(3, Bytes16, TensorSwizzle::Bytes32), &[256, 3, 2]),
        ];
        let expected = [
            "0 0 8a0 8 50 0 0 0 3f 8 6 0 0 7000000 102 0 60 0 10",
            "0 0 48b0 8 50 280 0 0 3f 8 6 4 0 7000000 10102 0 c0 0 200",
            "0 0 30c0 8 50 280 1900 0 3f 8 6 4 2 7000000 1010102 0 180 0 100",
            "0 0 28b1 8 50 280 0 0 3f 8 6 4 0 f000000 1feff 13 280 0 100",
            "0 0 70c1 8 50 280 1900 0 3f 8 6 4 2 f000000 7c0103df 13 280 0 400",
            "0 0 28b1 8 50 280 0 0 3f 8 6 4 0 f000000 a 13 280 0 100",
            "0 0 28a0 8 50 0 0 0 3f 8 6 0 0 ff000000 102 0 c00 0 100",
        ];
        assert_eq!(made.map(|map| map.map(|map| words(&map))), expected.map(|text| Ok(text.to_owned())));
        let refused = [
            Tensor { address: 16, ..of(3, Bytes32, TensorSwizzle::Bytes32) },
            Tensor { strides: &[48, 2560], ..of(3, Bytes32, TensorSwizzle::Bytes32) },
            Tensor { address: 8, ..of(3, Bytes16, TensorSwizzle::None) },
        ];
        assert!(refused.iter().all(|tensor| TensorMap::tiled(tensor, &[8, 3, 2]).is_err()));
        assert!(TensorMap::tiled(&of(3, Bytes16, TensorSwizzle::None), &[9, 3, 2]).is_err());
        assert!(TensorMap::tiled(&of(2, Bytes16, TensorSwizzle::None), &[8, 3]).is_err());
    }

    #[test]
    fn what_cuda_refuses_is_refused() {
        let tiled = |tensor: Tensor<'_>, sizes: &[u32]| TensorMap::tiled(&tensor, sizes).is_ok();
        let good = || tensor(TensorType::U16, 3);
        assert!(tiled(good(), &[8, 256, 1]));
        assert!(tiled(Tensor { address: 0, ..good() }, &[8, 1, 1]));
        assert!(tiled(Tensor { swizzle: TensorSwizzle::Bytes32, ..good() }, &[16, 1, 1]));
        assert!(!tiled(Tensor { swizzle: TensorSwizzle::Bytes32, ..good() }, &[24, 1, 1]));
        assert!(!tiled(Tensor { address: 8, ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { address: 1 << 57, ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { sizes: &[1, 0, 1], ..good() }, &[8, 1, 1]));
        assert!(tiled(Tensor { sizes: &[1 << 32, 1, 1], ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { sizes: &[(1 << 32) + 1, 1, 1], ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { strides: &[16, 24], ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { strides: &[16, 1 << 40], ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { steps: &[1, 9, 1], ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { nan_outside: true, ..good() }, &[8, 1, 1]));
        assert!(!tiled(Tensor { promotion: 4, ..good() }, &[8, 1, 1]));
        assert!(
            !tiled(good(), &[8, 257, 1])
                && !tiled(good(), &[8, 0, 1])
                && !tiled(good(), &[7, 1, 1])
                && !tiled(good(), &[8, 1])
        );
        let columns =
            |corners: [&[i32]; 2], channels, pixels| TensorMap::im2col(&good(), corners, channels, pixels).is_ok();
        assert!(columns([&[-32768], &[32767]], 8, 1024) && columns([&[32], &[1]], 8, 1));
        assert!(
            !columns([&[33], &[1]], 8, 1) && !columns([&[0], &[32768]], 8, 1) && !columns([&[0, 0], &[0, 0]], 8, 1)
        );
        assert!(!columns([&[0], &[0]], 4, 1) && !columns([&[0], &[0]], 8, 1025) && !columns([&[0], &[0]], 264, 1));
        assert!(TensorMap::im2col(&tensor(TensorType::U16, 2), [&[], &[]], 8, 1).is_err());
        assert!(TensorMap::tiled(&good(), &[8, 1, 1]).and_then(|map| map.with_address(0)).is_err());
    }
}
