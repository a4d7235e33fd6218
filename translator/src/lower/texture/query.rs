//! `txq`, `suq` and `istypep`. Sizes follow the texture unit: sizes that a texture doesn't have are 0, except the height of one-dimensional
//! arrays, which is 1. The number of layers takes the place of the next dimension.

use super::record::{Image, Record, handle_tag};
use super::{is_among, kinds};
use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::Value;
use crate::isa::modifiers::Query;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;
use ptx2spv_interface::texture::Kind::{Array3d, Cube, Layered1d, Layered2d, LayeredCube, Linear, Pitched};
use ptx2spv_interface::texture::{AddressMode, Kind, field, flag};

/// A size of a texture or surface.
#[derive(Clone, Copy)]
enum Extent {
    Width,
    Height,
    Depth,
}

/// `txq`
pub fn texture(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let record = Record::of(l, l.operand(i, 1))?;
    let query = i.required(i.modifiers.query())?;
    let value = match query {
        Query::Width => texture_extent(l, i, record, Extent::Width)?,
        Query::Height => texture_extent(l, i, record, Extent::Height)?,
        Query::Depth => texture_extent(l, i, record, Extent::Depth)?,
        Query::ArraySize => {
            let layers = record.word(l, field::LAYERS);
            let kind = record.word(l, field::KIND);
            layers_if(l, kind, layers, &[Layered1d, Layered2d, LayeredCube], true)
        }
        Query::NumMipmapLevels => record.word(l, field::LEVELS),
        Query::NumSamples => record.word(l, field::SAMPLES),
        Query::ChannelDataType => record.word(l, field::FORMAT),
        Query::ChannelOrder => record.word(l, field::CHANNELS),
        Query::NormalizedCoords => flag_of(l, record, flag::NORMALIZED),
        Query::ForceUnnormalizedCoords => flag_of(l, record, flag::FORCE_UNNORMALIZED),
        Query::FilterMode => record.word(l, field::FILTER),
        Query::AddrMode0 => address_mode(l, record, 0),
        Query::AddrMode1 => address_mode(l, record, 1),
        Query::AddrMode2 => address_mode(l, record, 2),
        Query::MemoryLayout => return Err(i.unexpected(query.word())),
    };
    l.set(i, 0, ScalarType::B32, value)
}

/// A size of a texture, or of the level that an operand names; 0 for a level that isn't there.
fn texture_extent(l: &mut Lowering<'_, '_>, i: &Instruction, record: Record, extent: Extent) -> Result<Value> {
    let mut image = record.image(l);
    let (levels, kind) = record.levels_and_kind(l);
    let mut exists = None;
    if i.modifiers.has(Word::Level) {
        let number = l.int(i, 2, ScalarType::S32)?;
        let count = levels.at_least_one(l);
        let is_level = l.b.ult(number, count);
        image.level = levels.level(l, image.level, l.b.select(is_level, number, l.b.i32(0)));
        exists = Some(is_level);
    }
    let value = extent_of(l, extent, &image, kind, &[Layered2d, LayeredCube], &[Linear]);
    Ok(match exists {
        Some(exists) => l.b.select(exists, value, l.b.i32(0)),
        None => value,
    })
}

/// `suq`
pub fn surface(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let record = Record::of(l, l.operand(i, 1))?;
    let query = i.required(i.modifiers.query())?;
    let value = match query {
        Query::Width => surface_extent(l, record, Extent::Width),
        Query::Height => surface_extent(l, record, Extent::Height),
        Query::Depth => surface_extent(l, record, Extent::Depth),
        Query::ArraySize => {
            let layers = record.word(l, field::LAYERS);
            let kind = record.word(l, field::KIND);
            layers_if(l, kind, layers, &[Layered1d, Layered2d, Cube, LayeredCube], false)
        }
        Query::ChannelDataType => record.word(l, field::FORMAT),
        Query::ChannelOrder => record.word(l, field::CHANNELS),
        Query::MemoryLayout => {
            let kind = record.word(l, field::KIND);
            let is_linear = is_among(l, kind, kinds(&[Linear, Pitched]));
            l.b.bool_to(crate::ir::Type::I32, is_linear)
        }
        Query::NormalizedCoords
        | Query::NumMipmapLevels
        | Query::NumSamples
        | Query::FilterMode
        | Query::AddrMode0
        | Query::AddrMode1
        | Query::AddrMode2
        | Query::ForceUnnormalizedCoords => return Err(i.unexpected(query.word())),
    };
    l.set(i, 0, ScalarType::B32, value)
}

