//! Litmus tests: small programs, run in every interleaving of their threads and under many seeds.

use std::collections::BTreeSet;

use super::*;

const X: Location = Location { space: Space::Device(1), offset: 0 };
const Y: Location = Location { space: Space::Device(1), offset: 64 };
const FLAG: Location = Location { space: Space::Device(2), offset: 0 };
const SECOND: Location = Location { space: Space::Device(2), offset: 64 };
const SHARED_X: Location = Location { space: Space::Workgroup(0), offset: 0 };

/// Two in a subgroup, two in the next, and as many in another workgroup.
const fn agent(workgroup: u32, lane: u16) -> Agent {
    Agent { workgroup, subgroup: lane / 2, lane }
}

const A: Agent = agent(0, 0);
/// In `A`'s subgroup.
const PEER: Agent = agent(0, 1);
/// In `A`'s workgroup.
const MATE: Agent = agent(0, 2);
/// In another workgroup.
const FAR: Agent = agent(1, 0);

const SHAPE: Shape = Shape { workgroup_size: 4, subgroup_size: 2, workgroup_zeroed: true };
const SEEDS: u64 = 40;

#[derive(Clone, Copy, Debug)]
enum Op {
    Store(Location, u64, MemoryAccess),
    /// Into the next register.
    Load(Location, MemoryAccess),
    AtomicStore(Location, u64, Scope, Semantics),
    AtomicLoad(Location, Scope, Semantics),
    Add(Location, Scope, Semantics),
    Fence(Scope, Semantics),
    /// Waits for all threads of the program that are in the same instance of the first scope.
    Barrier(Scope, Scope, Semantics),
}
use Op::*;

type Thread<'a> = (Agent, &'a [Op]);

/// What the loads of all threads gave, in the order of the threads, and which races were found.
type Outcome = (Vec<u64>, BTreeSet<Missing>);

struct Run {
    strict: Strict,
    memory: Plain,
    registers: Vec<Vec<u64>>,
}

impl Run {
    fn step(&mut self, thread: usize, pc: Pc, agent: Agent, op: Op) {
        let Self { strict, memory, registers } = self;
        match op {
            Store(place, value, access) => strict.store(memory, agent, place, 4, (value, 0), &access, pc),
            Load(place, access) => registers[thread].push(strict.load(memory, agent, place, 4, &access, pc).bits),
            AtomicStore(place, value, scope, semantics) => {
                let atomic = atomic(AtomicOp::Store, place.space, scope, semantics);
                strict.atomic(memory, agent, place, &atomic, pc, |_, _| Some(defined(value)));
            }
            AtomicLoad(place, scope, semantics) => {
                let atomic = atomic(AtomicOp::Load, place.space, scope, semantics);
                registers[thread].push(strict.atomic(memory, agent, place, &atomic, pc, |_, _| None).bits);
            }
            Add(place, scope, semantics) => {
                let atomic = atomic(AtomicOp::IAdd, place.space, scope, semantics);
                let old = strict.atomic(memory, agent, place, &atomic, pc, |old, _| Some(defined(old + 1)));
                registers[thread].push(old.bits);
            }
            Fence(memory, semantics) => {
                strict.fence(agent, &crate::code::Barrier { execution: Scope::Invocation, memory, semantics });
            }
            Barrier(..) => unreachable!("barriers are no step of one thread"),
        }
    }
}

/// Runs threads in an order given by their numbers; `None` if that order is impossible because of barriers.
fn run(threads: &[Thread], schedule: &[usize], mode: Mode) -> Option<Outcome> {
    let mut strict = Strict::new(mode);
    for allocation in [1, 2] {
        strict.host_write(allocation, 0, 256);
    }
    strict.begin_dispatch(SHAPE);
    strict.begin_workgroup(0);
    strict.begin_workgroup(1);
    let mut run = Run { strict, memory: Plain::default(), registers: vec![Vec::new(); threads.len()] };
    let mut next = vec![0; threads.len()];
    let mut waiting = vec![false; threads.len()];
    for thread in schedule.iter().copied() {
        let (agent, ops) = threads[thread];
        if waiting[thread] {
            return None;
        }
        let op = ops[next[thread]];
        next[thread] += 1;
        let Barrier(execution, memory, semantics) = op else {
            run.step(thread, (16 * thread + next[thread]) as Pc, agent, op);
            continue;
        };
        waiting[thread] = true;
        let together: Vec<_> =
            (0..threads.len()).filter(|other| message::common(agent, threads[*other].0) <= execution).collect();
        if together.iter().all(|other| waiting[*other]) {
            let agents: Vec<_> = together.iter().map(|other| threads[*other].0).collect();
            run.strict.barrier(&agents, &crate::code::Barrier { execution, memory, semantics });
            together.iter().for_each(|other| waiting[*other] = false);
        }
    }
    let races = run.strict.end_dispatch().iter().map(|race| race.missing).collect();
    Some((run.registers.concat(), races))
}

