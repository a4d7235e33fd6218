//! Message passing: writes of one thread reach another that synchronizes with it.

use super::*;

#[test]
fn release_and_acquire_pass_messages() {
    for (to, scope) in [
        (FAR, Scope::Device),
        (MATE, Scope::Device),
        (MATE, Scope::Workgroup),
        (PEER, Scope::Workgroup),
        (PEER, Scope::Subgroup),
    ] {
        assert_passes(&threads(&message_passing(A, to, scope, RELEASE, ACQUIRE)), &[1], 7);
    }
}

#[test]
fn relaxed_atomics_pass_no_messages() {
    for (release, acquire) in [(RELAXED, ACQUIRE), (RELEASE, RELAXED), (RELAXED, RELAXED)] {
        let program = message_passing(A, FAR, Scope::Device, release, acquire);
        assert_fails(&threads(&program), &[1], 7, Missing::Order);
    }
}

#[test]
fn scopes_are_respected() {
    for (to, scope) in [(FAR, Scope::Workgroup), (MATE, Scope::Subgroup)] {
        let program = message_passing(A, to, scope, RELEASE, ACQUIRE);
        assert_fails(&threads(&program), &[1], 7, Missing::Order);
        // The atomics race too.
        assert!(orderly(&threads(&program)).iter().any(|(_, races)| races.contains(&Missing::Scope)));
    }
}

#[test]
fn all_parts_of_the_semantics_are_needed() {
    let workgroup_only = |semantics| Semantics { device: false, ..semantics };
    let device_only = |semantics| Semantics { workgroup: false, ..semantics };
    let unavailable = Semantics { available: false, ..RELEASE };
    let invisible = Semantics { visible: false, ..ACQUIRE };
    for (release, acquire, missing) in [
        (workgroup_only(RELEASE), ACQUIRE, Missing::Order),
        (RELEASE, workgroup_only(ACQUIRE), Missing::Order),
        (unavailable, ACQUIRE, Missing::Availability),
        (RELEASE, invisible, Missing::Visibility),
    ] {
        assert_fails(&threads(&message_passing(A, FAR, Scope::Device, release, acquire)), &[1], 7, missing);
    }
    let program = message_passing(A, FAR, Scope::Device, device_only(RELEASE), device_only(ACQUIRE));
    assert_passes(&threads(&program), &[1], 7);
}

#[test]
fn private_accesses_take_no_part() {
    let private = MemoryAccess { non_private: false, ..SHARED };
    for (store, load) in [(private, SHARED), (SHARED, private)] {
        let program = [
            (A, [Store(X, 7, store), AtomicStore(FLAG, 1, Scope::Device, RELEASE)]),
            (FAR, [AtomicLoad(FLAG, Scope::Device, ACQUIRE), Load(X, load)]),
        ];
        assert_fails(&threads(&program), &[1], 7, Missing::NonPrivate);
    }
    // In one thread, the accesses are ordered.
    let alone: &[Op] = &[Store(X, 1, private), Load(X, private), Store(X, 2, SHARED), Load(X, private)];
    let expected = BTreeSet::from([(vec![1, 2], BTreeSet::new())]);
    assert_eq!(adversarial(&[(A, alone)]), expected);
}

#[test]
fn accesses_can_make_themselves_available_and_visible() {
    let release = Semantics { available: false, ..RELEASE };
    let acquire = Semantics { visible: false, ..ACQUIRE };
    let program = |available, visible| {
        [
            (A, [Store(X, 7, MemoryAccess { available, ..SHARED }), AtomicStore(FLAG, 1, Scope::Device, release)]),
            (FAR, [AtomicLoad(FLAG, Scope::Device, acquire), Load(X, MemoryAccess { visible, ..SHARED })]),
        ]
    };
    let (device, workgroup) = (Some(Scope::Device), Some(Scope::Workgroup));
    assert_passes(&threads(&program(device, device)), &[1], 7);
    assert_fails(&threads(&program(workgroup, device)), &[1], 7, Missing::Availability);
    assert_fails(&threads(&program(device, workgroup)), &[1], 7, Missing::Visibility);
    assert_fails(&threads(&program(None, device)), &[1], 7, Missing::Availability);
    assert_fails(&threads(&program(device, None)), &[1], 7, Missing::Visibility);
}

