//! The SPIR-V module under construction: everything outside of function bodies.
//!
//! Wraps rspirv's data representation with a cache, because its own builder searches all types and constants one by one.
//! Knows nothing of the intermediate representation but how many parameters its helpers have.

use std::collections::BTreeSet;

use rspirv::binary::Assemble;
use rspirv::dr::{self, Operand};
use rspirv::spirv::{
    AddressingModel, Capability, CooperativeMatrixUse, Decoration, ExecutionModel, FPEncoding, MemoryModel, Op,
    StorageClass, Word,
};
use rustc_hash::FxHashMap;

use super::declared::{ImageTable, Launch, SharedMemory};
use super::instruction::instruction;
use super::lines::Lines;
use super::requirements::{Requirements, requirements};
use super::result::Result;
use crate::diagnostic::{ErrorKind, Source};
use crate::ir::HELPER_PARAMETERS;
use crate::policy::Emission;
use ptx2spv_target::{Feature, Version, marks};

/// A type or constant by its definition; equal ones share one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Global {
    Void,
    Bool,
    /// By width in bits.
    Int(u32),
    /// By width in bits.
    Float(u32),
    Bfloat16,
    /// Component type and count.
    Vector(Word, u32),
    /// A struct of two members of one type, as extended multiplication returns.
    Pair(Word),
    /// A bare array; the length is a constant's id.
    Array(Word, Word),
    /// A cooperative matrix: its elements' type, rows and columns, and its place in a product.
    Matrix(Word, [u32; 2], CooperativeMatrixUse),
    /// A block whose one member is an array: element type, length as a constant's id, bytes of an element.
    Block(Word, Word, u32),
    /// A block with one member, of this type, that is `Coherent`, and also `Volatile` if the flag is set.
    Coherent(Word, bool),
    /// A block with one member, of this type, that no thread writes.
    ReadOnly(Word),
    Pointer(StorageClass, Word),
    /// The type of functions that return this type, and take parameters of these types up to the first 0.
    Function(Word, [Word; HELPER_PARAMETERS]),
    /// A constant's type and bits.
    Constant(Word, u64),
    /// A constant of a type whose bits are all zero.
    Null(Word),
    True,
    False,
}

/// Largest bound of ids that consumers must accept (SPIR-V, "Universal Limits").
const ID_LIMIT: u32 = 4_194_303;

pub(super) struct Module<'t> {
    pub(super) device: &'t Emission,
    /// Declarations of the launch's inputs. Their ids are zero before [`Module::declare_launch`].
    pub(super) launch: Launch,
    pub(super) shared: SharedMemory,
    /// The source, where line information is wanted.
    pub(super) lines: Option<Lines>,
    version: Version,
    /// Everything outside of functions.
    dr: dr::Module,
    /// The words of the functions that are done, which take a tenth of the room of their instructions.
    functions: Vec<u32>,
    bound: Word,
    globals: FxHashMap<Global, Word>,
    capabilities: BTreeSet<u32>,
    extensions: BTreeSet<&'static str>,
    /// One bit per feature that the present entry needs.
    features: u64,
    base_features: u64,
    glsl: Word,
    /// The set of marks for the reference device, once there is one.
    marks: Option<Word>,
    /// The tables of images of two and of three dimensions, once there are such.
    pub(super) images: [Option<ImageTable>; 2],
}

impl<'t> Module<'t> {
    /// An empty module for a device, with the declarations that every kernel needs.
    pub(super) fn new(device: &'t Emission, version: Version) -> Result<Self> {
        let mut module = Module {
            device,
            launch: Launch::default(),
            shared: SharedMemory::default(),
            lines: None,
            version,
            dr: dr::Module::new(),
            functions: Vec::new(),
            bound: 1,
            globals: FxHashMap::default(),
            capabilities: BTreeSet::new(),
            extensions: BTreeSet::new(),
            features: 0,
            base_features: 0,
            glsl: 0,
            marks: None,
            images: [None; 2],
        };
        module.capability(Capability::Shader);
        module.need(Feature::BufferDeviceAddress, "every kernel")?;
        let memory_model = if module.has_vulkan_memory_model() {
            module.need(Feature::VulkanMemoryModel, "every kernel")?;
            MemoryModel::Vulkan
        } else {
            MemoryModel::GLSL450
        };
        module.base_features = module.features;
        module.glsl = module.id();
        let name = Operand::LiteralString("GLSL.std.450".into());
        module.dr.ext_inst_imports.push(instruction(Op::ExtInstImport, 0, module.glsl, vec![name]));
        let models = vec![
            Operand::AddressingModel(AddressingModel::PhysicalStorageBuffer64),
            Operand::MemoryModel(memory_model),
        ];
        module.dr.memory_model = Some(instruction(Op::MemoryModel, 0, 0, models));
        Ok(module)
    }