/// All orders of the threads' steps.
fn schedules(left: &mut [usize], so_far: &mut Vec<usize>, result: &mut Vec<Vec<usize>>) {
    if left.iter().all(|left| *left == 0) {
        result.push(so_far.clone());
    }
    for thread in 0..left.len() {
        if left[thread] > 0 {
            left[thread] -= 1;
            so_far.push(thread);
            schedules(left, so_far, result);
            so_far.pop();
            left[thread] += 1;
        }
    }
}

fn outcomes(threads: &[Thread], seeds: impl Iterator<Item = Option<u64>> + Clone) -> BTreeSet<Outcome> {
    let mut all = Vec::new();
    let mut left: Vec<_> = threads.iter().map(|(_, ops)| ops.len()).collect();
    schedules(&mut left, &mut Vec::new(), &mut all);
    let modes = seeds.map(|seed| Mode { check: true, seed });
    all.iter().flat_map(|schedule| modes.clone().filter_map(|mode| run(threads, schedule, mode))).collect()
}

/// Outcomes of an orderly device.
fn orderly(threads: &[Thread]) -> BTreeSet<Outcome> {
    outcomes(threads, std::iter::once(None))
}

/// Outcomes of an adversarial device.
fn adversarial(threads: &[Thread]) -> BTreeSet<Outcome> {
    outcomes(threads, (0..SEEDS).map(Some))
}

fn values(outcomes: &BTreeSet<Outcome>) -> BTreeSet<Vec<u64>> {
    outcomes.iter().map(|(values, _)| values.clone()).collect()
}

/// That the message arrives and nothing races whenever all but the last register are `seen`.
fn assert_passes(threads: &[Thread], seen: &[u64], message: u64) {
    for outcomes in [orderly(threads), adversarial(threads)] {
        let relevant: Vec<_> = outcomes.iter().filter(|(values, _)| values.starts_with(seen)).collect();
        assert!(!relevant.is_empty());
        for (values, races) in relevant {
            assert_eq!((values.last(), races.is_empty()), (Some(&message), true), "{races:?} in {threads:?}");
        }
    }
}

/// That the message may fail to arrive although all but the last register are `seen`, and that this is always reported, as
/// `missing`.
fn assert_fails(threads: &[Thread], seen: &[u64], message: u64, missing: Missing) {
    let relevant = |outcomes: BTreeSet<Outcome>| -> Vec<_> {
        outcomes.into_iter().filter(|(values, _)| values.starts_with(seen)).collect()
    };
    let orderly = relevant(orderly(threads));
    assert!(!orderly.is_empty());
    for (values, races) in &orderly {
        assert_eq!(values.last(), Some(&message));
        assert!(races.contains(&missing), "{races:?}, not {missing:?} in {threads:?}");
    }
    let adversarial = relevant(adversarial(threads));
    assert!(adversarial.iter().all(|(_, races)| races.contains(&missing)));
    assert!(adversarial.iter().any(|(values, _)| values.last() != Some(&message)), "never stale: {threads:?}");
}

fn message_passing(
    from: Agent,
    to: Agent,
    scope: Scope,
    release: Semantics,
    acquire: Semantics,
) -> [(Agent, [Op; 2]); 2] {
    [
        (from, [Store(X, 7, SHARED), AtomicStore(FLAG, 1, scope, release)]),
        (to, [AtomicLoad(FLAG, scope, acquire), Load(X, SHARED)]),
    ]
}

fn threads<const N: usize, const M: usize>(program: &[(Agent, [Op; M]); N]) -> Vec<Thread<'_>> {
    program.iter().map(|(agent, ops)| (*agent, &ops[..])).collect()
}

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
    // In one thread they are in order.
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
    // A fence on the wrong side of the atomic orders nothing.
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
    let go_on = program(Add(FLAG, device, RELAXED));
    let go_on: Vec<Thread> = go_on.iter().map(|(agent, ops)| (*agent, &ops[..])).collect();
    // The addition has seen 1 and the last thread 2.
    assert_passes(&go_on, &[1, 2], 7);
    let cut = program(AtomicStore(FLAG, 2, device, RELAXED));
    let cut: Vec<Thread> = cut.iter().map(|(agent, ops)| (*agent, &ops[..])).collect();
    assert!(adversarial(&cut).iter().any(|(values, races)| values == &[2, 0] && !races.is_empty()));
}

