//! Declarations of shared and local memory, and pointers into them and into global memory.
//!
//! Shared memory is a set of blocks over the same bytes, one for each type it is accessed by, where the device has
//! `workgroupMemoryExplicitLayout`. Else it is one array (without ArrayStride, which Vulkan forbids there): of 32-bit words,
//! of 64-bit words where the kernel has 64-bit atomics on it, or of vectors where the kernel stores nothing else. Local memory
//! is an array of 32-bit words.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass, Word};

use super::body::Body;
use super::module::{Global, Module};
use super::result::Result;
use super::usage::{SharedLayout, has_shared_parts, orders_memory};
use crate::ir::MemoryOrder;
use ptx2spv_target::Feature;

/// The size of shared memory is a multiple of this many bytes, and not less unless it is 0.
pub(crate) const SHARED_GRANULE: u32 = 16;

impl Module<'_> {
    pub(super) fn spec_constant_op(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        let mut all = vec![Operand::LiteralSpecConstantOpInteger(op)];
        all.extend(operands.iter().copied().map(Operand::IdRef));
        self.define(Op::SpecConstantOp, ty, all)
    }

    /// The number of elements of a size in shared memory, as a constant.
    fn shared_length(&mut self, element_bytes: u32) -> Result<Word> {
        if let Some(&length) = self.shared.lengths.get(&element_bytes) {
            return Ok(length);
        }
        let ty = self.u32()?;
        if self.shared.bytes == 0 {
            // Arrays can't be empty, whatever size the launch gives.
            let truth = self.global(Global::Bool)?;
            let least = self.u32_constant(SHARED_GRANULE)?;
            let total = self.launch.shared_bytes;
            let too_small = self.spec_constant_op(Op::ULessThan, truth, &[total, least]);
            self.shared.bytes = self.spec_constant_op(Op::Select, ty, &[too_small, least, total]);
        }
        let divisor = self.u32_constant(element_bytes)?;
        let length = self.spec_constant_op(Op::UDiv, ty, &[self.shared.bytes, divisor]);
        self.shared.lengths.insert(element_bytes, length);
        Ok(length)
    }

    fn shared_fence(&mut self) -> Result<Word> {
        if self.shared.fence == 0 {
            let ty = self.u32()?;
            self.shared.fence = self.variable(StorageClass::Workgroup, ty, "fence")?;
        }
        Ok(self.shared.fence)
    }

    /// The variable of shared memory with elements of a type.
    fn shared_variable(&mut self, element: Word, element_bytes: u32, block: bool) -> Result<Word> {
        if let Some(&variable) = self.shared.variables.get(&(element, block)) {
            return Ok(variable);
        }
        let length = self.shared_length(element_bytes)?;
        let ty = if block {
            self.global(Global::Block(element, length, element_bytes))?
        } else {
            self.global(Global::Array(element, length))?
        };
        let variable = self.variable(StorageClass::Workgroup, ty, "shared")?;
        if block {
            self.decorate(variable, Decoration::Aliased, &[]);
        }
        self.shared.variables.insert((element, block), variable);
        Ok(variable)
    }
}

/// Memory that is reached by pointers to any type.
#[derive(Clone, Copy)]
pub(super) enum TypedMemory {
    Global,
    /// Shared memory that is declared as blocks.
    SharedBlocks,
}

/// Memory as an array of words of 32 or 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordArray {
    class: StorageClass,
    variable: Word,
    /// Type of a word.
    pub(super) word: Word,
    pub(super) word_bytes: u32,
    /// Bytes that it has in any case.
    pub(super) bytes: u64,
    block: bool,
    /// Words of an element of the array: more than one if the elements are vectors.
    vector: u32,
}

impl WordArray {
    /// Whether other threads see the array.
    pub(super) fn is_shared(&self) -> bool {
        self.class == StorageClass::Workgroup
    }

    /// Whether so many bytes, aligned to their number, are an element of the array.
    pub(super) fn has_vectors_of(&self, bytes: u32) -> bool {
        self.vector > 1 && self.vector * self.word_bytes == bytes
    }
}

