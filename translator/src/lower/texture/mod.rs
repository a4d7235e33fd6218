//! Textures and surfaces (PTX sections 9.7.10 and 9.7.11), by loads and stores through their records (see [`ptx2spv_interface::texture`]).
//! Where the manual is silent, they follow measurements of hardware: `docs/numerics.md`.

pub mod batch;
mod batched;
mod blend;
mod border;
mod common;
mod coordinate;
mod cube;
pub mod fetch;
mod filter;
pub mod footprint;
pub mod formatted;
mod fraction;
pub mod gather;
mod image;
mod level;
pub mod logarithms;
mod plain;
pub mod query;
pub mod record;
pub mod sample;
pub(super) mod shared;
mod source;
pub mod srgb;
pub mod surface;
mod texel;
pub(super) mod waiting;
mod ways;

pub(super) use batched::read_all;

use super::lowering::Lowering;
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Builder, Compare, Value, Var};
use crate::isa::operation::{Action, Operation};
use crate::isa::types::ScalarType;
use ptx2spv_interface::texture;

/// The meaning of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Geometry {
    /// Number of coordinates within a layer.
    dimensions: usize,
    /// Whether a layer precedes the coordinates.
    layered: bool,
    /// Whether the coordinates are a direction, which meets a cube's face.
    cube: bool,
}

impl Geometry {
    fn of(i: &Instruction) -> Result<Geometry> {
        let named = i.required(i.modifiers.geometry())?;
        Ok(Geometry { dimensions: named.dimensions(), layered: named.is_layered(), cube: named.is_cube() })
    }

    /// Whether the geometry has only one dimension, without layers.
    fn is_row(self) -> bool {
        self.dimensions == 1 && !self.layered
    }
}

/// The number of handles before the coordinates in a list: the texture's and the sampler's.
const HANDLES: usize = 2;

/// The channels' bits of a read with float coordinates, by loads of texels of any texture. Variables are zero before.
fn by_loads(l: &mut Lowering<'_, '_>, i: &Instruction, results: [Var; 4]) -> Result {
    match i.form.row.action {
        Action::Compute(Operation::TextureGather) => gather::by_loads(l, i, results),
        _ => sample::by_loads(l, i, results),
    }
}

/// A point with integer coordinates.
struct Point {
    /// One coordinate for each dimension.
    coordinates: Vec<Value>,
    layer: Option<Value>,
}

/// The elements of a list of operands.
fn list(i: &Instruction, operand: usize) -> Result<&[Operand]> {
    match i.operands.get(operand) {
        Some(Operand::List(elements)) => Ok(elements),
        _ => Err(Diagnostic::internal("a texture or surface without coordinates", i.span)),
    }
}

impl Point {
    /// From operands, the layer first.
    fn of(l: &mut Lowering<'_, '_>, geometry: Geometry, operands: &[Operand]) -> Result<Point> {
        let mut values = Vec::new();
        for operand in operands {
            values.push(l.source(operand, ScalarType::B32)?);
        }
        let layer = (geometry.layered && !values.is_empty()).then(|| values.remove(0));
        Ok(Point { coordinates: values, layer })
    }
}

/// `value`, clamped to `0..=last` as a signed number.
fn clamp(l: &mut Lowering<'_, '_>, value: Value, last: Value) -> Value {
    l.b.minimum(Compare::LessSigned, last, l.b.maximum(Compare::LessSigned, value, l.b.i32(0)))
}

/// A float within bounds; NaN stays NaN.
fn clamp_float(b: &Builder<'_>, value: Value, [least, most]: [Value; 2]) -> Value {
    b.minimum(Compare::FLess, most, b.maximum(Compare::FLess, value, least))
}

/// A float as a fraction of those from `least` to 1; NaN is 0.
fn clamp_fraction(b: &Builder<'_>, value: Value, least: Value) -> Value {
    let [zero, one] = [0.0, 1.0].map(|number| b.f32(number));
    let is_number = b.feq(value, value);
    clamp_float(b, b.select(is_number, value, zero), [least, one])
}

/// The smaller of two unsigned numbers.
fn least(l: &mut Lowering<'_, '_>, a: Value, b: Value) -> Value {
    l.b.select(l.b.ult(a, b), a, b)
}

/// Whether bit `number` of `bits` is set.
fn is_among(l: &mut Lowering<'_, '_>, number: Value, bits: u64) -> Value {
    let bit = l.b.and_const(l.b.shr_by(l.b.i32(bits as u32), l.b.and_const(number, 31)), 1);
    l.b.is_nonzero(bit)
}

/// A bit set of kinds.
fn kinds(kinds: &[texture::Kind]) -> u64 {
    kinds.iter().map(|kind| 1 << kind.code()).sum()
}

/// Whether a kind is linear memory of one dimension.
fn is_linear(l: &Lowering<'_, '_>, kind: Value) -> Value {
    l.b.compare_const(Compare::Equal, kind, texture::Kind::Linear.code().into())
}
