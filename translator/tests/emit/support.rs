//! Helpers of the tests of emission: targets, a builder of functions, and `spirv-val`.

use ptx2spv_translator::internals::emit::{EmitEntry, Emitted, emit};
use ptx2spv_translator::internals::ir::{
    Access, Atomic, AtomicOp, Block, Builtin, Compare, Function, Legal, MemoryOrder, Op, Scope, Space, Stmt, Type,
    Unary, Value,
};
use ptx2spv_translator::internals::policy::{Emission, Policy};
use ptx2spv_translator::target::{Quirks, Version};
use ptx2spv_translator::{ErrorKind, Feature, Math, Span, Target};

pub const SCOPES: [Scope; 3] = [Scope::Cta, Scope::Device, Scope::System];
pub const INTEGERS: [Type; 2] = [Type::I32, Type::I64];
pub const FLOATS: [Type; 2] = [Type::F32, Type::F64];

pub fn lavapipe() -> Target {
    Target::preset("lavapipe").unwrap()
}

pub fn nvidia() -> Target {
    Target::preset("nvidia").unwrap()
}

pub fn without(mut target: Target, features: &[Feature]) -> Target {
    target.features.retain(|feature| !features.contains(feature));
    target
}

/// Targets that take different ways through emission.
pub fn targets() -> Vec<Target> {
    let float_atomics = [
        Feature::ShaderBufferFloat32AtomicAdd,
        Feature::ShaderSharedFloat32AtomicAdd,
        Feature::ShaderBufferFloat64AtomicAdd,
        Feature::ShaderSharedFloat64AtomicAdd,
    ];
    let narrow_blocks =
        [Feature::WorkgroupMemoryExplicitLayout8BitAccess, Feature::WorkgroupMemoryExplicitLayout16BitAccess];
    let mut old = lavapipe();
    old.vulkan = Version(1, 1);
    old.spirv = Version(1, 3);
    let memory_model = [Feature::VulkanMemoryModel, Feature::VulkanMemoryModelDeviceScope];
    let glsl = without(old.clone(), &memory_model);
    vec![
        lavapipe(),
        nvidia(),
        without(lavapipe(), &float_atomics),
        Target { quirks: Quirks::default(), ..lavapipe() },
        without(nvidia(), &float_atomics),
        without(nvidia(), &narrow_blocks),
        old,
        Target { quirks: Quirks::default(), ..glsl.clone() },
        glsl,
        without(nvidia(), &memory_model),
        without(nvidia(), &memory_model[1..]),
    ]
}

/// Builds a function statement by statement.
#[derive(Default)]
pub struct Builder {
    pub function: Function,
    pub body: Block,
}

impl Builder {
    pub fn shared(bytes: u32) -> Self {
        let mut builder = Builder::default();
        builder.function.shared_bytes = bytes;
        builder.function.local_bytes = 64;
        builder
    }

    pub fn op(&mut self, ty: Type, op: Op) -> Value {
        let value = self.function.value(ty);
        self.body.push(Stmt::Let(value, op));
        value
    }

    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.op(ty, Op::Const(bits))
    }

    /// A value that isn't a constant.
    pub fn any(&mut self, ty: Type) -> Value {
        let word = self.op(Type::I32, Op::Builtin(Builtin::ThreadId(0)));
        match ty {
            Type::I32 => word,
            Type::F32 => self.op(ty, Op::Unary(Unary::Bitcast(ty), word)),
            Type::I64 => self.op(ty, Op::Unary(Unary::ZeroExtend, word)),
            Type::F64 => {
                let long = self.op(Type::I64, Op::Unary(Unary::ZeroExtend, word));
                self.op(ty, Op::Unary(Unary::Bitcast(ty), long))
            }
            Type::Pair => self.op(ty, Op::Pair(word, word)),
            Type::Bool => self.op(ty, Op::Compare(Compare::Equal, word, word)),
        }
    }

    pub fn address(&mut self, space: Space) -> Value {
        match space {
            Space::Global => self.op(Type::I64, Op::Builtin(Builtin::PushConstant(8))),
            _ => self.constant(Type::I32, 16),
        }
    }

    pub fn load(&mut self, access: Access, elements: usize) {
        let address = self.address(access.space);
        let ty = element(access);
        let results = (0..elements).map(|_| self.function.value(ty)).collect();
        self.body.push(Stmt::Load { results, access, address });
    }

    pub fn store(&mut self, access: Access, elements: usize) {
        let address = self.address(access.space);
        let value = self.any(element(access));
        self.body.push(Stmt::Store { values: vec![value; elements], access, address });
    }

    pub fn atomic(&mut self, op: AtomicOp, access: Access, with_result: bool) {
        let address = self.address(access.space);
        let ty = element(access);
        let operand = self.any(ty);
        let compare = (op == AtomicOp::CompareExchange).then_some(operand);
        let result = with_result.then(|| self.function.value(ty));
        self.body.push(Stmt::Atomic(Atomic { result, op, access, address, operand, compare }));
    }

    pub fn finish(mut self) -> Legal {
        self.function.body = self.body;
        Legal::new(self.function).unwrap()
    }
}

pub fn access(space: Space, bytes: u8) -> Access {
    Access { space, bytes, order: MemoryOrder::Weak, read_only: false }
}

pub fn element(access: Access) -> Type {
    if access.bytes == 8 { Type::I64 } else { Type::I32 }
}

/// The part of a target's policy that emission reads.
pub fn device(target: &Target) -> Emission {
    Policy::new(target, Math::EXACT).emission
}

pub fn emit_one(target: &Target, function: &Legal) -> Emitted {
    let entry = EmitEntry { name: "kernel", function, required_block: None };
    emit(&device(target), &[entry], None).unwrap_or_else(|errors| panic!("{}: {errors:?}", target.name))
}

/// The one error that emission must report.
pub fn emit_error(target: &Target, function: &Legal) -> (ErrorKind, Span) {
    let mut errors =
        emit(&device(target), &[EmitEntry { name: "kernel", function, required_block: None }], None).unwrap_err();
    assert_eq!(errors.len(), 1);
    let error = errors.remove(0);
    assert_eq!(error.function.as_deref(), Some("kernel"));
    let place = error.place();
    (error.kind, place)
}

/// Runs `spirv-val` for the target's version of Vulkan and returns the disassembly.
pub fn validate(target: &Target, emitted: &Emitted) -> String {
    let text = emitted.disassemble().expect("loads");
    let environment = match target.vulkan {
        Version(1, minor @ 0..=2) => format!("vulkan1.{minor}"),
        _ => "vulkan1.3".into(),
    };
    if let Err(message) = ptx2spv_spirv_tools::validate(&environment, &emitted.spirv) {
        panic!("{}: {message}\n{text}", target.name);
    }
    text
}

pub fn emit_valid(target: &Target, function: &Legal) -> String {
    validate(target, &emit_one(target, function))
}

/// Instructions of an opcode in a disassembly.
pub fn lines<'t>(text: &'t str, opcode: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.split_whitespace().any(|word| word == opcode)).collect()
}