fn surface_extent(l: &mut Lowering<'_, '_>, record: Record, extent: Extent) -> Value {
    let image = record.image(l);
    let kind = record.word(l, field::KIND);
    extent_of(l, extent, &image, kind, &[Layered2d, Cube, LayeredCube], &[Linear, Kind::Array1d])
}

/// A size. `deep` kinds give their layers as depth; `flat` kinds have no height.
fn extent_of(
    l: &mut Lowering<'_, '_>,
    extent: Extent,
    image: &Image,
    kind: Value,
    deep: &[Kind],
    flat: &[Kind],
) -> Value {
    let zero = l.b.i32(0);
    match extent {
        Extent::Width => image.level.width,
        Extent::Height => {
            let is_layered = is_among(l, kind, kinds(&[Layered1d]));
            let is_flat = is_among(l, kind, kinds(flat));
            l.b.select(is_flat, zero, l.b.select(is_layered, image.layers, image.level.height))
        }
        Extent::Depth => {
            let is_solid = is_among(l, kind, kinds(&[Array3d]));
            let depth = l.b.select(is_solid, image.level.depth, zero);
            // A texture counts cubes, a surface counts faces.
            let cubes = !deep.contains(&Cube);
            let layers = layers_if(l, kind, image.layers, deep, cubes);
            l.b.or(depth, layers)
        }
    }
}

/// The layers, or cubes, of kinds that have them; else 0.
fn layers_if(l: &mut Lowering<'_, '_>, kind: Value, layers: Value, of: &[Kind], cubes: bool) -> Value {
    let mut count = layers;
    if cubes {
        let is_cubes = is_among(l, kind, kinds(&[LayeredCube]));
        count = l.b.select(is_cubes, l.b.div_unsigned_const(layers, 6), layers);
    }
    let has = is_among(l, kind, kinds(of));
    l.b.select(has, count, l.b.i32(0))
}

fn flag_of(l: &mut Lowering<'_, '_>, record: Record, bit: u32) -> Value {
    let flags = record.word(l, field::FLAGS);
    let is_set = l.b.is_nonzero(l.b.and_const(flags, bit.into()));
    l.b.bool_to(crate::ir::Type::I32, is_set)
}

/// An address mode's number in PTX, in the order wrap, mirror, OpenGL's clamp, clamp to edge, clamp to border.
fn address_mode(l: &mut Lowering<'_, '_>, record: Record, dimension: u32) -> Value {
    let numbers = [(AddressMode::Wrap, 0), (AddressMode::Mirror, 1), (AddressMode::Clamp, 3), (AddressMode::Border, 4)];
    let table = numbers.into_iter().map(|(mode, number)| number << (4 * mode.code())).sum();
    let table = l.b.i32(table);
    let mode = record.word(l, field::ADDRESS_MODE + 4 * dimension);
    let place = l.b.shl(l.b.and_const(mode, 3), 2);
    l.b.and_const(l.b.shr_by(table, place), 7)
}

/// `istypep`
pub fn is_type_of(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let handle = l.int(i, 1, ScalarType::B64)?;
    let tag = l.b.and_const(handle, i.required(handle_tag(i.ty(0)?))?);
    l.set(i, 0, ScalarType::Pred, l.b.is_nonzero(tag))
}