    /// Names the source that line information points to; asks for line information.
    pub(super) fn name_source(&mut self, source: &Source) {
        let mut files = Vec::new();
        for module in source.modules() {
            let file = self.id();
            let name = vec![Operand::LiteralString(module.name.to_string())];
            self.dr.debug_string_source.push(instruction(Op::String, 0, file, name));
            files.push(file);
        }
        self.lines = Some(Lines::new(&files, source));
    }

    /// Whether modules for the target have Vulkan's memory model, and not the older one of GLSL 4.50.
    pub(super) fn has_vulkan_memory_model(&self) -> bool {
        self.device.vulkan_memory_model
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// A fresh id.
    pub(super) fn id(&mut self) -> Word {
        let id = self.bound;
        self.bound = self.bound.saturating_add(1);
        id
    }

    /// The id of the extended instruction set `GLSL.std.450`.
    pub(super) fn glsl(&self) -> Word {
        self.glsl
    }

    /// The id of the extended instruction set of the reference device's marks.
    pub(super) fn marks(&mut self) -> Word {
        if let Some(id) = self.marks {
            return id;
        }
        self.extension("SPV_KHR_non_semantic_info", Some(Version(1, 6)));
        let id = self.id();
        let name = Operand::LiteralString(marks::SET.into());
        self.dr.ext_inst_imports.push(instruction(Op::ExtInstImport, 0, id, vec![name]));
        self.marks = Some(id);
        id
    }

    pub(super) fn capability(&mut self, capability: Capability) {
        if self.capabilities.insert(capability as u32) {
            self.dr.capabilities.push(instruction(Op::Capability, 0, 0, vec![Operand::Capability(capability)]));
        }
    }

    pub(super) fn execution_mode(&mut self, mode: dr::Instruction) {
        self.dr.execution_modes.push(mode);
    }

    /// Declares an extension, unless the module's version has it built in since `core`.
    pub(super) fn extension(&mut self, name: &'static str, core: Option<Version>) {
        if core.is_none_or(|core| self.version < core) && self.extensions.insert(name) {
            let name = Operand::LiteralString(name.into());
            self.dr.extensions.push(instruction(Op::Extension, 0, 0, vec![name]));
        }
    }

    /// Forgets the features collected so far: another entry begins.
    pub(super) fn begin_entry(&mut self) {
        self.features = self.base_features;
    }

    /// Features that the present entry needs.
    pub(super) fn entry_features(&self) -> BTreeSet<Feature> {
        feature_set(self.features)
    }

    /// Features that a module without entries needs.
    pub(super) fn base_features(&self) -> BTreeSet<Feature> {
        feature_set(self.base_features)
    }

    /// Declares the capabilities and the extension for a feature; an error if the target lacks the feature.
    pub(super) fn need(&mut self, feature: Feature, needed_for: &str) -> Result<()> {
        let bit = 1u64 << (feature as u32);
        if self.features & bit != 0 {
            return Ok(());
        }
        if !self.device.has(feature) {
            return Err(ErrorKind::MissingFeature { feature, needed_for: needed_for.into() });
        }
        self.features |= bit;
        let Requirements { capabilities, extension } = requirements(feature);
        for capability in capabilities {
            self.capability(*capability);
        }
        if let Some((name, core)) = extension {
            self.extension(name, core);
        }
        Ok(())
    }

    /// The id of a type or constant.
    pub(super) fn global(&mut self, key: Global) -> Result<Word> {
        match key {
            Global::Int(64) => self.need(Feature::ShaderInt64, "64-bit arithmetic")?,
            Global::Float(16) => self.need(Feature::ShaderFloat16, "half precision")?,
            Global::Float(64) => self.need(Feature::ShaderFloat64, "double precision")?,
            Global::Bfloat16 => {
                self.need(Feature::ShaderBfloat16CooperativeMatrix, "the device's products of matrices")?;
            }
            _ => {}
        }
        if let Some(&id) = self.globals.get(&key) {
            return Ok(id);
        }
        use Operand::{IdRef, LiteralBit32};
        let (op, ty, operands) = match key {
            Global::Void => (Op::TypeVoid, 0, vec![]),
            Global::Bool => (Op::TypeBool, 0, vec![]),
            Global::Int(width) => (Op::TypeInt, 0, vec![LiteralBit32(width), LiteralBit32(0)]),
            Global::Float(width) => (Op::TypeFloat, 0, vec![LiteralBit32(width)]),
            Global::Bfloat16 => {
                let encoding = Operand::FPEncoding(FPEncoding::BFloat16KHR);
                (Op::TypeFloat, 0, vec![LiteralBit32(16), encoding])
            }
            Global::Vector(component, count) => (Op::TypeVector, 0, vec![IdRef(component), LiteralBit32(count)]),
            Global::Pair(member) => (Op::TypeStruct, 0, vec![IdRef(member), IdRef(member)]),
            Global::Array(element, length) => (Op::TypeArray, 0, vec![IdRef(element), IdRef(length)]),
            Global::Block(element, length, stride) => {
                let array = self.define(Op::TypeArray, 0, vec![IdRef(element), IdRef(length)]);
                self.decorate(array, Decoration::ArrayStride, &[LiteralBit32(stride)]);
                (Op::TypeStruct, 0, vec![IdRef(array)])
            }
            Global::Matrix(element, [rows, columns], place) => {
                self.need(Feature::CooperativeMatrix, "the device's products of matrices")?;
                let scope = self.u32_constant(rspirv::spirv::Scope::Subgroup as u32)?;
                let [rows, columns] = [self.u32_constant(rows)?, self.u32_constant(columns)?];
                let place = self.u32_constant(place as u32)?;
                let operands = [rows, columns, place].map(IdRef);
                let operands = [IdRef(element), Operand::IdScope(scope)].into_iter().chain(operands).collect();
                (Op::TypeCooperativeMatrixKHR, 0, operands)
            }
            Global::Coherent(member, _) | Global::ReadOnly(member) => (Op::TypeStruct, 0, vec![IdRef(member)]),
            Global::Pointer(class, pointee) => (Op::TypePointer, 0, vec![Operand::StorageClass(class), IdRef(pointee)]),
            Global::Function(result, parameters) => {
                let parameters = parameters.into_iter().filter(|parameter| *parameter != 0);
                (Op::TypeFunction, 0, [result].into_iter().chain(parameters).map(IdRef).collect())
            }
            Global::Constant(ty, bits) => (Op::Constant, ty, vec![self.literal(ty, bits)]),
            Global::Null(ty) => (Op::ConstantNull, ty, vec![]),
            Global::True => (Op::ConstantTrue, self.global(Global::Bool)?, vec![]),
            Global::False => (Op::ConstantFalse, self.global(Global::Bool)?, vec![]),
        };
        let id = self.define(op, ty, operands);
        if let Global::Block(..) | Global::Coherent(..) | Global::ReadOnly(_) = key {
            self.decorate(id, Decoration::Block, &[]);
            self.decorate_member(id, Decoration::Offset, &[LiteralBit32(0)]);
        }
        if let Global::Coherent(_, volatile) = key {
            self.decorate_member(id, Decoration::Coherent, &[]);
            if volatile {
                self.decorate_member(id, Decoration::Volatile, &[]);
            }
        }
        if let Global::ReadOnly(_) = key {
            self.decorate_member(id, Decoration::NonWritable, &[]);
            self.decorate_member(id, Decoration::Restrict, &[]);
        }
        self.globals.insert(key, id);
        Ok(id)
    }

    /// A number as a literal of a type: two words for 64-bit types, else one.
    fn literal(&self, ty: Word, bits: u64) -> Operand {
        let is = |key| self.globals.get(&key) == Some(&ty);
        if is(Global::Int(64)) || is(Global::Float(64)) {
            Operand::LiteralBit64(bits)
        } else {
            // Constants of narrower types have their bits in the low half.
            Operand::LiteralBit32(bits as u32)
        }
    }

    /// Adds an instruction with a result among the types, constants and variables, whether or not there is an equal one.
    pub(super) fn define(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.id();
        self.dr.types_global_values.push(instruction(op, ty, id, operands));
        id
    }

    /// Changes the value of a constant of 32 bits.
    pub(super) fn set_constant(&mut self, id: Word, value: u32) {
        let mut defined = self.dr.types_global_values.iter_mut();
        if let Some(constant) = defined.find(|instruction| instruction.result_id == Some(id)) {
            constant.operands = vec![Operand::LiteralBit32(value)];
        }
    }

    /// The type of `u32` (the one that nearly everything needs).
    pub(super) fn u32(&mut self) -> Result<Word> {
        self.global(Global::Int(32))
    }

    pub(super) fn u32_constant(&mut self, value: u32) -> Result<Word> {
        let ty = self.u32()?;
        self.global(Global::Constant(ty, u64::from(value)))
    }

    /// A vector type of 32-bit integers.
    pub(super) fn u32_vector(&mut self, count: u32) -> Result<Word> {
        let component = self.u32()?;
        self.global(Global::Vector(component, count))
    }

    /// A variable outside of functions.
    pub(super) fn variable(&mut self, class: StorageClass, ty: Word, name: &str) -> Result<Word> {
        let id = self.id();
        self.define_variable(id, class, ty, name)?;
        Ok(id)
    }

    /// A variable outside of functions that has its id already.
    pub(super) fn define_variable(&mut self, id: Word, class: StorageClass, ty: Word, name: &str) -> Result<()> {
        let pointer = self.global(Global::Pointer(class, ty))?;
        let operands = vec![Operand::StorageClass(class)];
        self.dr.types_global_values.push(instruction(Op::Variable, pointer, id, operands));
        self.name(id, name);
        Ok(())
    }

    pub(super) fn decorate(&mut self, id: Word, decoration: Decoration, extra: &[Operand]) {
        let mut operands = Vec::with_capacity(2 + extra.len());
        operands.extend([Operand::IdRef(id), Operand::Decoration(decoration)]);
        operands.extend_from_slice(extra);
        self.dr.annotations.push(instruction(Op::Decorate, 0, 0, operands));
    }

    /// Decorates a struct's first member.
    fn decorate_member(&mut self, id: Word, decoration: Decoration, extra: &[Operand]) {
        let mut operands = vec![Operand::IdRef(id), Operand::LiteralBit32(0), Operand::Decoration(decoration)];
        operands.extend_from_slice(extra);
        self.dr.annotations.push(instruction(Op::MemberDecorate, 0, 0, operands));
    }

    pub(super) fn name(&mut self, id: Word, name: &str) {
        let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.into())];
        self.dr.debug_names.push(instruction(Op::Name, 0, 0, operands));
    }

    /// Adds a kernel. `interface` are the variables outside of functions that it uses.
    pub(super) fn entry_point(&mut self, name: &str, function: &dr::Function, interface: &[(StorageClass, Word)]) {
        let Some(id) = function.def_id() else { return };
        let mut operands = vec![
            Operand::ExecutionModel(ExecutionModel::GLCompute),
            Operand::IdRef(id),
            Operand::LiteralString(name.into()),
        ];
        // Before SPIR-V 1.4 only inputs and outputs may be listed; since then all variables must be.
        let all = self.version >= Version(1, 4);
        let listed = interface.iter().filter(|(class, _)| all || *class == StorageClass::Input);
        operands.extend(listed.map(|&(_, variable)| Operand::IdRef(variable)));
        self.dr.entry_points.push(instruction(Op::EntryPoint, 0, 0, operands));
        self.name(id, name);
        function.assemble_into(&mut self.functions);
    }

    /// Adds a function that a kernel calls.
    pub(super) fn helper(&mut self, function: &dr::Function) {
        function.assemble_into(&mut self.functions);
    }

    /// The words of the whole module.
    pub(super) fn finish(mut self) -> Result<Vec<u32>> {
        if self.bound > ID_LIMIT {
            return Err(ErrorKind::Limit {
                what: "SPIR-V ids in one module".into(),
                needed: u64::from(self.bound),
                available: u64::from(ID_LIMIT),
            });
        }
        let mut header = dr::ModuleHeader::new(self.bound);
        // SPIR-V versions are small numbers.
        header.set_version(self.version.0 as u8, self.version.1 as u8);
        self.dr.header = Some(header);
        let mut words = self.dr.assemble();
        // Functions are the last part of a module.
        words.append(&mut self.functions);
        Ok(words)
    }
}

/// The features whose bits are set.
fn feature_set(bits: u64) -> BTreeSet<Feature> {
    Feature::ALL.iter().copied().filter(|feature| bits & (1u64 << (*feature as u32)) != 0).collect()
}