/// The last thread's loads are `[1, 7]` if the message has arrived. Availability and visibility go step by step through
/// invocations of a workgroup.
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
        let threads: Vec<Thread> = program.iter().map(|(agent, ops)| (*agent, &ops[..])).collect();
        let (values, races) = run(&threads, &[0, 0, 1, 1, 2, 2, 3, 3], Mode { check: true, seed: None }).unwrap();
        assert_eq!(values, [1, 1, 1, 7]);
        assert_eq!(races, missing.into_iter().collect());
    };
    check(RELEASE, ACQUIRE, None);
    check(hidden, ACQUIRE, Some(Missing::Availability));
    check(RELEASE, unseen, Some(Missing::Visibility));
}

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
    let threads: Vec<Thread> = program.iter().map(|(agent, ops)| (*agent, &ops[..])).collect();
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
    // A read that was passed on counts too.
    let program = [
        (A, [store(1), store(2)]),
        (MATE, [load, AtomicStore(SECOND, 1, Scope::Device, RELEASE)]),
        (FAR, [AtomicLoad(SECOND, Scope::Device, ACQUIRE), load]),
    ];
    for (values, _) in adversarial(&threads(&program)) {
        assert!(values[1] == 0 || values[2] >= values[0], "{values:?}");
    }
    // An invocation sees its own writes, and reading its own it doesn't fall behind.
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
        // Writing the same value is no excuse.
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

/// All kinds of accesses to a place, with whether they write and whether they are atomic.
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

/// Whether two accesses race where nothing orders them.
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

/// The first two are ordered by a message, and the third by nothing.
#[test]
fn an_access_is_not_hidden_by_one_that_is_ordered_behind_it() {
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
    let add = |bits| Atomic { bits, ..atomic(AtomicOp::IAdd, X.space, Scope::Device, RELAXED) };
    let at = |offset| Location { offset, ..X };
    for (written, added, other, race) in [
        ((0, 4), (0, 32), (0, 32), Some(0)),
        ((0, 1), (0, 32), (0, 32), Some(0)),
        ((3, 1), (0, 32), (0, 32), Some(3)),
        ((2, 2), (0, 64), (0, 64), Some(2)),
        ((4, 4), (0, 64), (0, 64), Some(4)),
        ((0, 8), (0, 32), (0, 32), Some(0)),
        ((0, 8), (0, 32), (4, 32), Some(4)),
        // Next to each other.
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

/// A fresh dispatch in which `A` and `FAR` do something without any order between them.
fn races_of(actions: impl Fn(&mut Strict, &Plain)) -> Vec<Race> {
    let mut strict = Strict::new(Mode { check: true, seed: None });
    strict.begin_dispatch(SHAPE);
    strict.begin_workgroup(0);
    strict.begin_workgroup(1);
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
        let narrow = atomic(AtomicOp::IAdd, X.space, Scope::Device, RELAXED);
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
fn a_dispatch_is_behind_the_one_before() {
    for seed in std::iter::once(None).chain((0..SEEDS).map(Some)) {
        let mut strict = Strict::new(Mode { check: true, seed });
        let memory = Plain::default();
        for (agent, value) in [(A, 1), (FAR, 2), (MATE, 3)] {
            strict.begin_dispatch(SHAPE);
            strict.begin_workgroup(agent.workgroup);
            assert!(!strict.load(&memory, agent, X, 4, &SHARED, 0).stale);
            strict.store(&memory, agent, X, 4, (value, 0), &SHARED, 0);
            assert_eq!(strict.load(&memory, agent, X, 4, &SHARED, 0).bits, value);
            assert!(strict.end_dispatch().is_empty());
        }
    }
}

#[test]
fn every_write_is_seen_in_the_end() {
    let volatile = MemoryAccess { volatile: true, ..SHARED };
    let load = atomic(AtomicOp::Load, FLAG.space, Scope::Device, RELAXED);
    let store = atomic(AtomicOp::Store, FLAG.space, Scope::Device, RELAXED);
    let mut longest = 0;
    for seed in 0..200 {
        let mut strict = Strict::new(Mode { check: false, seed: Some(seed) });
        strict.host_write(1, 0, 64);
        strict.host_write(2, 0, 64);
        strict.begin_dispatch(SHAPE);
        strict.begin_workgroup(0);
        strict.begin_workgroup(1);
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
        let mut strict = Strict::new(Mode { check: true, seed: Some(seed) });
        strict.host_write(2, 0, 64);
        strict.begin_dispatch(SHAPE);
        strict.begin_workgroup(0);
        strict.begin_workgroup(1);
        let memory = Plain::default();
        for value in [0x1_0000_0001, u64::MAX] {
            strict.atomic(&memory, A, FLAG, &store, 0, |_, _| Some(defined(value)));
        }
        seen.insert(strict.atomic(&memory, FAR, FLAG, &load, 0, |_, _| None).bits);
        assert!(strict.end_dispatch().is_empty());
    }
    assert_eq!(seen, BTreeSet::from([0, 0x1_0000_0001, u64::MAX]));
}
