//! Emission: every operation, access and control-flow shape gives SPIR-V that `spirv-val` accepts for Vulkan, and the
//! properties that it can't see (alignment, layout, features) are as they should be.
//!
//! Needs the `spirv-val` program of SPIRV-Tools.

mod flow;
mod models;
mod support;

use ptx2spv_translator::emit::{EmitEntry, emit};
use ptx2spv_translator::ir::{
    Access, AtomicOp, Binary, Builtin, Compare, Legal, MemoryOrder, Op, Ordered, Scope, Space, Stmt, Type, Unary,
};
use ptx2spv_translator::pipeline::check_room;
use ptx2spv_translator::policy::Policy;
use ptx2spv_translator::target::{Facts, Quirks, Version};
use ptx2spv_translator::{ErrorKind, Feature, Math, Span, Target};

use flow::nested;
use support::*;

#[test]
fn every_operation_is_valid() {
    let mut b = Builder::default();
    integer_operations(&mut b);
    float_operations(&mut b);
    other_operations(&mut b);
    let function = b.finish();
    for target in targets() {
        let text = emit_valid(&target, &function);
        // The five arithmetic operations on each of the two types, unless fast-math modes say so of all.
        assert_eq!(text.matches("NoContraction").count(), if target.fuses_dot() { 0 } else { 10 });
    }
}

/// Of all operations only the dot product may be contracted.
#[test]
fn a_fused_dot_product() {
    let mut b = Builder::default();
    let (x, y) = (b.any(Type::F32), b.any(Type::F32));
    let product = b.op(Type::F32, Op::Binary(Binary::FMul, x, y));
    b.op(Type::F32, Op::DotFma(x, y, product));
    let wide = b.any(Type::F64);
    b.op(Type::F64, Op::Binary(Binary::FAdd, wide, wide));
    let function = b.finish();
    let text = emit_valid(&nvidia(), &function);
    assert_eq!(lines(&text, "OpDot").len(), 1, "{text}");
    assert_eq!(lines(&text, "FPFastMathMode").len(), 1, "{text}");
    assert_eq!(lines(&text, "AllowContract").len(), 1, "{text}");
    for declared in ["SPV_KHR_float_controls2", "DenormPreserve 32", "DenormPreserve 64", "RoundingModeRTE 32"] {
        assert!(text.contains(declared), "{declared}: {text}");
    }
    assert_eq!(text.matches("FPFastMathDefault").count(), 2, "{text}");
    assert!(!text.contains("SignedZeroInfNanPreserve") && !text.contains("NoContraction"), "{text}");
    let kinds = emit_error(&without(nvidia(), &[Feature::ShaderFloatControls2]), &function);
    assert!(matches!(kinds, (ErrorKind::MissingFeature { .. }, _)), "{kinds:?}");
}

fn integer_operations(b: &mut Builder) {
    for ty in INTEGERS {
        let (x, y) = (b.any(ty), b.constant(ty, u64::MAX));
        use Binary::*;
        for op in [Add, Sub, Mul, MulHighUnsigned, MulHighSigned, DivUnsigned, RemUnsigned, And, Or, Xor] {
            b.op(ty, Op::Binary(op, x, y));
        }
        let amount = b.any(Type::I32);
        for op in [Shl, Shr, Sar] {
            b.op(ty, Op::Binary(op, x, amount));
        }
        use Compare::*;
        for op in [Equal, NotEqual, LessUnsigned, LessEqualUnsigned, LessSigned, LessEqualSigned] {
            b.op(Type::Bool, Op::Compare(op, x, y));
        }
        for op in [Unary::Not, Unary::Neg] {
            b.op(ty, Op::Unary(op, x));
        }
    }
    let word = b.any(Type::I32);
    for op in [Unary::BitCount, Unary::BitReverse, Unary::FindHighBit] {
        b.op(Type::I32, Op::Unary(op, word));
    }
    let long = b.op(Type::I64, Op::Unary(Unary::SignExtend, word));
    b.op(Type::I32, Op::Unary(Unary::Truncate, long));
}

