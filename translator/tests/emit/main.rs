//! Emission: every operation, access and control-flow shape gives SPIR-V that `spirv-val` accepts for Vulkan, and the
//! properties that it can't see (alignment, layout, features) are as they should be.
//!
//! Needs the `spirv-val` program of SPIRV-Tools.

mod accesses;
mod flow;
mod models;
mod operations;
mod support;

use ptx2spv_translator::internals::emit::{EmitEntry, emit};
use ptx2spv_translator::internals::ir::{
    Access, AtomicOp, Binary, Builtin, Legal, MemoryOrder, Op, Scope, Space, Stmt, Type,
};
use ptx2spv_translator::internals::pipeline::check_limits;
use ptx2spv_translator::internals::policy::Policy;
use ptx2spv_translator::target::{Quirks, Version};
use ptx2spv_translator::{ErrorKind, Feature, Math, Span, Target};

use flow::nested;
use support::*;

#[test]
fn halves_and_sums_of_products_are_the_targets() {
    use ptx2spv_translator::internals::ir::{Arithmetic, Halves};
    let mut b = Builder::default();
    let [x, y] = [b.any(Type::I32), b.any(Type::I32)];
    for arithmetic in [Arithmetic::Add(x, y), Arithmetic::Sub(x, y), Arithmetic::Mul(x, y), Arithmetic::Fma(x, y, x)] {
        b.op(Type::I32, Op::Half(Halves::Both, arithmetic));
    }
    for op in [Binary::DotSigned, Binary::DotUnsigned, Binary::DotMixed] {
        b.op(Type::I32, Op::Binary(op, x, y));
    }
    let function = b.finish();
    let text = emit_valid(&nvidia(), &function);
    for expected in ["OpFAdd", "OpFSub", "OpFMul", "Fma", "OpSDot", "OpUDot", "OpSUDot", "FPFastMathDefault"] {
        assert_eq!(lines(&text, expected).len(), 1, "{expected}: {text}");
    }
    // Where they aren't there, nothing is emitted for them.
    for feature in [Feature::ShaderFloat16, Feature::ShaderIntegerDotProduct] {
        emit_error(&without(nvidia(), &[feature]), &function);
    }
}

/// One operation's pair of f16 is another's operand as it is. A word from elsewhere is taken apart.
#[test]
fn halves_are_converted_by_the_target() {
    use ptx2spv_translator::internals::ir::{Arithmetic, Halves, Unary};
    let mut b = Builder::default();
    let word = b.any(Type::I32);
    let single = b.op(Type::F32, Op::Unary(Unary::WidenHalf, word));
    let half = b.op(Type::I32, Op::Unary(Unary::NarrowHalf, single));
    let sum = b.op(Type::I32, Op::Half(Halves::Low, Arithmetic::Add(half, half)));
    b.op(Type::F32, Op::Unary(Unary::WidenHalf, sum));
    let function = b.finish();
    let text = emit_valid(&nvidia(), &function);
    assert_eq!(lines(&text, "OpFConvert").len(), 3, "{text}");
    // The word from memory, and the words of two results.
    assert_eq!(lines(&text, "OpBitcast").len(), 3, "{text}");
    emit_error(&without(nvidia(), &[Feature::ShaderFloat16]), &function);
}

#[test]
fn images_are_read_from_tables() {
    use ptx2spv_translator::internals::ir::Sample;
    let mut b = Builder::default();
    let (image, x, y) = (b.any(Type::I32), b.any(Type::F32), b.any(Type::F32));
    for depth in [None, Some(x)] {
        // The channels of one sample share its instruction.
        for channel in 0..4 {
            b.op(Type::F32, Op::Sample(Sample { image, place: [x, y], depth, channel }));
        }
    }
    b.op(Type::F32, Op::Sample(Sample { image, place: [y, y], depth: None, channel: 0 }));
    let function = b.finish();
    let features = [Feature::RuntimeDescriptorArray, Feature::ShaderSampledImageArrayNonUniformIndexing];
    // Before SPIR-V 1.5, the tables are an extension's.
    for (spirv, is_extension) in [(Version(1, 4), true), (Version(1, 5), false)] {
        let mut target = Target { spirv, ..nvidia() };
        target.features.extend(features);
        let text = emit_valid(&target, &function);
        assert_eq!(lines(&text, "OpImageSampleExplicitLod").len(), 3, "{text}");
        assert_eq!(lines(&text, "OpTypeRuntimeArray").len(), 2, "{text}");
        assert_eq!(text.contains("SPV_EXT_descriptor_indexing"), is_extension, "{text}");
        for feature in features {
            let (kind, _) = emit_error(&without(target.clone(), &[feature]), &function);
            assert!(matches!(kind, ErrorKind::MissingFeature { feature: named, .. } if named == feature), "{kind:?}");
        }
    }
}

