//! Tensor maps. They are plain values of the host and need no context.

use std::ffi::{c_int, c_uint};

use ptx2spv_runtime::{Tensor, TensorInterleave, TensorMap, TensorMapError, TensorSwizzle, TensorType};

use crate::abi::{Code, INVALID_VALUE, In, Out, Result};

/// Maximum number of dimensions.
const DIMENSIONS: usize = 5;

/// The common arguments of tiled and im2col maps. Owns the lists that a [`Tensor`] borrows.
pub(crate) struct Arguments {
    ty: TensorType,
    address: u64,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    steps: Vec<u32>,
    interleave: TensorInterleave,
    swizzle: TensorSwizzle,
    promotion: u32,
    nan_outside: bool,
}

impl Arguments {
    fn rank(&self) -> usize {
        self.sizes.len()
    }

    fn tensor(&self) -> Tensor<'_> {
        Tensor {
            ty: self.ty,
            address: self.address,
            sizes: &self.sizes,
            strides: &self.strides,
            steps: &self.steps,
            interleave: self.interleave,
            swizzle: self.swizzle,
            promotion: self.promotion,
            nan_outside: self.nan_outside,
        }
    }
}

/// Reads the common arguments, with `least` dimensions or more.
pub(crate) fn arguments(
    least: usize,
    ty: c_uint,
    rank: c_uint,
    address: u64,
    sizes: In<u64>,
    strides: In<u64>,
    steps: In<c_uint>,
    interleave: c_uint,
    swizzle: c_uint,
    promotion: c_uint,
    outside: c_uint,
) -> Result<Arguments> {
    let dimensions = |rank: &usize| (least..=DIMENSIONS).contains(rank);
    let rank = usize::try_from(rank).ok().filter(dimensions).ok_or(INVALID_VALUE)?;
    let known = |list: &[TensorType], number: c_uint| list.get(number as usize).copied();
    let ty = known(&TensorType::ALL, ty).ok_or(INVALID_VALUE)?;
    let interleave = match interleave {
        0 => TensorInterleave::None,
        1 => TensorInterleave::Bytes16,
        2 => TensorInterleave::Bytes32,
        _ => return Err(INVALID_VALUE),
    };
    let swizzle = match swizzle {
        0 => TensorSwizzle::None,
        1 => TensorSwizzle::Bytes32,
        2 => TensorSwizzle::Bytes64,
        3 => TensorSwizzle::Bytes128,
        _ => return Err(INVALID_VALUE),
    };
    if outside > 1 {
        return Err(INVALID_VALUE);
    }
    Ok(Arguments {
        ty,
        address,
        sizes: sizes.list(rank)?,
        strides: strides_of(strides, rank)?,
        steps: steps.list(rank)?,
        interleave,
        swizzle,
        promotion,
        nan_outside: outside == 1,
    })
}

/// The strides. A tensor of one dimension has none, and the pointer may be NULL.
fn strides_of(strides: In<u64>, rank: usize) -> Result<Vec<u64>> {
    if rank == 1 { Ok(Vec::new()) } else { strides.list(rank - 1) }
}

fn refused(error: TensorMapError) -> Code {
    INVALID_VALUE.because(error)
}

pub(crate) fn encode_tiled(of: Arguments, box_sizes: In<c_uint>) -> Result<TensorMap> {
    TensorMap::tiled(&of.tensor(), &box_sizes.list(of.rank())?).map_err(refused)
}

pub(crate) fn encode_im2col(
    of: Arguments,
    lower: In<c_int>,
    upper: In<c_int>,
    channels: c_uint,
    pixels: c_uint,
) -> Result<TensorMap> {
    let corners = [lower.list(of.rank() - 2)?, upper.list(of.rank() - 2)?];
    let corners = [corners[0].as_slice(), corners[1].as_slice()];
    TensorMap::im2col(&of.tensor(), corners, channels, pixels).map_err(refused)
}

/// CUDA's driver makes the same maps as for `cuTensorMapEncodeIm2col` with corners that are zero but for the width, in both modes.
pub(crate) fn encode_im2col_wide(
    of: Arguments,
    lower: c_int,
    upper: c_int,
    channels: c_uint,
    pixels: c_uint,
    mode: c_uint,
) -> Result<TensorMap> {
    if mode > 1 {
        return Err(INVALID_VALUE);
    }
    let corners = [[lower, 0, 0], [upper, 0, 0]];
    let [lower, upper] = &corners;
    let corners = [lower, upper].map(|corner| corner.get(..of.rank() - 2).unwrap_or_default());
    TensorMap::im2col(&of.tensor(), corners, channels, pixels).map_err(refused)
}

pub(crate) fn replace_address(map: Out<TensorMap>, address: u64) -> Result {
    let old = map.needed()?.as_in().get()?;
    map.set(old.with_address(address).map_err(refused)?)
}
