//! The largest textures and surfaces: CUDA's limits on devices of compute capability 8.0 and later, which hold on every device here.

/// Width of 1D arrays.
pub const ARRAY_1D: u64 = 131_072;
/// Width and height of 2D arrays.
pub const ARRAY_2D: [u64; 2] = [131_072, 65_536];
/// Width, height and depth of 3D arrays.
pub const ARRAY_3D: [u64; 3] = [16_384; 3];
/// The same for deep arrays, which may have these sizes instead.
pub const ARRAY_3D_DEEP: [u64; 3] = [8192, 8192, 32_768];
/// Width of arrays of cubes, of layered arrays, of those for gathering, of 1D arrays for surfaces and of arrays with several
/// levels; the height too.
pub const ARRAY_OTHERS: u64 = 32_768;
/// Layers of a layered array.
pub const LAYERS: u64 = 2048;
/// Cubes of a layered array of cubes.
pub const CUBES: u64 = 341;
/// Elements of linear memory.
pub const LINEAR: u64 = 1 << 27;
/// Width and height of pitched memory.
pub const PITCHED: [u64; 2] = [131_072, 65_000];
/// The largest pitch in bytes.
pub const PITCH: u64 = 2_097_120;
/// Of what addresses of linear and pitched memory are multiples.
pub const ADDRESS_ALIGNMENT: u64 = 256;
/// Of what pitches are multiples.
pub const PITCH_ALIGNMENT: u64 = 32;
/// Of what rows of arrays are multiples in bytes.
pub(crate) const ROW_ALIGNMENT: u64 = 16;