fn float_operations(b: &mut Builder) {
    for ty in FLOATS {
        let (x, y) = (b.any(ty), b.constant(ty, 1 << 22));
        use Binary::*;
        for op in [FAdd, FSub, FMul, FDiv, FDivApprox] {
            b.op(ty, Op::Binary(op, x, y));
        }
        for op in [Compare::FEqual, Compare::FNotEqual, Compare::FLess, Compare::FLessEqual] {
            b.op(Type::Bool, Op::Compare(op, x, y));
        }
        use Unary::*;
        for op in [Trunc, RoundEven, Floor, Ceil, Sqrt, SqrtApprox] {
            b.op(ty, Op::Unary(op, x));
        }
        b.op(ty, Op::Fma(x, y, x));
        if ty == Type::F32 {
            for op in [FMin, FMax] {
                b.op(ty, Op::Binary(op, x, y));
            }
            for op in [FNeg, Clamp] {
                b.op(ty, Op::Unary(op, x));
            }
            for op in [SaturateToSigned, SaturateToUnsigned] {
                b.op(Type::I32, Op::Unary(op, x));
            }
        }
        let bits = if ty == Type::F64 { Type::I64 } else { Type::I32 };
        b.op(bits, Op::Unary(Bitcast(bits), x));
        for integer in INTEGERS {
            let i = b.any(integer);
            b.op(ty, Op::Unary(SignedToFloat(ty), i));
            b.op(ty, Op::Unary(UnsignedToFloat(ty), i));
            b.op(integer, Op::Unary(FloatToSigned(integer), x));
            b.op(integer, Op::Unary(FloatToUnsigned(integer), x));
        }
    }
    let single = b.any(Type::F32);
    let double = b.op(Type::F64, Op::Unary(Unary::Widen, single));
    b.op(Type::F32, Op::Unary(Unary::Narrow, double));
    for op in [Unary::Exp2Approx, Unary::Log2Approx, Unary::SinApprox, Unary::CosApprox, Unary::InverseSqrtApprox] {
        b.op(Type::F32, Op::Unary(op, single));
    }
}

fn other_operations(b: &mut Builder) {
    for ty in [Type::Bool, Type::I32, Type::I64, Type::F32, Type::F64] {
        let (x, y) = (b.any(ty), b.constant(ty, 1));
        let condition = b.any(Type::Bool);
        b.op(ty, Op::Select(condition, x, y));
    }
    let truth = b.any(Type::Bool);
    for op in [Binary::And, Binary::Or, Binary::Xor] {
        b.op(Type::Bool, Op::Binary(op, truth, truth));
    }
    b.op(Type::Bool, Op::Unary(Unary::Not, truth));
    for op in [Compare::Equal, Compare::NotEqual] {
        b.op(Type::Bool, Op::Compare(op, truth, truth));
    }
    for dimension in 0..3 {
        for builtin in [Builtin::ThreadId(dimension), Builtin::BlockSize(dimension), Builtin::WorkgroupId(dimension)] {
            b.op(Type::I32, Op::Builtin(builtin));
        }
    }
    for builtin in [Builtin::ThreadIndex, Builtin::SharedBytes, Builtin::PushConstant(20)] {
        b.op(Type::I32, Op::Builtin(builtin));
    }
    b.op(Type::I64, Op::Builtin(Builtin::PushConstant(32)));
    b.op(Type::I64, Op::Builtin(Builtin::Clock));
    for ty in [Type::Bool, Type::I32, Type::I64] {
        let var = b.function.var(ty);
        let value = b.any(ty);
        b.body.push(Stmt::Set(var, value));
        b.op(ty, Op::Get(var));
    }
    b.body.push(Stmt::Barrier(Ordered::All));
    b.body.extend(SCOPES.map(Stmt::Fence));
}