#[test]
fn float_controls_are_those_of_the_target() {
    let mut b = Builder::default();
    b.any(Type::F32);
    let function = b.finish();
    let text = emit_valid(&lavapipe(), &function);
    assert_eq!(lines(&text, "OpExecutionMode").len(), 2, "{text}");
    assert!(!text.contains("DenormPreserve"));
    let text = emit_valid(&nvidia(), &function);
    assert_eq!(lines(&text, "OpExecutionMode").len(), 2, "{text}");
    assert_eq!(lines(&text, "OpExecutionModeId").len(), 1, "{text}");
    let text = emit_valid(&without(nvidia(), &[Feature::ShaderFloatControls2]), &function);
    assert_eq!(lines(&text, "OpExecutionMode").len(), 3, "{text}");
}

/// Memory semantics of all atomics in a disassembly.
fn atomic_semantics(text: &str) -> Vec<u32> {
    let value = |id: &str| {
        let constant = text.lines().find(|line| line.starts_with(&format!("{id} = OpConstant"))).unwrap();
        constant.split_whitespace().last().unwrap().parse().unwrap()
    };
    let atomic = |line: &&str| line.contains("OpAtomic");
    let semantics = |line: &str| {
        // Result type (but for stores), pointer and scope come first.
        let after = line.split("OpAtomic").nth(1).unwrap();
        let position = if after.starts_with("Store") { 3 } else { 4 };
        value(after.split_whitespace().nth(position).unwrap())
    };
    text.lines().filter(atomic).map(semantics).collect()
}

#[test]
fn memory_barriers_are_left_out_where_they_wait() {
    let mut b = Builder::shared(64);
    let orders = [
        MemoryOrder::Acquire(Scope::Device),
        MemoryOrder::AcquireRelease(Scope::Cta),
        MemoryOrder::Release(Scope::System),
    ];
    for order in orders {
        b.atomic(AtomicOp::Increment, Access { order, ..access(Space::Shared, 4) }, true);
        b.atomic(AtomicOp::Add, Access { order, ..access(Space::Global, 4) }, true);
    }
    b.load(Access { order: orders[0], ..access(Space::Global, 4) }, 1);
    b.load(Access { order: orders[0], ..access(Space::Global, 1) }, 1);
    b.store(Access { order: orders[2], ..access(Space::Global, 4) }, 1);
    b.store(Access { order: orders[2], ..access(Space::Global, 4) }, 4);
    b.body.push(Stmt::Fence(Scope::Device));
    let function = b.finish();
    let target = lavapipe();
    assert!(target.quirks.memory_barriers_wait);
    let waits = emit_valid(&target, &function);
    let keeps = emit_valid(&Target { quirks: Quirks::default(), ..lavapipe() }, &function);
    // The narrow load, the wide store and the fence; the others' order is in the atomic itself.
    assert_eq!(lines(&keeps, "OpMemoryBarrier").len(), 3, "{keeps}");
    assert_eq!(lines(&keeps, "OpAtomicOr").len(), 0);
    assert!(lines(&waits, "OpMemoryBarrier").is_empty() && !waits.contains("MakePointer"), "{waits}");
    let volatile = 0x8000;
    assert!(atomic_semantics(&waits).iter().all(|semantics| [0, volatile].contains(semantics)), "{waits}");
    assert!(!atomic_semantics(&keeps).iter().all(|semantics| [0, volatile].contains(semantics)), "{keeps}");
    // The same three, and the atomic load and store beside which nothing else orders.
    assert_eq!(lines(&waits, "OpAtomicOr").len(), 5, "{waits}");
}

