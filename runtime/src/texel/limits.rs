//! Maximum sizes of textures and surfaces: CUDA's limits for compute capability 8.0 and later, which apply to every
//! device here.

/// Width of 1D arrays.
pub const ARRAY_1D: u64 = 131_072;
/// Width and height of 2D arrays.
pub const ARRAY_2D: [u64; 2] = [131_072, 65_536];
/// Width, height and depth of 3D arrays.
pub const ARRAY_3D: [u64; 3] = [16_384; 3];
/// Width, height and depth of deep 3D arrays, as an alternative.
pub const ARRAY_3D_DEEP: [u64; 3] = [8192, 8192, 32_768];
/// Width, and height, of cubes, of layered arrays, of arrays for gathering, of 1D arrays for surfaces, and of arrays
/// with several levels.
pub const ARRAY_OTHERS: u64 = 32_768;
/// Layers of a layered array.
pub const LAYERS: u64 = 2048;
/// Cubes of a layered cube array.
pub const CUBES: u64 = 341;
/// Elements of linear memory.
pub const LINEAR: u64 = 1 << 27;
/// Width and height of pitched memory.
pub const PITCHED: [u64; 2] = [131_072, 65_000];
/// Maximum pitch in bytes.
pub const PITCH: u64 = 2_097_120;
/// Alignment of addresses of linear and pitched memory.
pub const ADDRESS_ALIGNMENT: u64 = 256;
/// Alignment of pitches.
pub const PITCH_ALIGNMENT: u64 = 32;
/// Alignment of rows of arrays, in bytes.
pub(crate) const ROW_ALIGNMENT: u64 = 16;