#[test]
fn every_access_is_valid() {
    for target in targets() {
        for space in [Space::Global, Space::Shared, Space::Local] {
            for strong_long in [false, true] {
                let mut b = Builder::shared(256);
                for (bytes, elements) in
                    [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2), (4, 4), (8, 1), (8, 2)]
                {
                    for scope in SCOPES {
                        for order in [
                            MemoryOrder::Weak,
                            MemoryOrder::Relaxed(scope),
                            MemoryOrder::Acquire(scope),
                            MemoryOrder::Release(scope),
                        ] {
                            if bytes == 8 && order != MemoryOrder::Weak && !strong_long {
                                continue;
                            }
                            let access = Access { order, ..access(space, bytes) };
                            if !matches!(order, MemoryOrder::Release(_)) {
                                b.load(access, elements);
                            }
                            if !matches!(order, MemoryOrder::Acquire(_)) {
                                b.store(access, elements);
                            }
                        }
                    }
                    b.load(Access { read_only: true, ..access(space, bytes) }, elements);
                }
                emit_valid(&target, &b.finish());
            }
        }
    }
}

#[test]
fn every_atomic_is_valid() {
    use AtomicOp::*;
    let ops = [
        Add,
        And,
        Or,
        Xor,
        Exchange,
        CompareExchange,
        MinUnsigned,
        MaxUnsigned,
        MinSigned,
        MaxSigned,
        Increment,
        Decrement,
        FAdd,
    ];
    for target in targets() {
        for space in [Space::Global, Space::Shared, Space::Local] {
            for widths in [&[4][..], &[4, 8]] {
                let mut b = Builder::shared(256);
                for (op, &bytes) in ops.iter().flat_map(|op| widths.iter().map(move |bytes| (*op, bytes))) {
                    if bytes == 8 && matches!(op, Increment | Decrement) {
                        continue;
                    }
                    for scope in SCOPES {
                        for order in [
                            MemoryOrder::Weak,
                            MemoryOrder::Relaxed(scope),
                            MemoryOrder::Acquire(scope),
                            MemoryOrder::Release(scope),
                            MemoryOrder::AcquireRelease(scope),
                        ] {
                            b.atomic(op, Access { order, ..access(space, bytes) }, scope == Scope::Device);
                        }
                    }
                }
                emit_valid(&target, &b.finish());
            }
        }
    }
}

#[test]
fn global_accesses_are_aligned_to_their_whole_size() {
    for (bytes, elements, size) in [(1, 1, 1), (1, 4, 4), (2, 4, 8), (4, 1, 4), (4, 4, 16), (8, 2, 16)] {
        let mut b = Builder::default();
        b.load(access(Space::Global, bytes), elements);
        b.store(access(Space::Global, bytes), elements);
        let text = emit_valid(&lavapipe(), &b.finish());
        let aligned = format!("Aligned|NonPrivatePointer {size}");
        assert_eq!(text.lines().filter(|line| line.ends_with(&aligned)).count(), 2, "{bytes} x {elements}: {text}");
    }
}

#[test]
fn read_only_accesses_are_private() {
    let mut b = Builder::default();
    b.load(Access { read_only: true, ..access(Space::Global, 4) }, 1);
    let text = emit_valid(&lavapipe(), &b.finish());
    assert!(!text.contains("NonPrivatePointer") && text.contains("Aligned 4"), "{text}");
}

#[test]
fn word_arrays_have_no_layout() {
    let mut b = Builder::shared(64);
    b.load(access(Space::Shared, 4), 4);
    b.store(access(Space::Local, 8), 2);
    let function = b.finish();
    let text = emit_valid(&lavapipe(), &function);
    assert!(!text.contains("ArrayStride"), "{text}");
    let text = emit_valid(&nvidia(), &function);
    assert_eq!(text.matches("ArrayStride").count(), 1, "{text}");
    assert_eq!(text.matches("Aliased").count(), 1, "{text}");
}

#[test]
fn narrow_stores_to_shared_words_swap_the_whole_word() {
    for bytes in [1, 2] {
        let mut b = Builder::shared(64);
        b.store(access(Space::Shared, bytes), 1);
        let function = b.finish();
        assert_eq!(lines(&emit_valid(&lavapipe(), &function), "OpAtomicCompareExchange").len(), 1);
        assert!(lines(&emit_valid(&nvidia(), &function), "OpAtomicCompareExchange").is_empty());
    }
}