#[test]
fn fences_and_relaxed_atomics_pass_messages() {
    let program = |release, store, acquire, load| {
        [
            (A, [Store(X, 7, SHARED), Fence(release, RELEASE), AtomicStore(FLAG, 1, store, RELAXED)]),
            (FAR, [AtomicLoad(FLAG, load, RELAXED), Fence(acquire, ACQUIRE), Load(X, SHARED)]),
        ]
    };
    let (device, workgroup) = (Scope::Device, Scope::Workgroup);
    assert_passes(&threads(&program(device, device, device, device)), &[1], 7);
    assert_fails(&threads(&program(workgroup, device, device, device)), &[1], 7, Missing::Order);
    assert_fails(&threads(&program(device, device, workgroup, device)), &[1], 7, Missing::Order);
    // A fence on the wrong side of the atomic has no effect.
    let late = [
        (A, [Store(X, 7, SHARED), AtomicStore(FLAG, 1, device, RELAXED), Fence(device, RELEASE)]),
        (FAR, [AtomicLoad(FLAG, device, RELAXED), Fence(device, ACQUIRE), Load(X, SHARED)]),
    ];
    assert_fails(&threads(&late), &[1], 7, Missing::Order);
}

#[test]
fn release_sequences_go_on_through_read_modify_writes() {
    let device = Scope::Device;
    let program = |second| {
        [
            (A, vec![Store(X, 7, SHARED), AtomicStore(FLAG, 1, device, RELEASE)]),
            (MATE, vec![second]),
            (FAR, vec![AtomicLoad(FLAG, device, ACQUIRE), Load(X, SHARED)]),
        ]
    };
    // The addition has seen 1, and the last thread has seen 2.
    assert_passes(&threads(&program(Add(FLAG, device, RELAXED))), &[1, 2], 7);
    let cut = program(AtomicStore(FLAG, 2, device, RELAXED));
    assert!(adversarial(&threads(&cut)).iter().any(|(values, races)| values == &[2, 0] && !races.is_empty()));
}

/// If the message has arrived, the last thread's loads are `[1, 7]`. Availability and visibility propagate step by step
/// through the invocations of a workgroup.
#[test]
fn availability_and_visibility_form_chains() {
    let (device, workgroup) = (Scope::Device, Scope::Workgroup);
    let hidden = Semantics { available: false, ..RELEASE };
    let unseen = Semantics { visible: false, ..ACQUIRE };
    let program = |first, last| {
        [
            (A, vec![Store(X, 7, SHARED), AtomicStore(FLAG, 1, workgroup, first)]),
            (MATE, vec![AtomicLoad(FLAG, workgroup, unseen), AtomicStore(SECOND, 1, device, RELEASE)]),
            (FAR, vec![AtomicLoad(SECOND, device, ACQUIRE), AtomicStore(Y, 1, workgroup, hidden)]),
            (agent(1, 2), vec![AtomicLoad(Y, workgroup, last), Load(X, SHARED)]),
        ]
    };
    let check = |first, last, missing: Option<Missing>| {
        let program = program(first, last);
        let (values, races) =
            run(&threads(&program), &[0, 0, 1, 1, 2, 2, 3, 3], Mode { check: true, seed: None }).unwrap();
        assert_eq!(values, [1, 1, 1, 7]);
        assert_eq!(races, missing.into_iter().collect());
    };
    check(RELEASE, ACQUIRE, None);
    check(hidden, ACQUIRE, Some(Missing::Availability));
    check(RELEASE, unseen, Some(Missing::Visibility));
}