#[test]
fn missing_features_are_named_with_their_place() {
    let place = Span { start: 7, end: 9 };
    type Make = fn(&mut Builder);
    let cases: [(Feature, Make); 7] = [
        (Feature::ShaderInt64, |b| b.load(access(Space::Global, 4), 1)),
        (Feature::ShaderFloat64, |b| {
            b.constant(Type::F64, 0);
        }),
        (Feature::ShaderSubgroupClock, |b| {
            b.op(Type::I64, Op::Builtin(Builtin::Clock));
        }),
        (Feature::StorageBuffer8BitAccess, |b| b.load(access(Space::Global, 1), 1)),
        (Feature::StorageBuffer16BitAccess, |b| b.store(access(Space::Global, 1), 2)),
        (Feature::ShaderBufferInt64Atomics, |b| b.atomic(AtomicOp::Add, access(Space::Global, 8), true)),
        (Feature::ShaderSharedInt64Atomics, |b| b.atomic(AtomicOp::Add, access(Space::Shared, 8), true)),
    ];
    let target = without(Target { quirks: Quirks::default(), ..lavapipe() }, &[Feature::ShaderDeviceClock]);
    for (feature, make) in cases {
        let mut b = Builder::shared(64);
        b.body.push(Stmt::At(Some(place)));
        make(&mut b);
        let function = b.finish();
        assert!(emit_one(&target, &function).features.contains(&feature), "{feature}");
        let (kind, span) = emit_error(&without(target.clone(), &[feature]), &function);
        let named = match kind {
            ErrorKind::MissingFeature { feature, .. } => Some(feature),
            _ => None,
        };
        // Without either clock the one at device scope is the last that would have done.
        let expected = if feature == Feature::ShaderSubgroupClock { Feature::ShaderDeviceClock } else { feature };
        assert_eq!((named, span), (Some(expected), place));
    }
}

#[test]
fn limits_are_checked() {
    let limit = |function: &Legal| match refused(&lavapipe(), function) {
        ErrorKind::Limit { needed, available, .. } => (needed, available),
        other => panic!("{other}"),
    };
    assert_eq!(limit(&Builder::shared(32769).finish()), (32784, 32768));
    let mut b = Builder::default();
    b.op(Type::I32, Op::Builtin(Builtin::PushConstant(128)));
    assert_eq!(limit(&b.finish()), (132, 128));
    // A driver's own limit, and that of SPIR-V.
    assert_eq!(limit(&nested(2000)), (65, 64));
    let nvidia = Policy::new(&nvidia(), Math::EXACT);
    check_limits(&nested(1022), &nvidia).unwrap();
    assert!(check_limits(&nested(1023), &nvidia).is_err());
    check_limits(&Builder::shared(32768).finish(), &Policy::new(&lavapipe(), Math::EXACT)).unwrap();
}

/// Why a target has no room for a function.
fn refused(target: &Target, function: &Legal) -> ErrorKind {
    check_limits(function, &Policy::new(target, Math::EXACT)).unwrap_err().kind
}

#[test]
fn spirv_before_vulkan_1_1_is_refused() {
    let target = Target { spirv: Version(1, 2), ..lavapipe() };
    let errors = emit(&device(&target), &[], None).unwrap_err();
    let messages: Vec<_> = errors.iter().map(|error| error.kind.to_string()).collect();
    assert_eq!(messages, ["not supported: SPIR-V 1.2, which the target has: modules need 1.3"]);
}

#[test]
fn generic_addresses_are_not_legal() {
    let mut b = Builder::default();
    let address = b.constant(Type::I64, 0);
    let results = vec![b.function.value(Type::I32)];
    b.body.push(Stmt::Load { results, access: access(Space::Generic, 4), address });
    b.function.body = b.body;
    assert_eq!(Legal::new(b.function).unwrap_err(), "a generic address");
}

#[test]
fn entries_share_a_module_but_not_their_needs() {
    let mut first = Builder::shared(100);
    first.load(access(Space::Shared, 4), 1);
    first.op(Type::I32, Op::Builtin(Builtin::PushConstant(40)));
    let mut second = Builder::default();
    second.constant(Type::F64, 0);
    let mut third = Builder::shared(8);
    third.atomic(AtomicOp::Add, access(Space::Shared, 8), false);
    third.op(Type::I64, Op::Builtin(Builtin::PushConstant(8)));
    let functions = [first.finish(), second.finish(), third.finish()];
    for target in targets() {
        let names = ["first", "second", "third"];
        let entries: Vec<_> = (names.iter().zip(&functions))
            .map(|(name, function)| EmitEntry { name, function, required_block: Some([64, 2, 1]) })
            .collect();
        let emitted = emit(&device(&target), &entries, None).unwrap();
        let text = validate(&target, &emitted);
        assert_eq!(lines(&text, "OpEntryPoint").len(), 3);
        let facts = &emitted.entries;
        assert_eq!(facts.iter().map(|entry| entry.push_constant_size).collect::<Vec<_>>(), [44, 0, 16]);
        let doubles = facts.iter().map(|entry| entry.features.contains(&Feature::ShaderFloat64));
        assert_eq!(doubles.collect::<Vec<_>>(), [false, true, false]);
        // The block size that all entries agree on, the same as `%ntid`, and 100 bytes rounded up.
        let constants = lines(&text, "OpSpecConstant");
        let defaults: Vec<_> = constants.iter().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(defaults, ["64", "2", "1", "64", "2", "1", "112"], "{text}");
    }
}

