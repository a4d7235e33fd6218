//! `cvt` to and from pairs of f16, bf16, e4m3 and e5m2 (PTX section 9.7.9.21).

use super::convert_float::bits_in;
use super::float::{float_of, format};
use super::packed::{join, part};
use super::{Lowering, Result};
use crate::decode::program::Instruction;
use crate::ir::Value;
use crate::isa::types::ScalarType;
use crate::soft::{self, SINGLE};

/// From two f32, the first of which goes to the upper half.
pub fn pack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let [high, low] = [l.int(i, 1, ScalarType::F32)?, l.int(i, 2, ScalarType::F32)?];
    let lanes = [low, high].map(|bits| {
        let value = float_of(l, SINGLE, bits);
        lane(l, i, value)
    });
    finish(l, i, lanes)
}

/// From a pair of another format.
pub fn repack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let from = i.modifiers.ty(1);
    let width = from.bits() / 2;
    let a = l.int(i, 1, from)?;
    let lanes = [0, width].map(|position| {
        let bits = part(l, a, position, width, false);
        let value = float_of(l, format(from), bits);
        lane(l, i, value)
    });
    finish(l, i, lanes)
}

/// One of the results.
fn lane(l: &mut Lowering<'_, '_>, i: &Instruction, value: Value) -> Value {
    let to = i.modifiers.ty(0);
    let bits = bits_in(l, i, to, value);
    if i.modifiers.has("relu") { soft::relu(&mut l.b, format(to), bits) } else { bits }
}

fn finish(l: &mut Lowering<'_, '_>, i: &Instruction, lanes: [Value; 2]) -> Result {
    let to = i.modifiers.ty(0);
    let result = join(l, &lanes, to.bits() / 2);
    l.set(i, 0, to, result)
}
