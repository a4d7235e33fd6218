//! Reading records of textures and surfaces, and the levels of mipmaps.

use super::{Geometry, Point};
use crate::decode::program::Operand;
use crate::diagnostic::Result;
use crate::ir::{Access, Builtin, Compare, MemoryOrder, Space, Stmt, Type, Value};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;
use ptx2spv_interface::texture::{ADDRESS, LEVEL_BYTES, SAMPLER, SURFACE, TEXTURE, field, level_field};

/// The bit of a handle that tells the type of its reference.
pub fn handle_tag(ty: ScalarType) -> Option<u64> {
    match ty {
        ScalarType::TexRef => Some(TEXTURE),
        ScalarType::SurfRef => Some(SURFACE),
        ScalarType::SamplerRef => Some(SAMPLER),
        _ => None,
    }
}

/// Records change between launches only.
const READ: Access = Access { space: Space::Global, bytes: 4, order: MemoryOrder::Weak, read_only: true };

/// A record, given by its address.
#[derive(Clone, Copy)]
pub(super) struct Record(Value);

impl Record {
    pub(super) fn of(l: &mut Lowering<'_, '_>, handle: &Operand) -> Result<Record> {
        let handle = l.source(handle, ScalarType::B64)?;
        Ok(Record(l.b.and_const(handle, ADDRESS)))
    }

    /// Whether the word about the texture's image has all of some bits, in this record and in those of all textures.
    pub(super) fn image_bits(self, l: &mut Lowering<'_, '_>, bits: u32) -> [Value; 2] {
        let words = [self.word(l, field::IMAGE), l.b.builtin(Builtin::TextureBits)];
        words.map(|word| l.b.compare_const(Compare::Equal, l.b.and_const(word, bits.into()), bits.into()))
    }

    pub(super) fn word(self, l: &mut Lowering<'_, '_>, field: u32) -> Value {
        l.b.load_one(READ, l.b.add_const(self.0, field.into()))
    }

    /// The aligned four words that begin with a field.
    pub(super) fn words(self, l: &mut Lowering<'_, '_>, field: u32) -> [Value; 4] {
        let address = l.b.add_const(self.0, field.into());
        let words = l.b.load(READ, address, 4);
        std::array::from_fn(|number| words.get(number).copied().unwrap_or(address))
    }

    /// The description of the image's memory.
    pub(super) fn image(self, l: &mut Lowering<'_, '_>) -> Image {
        let [base, base_high, width, height] = self.words(l, field::BASE);
        let [depth, layers, pitch, texel] = self.words(l, field::DEPTH);
        let [slice, slice_high, channels, _] = self.words(l, field::SLICE);
        let base = l.b.join(base, base_high);
        let level = Level { base, slice: [slice, slice_high], pitch, width, height, depth };
        Image { level, layers, texel, channels }
    }

    /// The levels of a mipmap (0 without a mipmap), and the kind.
    pub(super) fn levels_and_kind(self, l: &mut Lowering<'_, '_>) -> (Levels, Value) {
        let [table, table_high, count, kind] = self.words(l, field::LEVEL_TABLE);
        (Levels { table: l.b.join(table, table_high), count }, kind)
    }
}

/// The memory of a record's image.
pub(super) struct Image {
    /// Level 0.
    pub(super) level: Level,
    pub(super) layers: Value,
    pub(super) texel: Value,
    pub(super) channels: Value,
}

/// The table of levels.
pub(super) struct Levels {
    table: Value,
    /// Number of levels; 0 without a mipmap.
    pub(super) count: Value,
}

#[derive(Clone, Copy)]
pub(super) struct Level {
    base: Value,
    slice: [Value; 2],
    pub(super) pitch: Value,
    pub(super) width: Value,
    pub(super) height: Value,
    pub(super) depth: Value,
}

impl Levels {
    /// Number of levels, which is one without a mipmap.
    pub(super) fn at_least_one(&self, l: &mut Lowering<'_, '_>) -> Value {
        l.b.select(l.b.is_zero(self.count), l.b.i32(1), self.count)
    }

    /// An existing level; level 0 is in the record itself.
    pub(super) fn level(&self, l: &mut Lowering<'_, '_>, first: Level, number: Value) -> Level {
        let values = [first.slice[0], first.slice[1], first.pitch, first.width, first.height, first.depth];
        let vars = values.map(|value| {
            let var = l.b.var(Type::I32);
            l.b.set(var, value);
            var
        });
        let base = l.b.var(Type::I64);
        l.b.set(base, first.base);
        let is_other = l.b.is_nonzero(number);
        let outer = l.b.take_block();
        let offset = l.b.zero_extend(l.b.mul_const(number, LEVEL_BYTES));
        let entry = Record(l.b.add(self.table, offset));
        let [low, high, slice, slice_high] = entry.words(l, level_field::BASE);
        let [width, height, depth, pitch] = entry.words(l, level_field::WIDTH);
        l.b.set(base, l.b.join(low, high));
        for (var, value) in vars.into_iter().zip([slice, slice_high, pitch, width, height, depth]) {
            l.b.set(var, value);
        }
        let then = l.b.replace_block(outer);
        l.b.push(Stmt::If { condition: is_other, then, otherwise: Vec::new() });
        let base = l.b.get(base);
        let [slice, slice_high, pitch, width, height, depth] = vars.map(|var| l.b.get(var));
        Level { base, slice: [slice, slice_high], pitch, width, height, depth }
    }
}

impl Level {
    /// The address `bytes` from the start of a row, for a point within the level.
    pub(super) fn address(&self, l: &mut Lowering<'_, '_>, geometry: Geometry, bytes: Value, point: &Point) -> Value {
        let offset = l.b.zero_extend(bytes);
        let mut address = l.b.add(self.base, offset);
        let mut coordinates = point.coordinates.iter().skip(1).copied();
        if let Some(y) = coordinates.next() {
            let offset = wide_product(l, y, self.pitch);
            address = l.b.add(address, offset);
        }
        if let Some(z) = if geometry.layered { point.layer } else { coordinates.next() } {
            let [low, high] = self.slice;
            let offset = wide_product(l, z, low);
            address = l.b.add(address, offset);
            let upper = l.b.mul(z, high);
            address = l.b.add(address, l.b.join(l.b.i32(0), upper));
        }
        address
    }

    /// The extents of the coordinates, the number of layers last.
    pub(super) fn extents(&self, geometry: Geometry, layers: Value) -> Vec<Value> {
        let mut extents: Vec<Value> =
            [self.width, self.height, self.depth].into_iter().take(geometry.dimensions).collect();
        if geometry.layered {
            extents.push(layers);
        }
        extents
    }
}

/// The product of two unsigned `I32` as an `I64`.
fn wide_product(l: &mut Lowering<'_, '_>, x: Value, y: Value) -> Value {
    l.b.join(l.b.mul(x, y), l.b.mul_high_unsigned(x, y))
}