impl Body<'_, '_, '_> {
    /// Whether shared memory lies in device memory.
    pub(super) fn has_shared_scratch(&self) -> bool {
        self.function.scratch.is_some_and(|scratch| scratch.shared)
    }

    /// Whether a store to shared memory writes less than a word.
    pub(super) fn has_shared_parts(&mut self, word_bytes: u32) -> bool {
        let function = self.function;
        *self.common.shared_parts.get_or_insert_with(|| has_shared_parts(function, word_bytes as usize))
    }

    /// Whether a statement of the kernel orders memory accesses.
    fn orders_memory(&mut self) -> bool {
        let function = self.function;
        *self.common.memory_ordered.get_or_insert_with(|| orders_memory(function))
    }

    /// Shared memory as words of 32 bits, or of 64 where the layout is that.
    pub(super) fn shared_words(&mut self) -> Result<WordArray> {
        let (bits, block, vector) = match self.shared {
            SharedLayout::Blocks => (32, true, 1),
            SharedLayout::Words(bits) => (bits, false, 1),
            SharedLayout::Vectors => (32, false, 4),
        };
        if block {
            self.module.need(Feature::WorkgroupMemoryExplicitLayout, "shared memory")?;
        }
        let word = self.module.global(Global::Int(bits))?;
        let element = if vector > 1 { self.module.global(Global::Vector(word, vector))? } else { word };
        let variable = self.module.shared_variable(element, vector * bits / 8, block)?;
        self.uses(StorageClass::Workgroup, variable);
        let bytes = self.known_shared_bytes();
        Ok(WordArray { class: StorageClass::Workgroup, variable, word, word_bytes: bits / 8, bytes, block, vector })
    }

    /// A word of shared memory for kernels whose own shared memory lies elsewhere.
    pub(super) fn fence_word(&mut self) -> Result<Word> {
        let variable = self.module.shared_fence()?;
        self.uses(StorageClass::Workgroup, variable);
        Ok(variable)
    }

    /// Local memory.
    pub(super) fn local_words(&mut self) -> Result<WordArray> {
        let word = self.module.u32()?;
        let words = self.function.local_bytes.div_ceil(4).max(1);
        if self.common.local == 0 {
            let length = self.module.u32_constant(words)?;
            let ty = self.module.global(Global::Array(word, length))?;
            self.common.local = self.declare(ty, None, "local")?;
        }
        let bytes = u64::from(words) * 4;
        let class = self.variable_class();
        Ok(WordArray { class, variable: self.common.local, word, word_bytes: 4, bytes, block: false, vector: 1 })
    }

    /// Bytes of shared memory that there are in any launch.
    fn known_shared_bytes(&self) -> u64 {
        self.function.workgroup_shared_bytes()
    }

    /// A pointer to a word of an array by its number.
    pub(super) fn word_pointer(&mut self, array: WordArray, index: Word) -> Result<Word> {
        let pointer = self.module.global(Global::Pointer(array.class, array.word))?;
        if array.block {
            let member = self.module.u32_constant(0)?;
            return Ok(self.compute(Op::AccessChain, pointer, &[array.variable, member, index]));
        }
        if array.vector == 1 {
            return Ok(self.compute(Op::AccessChain, pointer, &[array.variable, index]));
        }
        let ty = self.module.u32()?;
        let [amount, mask] = [array.vector.trailing_zeros(), array.vector - 1];
        let (vector, component) = match self.offsets.constant(index) {
            Some(index) => (self.module.u32_constant(index >> amount)?, self.module.u32_constant(index & mask)?),
            None => {
                let [amount, mask] = [self.module.u32_constant(amount)?, self.module.u32_constant(mask)?];
                let vector = self.compute(Op::ShiftRightLogical, ty, &[index, amount]);
                (vector, self.compute(Op::BitwiseAnd, ty, &[index, mask]))
            }
        };
        Ok(self.compute(Op::AccessChain, pointer, &[array.variable, vector, component]))
    }

    /// A pointer to a vector of an array, and the vector's type.
    pub(super) fn vector_pointer(&mut self, array: WordArray, address: Word) -> Result<(Word, Word)> {
        let ty = self.module.global(Global::Vector(array.word, array.vector))?;
        let pointer = self.module.global(Global::Pointer(array.class, ty))?;
        let index = self.divide(address, array.vector * array.word_bytes, array.bytes)?;
        Ok((self.compute(Op::AccessChain, pointer, &[array.variable, index]), ty))
    }

    /// A pointer to `element`, a type of `bytes` bytes, at an address in global memory or in blocks of shared memory, for
    /// an access of an order. A global address is a [`Type::Pair`](crate::ir::Type::Pair) where the target has no 64-bit
    /// integers, which SPIR-V takes for the pointer's bits.
    pub(super) fn typed_pointer(
        &mut self,
        memory: TypedMemory,
        order: MemoryOrder,
        element: Word,
        bytes: u32,
        address: Word,
    ) -> Result<Word> {
        match memory {
            TypedMemory::Global => {
                let strong = order.scope().is_some();
                if self.module.has_vulkan_memory_model() || !strong && !self.orders_memory() {
                    return self.global_pointer(element, address);
                }
                self.member_pointer(Global::Coherent(element, strong), element, address)
            }
            TypedMemory::SharedBlocks => {
                self.module.need(Feature::WorkgroupMemoryExplicitLayout, "shared memory")?;
                let variable = self.module.shared_variable(element, bytes, true)?;
                self.uses(StorageClass::Workgroup, variable);
                let pointer = self.module.global(Global::Pointer(StorageClass::Workgroup, element))?;
                let member = self.module.u32_constant(0)?;
                let index = self.divide(address, bytes, self.known_shared_bytes())?;
                Ok(self.compute(Op::AccessChain, pointer, &[variable, member, index]))
            }
        }
    }

    /// A pointer into global memory that no thread writes. Drivers may read such memory through other caches.
    pub(super) fn read_only_pointer(&mut self, element: Word, address: Word) -> Result<Word> {
        self.member_pointer(Global::ReadOnly(element), element, address)
    }

    /// A pointer to the one member of a block in global memory.
    fn member_pointer(&mut self, block: Global, element: Word, address: Word) -> Result<Word> {
        let block = self.module.global(block)?;
        let block = self.global_pointer(block, address)?;
        let pointer = self.module.global(Global::Pointer(StorageClass::PhysicalStorageBuffer, element))?;
        let member = self.module.u32_constant(0)?;
        Ok(self.compute(Op::AccessChain, pointer, &[block, member]))
    }

    /// An address in global memory as a pointer to a type.
    fn global_pointer(&mut self, ty: Word, address: Word) -> Result<Word> {
        let pointer = self.module.global(Global::Pointer(StorageClass::PhysicalStorageBuffer, ty))?;
        let op = if self.module.device.long_pointers { Op::ConvertUToPtr } else { Op::Bitcast };
        Ok(self.compute(op, pointer, &[address]))
    }

    /// A 32-bit offset into memory divided by a size that is a power of two; it is a multiple of it, or the remainder doesn't
    /// matter.
    ///
    /// A constant gives a constant if it is below `end`, where the memory certainly reaches to: SwiftShader takes any other
    /// index for one that differs between invocations. Of what lies past that, drivers mustn't know.
    ///
    /// A constant part is divided on its own, so that the driver finds a common index with immediate offsets. The rest
    /// may be negative then: with a sign-extending shift the sum is still right, since shared and local memory end far
    /// below 2 GiB.
    pub(super) fn divide(&mut self, offset: Word, bytes: u32, end: u64) -> Result<Word> {
        if let Some(constant) = self.offsets.constant(offset).filter(|&constant| u64::from(constant) < end) {
            return self.index_constant(constant / bytes);
        }
        if bytes == 1 {
            return Ok(offset);
        }
        let ty = self.module.u32()?;
        let amount = self.module.u32_constant(bytes.trailing_zeros())?;
        match self.offsets.split(offset) {
            Some((rest, constant)) if constant % bytes == 0 => {
                let index = self.compute(Op::ShiftRightArithmetic, ty, &[rest, amount]);
                let more = (constant.cast_signed() >> bytes.trailing_zeros()).cast_unsigned();
                let more = self.module.u32_constant(more)?;
                Ok(self.compute(Op::IAdd, ty, &[index, more]))
            }
            _ => Ok(self.compute(Op::ShiftRightLogical, ty, &[offset, amount])),
        }
    }

    /// A constant that counts as one when more is added.
    pub(super) fn index_constant(&mut self, index: u32) -> Result<Word> {
        let id = self.module.u32_constant(index)?;
        self.offsets.note_constant(id, index.into());
        Ok(id)
    }
}