#[test]
fn long_shared_atomics_choose_long_words() {
    let mut b = Builder::shared(64);
    b.atomic(AtomicOp::Add, access(Space::Shared, 8), false);
    b.atomic(AtomicOp::Add, access(Space::Shared, 4), false);
    let text = emit_valid(&lavapipe(), &b.finish());
    // The 64-bit one natively, the 32-bit one as half of a word.
    assert_eq!(lines(&text, "OpAtomicIAdd").len(), 1);
    assert_eq!(lines(&text, "OpAtomicCompareExchange").len(), 1);
}

#[test]
fn float_addition_is_native_where_the_target_has_it_and_treats_denormals_as_ptx_does() {
    let sum = |space| {
        let mut b = Builder::shared(64);
        b.atomic(AtomicOp::FAdd, access(space, 4), true);
        b.finish()
    };
    let trusted = |trust: fn(&mut Facts)| {
        let mut target = nvidia();
        target.facts = Facts::default();
        trust(&mut target.facts);
        target
    };
    // Sums in global memory flush denormals, those in shared memory don't.
    let flushing = trusted(|facts| (facts.global_atomic_add_f32_flushes, facts.nan_f32_nvidia) = (true, true));
    let keeping = trusted(|facts| (facts.shared_atomic_add_f32_keeps, facts.nan_f32_nvidia) = (true, true));
    for (space, feature, target, other) in [
        (Space::Global, Feature::ShaderBufferFloat32AtomicAdd, flushing.clone(), keeping.clone()),
        (Space::Shared, Feature::ShaderSharedFloat32AtomicAdd, keeping, flushing),
    ] {
        let function = sum(space);
        let emitted = emit_one(&target, &function);
        assert_eq!(lines(&validate(&target, &emitted), "OpAtomicFAddEXT").len(), 1);
        assert!(emitted.features.contains(&feature));
        let mut other_nans = target.clone();
        other_nans.facts.nan_f32_nvidia = false;
        for target in [other, other_nans, without(target, &[feature])] {
            let emitted = emit_one(&target, &function);
            assert_eq!(lines(&validate(&target, &emitted), "OpAtomicCompareExchange").len(), 1);
            assert!(!emitted.features.contains(&feature));
        }
    }
}

#[test]
fn halves_and_sums_of_products_are_the_targets() {
    use ptx2spv_translator::ir::{Arithmetic, Halves};
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
    check_room(&nested(1022), &nvidia).unwrap();
    assert!(check_room(&nested(1023), &nvidia).is_err());
    check_room(&Builder::shared(32768).finish(), &Policy::new(&lavapipe(), Math::EXACT)).unwrap();
}

/// Why a target has no room for a function.
fn refused(target: &Target, function: &Legal) -> ErrorKind {
    check_room(function, &Policy::new(target, Math::EXACT)).unwrap_err().kind
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

/// Ordered stores to shared memory become exchanges where the driver compiles atomic stores wrong; those to global memory stay.
#[test]
fn atomic_stores_to_shared_memory() {
    let mut b = Builder::shared(64);
    for order in [MemoryOrder::Relaxed(Scope::Cta), MemoryOrder::Release(Scope::Device)] {
        for bytes in [4, 8] {
            b.store(Access { order, ..access(Space::Shared, bytes) }, 1);
            b.store(Access { order, ..access(Space::Global, bytes) }, 1);
        }
    }
    let function = b.finish();
    let right = Target { quirks: Quirks::default(), ..nvidia() };
    let wrong = Target { quirks: Quirks { workgroup_atomic_stores_wrong: true, ..Quirks::default() }, ..nvidia() };
    let (right, wrong) = (emit_valid(&right, &function), emit_valid(&wrong, &function));
    assert_eq!((lines(&right, "OpAtomicStore").len(), lines(&right, "OpAtomicExchange").len()), (8, 0), "{right}");
    assert_eq!((lines(&wrong, "OpAtomicStore").len(), lines(&wrong, "OpAtomicExchange").len()), (4, 4), "{wrong}");
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
    check_room(&function(16 << 10), &Policy::new(&lavapipe(), Math::EXACT)).unwrap();
    check_room(&function(12 << 10), &Policy::new(&nvidia(), Math::EXACT)).unwrap();
}
