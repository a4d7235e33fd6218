//! `tex` with float coordinates: the nearest texel, or a filtered blend of the texels around the point and of two
//! levels.
//!
//! Integer coordinates are read as the bits of floats, as in `tex.grad` with integers. A depth comparison operand has no effect, since
//! textures with comparison can't be created.

use super::fetch::{finish, no_channels};
use super::filter::{Filter, tap};
use super::level::{self, Chosen};
use super::source::{Source, Where};
use super::texel::at_least_minus_one;
use super::ways::Ways;
use super::{Geometry, cube, footprint};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Builder, Stmt, Type, Value, Var};
use crate::isa::modifiers;
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;

const OFFSET_BITS: u32 = 4;

/// `tex` with coordinates of `.f32`
pub fn sample(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let channels = no_channels(l);
    let ways = Ways::of(l, i)?;
    let loads = l.nested(|l| by_loads(l, i, channels))?;
    let all = ways.or_else(l, channels, loads)?;
    l.b.append(all);
    finish(l, i, channels)
}

/// The channels' bits, by loads of texels of any texture. Variables are zero before.
pub(super) fn by_loads(l: &mut Lowering<'_, '_>, i: &Instruction, results: [Var; 4]) -> Result {
    let source = Source::of(l, i, OFFSET_BITS)?;
    let asked = match i.modifiers.level() {
        Some(modifiers::Level::Level) => {
            let bits = l.source(l.operand(i, 2), ScalarType::B32)?;
            level::of_float(l, bits)
        }
        Some(modifiers::Level::Grad) => of_gradients(l, i, &source)?,
        None | Some(modifiers::Level::Base) => level::none(l),
    };
    let chosen = level::chosen(l, source.sampler, &source.levels, asked);
    let filtered = l.b.or(source.is_linear, chosen.filtered);
    l.if_(source.exists, |l| {
        let otherwise = l.nested(|l| nearest(l, &source, chosen.lower, results))?;
        let then = l.nested(|l| blend(l, &source, &chosen, results))?;
        l.b.push(Stmt::If { condition: filtered, then, otherwise });
        Ok(())
    })
}

/// Loads the nearest texel of a level.
fn nearest(l: &mut Lowering<'_, '_>, source: &Source, number: Value, into: [Var; 4]) -> Result {
    let level = source.levels.level(l, source.image.level, number);
    let unfiltered = l.b.bool(false);
    let (plane, depth) = source.positions(l, &level, unfiltered);
    let [x, y] = *plane.as_slice() else {
        return Err(Diagnostic::internal("a texture of other than two or three dimensions", None));
    };
    let tap = tap(&l.b, [(x, unfiltered), (y, unfiltered)], depth.map(|z| (z, unfiltered)));
    source.load(l, &level, &tap, into)?;
    for var in into {
        l.b.set(var, at_least_minus_one(&l.b, source.arithmetic.signed, l.b.get(var)));
    }
    Ok(())
}

/// Blends the texels around the point, in one level or two.
fn blend(l: &mut Lowering<'_, '_>, source: &Source, chosen: &Chosen, into: [Var; 4]) -> Result {
    let filter = Filter::new(l, source);
    let turn = l.b.var(Type::I32);
    l.b.set(turn, l.b.i32(0));
    let lower_weight = l.b.sub(l.b.i32(256), chosen.upper_weight);
    let is_one = l.b.is_zero(chosen.upper_weight);
    let before = l.b.take_block();
    let number = l.b.get(turn);
    let is_upper = l.b.is_nonzero(number);
    let weight = l.b.select(is_upper, chosen.upper_weight, lower_weight);
    let level_number = l.b.add(chosen.lower, number);
    let level = source.levels.level(l, source.image.level, level_number);
    filter.add_level(l, &level, weight)?;
    let b = &l.b;
    b.set(turn, b.add_const(number, 1));
    let is_last = b.or(is_upper, is_one);
    b.if_(is_last, Builder::break_);
    b.push(Stmt::Loop(b.replace_block(before)));
    filter.finish(b, into);
    Ok(())
}

/// The level from two gradients.
fn of_gradients(l: &mut Lowering<'_, '_>, i: &Instruction, source: &Source) -> Result<Value> {
    let mut gradients = [[l.b.f32(0.0); 3]; 2];
    for (operand, gradient) in (3..).zip(&mut gradients) {
        let Operand::List(elements) = l.operand(i, operand) else {
            return Err(Diagnostic::internal("a gradient that is not a vector", i.span));
        };
        for (value, element) in gradient.iter_mut().zip(elements) {
            let bits = l.source(element, ScalarType::B32)?;
            *value = l.b.bitcast(bits, Type::F32);
        }
    }
    let level = source.image.level;
    let size = match (&source.point, source.coordinates.as_slice()) {
        (Where::Cube { .. }, [x, y, z]) => cube::footprint(&l.b, [*x, *y, *z], gradients, level.width),
        (_, coordinates) => {
            // In three dimensions the unit computes gradients from the coordinates of neighbouring pixels.
            let by_neighbours = Geometry::of(i)?.dimensions == 3;
            let extents = [level.width, level.height, level.depth];
            let [across, down] = gradients.map(|mut gradient| {
                for (number, (step, extent)) in gradient.iter_mut().zip(extents).enumerate() {
                    let coordinate = coordinates.get(number).copied().filter(|_| by_neighbours);
                    *step = match coordinate {
                        Some(from) => {
                            let to = l.b.fadd(from, *step);
                            let [to, from] = [to, from].map(|value| footprint::coordinate(&l.b, value));
                            footprint::difference(&l.b, to, from)
                        }
                        None => footprint::step(&l.b, *step),
                    };
                    *step = footprint::stretched(&l.b, *step, extent);
                }
                gradient
            });
            footprint::footprint(&l.b, across, down, None)
        }
    };
    footprint::level(l, size, i.span)
}