#[test]
fn errors_of_all_entries_are_reported() {
    let mut doubles = Builder::default();
    doubles.constant(Type::F64, 0);
    let (good, bad) = (Builder::default().finish(), doubles.finish());
    let device = device(&without(lavapipe(), &[Feature::ShaderFloat64]));
    let entry = |name, function| EmitEntry { name, function, required_block: None };
    let errors = emit(&device, &[entry("a", &bad), entry("b", &good), entry("c", &bad)], None).unwrap_err();
    let names: Vec<_> = errors.iter().map(|error| error.function.as_deref()).collect();
    assert_eq!(names, [Some("a"), Some("c")]);
}

/// Many variables of a type are elements of one array where the driver's stack is small, and each has a place of its own.
#[test]
fn many_variables_where_the_stack_is_small() {
    let function = |count: u64| {
        let mut b = Builder::default();
        for number in 0..count {
            let (variable, value) = (b.function.var(Type::I32), b.constant(Type::I32, number));
            b.body.push(Stmt::Set(variable, value));
            b.op(Type::I32, Op::Get(variable));
        }
        b.finish()
    };
    let small = Target { quirks: Quirks { stack_small: true, ..Quirks::default() }, ..nvidia() };
    for (target, count, variables, places) in
        [(nvidia(), 200, 200, 0), (small.clone(), 60, 60, 0), (small, 200, 1, 200)]
    {
        let text = emit_valid(&target, &function(count));
        let declared = lines(&text, "OpVariable")
            .iter()
            .filter(|line| line.ends_with("null") || line.contains("Function "))
            .count();
        assert_eq!(declared, variables, "{text}");
        let mut chains: Vec<_> = lines(&text, "OpAccessChain")
            .iter()
            .filter_map(|line| line.split(' ').next_back())
            .map(str::to_owned)
            .collect();
        chains.sort_unstable();
        chains.dedup();
        // One more place is any of them: so the array is not taken apart.
        assert_eq!(chains.len(), if places == 0 { 0 } else { places + 1 }, "{text}");
    }
}

/// Variables that words have replaced are still in a function's list. Their type must not come into the module, which may lack it.
#[test]
fn unused_variables_are_not_declared() {
    let quirks = Quirks { stack_small: true, ..Quirks::default() };
    let target = without(Target { quirks, ..nvidia() }, &[Feature::ShaderInt64]);
    let mut b = Builder::default();
    let lane = b.function.var(Type::I32);
    b.function.lane_numbers = vec![lane];
    for _ in 0..200 {
        b.function.var(Type::I64);
    }
    let zero = b.constant(Type::I32, 0);
    b.body.push(Stmt::Set(lane, zero));
    let text = emit_valid(&target, &b.finish());
    assert!(lines(&text, "OpTypeInt 64").is_empty(), "{text}");
}

#[test]
fn local_memory_that_the_driver_does_not_take() {
    let function = |local_bytes| {
        let mut b = Builder::shared(0);
        b.function.local_bytes = local_bytes;
        b.load(access(Space::Local, 4), 1);
        b.finish()
    };
    match refused(&nvidia(), &function(16 << 10)) {
        ErrorKind::Limit { what, needed, available } => {
            assert!(what.contains("local memory"), "{what}");
            assert_eq!((needed, available), (16_384, 16_380));
        }
        other => panic!("{other}"),
    }
    check_limits(&function(16 << 10), &Policy::new(&lavapipe(), Math::EXACT)).unwrap();
    check_limits(&function(12 << 10), &Policy::new(&nvidia(), Math::EXACT)).unwrap();
}
