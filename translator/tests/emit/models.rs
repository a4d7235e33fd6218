//! Memory order on targets without the Vulkan memory model, or without its device scope.

use ptx2spv_translator::internals::ir::{Access, AtomicOp, Legal, MemoryOrder, Ordered, Scope, Space, Stmt};
use ptx2spv_translator::target::Quirks;
use ptx2spv_translator::{Feature, Target};

use super::support::*;

const MODEL: [Feature; 2] = [Feature::VulkanMemoryModel, Feature::VulkanMemoryModelDeviceScope];

fn glsl() -> Target {
    without(nvidia(), &MODEL)
}

/// A weak access, and another that has an order.
fn ordered(order: MemoryOrder) -> Legal {
    let mut b = Builder::default();
    b.load(access(Space::Global, 4), 1);
    b.store(Access { order, ..access(Space::Global, 4) }, 1);
    b.finish()
}

#[test]
fn modules_use_nothing_of_the_model_that_is_not_there() {
    let mut b = Builder::shared(64);
    for order in [MemoryOrder::Weak, MemoryOrder::Relaxed(Scope::Device), MemoryOrder::Acquire(Scope::Cta)] {
        b.load(Access { order, ..access(Space::Global, 8) }, 2);
        b.load(Access { order, ..access(Space::Shared, 4) }, 1);
    }
    b.atomic(
        AtomicOp::Add,
        Access { order: MemoryOrder::AcquireRelease(Scope::System), ..access(Space::Shared, 4) },
        true,
    );
    b.body.extend([Stmt::Barrier(Ordered::All), Stmt::Fence(Scope::Device)]);
    let function = b.finish();
    let words = ["Vulkan", "NonPrivatePointer", "MakePointer", "MakeAvailable", "MakeVisible"];
    let emitted = emit_one(&glsl(), &function);
    let text = validate(&glsl(), &emitted);
    assert!(text.contains("GLSL450") && words.iter().all(|word| !text.contains(word)), "{text}");
    assert!(MODEL.iter().all(|feature| !emitted.features.contains(feature)));
    let text = emit_valid(&nvidia(), &function);
    assert!(!text.contains("GLSL450") && words.iter().take(3).all(|word| text.contains(word)), "{text}");
}

#[test]
fn what_orders_makes_global_memory_coherent() {
    let coherent = |function: &Legal| {
        let text = emit_valid(&glsl(), function);
        ["Coherent", "Volatile"]
            .map(|word| lines(&text, "OpMemberDecorate").iter().filter(|l| l.ends_with(word)).count())
    };
    // A block for the weak load and one, volatile, for the store.
    assert_eq!(coherent(&ordered(MemoryOrder::Release(Scope::Device))), [2, 1]);
    // A relaxed access orders nothing, but others see it.
    assert_eq!(coherent(&ordered(MemoryOrder::Relaxed(Scope::Device))), [1, 1]);
    assert_eq!(coherent(&ordered(MemoryOrder::Weak)), [0, 0]);
    let mut b = Builder::default();
    b.load(access(Space::Global, 4), 1);
    b.body.push(Stmt::Barrier(Ordered::All));
    assert_eq!(coherent(&b.finish()), [1, 0]);
}

#[test]
fn fences_stand_on_the_sides_of_atomics_that_they_order() {
    let sequence = |order: MemoryOrder| {
        let mut b = Builder::default();
        b.atomic(AtomicOp::Add, Access { order, ..access(Space::Global, 4) }, true);
        let text = emit_valid(&glsl(), &b.finish());
        let found = text.lines().filter_map(|line| {
            let of = |op: &str| line.split_whitespace().any(|word| word == op);
            of("OpMemoryBarrier").then_some('f').or_else(|| of("OpAtomicIAdd").then_some('a'))
        });
        found.collect::<String>()
    };
    assert_eq!(sequence(MemoryOrder::Relaxed(Scope::Device)), "a");
    assert_eq!(sequence(MemoryOrder::Acquire(Scope::Device)), "af");
    assert_eq!(sequence(MemoryOrder::Release(Scope::Device)), "fa");
    assert_eq!(sequence(MemoryOrder::AcquireRelease(Scope::Device)), "faf");
}

#[test]
fn the_queue_family_stands_for_the_device() {
    let target = Target { quirks: Quirks::default(), ..without(nvidia(), &MODEL[1..]) };
    let emitted = emit_one(&target, &ordered(MemoryOrder::Release(Scope::Device)));
    let text = validate(&target, &emitted);
    assert!(!text.contains("VulkanMemoryModelDeviceScope") && !emitted.features.contains(&MODEL[1]), "{text}");
    let store = lines(&text, "OpAtomicStore");
    let scope = store.first().and_then(|line| line.split_whitespace().nth(2)).expect("a scope");
    let constant = text.lines().find(|line| line.starts_with(&format!("{scope} = OpConstant"))).expect("a constant");
    // QueueFamily.
    assert!(constant.ends_with(" 5"), "{constant}");
}
