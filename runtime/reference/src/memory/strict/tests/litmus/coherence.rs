//! Barriers, single locations, and the orders in which writes may be seen.

use super::*;

fn exchange(
    execution: Scope,
    memory: Scope,
    semantics: Semantics,
    other: Agent,
    place: Location,
) -> [(Agent, [Op; 2]); 2] {
    [
        (A, [Store(place, 7, SHARED), Barrier(execution, memory, semantics)]),
        (other, [Barrier(execution, memory, semantics), Load(place, SHARED)]),
    ]
}

#[test]
fn barriers_order_memory() {
    let (subgroup, workgroup) = (Scope::Subgroup, Scope::Workgroup);
    for place in [X, SHARED_X] {
        assert_passes(&threads(&exchange(workgroup, workgroup, ACQUIRE_RELEASE, MATE, place)), &[], 7);
        assert_passes(&threads(&exchange(subgroup, subgroup, ACQUIRE_RELEASE, PEER, place)), &[], 7);
        assert_fails(&threads(&exchange(workgroup, workgroup, RELAXED, MATE, place)), &[], 7, Missing::Order);
        assert_fails(&threads(&exchange(workgroup, subgroup, ACQUIRE_RELEASE, MATE, place)), &[], 7, Missing::Order);
    }
    let workgroup_only = Semantics { device: false, ..ACQUIRE_RELEASE };
    assert_fails(&threads(&exchange(workgroup, workgroup, workgroup_only, MATE, X)), &[], 7, Missing::Order);
    assert_passes(&threads(&exchange(workgroup, workgroup, workgroup_only, MATE, SHARED_X)), &[], 7);
    let unavailable = Semantics { available: false, ..ACQUIRE_RELEASE };
    assert_fails(&threads(&exchange(workgroup, workgroup, unavailable, MATE, X)), &[], 7, Missing::Availability);
    let invisible = Semantics { visible: false, ..ACQUIRE_RELEASE };
    assert_fails(&threads(&exchange(workgroup, workgroup, invisible, MATE, X)), &[], 7, Missing::Visibility);
}

#[test]
fn fences_around_a_barrier_without_semantics_order_memory() {
    let barrier = Barrier(Scope::Workgroup, Scope::Workgroup, RELAXED);
    let program = [
        (A, [Store(X, 7, SHARED), Fence(Scope::Workgroup, RELEASE), barrier]),
        (MATE, [barrier, Fence(Scope::Workgroup, ACQUIRE), Load(X, SHARED)]),
    ];
    assert_passes(&threads(&program), &[], 7);
}

#[test]
fn store_buffering_is_allowed_for_relaxed_atomics() {
    let relaxed =
        |write, read| [AtomicStore(write, 1, Scope::Device, RELAXED), AtomicLoad(read, Scope::Device, RELAXED)];
    let program = [(A, relaxed(FLAG, SECOND)), (FAR, relaxed(SECOND, FLAG))];
    assert!(!values(&orderly(&threads(&program))).contains(&vec![0, 0]));
    let weak = adversarial(&threads(&program));
    assert_eq!(values(&weak).len(), 4, "{weak:?}");
    assert!(weak.iter().all(|(_, races)| races.is_empty()));
}

#[test]
fn independent_writes_may_be_seen_in_different_orders() {
    let load = |place| AtomicLoad(place, Scope::Device, RELAXED);
    let program = [
        (A, vec![AtomicStore(FLAG, 1, Scope::Device, RELAXED)]),
        (MATE, vec![AtomicStore(SECOND, 1, Scope::Device, RELAXED)]),
        (FAR, vec![load(FLAG), load(SECOND)]),
        (agent(1, 2), vec![load(SECOND), load(FLAG)]),
    ];
    let threads = threads(&program);
    assert!(!values(&orderly(&threads)).contains(&vec![1, 0, 1, 0]));
    assert!(values(&adversarial(&threads)).contains(&vec![1, 0, 1, 0]));
}

#[test]
fn each_place_is_coherent() {
    let store = |value| AtomicStore(FLAG, value, Scope::Device, RELAXED);
    let load = AtomicLoad(FLAG, Scope::Device, RELAXED);
    let program: [Thread; 2] = [(A, &[store(1), store(2)]), (FAR, &[load, load, load])];
    let seen = values(&adversarial(&program));
    assert!(seen.iter().all(|values| values.is_sorted()), "{seen:?}");
    assert!(seen.contains(&vec![0, 1, 2]) && seen.contains(&vec![0, 0, 0]) && seen.contains(&vec![1, 1, 1]));
    // A read that passes its value on counts too.
    let program = [
        (A, [store(1), store(2)]),
        (MATE, [load, AtomicStore(SECOND, 1, Scope::Device, RELEASE)]),
        (FAR, [AtomicLoad(SECOND, Scope::Device, ACQUIRE), load]),
    ];
    for (values, _) in adversarial(&threads(&program)) {
        assert!(values[1] == 0 || values[2] >= values[0], "{values:?}");
    }
    // An invocation sees its own writes, and never older ones after reading them.
    let program: [Thread; 2] = [(A, &[store(1)]), (FAR, &[store(2), load, load])];
    let seen = values(&adversarial(&program));
    assert_eq!(seen, BTreeSet::from([vec![2, 2], vec![2, 1], vec![1, 1]]));
}

#[test]
fn read_modify_writes_are_atomic() {
    let add = Add(FLAG, Scope::Device, RELAXED);
    let program = [(A, [add, add]), (FAR, [add, add])];
    for (mut values, races) in adversarial(&threads(&program)) {
        values.sort_unstable();
        assert_eq!((values, races.len()), (vec![0, 1, 2, 3], 0));
    }
}

#[test]
fn every_write_is_seen_in_the_end() {
    let volatile = MemoryAccess { volatile: true, ..SHARED };
    let load = atomic(AtomicOp::Load, FLAG.space, Scope::Device, RELAXED);
    let store = atomic(AtomicOp::Store, FLAG.space, Scope::Device, RELAXED);
    let mut longest = 0;
    for seed in 0..200 {
        let mut strict = begun(Mode { check: false, seed: Some(seed) });
        let memory = Plain::default();
        strict.atomic(&memory, A, FLAG, &store, 0, |_, _| Some(defined(1)));
        strict.store(&memory, A, X, 4, (1, 0), &volatile, 0);
        let spins = (0..1000).take_while(|_| {
            let loaded = strict.atomic(&memory, FAR, FLAG, &load, 0, |_, _| None);
            assert_eq!(loaded.stale, loaded.bits == 0);
            loaded.stale
        });
        longest = longest.max(spins.count());
        let spins = (0..1000).take_while(|_| strict.load(&memory, FAR, X, 4, &volatile, 0).stale);
        longest = longest.max(spins.count());
    }
    assert!((2..100).contains(&longest), "{longest}");
}

#[test]
fn wide_atomics_are_not_torn() {
    let load = Atomic { bits: 64, ..atomic(AtomicOp::Load, FLAG.space, Scope::Device, RELAXED) };
    let store = Atomic { op: AtomicOp::Store, ..load };
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let mut strict = begun(Mode { check: true, seed: Some(seed) });
        let memory = Plain::default();
        for value in [0x1_0000_0001, u64::MAX] {
            strict.atomic(&memory, A, FLAG, &store, 0, |_, _| Some(defined(value)));
        }
        seen.insert(strict.atomic(&memory, FAR, FLAG, &load, 0, |_, _| None).bits);
        assert!(strict.end_dispatch().is_empty());
    }
    assert_eq!(seen, BTreeSet::from([0, 0x1_0000_0001, u64::MAX]));
}
