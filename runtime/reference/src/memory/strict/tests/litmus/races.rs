//! Races: conflicting accesses, and their reports.

use super::*;

#[test]
fn atomics_race_if_a_scope_excludes_the_other() {
    for (other, scope, other_scope, race) in [
        (FAR, Scope::Device, Scope::Device, false),
        (FAR, Scope::Device, Scope::Workgroup, true),
        (FAR, Scope::Workgroup, Scope::Workgroup, true),
        (MATE, Scope::Workgroup, Scope::Workgroup, false),
        (MATE, Scope::Workgroup, Scope::Subgroup, true),
    ] {
        let program = [(A, [Add(FLAG, scope, RELAXED)]), (other, [Add(FLAG, other_scope, RELAXED)])];
        let expected: BTreeSet<_> = race.then_some(Missing::Scope).into_iter().collect();
        assert!(orderly(&threads(&program)).iter().all(|(_, races)| *races == expected));
    }
}

#[test]
fn conflicting_accesses_race() {
    let add = Add(X, Scope::Device, RELAXED);
    let (store, load) = (Store(X, 1, SHARED), Load(X, SHARED));
    for (one, other, race) in [
        (store, load, true),
        // Writing the same value is a race too.
        (store, store, true),
        (load, load, false),
        (store, Load(Y, SHARED), false),
        (add, load, true),
        (add, store, true),
        (AtomicLoad(X, Scope::Device, RELAXED), load, false),
        (AtomicLoad(X, Scope::Device, RELAXED), store, true),
    ] {
        for other_agent in [PEER, FAR] {
            let program = [(A, [one]), (other_agent, [other])];
            let outcomes = orderly(&threads(&program));
            assert!(outcomes.iter().all(|(_, races)| races.is_empty() != race), "{program:?}");
        }
        let program: [Thread; 1] = [(A, &[one, other])];
        assert!(orderly(&program).iter().all(|(_, races)| races.is_empty()));
    }
}

/// All kinds of accesses to a location, with whether they write and whether they are atomic.
fn accesses(place: Location) -> [(Op, bool, bool); 7] {
    let device = Scope::Device;
    let stored = MemoryAccess { available: Some(device), volatile: true, ..SHARED };
    let loaded = MemoryAccess { visible: Some(device), volatile: true, ..SHARED };
    [
        (Store(place, 1, SHARED), true, false),
        (Load(place, SHARED), false, false),
        (Store(place, 2, stored), true, false),
        (Load(place, loaded), false, false),
        (AtomicStore(place, 3, device, RELAXED), true, true),
        (AtomicLoad(place, device, RELAXED), false, true),
        (Add(place, device, RELAXED), true, true),
    ]
}

/// Whether two unordered accesses race.
fn conflict((_, writes, atomic): (Op, bool, bool), (_, other_writes, other_atomic): (Op, bool, bool)) -> bool {
    (writes || other_writes) && !(atomic && other_atomic)
}

#[test]
fn an_access_is_not_hidden_by_a_later_one_of_the_same_thread() {
    for (place, other) in [(X, FAR), (X, MATE), (SHARED_X, MATE), (SHARED_X, PEER)] {
        for first in accesses(place) {
            for second in accesses(place) {
                for third in accesses(place) {
                    let race = conflict(first, third) || conflict(second, third);
                    let program: [Thread; 2] = [(A, &[first.0, second.0]), (other, &[third.0])];
                    let outcomes = orderly(&program);
                    assert!(outcomes.iter().all(|(_, races)| races.is_empty() != race), "{program:?}: {outcomes:?}");
                }
            }
        }
    }
}

/// A message orders the first two accesses. The third is unordered.
#[test]
fn an_access_is_not_hidden_by_one_that_is_ordered_after_it() {
    for first in accesses(X) {
        for second in accesses(X) {
            for third in accesses(X) {
                let race = conflict(first, third) || conflict(second, third);
                let program: [Thread; 3] = [
                    (A, &[first.0, AtomicStore(FLAG, 1, Scope::Device, RELEASE)]),
                    (MATE, &[AtomicLoad(FLAG, Scope::Device, ACQUIRE), second.0]),
                    (FAR, &[third.0]),
                ];
                let (_, races) = run(&program, &[0, 0, 1, 1, 2], Mode { check: true, seed: None }).unwrap();
                assert_eq!(!races.is_empty(), race, "{program:?}: {races:?}");
            }
        }
    }
}

