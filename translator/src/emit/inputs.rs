//! Inputs of a kernel from its launch: built-in variables, push constants and specialization constants.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, Scope, StorageClass, Word};

use super::body::{Body, PushConstants};
use super::module::{Global, Module};
use super::result::Result;
use super::select::Input;
use crate::ir::Type;
use crate::policy::ClockScope;
use ptx2spv_interface::spec_id;
use ptx2spv_target::Feature;

impl Module<'_> {
    /// Declares the specialization constants. Their defaults come last, since they depend on all entries.
    pub(super) fn declare_launch(&mut self) -> Result<()> {
        let ty = self.u32()?;
        let names = ["block_x", "block_y", "block_z"];
        for (dimension, (id, name)) in
            [spec_id::BLOCK_X, spec_id::BLOCK_Y, spec_id::BLOCK_Z].into_iter().zip(names).enumerate()
        {
            self.launch.block_size[dimension] = self.spec_constant(ty, id, 0, name);
        }
        let names = ["ntid_x", "ntid_y", "ntid_z"];
        for (dimension, (id, name)) in
            [spec_id::NTID_X, spec_id::NTID_Y, spec_id::NTID_Z].into_iter().zip(names).enumerate()
        {
            self.launch.ntid[dimension] = self.spec_constant(ty, id, 0, name);
        }
        let vector = self.u32_vector(3)?;
        let parts = self.launch.block_size.map(Operand::IdRef).to_vec();
        let size = self.define(Op::SpecConstantComposite, vector, parts);
        self.decorate(size, Decoration::BuiltIn, &[Operand::BuiltIn(BuiltIn::WorkgroupSize)]);
        self.launch.shared_bytes = self.spec_constant(ty, spec_id::SHARED_BYTES, 0, "shared_bytes");
        Ok(())
    }

    /// Sets the defaults of the workgroup's size, the block's and shared memory's.
    pub(super) fn set_launch_defaults(&mut self, [local, block]: [[u32; 3]; 2], shared_bytes: u32) {
        let launch = &self.launch;
        let constants = launch.block_size.into_iter().zip(local).chain(launch.ntid.into_iter().zip(block));
        let constants: Vec<_> = constants.chain([(launch.shared_bytes, shared_bytes)]).collect();
        for (constant, default) in constants {
            self.set_constant(constant, default);
        }
    }

    /// The specialization constant of the dynamic shared memory's size.
    fn dynamic_shared_bytes(&mut self) -> Result<Word> {
        if let Some(constant) = self.launch.dynamic_shared_bytes {
            return Ok(constant);
        }
        let ty = self.u32()?;
        let constant = self.spec_constant(ty, spec_id::DYNAMIC_SHARED_BYTES, 0, "dynamic_shared_bytes");
        self.launch.dynamic_shared_bytes = Some(constant);
        Ok(constant)
    }

    /// The specialization constant of the properties that all textures have.
    fn texture_bits(&mut self) -> Result<Word> {
        if let Some(constant) = self.launch.texture_bits {
            return Ok(constant);
        }
        let ty = self.u32()?;
        let constant = self.spec_constant(ty, spec_id::TEXTURE_BITS, 0, "texture_bits");
        self.launch.texture_bits = Some(constant);
        Ok(constant)
    }

    /// The condition for memory barriers, a constant that the host gives.
    pub(super) fn memory_barriers(&mut self) -> Result<Word> {
        if let Some(wanted) = self.launch.memory_barriers {
            return Ok(wanted);
        }
        let ty = self.u32()?;
        let number = self.spec_constant(ty, spec_id::MEMORY_BARRIERS, 1, "memory_barriers");
        let truth = self.global(Global::Bool)?;
        let none = self.u32_constant(0)?;
        let wanted = self.spec_constant_op(Op::INotEqual, truth, &[number, none]);
        self.launch.memory_barriers = Some(wanted);
        Ok(wanted)
    }

    fn spec_constant(&mut self, ty: Word, spec_id: u32, default: u32, name: &str) -> Word {
        let constant = self.define(Op::SpecConstant, ty, vec![Operand::LiteralBit32(default)]);
        self.decorate(constant, Decoration::SpecId, &[Operand::LiteralBit32(spec_id)]);
        self.name(constant, name);
        constant
    }

    /// The input variable of a built-in.
    fn input(&mut self, builtin: BuiltIn, ty: Word) -> Result<Word> {
        if let Some(&variable) = self.launch.inputs.get(&builtin) {
            return Ok(variable);
        }
        let variable = self.variable(StorageClass::Input, ty, &format!("{builtin:?}"))?;
        self.decorate(variable, Decoration::BuiltIn, &[Operand::BuiltIn(builtin)]);
        self.launch.inputs.insert(builtin, variable);
        Ok(variable)
    }
}

