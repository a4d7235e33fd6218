//! Loads, stores and atomics.

use ptx2spv_translator::internals::ir::{Access, AtomicOp, MemoryOrder, Scope, Space};
use ptx2spv_translator::target::{Facts, Quirks};
use ptx2spv_translator::{Feature, Target};

use crate::support::*;

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