#[test]
fn an_access_is_not_hidden_by_a_wider_or_narrower_one() {
    let add = |bits| Atomic { bits, ..atomic(AtomicOp::Update(Binary::IAdd), X.space, Scope::Device, RELAXED) };
    let at = |offset| Location { offset, ..X };
    for (written, added, other, race) in [
        ((0, 4), (0, 32), (0, 32), Some(0)),
        ((0, 1), (0, 32), (0, 32), Some(0)),
        ((3, 1), (0, 32), (0, 32), Some(3)),
        ((2, 2), (0, 64), (0, 64), Some(2)),
        ((4, 4), (0, 64), (0, 64), Some(4)),
        ((0, 8), (0, 32), (0, 32), Some(0)),
        ((0, 8), (0, 32), (4, 32), Some(4)),
        // Adjacent accesses.
        ((4, 4), (0, 32), (0, 32), None),
        ((4, 1), (0, 32), (0, 32), None),
    ] {
        let found = races_of(|strict, memory| {
            strict.store(memory, A, at(written.0), written.1, (0, 0), &SHARED, 3);
            strict.atomic(memory, A, at(added.0), &add(added.1), 4, |old, _| Some(defined(old + 1)));
            strict.atomic(memory, FAR, at(other.0), &add(other.1), 5, |old, _| Some(defined(old + 1)));
        });
        let first = found.iter().find(|race| race.first.pc == 3);
        assert_eq!(first.map(|race| race.location.offset), race, "{written:?} {added:?} {other:?}");
    }
}

#[test]
fn a_write_after_reads_needs_order_but_no_visibility() {
    let release = Semantics { available: false, ..RELEASE };
    let acquire = Semantics { visible: false, ..ACQUIRE };
    for (semantics, races) in [((release, acquire), false), ((RELAXED, RELAXED), true)] {
        let program = [
            (A, [Load(X, SHARED), AtomicStore(FLAG, 1, Scope::Device, semantics.0)]),
            (FAR, [AtomicLoad(FLAG, Scope::Device, semantics.1), Store(X, 7, SHARED)]),
        ];
        let outcomes = orderly(&threads(&program));
        assert!(outcomes.iter().filter(|(values, _)| values[1] == 1).all(|(_, found)| found.is_empty() != races));
    }
}

/// A new dispatch in which `A` and `FAR` act without any order between them.
fn races_of(actions: impl Fn(&mut Strict, &Plain)) -> Vec<Race> {
    let mut strict = begun(Mode { check: true, seed: None });
    actions(&mut strict, &Plain::default());
    strict.end_dispatch()
}

#[test]
fn races_are_told_apart_byte_by_byte() {
    let at = |offset| Location { offset, ..X };
    for (first, second, race) in [
        ((0, 1), (1, 1), None),
        ((0, 2), (2, 2), None),
        ((0, 2), (1, 1), Some(1)),
        ((0, 8), (4, 4), Some(4)),
        ((4, 4), (0, 8), Some(4)),
        ((0, 4), (4, 4), None),
        ((0, 4), (3, 1), Some(3)),
        ((3, 1), (0, 4), Some(3)),
        // Misaligned.
        ((2, 4), (6, 2), None),
        ((2, 4), (5, 2), Some(5)),
    ] {
        let found = races_of(|strict, memory| {
            strict.store(memory, A, at(first.0), first.1, (0, 0), &SHARED, 3);
            strict.store(memory, FAR, at(second.0), second.1, (0, 0), &SHARED, 4);
        });
        assert_eq!(found.first().map(|race| race.location.offset), race, "{first:?} {second:?}");
    }
}

#[test]
fn atomics_of_different_width_race() {
    let found = races_of(|strict, memory| {
        let narrow = atomic(AtomicOp::Update(Binary::IAdd), X.space, Scope::Device, RELAXED);
        let wide = Atomic { bits: 64, ..narrow };
        strict.atomic(memory, A, X, &narrow, 1, |old, _| Some(defined(old + 1)));
        strict.atomic(memory, FAR, X, &wide, 2, |old, _| Some(defined(old + 1)));
    });
    assert_eq!(found.len(), 1);
}

#[test]
fn races_are_reported_once_for_each_pair_of_instructions() {
    let found = races_of(|strict, memory| {
        for offset in 0..10 {
            let place = Location { offset: offset * 4, ..X };
            strict.store(memory, A, place, 4, (0, 0), &SHARED, 11);
            strict.load(memory, FAR, place, 4, &SHARED, 12);
        }
    });
    let first = Party { agent: A, pc: 11, action: Action::Write };
    let second = Party { agent: FAR, pc: 12, action: Action::Read };
    assert_eq!(found, [Race { location: X, first, second, missing: Missing::Order, repeated: 9 }]);
}

#[test]
fn a_dispatch_is_ordered_after_the_one_before() {
    for seed in std::iter::once(None).chain((0..SEEDS).map(Some)) {
        let mut strict = Strict::new(Mode { check: true, seed });
        let memory = Plain::default();
        for (agent, value) in [(A, 1), (FAR, 2), (MATE, 3)] {
            strict.begin_dispatch(SHAPE);
            strict.order.begin_workgroup(agent.workgroup);
            assert!(!strict.load(&memory, agent, X, 4, &SHARED, 0).stale);
            strict.store(&memory, agent, X, 4, (value, 0), &SHARED, 0);
            assert_eq!(strict.load(&memory, agent, X, 4, &SHARED, 0).bits, value);
            assert!(strict.end_dispatch().is_empty());
        }
    }
}
