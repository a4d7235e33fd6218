//! Read-modify-writes, and atomic loads and stores.
//!
//! An operation for which SPIR-V has no instruction on the target becomes a loop around compare-and-swap.

use rspirv::dr::Operand;
use rspirv::spirv::{LoopControl, Op, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use super::select::{Access, Atomic, Modify, Space};
use super::storage::TypedMemory;
use super::usage::SharedLayout;
use crate::ir::{MemoryOrder, Scope, Type};
use ptx2spv_target::Feature;

/// A read-modify-write with its operand by id.
#[derive(Clone, Copy)]
struct Change {
    op: Modify,
    ty: Type,
    operand: Word,
    /// Denormals, old, added and new, count as zeros: PTX's single-precision sums in global memory (section 9.7.12.5).
    flush: bool,
}

impl Body<'_, '_, '_> {
    pub(super) fn atomic(&mut self, atomic: Atomic) -> Result<()> {
        let address = self.value(atomic.address);
        let change = Change {
            op: atomic.op,
            ty: if atomic.access.bytes == 8 { Type::I64 } else { Type::I32 },
            operand: self.value(atomic.operand),
            flush: false,
        };
        let change = Change { flush: flushes(atomic.access.space, change), ..change };
        let order = match atomic.access.order {
            MemoryOrder::Weak => MemoryOrder::Relaxed(Scope::Device),
            order => order,
        };
        let memory = match (atomic.access.space, self.shared) {
            (Space::Local, _) => return self.local_atomic(atomic, change),
            (Space::Global, _) => Some(TypedMemory::Global),
            (Space::Shared, SharedLayout::Blocks) => Some(TypedMemory::SharedBlocks),
            (Space::Shared, SharedLayout::Words(_) | SharedLayout::Vectors) => None,
        };
        let old = self.with_fences(order, |body, order| match memory {
            Some(memory) => body.typed_atomic(memory, atomic.access, change, address, order),
            None => body.word_atomic(atomic.access, change, address, order),
        })?;
        if let Some(result) = atomic.result {
            self.set_value(result, old);
        }
        Ok(())
    }

    /// A read-modify-write by a pointer to the integer; gives the old content.
    fn typed_atomic(
        &mut self,
        memory: TypedMemory,
        Access { space, bytes, .. }: Access,
        change: Change,
        address: Word,
        order: MemoryOrder,
    ) -> Result<Word> {
        let native =
            native_float_add(space, change).filter(|&feature| self.module.device.float_adds.contains(&feature));
        if let Some(feature) = native {
            return self.float_add(feature, memory, change, address, order);
        }
        let ty = self.ty(change.ty)?;
        let pointer = self.typed_pointer(memory, order, ty, bytes.into(), address)?;
        self.modify(space, pointer, change, order)
    }

    /// A read-modify-write in an array of words of shared memory; gives the old content.
    fn word_atomic(
        &mut self,
        Access { bytes, .. }: Access,
        change: Change,
        address: Word,
        order: MemoryOrder,
    ) -> Result<Word> {
        let bytes = u32::from(bytes);
        let array = self.shared_words()?;
        if bytes == array.word_bytes {
            let index = self.divide(address, bytes, array.bytes)?;
            let pointer = self.word_pointer(array, index)?;
            return self.modify(Space::Shared, pointer, change, order);
        }
        let part = self.part(array, address, bytes)?;
        let (word, word_bytes) = (array.word, array.word_bytes);
        let whole = self.swap_loop(word, word_bytes, Space::Shared, part.pointer, order, |body, whole| {
            let old = body.extract(part, whole)?;
            let new = body.changed(change, old)?;
            body.insert(part, whole, new)
        })?;
        self.extract(part, whole)
    }

    /// Nobody else sees local memory: a load and a store are enough.
    fn local_atomic(&mut self, atomic: Atomic, change: Change) -> Result<()> {
        let access = Access { order: MemoryOrder::Weak, ..atomic.access };
        let address = self.value(atomic.address);
        let old = self.load_local(access, address)?;
        let new = self.changed(change, old)?;
        self.store_local(access, address, new)?;
        if let Some(result) = atomic.result {
            self.set_value(result, old);
        }
        Ok(())
    }

    /// A read-modify-write at a pointer to an integer of the change's type; gives the old content.
    fn modify(&mut self, space: Space, pointer: Word, change: Change, order: MemoryOrder) -> Result<Word> {
        let ty = self.ty(change.ty)?;
        let bytes = if change.ty == Type::I64 { 8 } else { 4 };
        let op = match change.op {
            Modify::Add => Op::AtomicIAdd,
            Modify::And => Op::AtomicAnd,
            Modify::Or => Op::AtomicOr,
            Modify::Xor => Op::AtomicXor,
            Modify::Exchange => Op::AtomicExchange,
            Modify::MinUnsigned => Op::AtomicUMin,
            Modify::MaxUnsigned => Op::AtomicUMax,
            Modify::MinSigned => Op::AtomicSMin,
            Modify::MaxSigned => Op::AtomicSMax,
            Modify::CompareExchange(compare) => {
                self.need_atomics(space, bytes)?;
                let compare = self.value(compare);
                return self.compare_exchange(ty, pointer, order, change.operand, compare);
            }
            Modify::Increment | Modify::Decrement | Modify::FAdd => {
                return self.swap_loop(ty, bytes, space, pointer, order, |body, old| body.changed(change, old));
            }
        };
        self.need_atomics(space, bytes)?;
        let [scope, semantics] = self.atomic_order(order)?;
        Ok(self.result(op, ty, atomic_operands(pointer, scope, semantics, Some(change.operand))))
    }

    /// Float addition by the device's own instruction.
    fn float_add(
        &mut self,
        feature: Feature,
        memory: TypedMemory,
        change: Change,
        address: Word,
        order: MemoryOrder,
    ) -> Result<Word> {
        self.module.need(feature, "atomic float addition")?;
        let (float, bytes) = if change.ty == Type::I64 { (Type::F64, 8) } else { (Type::F32, 4) };
        let (float, bits) = (self.ty(float)?, self.ty(change.ty)?);
        let pointer = self.typed_pointer(memory, order, float, bytes, address)?;
        let operand = self.compute(Op::Bitcast, float, &[change.operand]);
        let [scope, semantics] = self.atomic_order(order)?;
        let old = self.result(Op::AtomicFAddEXT, float, atomic_operands(pointer, scope, semantics, Some(operand)));
        Ok(self.compute(Op::Bitcast, bits, &[old]))
    }

    fn compare_exchange(
        &mut self,
        ty: Word,
        pointer: Word,
        order: MemoryOrder,
        new: Word,
        compare: Word,
    ) -> Result<Word> {
        let [scope, semantics] = self.atomic_order(order)?;
        let failure = self.failure_semantics(order)?;
        let mut operands = atomic_operands(pointer, scope, semantics, None);
        operands.extend([Operand::IdMemorySemantics(failure), Operand::IdRef(new), Operand::IdRef(compare)]);
        Ok(self.result(Op::AtomicCompareExchange, ty, operands))
    }

    /// Atomically replaces an integer of `bytes` bytes by the result of `change`; returns the old content.
    pub(super) fn swap_loop(
        &mut self,
        ty: Word,
        bytes: u32,
        space: Space,
        pointer: Word,
        order: MemoryOrder,
        change: impl FnOnce(&mut Self, Word) -> Result<Word>,
    ) -> Result<Word> {
        self.need_atomics(space, bytes)?;
        let found = self.declare(ty, None, "found")?;
        let (header, proceed, merge) = (self.module.id(), self.module.id(), self.module.id());
        let [scope, semantics] = self.atomic_order(order.relaxed())?;
        let content = self.result(Op::AtomicLoad, ty, atomic_operands(pointer, scope, semantics, None));
        self.effect(Op::Store, vec![Operand::IdRef(found), Operand::IdRef(content)]);
        self.loop_header(header, proceed, merge, LoopControl::NONE)?;
        let expected = self.compute(Op::Load, ty, &[found]);
        let new = change(self, expected)?;
        let old = self.compare_exchange(ty, pointer, order, new, expected)?;
        self.effect(Op::Store, vec![Operand::IdRef(found), Operand::IdRef(old)]);
        let truth = self.module.global(Global::Bool)?;
        let done = self.compute(Op::IEqual, truth, &[old, expected]);
        self.branch_if(done, merge, proceed);
        self.begin_block(proceed);
        self.branch(header);
        self.begin_block(merge);
        Ok(self.compute(Op::Load, ty, &[found]))
    }

    pub(super) fn atomic_load(
        &mut self,
        space: Space,
        ty: Word,
        bytes: u32,
        pointer: Word,
        order: MemoryOrder,
    ) -> Result<Word> {
        self.need_atomics(space, bytes)?;
        let [scope, semantics] = self.atomic_access_order(order)?;
        let value = self.result(Op::AtomicLoad, ty, atomic_operands(pointer, scope, semantics, None));
        if self.has_fences_apart() {
            self.ordered_fence(order)?;
        }
        Ok(value)
    }

    pub(super) fn atomic_store(
        &mut self,
        space: Space,
        bytes: u32,
        pointer: Word,
        order: MemoryOrder,
        value: Word,
    ) -> Result<()> {
        self.need_atomics(space, bytes)?;
        if self.has_fences_apart() {
            self.ordered_fence(order)?;
        }
        let [scope, semantics] = self.atomic_access_order(order)?;
        let operands = atomic_operands(pointer, scope, semantics, Some(value));
        if space == Space::Shared && self.module.device.workarounds.workgroup_atomic_stores_wrong {
            let ty = self.ty(if bytes == 8 { Type::I64 } else { Type::I32 })?;
            self.result(Op::AtomicExchange, ty, operands);
        } else {
            self.effect(Op::AtomicStore, operands);
        }
        Ok(())
    }

    /// Notes the features of integer atomics of a width.
    fn need_atomics(&mut self, space: Space, bytes: u32) -> Result<()> {
        if bytes != 8 {
            return Ok(());
        }
        let feature = match space {
            Space::Shared => Feature::ShaderSharedInt64Atomics,
            _ => Feature::ShaderBufferInt64Atomics,
        };
        self.module.need(feature, "64-bit atomic or ordered memory access")
    }

    /// The content that a change leaves where `old` was.
    fn changed(&mut self, change: Change, old: Word) -> Result<Word> {
        let Change { op, ty: width, operand, flush } = change;
        let ty = self.ty(width)?;
        let truth = self.module.global(Global::Bool)?;
        let keep_if = |body: &mut Self, comparison: Op| {
            let keep = body.compute(comparison, truth, &[old, operand]);
            body.compute(Op::Select, ty, &[keep, old, operand])
        };
        Ok(match op {
            Modify::Add => self.compute(Op::IAdd, ty, &[old, operand]),
            Modify::And => self.compute(Op::BitwiseAnd, ty, &[old, operand]),
            Modify::Or => self.compute(Op::BitwiseOr, ty, &[old, operand]),
            Modify::Xor => self.compute(Op::BitwiseXor, ty, &[old, operand]),
            Modify::Exchange => operand,
            Modify::MinUnsigned => keep_if(self, Op::ULessThan),
            Modify::MaxUnsigned => keep_if(self, Op::UGreaterThan),
            Modify::MinSigned => keep_if(self, Op::SLessThan),
            Modify::MaxSigned => keep_if(self, Op::SGreaterThan),
            Modify::CompareExchange(compare) => {
                let compare = self.value(compare);
                let equal = self.compute(Op::IEqual, truth, &[old, compare]);
                self.compute(Op::Select, ty, &[equal, operand, old])
            }
            Modify::Increment => {
                let (zero, one) = (self.integer(ty, 0)?, self.integer(ty, 1)?);
                let wrap = self.compute(Op::UGreaterThanEqual, truth, &[old, operand]);
                let next = self.compute(Op::IAdd, ty, &[old, one]);
                self.compute(Op::Select, ty, &[wrap, zero, next])
            }
            Modify::Decrement => {
                let (zero, one) = (self.integer(ty, 0)?, self.integer(ty, 1)?);
                let empty = self.compute(Op::IEqual, truth, &[old, zero]);
                let above = self.compute(Op::UGreaterThan, truth, &[old, operand]);
                let wrap = self.compute(Op::LogicalOr, truth, &[empty, above]);
                let next = self.compute(Op::ISub, ty, &[old, one]);
                self.compute(Op::Select, ty, &[wrap, operand, next])
            }
            Modify::FAdd => {
                let float = if width == Type::I64 { Type::F64 } else { Type::F32 };
                self.common.added_floats.push(float);
                let float = self.ty(float)?;
                let old = self.flushed(flush, old)?;
                let old = self.compute(Op::Bitcast, float, &[old]);
                let operand = self.flushed(flush, operand)?;
                let operand = self.compute(Op::Bitcast, float, &[operand]);
                let sum = self.compute(Op::FAdd, float, &[old, operand]);
                self.module.forbid_contraction(sum);
                let sum = self.compute(Op::Bitcast, ty, &[sum]);
                let sum = self.flushed(flush, sum)?;
                if width == Type::I32 { self.one_nan(sum)? } else { sum }
            }
        })
    }

    /// A constant of an integer type, which is given by its id.
    fn integer(&mut self, ty: Word, bits: u64) -> Result<Word> {
        self.module.global(Global::Constant(ty, bits))
    }

    /// The bits of an f32 with hardware's one NaN for any, unless the device has no other.
    fn one_nan(&mut self, bits: Word) -> Result<Word> {
        if self.module.device.nvidia_nans {
            return Ok(bits);
        }
        let ty = self.module.u32()?;
        let truth = self.module.global(Global::Bool)?;
        // The largest number without a sign is the NaN, too.
        let [nan, infinity] = [0x7fff_ffff, 0x7f80_0000].map(|bits| self.module.u32_constant(bits));
        let (nan, infinity) = (nan?, infinity?);
        let found = self.compute(Op::BitwiseAnd, ty, &[bits, nan]);
        let is_nan = self.compute(Op::UGreaterThan, truth, &[found, infinity]);
        Ok(self.compute(Op::Select, ty, &[is_nan, nan, bits]))
    }

    /// The bits of an f32 with denormals replaced by zeros of their sign, if asked to.
    fn flushed(&mut self, flush: bool, bits: Word) -> Result<Word> {
        if !flush {
            return Ok(bits);
        }
        let ty = self.module.u32()?;
        let truth = self.module.global(Global::Bool)?;
        let [exponent, sign, zero] = [0x7f80_0000, 0x8000_0000, 0].map(|bits| self.module.u32_constant(bits));
        let (exponent, sign, zero) = (exponent?, sign?, zero?);
        let found = self.compute(Op::BitwiseAnd, ty, &[bits, exponent]);
        let tiny = self.compute(Op::IEqual, truth, &[found, zero]);
        let flushed = self.compute(Op::BitwiseAnd, ty, &[bits, sign]);
        Ok(self.compute(Op::Select, ty, &[tiny, flushed, bits]))
    }
}

/// Whether a change flushes denormals in a memory.
fn flushes(space: Space, change: Change) -> bool {
    space == Space::Global && change.op == Modify::FAdd && change.ty == Type::I32
}

/// The feature of the device's own float addition, if the change is one.
fn native_float_add(space: Space, change: Change) -> Option<Feature> {
    match (change.op, space, change.ty) {
        (Modify::FAdd, Space::Shared, Type::I64) => Some(Feature::ShaderSharedFloat64AtomicAdd),
        (Modify::FAdd, Space::Shared, _) => Some(Feature::ShaderSharedFloat32AtomicAdd),
        (Modify::FAdd, _, Type::I64) => Some(Feature::ShaderBufferFloat64AtomicAdd),
        (Modify::FAdd, _, _) => Some(Feature::ShaderBufferFloat32AtomicAdd),
        _ => None,
    }
}

fn atomic_operands(pointer: Word, scope: Word, semantics: Word, operand: Option<Word>) -> Vec<Operand> {
    let mut operands = vec![Operand::IdRef(pointer), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
    operands.extend(operand.map(Operand::IdRef));
    operands
}