impl Body<'_, '_, '_> {
    /// Invocations of the workgroup, computed once, where the function begins.
    pub(super) fn workgroup_size(&mut self) -> Result<Word> {
        if self.workgroup_size == 0 {
            let ty = self.module.u32()?;
            let [x, y, z] = self.module.launch.block_size.map(Operand::IdRef);
            let plane = self.at_start(Op::IMul, ty, vec![x, y]);
            self.workgroup_size = self.at_start(Op::IMul, ty, vec![Operand::IdRef(plane), z]);
        }
        Ok(self.workgroup_size)
    }

    /// An input from the launch or the thread's place in it, as a value of the given type.
    pub(super) fn launch_input(&mut self, input: Input, ty: Type) -> Result<Word> {
        match input {
            Input::Component(builtin, dimension) => self.input_component(builtin, dimension),
            Input::Word(builtin) => {
                let ty = self.module.u32()?;
                self.input(builtin, ty)
            }
            Input::Subgroup(builtin) => self.subgroup_input(builtin),
            Input::Invocations => self.workgroup_size(),
            Input::BlockSize(dimension) => {
                let launch = &self.module.launch;
                let other = self.function.packing.is_some() || self.function.cluster.is_some();
                let sizes = if other { &launch.ntid } else { &launch.block_size };
                Ok(sizes[usize::from(dimension)])
            }
            Input::SharedBytes => {
                let total = self.module.launch.shared_bytes;
                if self.function.own_shared_bytes == 0 {
                    return Ok(total);
                }
                let own = self.module.u32_constant(self.function.own_shared_bytes)?;
                let ty = self.module.u32()?;
                Ok(self.compute(Op::ISub, ty, &[total, own]))
            }
            Input::DynamicSharedBytes => self.module.dynamic_shared_bytes(),
            Input::TextureBits => self.module.texture_bits(),
            Input::PushConstant(offset) => self.push_constant(offset, ty),
            Input::Clock => self.clock(ty),
            Input::Parameter(number) => Ok(self.parameter(number)),
        }
    }

    /// One component of a three-dimensional input, taken at the function's start.
    fn input_component(&mut self, builtin: BuiltIn, dimension: u8) -> Result<Word> {
        let key = (builtin, Some(dimension));
        if let Some(&value) = self.inputs.get(&key) {
            return Ok(value);
        }
        let vector = self.module.u32_vector(3)?;
        let whole = self.input(builtin, vector)?;
        let ty = self.module.u32()?;
        let operands = vec![Operand::IdRef(whole), Operand::LiteralBit32(u32::from(dimension))];
        let value = self.at_start(Op::CompositeExtract, ty, operands);
        self.inputs.insert(key, value);
        Ok(value)
    }

    /// An input as a whole, loaded once at the function's start.
    pub(super) fn input(&mut self, builtin: BuiltIn, ty: Word) -> Result<Word> {
        let key = (builtin, None);
        if let Some(&value) = self.inputs.get(&key) {
            return Ok(value);
        }
        let variable = self.module.input(builtin, ty)?;
        self.uses(StorageClass::Input, variable);
        let value = self.at_start(Op::Load, ty, vec![Operand::IdRef(variable)]);
        self.inputs.insert(key, value);
        Ok(value)
    }

    /// One word of the push constants, or two as `I64`.
    fn push_constant(&mut self, offset: u32, ty: Type) -> Result<Word> {
        let word = offset / 4;
        if ty != Type::I64 {
            return self.push_constant_word(word);
        }
        if let Some(&value) = self.push_pairs.get(&word) {
            return Ok(value);
        }
        let parts = [self.push_constant_word(word)?, self.push_constant_word(word + 1)?];
        let vector = self.module.u32_vector(2)?;
        let pair = self.at_start(Op::CompositeConstruct, vector, parts.map(Operand::IdRef).to_vec());
        let ty = self.module.global(Global::Int(64))?;
        let value = self.at_start(Op::Bitcast, ty, vec![Operand::IdRef(pair)]);
        self.push_pairs.insert(word, value);
        Ok(value)
    }

    fn push_constant_word(&mut self, word: u32) -> Result<Word> {
        if let Some(&value) = self.push_words.get(&word) {
            return Ok(value);
        }
        let variable = match &mut self.common.push {
            Some(push) => {
                push.words = push.words.max(word + 1);
                push.variable
            }
            None => {
                let variable = self.module.id();
                self.common.push = Some(PushConstants { variable, words: word + 1 });
                variable
            }
        };
        let ty = self.module.u32()?;
        let pointer = self.module.global(Global::Pointer(StorageClass::PushConstant, ty))?;
        let indices = [self.module.u32_constant(0)?, self.module.u32_constant(word)?];
        let operands = vec![Operand::IdRef(variable), Operand::IdRef(indices[0]), Operand::IdRef(indices[1])];
        let place = self.at_start(Op::AccessChain, pointer, operands);
        let value = self.at_start(Op::Load, ty, vec![Operand::IdRef(place)]);
        self.push_words.insert(word, value);
        Ok(value)
    }

    /// Declares the push constant block, if one is read, and returns its size in bytes.
    pub(super) fn finish_push_constants(&mut self) -> Result<u32> {
        let Some(PushConstants { variable, words }) = self.common.push.take() else { return Ok(0) };
        let element = self.module.u32()?;
        let length = self.module.u32_constant(words)?;
        let block = self.module.global(Global::Block(element, length, 4))?;
        self.module.define_variable(variable, StorageClass::PushConstant, block, "push_constants")?;
        self.uses(StorageClass::PushConstant, variable);
        Ok(words * 4)
    }

    fn clock(&mut self, ty: Type) -> Result<Word> {
        let (feature, scope) = match self.module.device.clock {
            ClockScope::Subgroup => (Feature::ShaderSubgroupClock, Scope::Subgroup),
            ClockScope::Device => (Feature::ShaderDeviceClock, Scope::Device),
        };
        self.module.need(feature, "reading the clock")?;
        let scope = self.module.u32_constant(scope as u32)?;
        let ty = self.ty(ty)?;
        Ok(self.result(Op::ReadClockKHR, ty, vec![Operand::IdScope(scope)]))
    }
}
