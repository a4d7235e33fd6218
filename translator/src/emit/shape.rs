//! The layout of an access's elements in the one SPIR-V value that is loaded or stored.
//!
//! Accesses are aligned to their whole size, so vectors of narrow elements travel in 16- or 32-bit words. That needs fewer
//! types, and no vectors of 8-bit integers, which many drivers split.

use rspirv::spirv::{Op, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use crate::ir::Type;

/// The type of a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
    /// 2 or 4 times 32 bits.
    Words(u32),
    /// 64 bits.
    Long,
    /// Twice 64 bits.
    Int64,
}

impl Shape {
    /// The shape for `elements` elements of `bytes` bytes each, if there is one.
    pub(super) fn of(bytes: u8, elements: usize) -> Option<Shape> {
        match (bytes, usize::from(bytes) * elements) {
            (8, 8) => Some(Shape::Long),
            (8, 16) => Some(Shape::Int64),
            (1, 1) => Some(Shape::Byte),
            (1 | 2, 2) => Some(Shape::Half),
            (1 | 2 | 4, 4) => Some(Shape::Word),
            (2 | 4, 8) => Some(Shape::Words(2)),
            (4, 16) => Some(Shape::Words(4)),
            _ => None,
        }
    }

    /// Size in bytes.
    pub(super) fn bytes(self) -> u32 {
        match self {
            Shape::Byte => 1,
            Shape::Half => 2,
            Shape::Word => 4,
            Shape::Words(count) => 4 * count,
            Shape::Long => 8,
            Shape::Int64 => 16,
        }
    }

    /// Whether SPIR-V has atomic loads and stores of the shape.
    pub(super) fn is_atomic(self) -> bool {
        matches!(self, Shape::Word | Shape::Long)
    }
}

impl Body<'_, '_, '_> {
    /// The SPIR-V type of a shape.
    pub(super) fn shape_type(&mut self, shape: Shape) -> Result<Word> {
        let key = match shape {
            Shape::Byte => Global::Int(8),
            Shape::Half => Global::Int(16),
            Shape::Word => Global::Int(32),
            Shape::Long => Global::Int(64),
            Shape::Words(count) => Global::Vector(self.module.u32()?, count),
            Shape::Int64 => Global::Vector(self.ty(Type::I64)?, 2),
        };
        self.module.global(key)
    }

    /// The elements of a value of a shape.
    pub(super) fn unpack(&mut self, shape: Shape, whole: Word, bytes: u8, elements: usize) -> Result<Vec<Word>> {
        let word = self.module.u32()?;
        let words = match shape {
            Shape::Byte | Shape::Half => vec![self.compute(Op::UConvert, word, &[whole])],
            Shape::Word => vec![whole],
            Shape::Words(count) => (0..count).map(|index| self.component(word, whole, index)).collect(),
            Shape::Long => return Ok(vec![whole]),
            Shape::Int64 => {
                let long = self.ty(Type::I64)?;
                return Ok(vec![self.component(long, whole, 0), self.component(long, whole, 1)]);
            }
        };
        self.unpack_words(&words, bytes, elements)
    }

    /// The value of a shape that holds these elements.
    pub(super) fn pack(&mut self, shape: Shape, values: &[Word], bytes: u8) -> Result<Word> {
        let ty = self.shape_type(shape)?;
        let words = match shape {
            Shape::Long | Shape::Int64 => values.to_vec(),
            _ => self.pack_words(values, bytes)?,
        };
        match (shape, words.as_slice()) {
            (Shape::Byte | Shape::Half, &[word]) => Ok(self.compute(Op::UConvert, ty, &[word])),
            (_, &[whole]) => Ok(whole),
            (_, parts) => Ok(self.compute(Op::CompositeConstruct, ty, parts)),
        }
    }

    /// The elements that lie in 32-bit words.
    pub(super) fn unpack_words(&mut self, words: &[Word], bytes: u8, elements: usize) -> Result<Vec<Word>> {
        match bytes {
            4 => Ok(words.to_vec()),
            8 => words.as_chunks().0.iter().map(|&[low, high]| self.join(low, high)).collect(),
            _ if elements == 1 => Ok(words.to_vec()),
            _ => {
                let word = self.module.u32()?;
                let bits = u32::from(bytes) * 8;
                let count = self.module.u32_constant(bits)?;
                let mut found = Vec::with_capacity(elements);
                for &from in words {
                    for position in (0..32).step_by(bits as usize).take(elements - found.len()) {
                        let offset = self.module.u32_constant(position)?;
                        found.push(self.compute(Op::BitFieldUExtract, word, &[from, offset, count]));
                    }
                }
                Ok(found)
            }
        }
    }

    /// 32-bit words that hold the elements; bits above the last element are arbitrary.
    pub(super) fn pack_words(&mut self, values: &[Word], bytes: u8) -> Result<Vec<Word>> {
        match bytes {
            4 => Ok(values.to_vec()),
            8 => {
                let mut words = Vec::with_capacity(values.len() * 2);
                for &value in values {
                    words.extend(self.split(value)?);
                }
                Ok(words)
            }
            _ => {
                let group = usize::from(4 / bytes);
                values.chunks(group).map(|elements| self.pack_word(elements, bytes)).collect()
            }
        }
    }

    /// A 32-bit word that holds these elements, which have less bits.
    pub(super) fn pack_word(&mut self, elements: &[Word], bytes: u8) -> Result<Word> {
        let word = self.module.u32()?;
        let bits = u32::from(bytes) * 8;
        let count = self.module.u32_constant(bits)?;
        let mut packed = 0;
        for (&element, position) in elements.iter().zip((0..32).step_by(bits as usize)) {
            packed = if position == 0 {
                element
            } else {
                let offset = self.module.u32_constant(position)?;
                self.compute(Op::BitFieldInsert, word, &[packed, element, offset, count])
            };
        }
        Ok(packed)
    }
}
