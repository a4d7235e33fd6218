//! Loads and stores.
//!
//! Global memory, and shared memory that is declared as blocks, are accessed by the type of the whole access. Other memory
//! is an array of words: a wider access is several words, a narrower one a part of a word. A part of a shared word is
//! written by compare-and-swap, because another thread may be writing the rest of it.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use super::body::Body;
use super::module::Global;
use super::order::Direction;
use super::result::Result;
use super::select::{Access, Space};
use super::shape::Shape;
use super::storage::{TypedMemory, WordArray};
use super::usage::SharedLayout;
use crate::ir::{MemoryOrder, Value};
use ptx2spv_target::Feature;

/// The ways to reach memory for an access.
pub(super) enum AccessForm {
    /// By a pointer to the access's own type.
    Typed(TypedMemory),
    /// As an array of words.
    Words(WordArray),
}

/// A part of a word: the word, and where in it the part begins.
#[derive(Clone, Copy)]
pub(super) struct Part {
    array: WordArray,
    pub(super) pointer: Word,
    /// First bit, as an id.
    shift: Word,
    bits: u32,
}

impl Body<'_, '_, '_> {
    pub(super) fn load(&mut self, results: &[Value], access: Access, address: Value) -> Result<()> {
        let address = self.value(address);
        let found = match self.access_form(access)? {
            AccessForm::Typed(memory) => {
                let whole = self.load_typed(memory, access, address)?;
                self.unpack(access.shape, whole, access.bytes, results.len())?
            }
            AccessForm::Words(array) => self.load_words(array, access, address, results.len())?,
        };
        for (&value, id) in results.iter().zip(found) {
            self.set_value(value, id);
        }
        Ok(())
    }

    pub(super) fn store(&mut self, values: &[Value], access: Access, address: Value) -> Result<()> {
        let address = self.value(address);
        let values: Vec<_> = values.iter().map(|&value| self.value(value)).collect();
        match self.access_form(access)? {
            AccessForm::Typed(memory) => {
                let whole = self.pack(access.shape, &values, access.bytes)?;
                self.store_typed(memory, access, address, whole)
            }
            AccessForm::Words(array) => self.store_words(array, access, address, &values),
        }
    }

    /// The way to reach memory for an access. Notes the features that typed access needs.
    fn access_form(&mut self, Access { space, shape, .. }: Access) -> Result<AccessForm> {
        match (space, shape) {
            (Space::Global, Shape::Byte) => {
                self.module.need(Feature::StorageBuffer8BitAccess, "8-bit global memory access")?;
                self.need_casts(Feature::ShaderInt8)?;
            }
            (Space::Global, Shape::Half) => {
                self.module.need(Feature::StorageBuffer16BitAccess, "16-bit global memory access")?;
                self.need_casts(Feature::ShaderInt16)?;
            }
            (Space::Global, _) => {}
            (Space::Shared, _) if self.shared != SharedLayout::Blocks => {
                return Ok(AccessForm::Words(self.shared_words()?));
            }
            (Space::Shared, Shape::Byte | Shape::Half) => {
                let (has_blocks, feature) = match shape {
                    Shape::Byte => (self.module.device.shared_bytes, Feature::WorkgroupMemoryExplicitLayout8BitAccess),
                    _ => (self.module.device.shared_halves, Feature::WorkgroupMemoryExplicitLayout16BitAccess),
                };
                if !has_blocks {
                    return Ok(AccessForm::Words(self.shared_words()?));
                }
                self.module.need(feature, "narrow shared memory access")?;
            }
            (Space::Shared, _) => {}
            (Space::Local, _) => return Ok(AccessForm::Words(self.local_words()?)),
        }
        let memory = if space == Space::Global { TypedMemory::Global } else { TypedMemory::SharedBlocks };
        Ok(AccessForm::Typed(memory))
    }

    /// Notes the features for a pointer to a narrow type where a bit cast makes the pointer, because there are no
    /// 64-bit integers.
    fn need_casts(&mut self, narrow: Feature) -> Result<()> {
        if self.module.device.long_pointers { Ok(()) } else { self.module.need(narrow, "a pointer of two words") }
    }

    fn load_typed(&mut self, memory: TypedMemory, access: Access, address: Word) -> Result<Word> {
        let shape = access.shape;
        let ty = self.shape_type(shape)?;
        let pointer = if access.space == Space::Global && access.order == MemoryOrder::Weak && access.read_only {
            self.read_only_pointer(ty, address)?
        } else {
            self.typed_pointer(memory, access.order, ty, shape.bytes(), address)?
        };
        if access.order.scope().is_some() && shape.is_atomic() {
            return self.atomic_load(access.space, ty, shape.bytes(), pointer, access.order);
        }
        let align = (access.space == Space::Global).then(|| shape.bytes());
        let mut operands = vec![Operand::IdRef(pointer)];
        operands.extend(self.memory_operands(access, Direction::Load, align)?);
        let whole = self.result(Op::Load, ty, operands);
        self.ordered_fence(access.order)?;
        Ok(whole)
    }

    fn store_typed(&mut self, memory: TypedMemory, access: Access, address: Word, whole: Word) -> Result<()> {
        let shape = access.shape;
        let ty = self.shape_type(shape)?;
        let pointer = self.typed_pointer(memory, access.order, ty, shape.bytes(), address)?;
        if access.order.scope().is_some() && shape.is_atomic() {
            return self.atomic_store(access.space, shape.bytes(), pointer, access.order, whole);
        }
        self.ordered_fence(access.order)?;
        let align = (access.space == Space::Global).then(|| shape.bytes());
        let mut operands = vec![Operand::IdRef(pointer), Operand::IdRef(whole)];
        operands.extend(self.memory_operands(access, Direction::Store, align)?);
        self.effect(Op::Store, operands);
        Ok(())
    }

    fn load_words(&mut self, array: WordArray, access: Access, address: Word, elements: usize) -> Result<Vec<Word>> {
        let shape = access.shape;
        if shape.bytes() < array.word_bytes {
            let part = self.part(array, address, shape.bytes())?;
            // Somebody may be changing the rest of the word.
            let atomic =
                array.is_shared() && access.order == MemoryOrder::Weak && self.has_shared_parts(array.word_bytes);
            let order = if atomic { MemoryOrder::Relaxed(crate::ir::Scope::Cta) } else { access.order };
            let whole = self.load_word(array, part.pointer, Access { order, ..access })?;
            let word = self.extract(part, whole)?;
            return self.unpack_words(&[word], access.bytes, elements);
        }
        if array.has_vectors_of(shape.bytes()) {
            let (pointer, ty) = self.vector_pointer(array, address)?;
            let mut operands = vec![Operand::IdRef(pointer)];
            operands.extend(self.memory_operands(access, Direction::Load, None)?);
            let whole = self.result(Op::Load, ty, operands);
            return self.unpack(Shape::Words(4), whole, access.bytes, elements);
        }
        let count = shape.bytes() / array.word_bytes;
        let each = if count == 1 { access } else { Access { order: access.order.relaxed(), ..access } };
        let first = self.divide(address, array.word_bytes, array.bytes)?;
        let mut words = Vec::with_capacity(4);
        for number in 0..count {
            let word = self.load_numbered(array, first, number, each)?;
            if array.word_bytes == 8 && access.bytes != 8 {
                words.extend(self.split(word)?);
            } else {
                words.push(word);
            }
        }
        if count > 1 && array.is_shared() {
            self.ordered_fence(access.order)?;
        }
        if array.word_bytes == 8 && access.bytes == 8 {
            return Ok(words);
        }
        self.unpack_words(&words, access.bytes, elements)
    }

    fn store_words(&mut self, array: WordArray, access: Access, address: Word, values: &[Word]) -> Result<()> {
        let bytes = access.shape.bytes();
        if bytes < array.word_bytes {
            let word = match (access.bytes, values) {
                (4, &[word]) => word,
                _ => self.pack_word(values, access.bytes)?,
            };
            let part = self.part(array, address, bytes)?;
            return self.store_part(part, access, word);
        }
        if array.has_vectors_of(bytes) {
            let (pointer, ty) = self.vector_pointer(array, address)?;
            let words = self.pack_words(values, access.bytes)?;
            let whole = self.compute(Op::CompositeConstruct, ty, &words);
            let mut operands = vec![Operand::IdRef(pointer), Operand::IdRef(whole)];
            operands.extend(self.memory_operands(access, Direction::Store, None)?);
            self.effect(Op::Store, operands);
            return Ok(());
        }
        let words = match (array.word_bytes, access.bytes) {
            (8, 8) => values.to_vec(),
            (8, _) => {
                let halves = self.pack_words(values, access.bytes)?;
                self.unpack_words(&halves, 8, halves.len() / 2)?
            }
            _ => self.pack_words(values, access.bytes)?,
        };
        let mut each = access;
        if words.len() > 1 && array.is_shared() {
            self.ordered_fence(access.order)?;
            each.order = access.order.relaxed();
        }
        let first = self.divide(address, array.word_bytes, array.bytes)?;
        for (number, word) in (0..).zip(words) {
            let pointer = self.numbered_pointer(array, first, number)?;
            self.store_word(array, pointer, each, word)?;
        }
        Ok(())
    }

    pub(super) fn load_local(&mut self, access: Access, address: Word) -> Result<Word> {
        let array = self.local_words()?;
        let bytes = access.shape.bytes();
        if bytes < array.word_bytes {
            let part = self.part(array, address, bytes)?;
            let whole = self.load_word(array, part.pointer, access)?;
            return self.extract(part, whole);
        }
        let first = self.divide(address, array.word_bytes, array.bytes)?;
        let low = self.load_numbered(array, first, 0, access)?;
        if bytes == array.word_bytes {
            return Ok(low);
        }
        let high = self.load_numbered(array, first, 1, access)?;
        self.join(low, high)
    }

    /// Replaces one integer of local memory.
    pub(super) fn store_local(&mut self, access: Access, address: Word, value: Word) -> Result<()> {
        let array = self.local_words()?;
        self.store_words(array, access, address, &[value])
    }

    fn numbered_pointer(&mut self, array: WordArray, first: Word, number: u32) -> Result<Word> {
        if number == 0 {
            return self.word_pointer(array, first);
        }
        let known = self.offsets.constant(first).and_then(|first| first.checked_add(number));
        let index = match known.filter(|&index| u64::from(index) < array.bytes / u64::from(array.word_bytes)) {
            Some(index) => self.index_constant(index)?,
            None => {
                let (ty, number) = (self.module.u32()?, self.module.u32_constant(number)?);
                self.compute(Op::IAdd, ty, &[first, number])
            }
        };
        self.word_pointer(array, index)
    }

    fn load_numbered(&mut self, array: WordArray, first: Word, number: u32, access: Access) -> Result<Word> {
        let pointer = self.numbered_pointer(array, first, number)?;
        self.load_word(array, pointer, access)
    }

    fn load_word(&mut self, array: WordArray, pointer: Word, access: Access) -> Result<Word> {
        if array.is_shared() && access.order.scope().is_some() {
            return self.atomic_load(Space::Shared, array.word, array.word_bytes, pointer, access.order);
        }
        let mut operands = vec![Operand::IdRef(pointer)];
        operands.extend(self.memory_operands(access, Direction::Load, None)?);
        Ok(self.result(Op::Load, array.word, operands))
    }

    fn store_word(&mut self, array: WordArray, pointer: Word, access: Access, word: Word) -> Result<()> {
        if array.is_shared() && access.order.scope().is_some() {
            return self.atomic_store(Space::Shared, array.word_bytes, pointer, access.order, word);
        }
        let mut operands = vec![Operand::IdRef(pointer), Operand::IdRef(word)];
        operands.extend(self.memory_operands(access, Direction::Store, None)?);
        self.effect(Op::Store, operands);
        Ok(())
    }

    /// The part of a word that `bytes` bytes at an address are.
    pub(super) fn part(&mut self, array: WordArray, address: Word, bytes: u32) -> Result<Part> {
        let ty = self.module.u32()?;
        let index = self.divide(address, array.word_bytes, array.bytes)?;
        let pointer = self.word_pointer(array, index)?;
        let shift = match self.offsets.constant(address) {
            Some(address) => self.module.u32_constant(address % array.word_bytes * 8)?,
            None => {
                let mask = self.module.u32_constant(array.word_bytes - 1)?;
                let byte = self.compute(Op::BitwiseAnd, ty, &[address, mask]);
                let three = self.module.u32_constant(3)?;
                self.compute(Op::ShiftLeftLogical, ty, &[byte, three])
            }
        };
        Ok(Part { array, pointer, shift, bits: bytes * 8 })
    }

    /// A part of a word as a zero-extended 32-bit integer.
    pub(super) fn extract(&mut self, part: Part, whole: Word) -> Result<Word> {
        let ty = self.module.u32()?;
        let bits = self.module.u32_constant(part.bits)?;
        if part.array.word_bytes == 4 {
            return Ok(self.compute(Op::BitFieldUExtract, ty, &[whole, part.shift, bits]));
        }
        let shifted = self.compute(Op::ShiftRightLogical, part.array.word, &[whole, part.shift]);
        let low = self.compute(Op::UConvert, ty, &[shifted]);
        if part.bits == 32 {
            return Ok(low);
        }
        let zero = self.module.u32_constant(0)?;
        Ok(self.compute(Op::BitFieldUExtract, ty, &[low, zero, bits]))
    }

    /// A word with a part of it replaced by the low bits of a 32-bit integer.
    pub(super) fn insert(&mut self, part: Part, whole: Word, value: Word) -> Result<Word> {
        let ty = part.array.word;
        if part.array.word_bytes == 4 {
            let bits = self.module.u32_constant(part.bits)?;
            return Ok(self.compute(Op::BitFieldInsert, ty, &[whole, value, part.shift, bits]));
        }
        // A part of a 64-bit word has at most 32 bits.
        let mask = self.module.global(Global::Constant(ty, (1 << part.bits) - 1))?;
        let hole = self.compute(Op::ShiftLeftLogical, ty, &[mask, part.shift]);
        let hole = self.compute(Op::Not, ty, &[hole]);
        let kept = self.compute(Op::BitwiseAnd, ty, &[whole, hole]);
        let wide = self.compute(Op::UConvert, ty, &[value]);
        let wide = self.compute(Op::BitwiseAnd, ty, &[wide, mask]);
        let moved = self.compute(Op::ShiftLeftLogical, ty, &[wide, part.shift]);
        Ok(self.compute(Op::BitwiseOr, ty, &[kept, moved]))
    }

    fn store_part(&mut self, part: Part, access: Access, value: Word) -> Result<()> {
        if part.array.is_shared() {
            // Threads of other blocks don't see shared memory, so a weak store needs no wider scope.
            let order = match access.order {
                MemoryOrder::Weak => MemoryOrder::Relaxed(crate::ir::Scope::Cta),
                order => order,
            };
            self.with_fences(order, |body, order| {
                let WordArray { word, word_bytes, .. } = part.array;
                body.swap_loop(word, word_bytes, Space::Shared, part.pointer, order, |body, old| {
                    body.insert(part, old, value)
                })
            })?;
        } else {
            let old = self.load_word(part.array, part.pointer, access)?;
            let new = self.insert(part, old, value)?;
            self.store_word(part.array, part.pointer, access, new)?;
        }
        Ok(())
    }
}
