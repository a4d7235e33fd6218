//! Litmus tests: small programs, run in every interleaving of their threads and with many seeds.

mod coherence;
mod messages;
mod races;

use std::collections::BTreeSet;

use super::*;

const X: Location = Location { space: Space::Device(1), offset: 0 };
const Y: Location = Location { space: Space::Device(1), offset: 64 };
const FLAG: Location = Location { space: Space::Device(2), offset: 0 };
const SECOND: Location = Location { space: Space::Device(2), offset: 64 };
const SHARED_X: Location = Location { space: Space::Workgroup(0), offset: 0 };

/// Two invocations in a subgroup, two in the next one, and the same in another workgroup.
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
const SHAPE: Shape = Shape { workgroup_size: 4, subgroup_size: 2 };
const SEEDS: u64 = 40;

#[derive(Clone, Copy, Debug)]
enum Op {
    Store(Location, u64, MemoryAccess),
    /// Loads into the next register.
    Load(Location, MemoryAccess),
    AtomicStore(Location, u64, Scope, Semantics),
    AtomicLoad(Location, Scope, Semantics),
    Add(Location, Scope, Semantics),
    Fence(Scope, Semantics),
    /// Waits for all threads of the program in the same instance of the first scope.
    Barrier(Scope, Scope, Semantics),
}

use Op::*;

type Thread<'a> = (Agent, &'a [Op]);

/// The results of all threads' loads, in the order of the threads, and the races found.
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
                let atomic = atomic(AtomicOp::Update(Binary::IAdd), place.space, scope, semantics);
                let old = strict.atomic(memory, agent, place, &atomic, pc, |old, _| Some(defined(old + 1)));
                registers[thread].push(old.bits);
            }
            Fence(memory, semantics) => {
                strict.order.fence(agent, &crate::code::Barrier { execution: Scope::Invocation, memory, semantics });
            }
            Barrier(..) => unreachable!("barriers are no step of one thread"),
        }
    }
}

/// A dispatch of two workgroups, with two allocations that are defined.
fn begun(mode: Mode) -> Strict {
    let mut strict = Strict::new(mode);
    for allocation in [1, 2] {
        strict.host_write(allocation, 0, 256);
    }
    strict.begin_dispatch(SHAPE);
    strict.order.begin_workgroup(0);
    strict.order.begin_workgroup(1);
    define_workgroup(&mut strict, 0);
    strict
}

/// Runs threads in the given order of their numbers; `None` if barriers make that order impossible.
fn run(threads: &[Thread], schedule: &[usize], mode: Mode) -> Option<Outcome> {
    let mut run = Run { strict: begun(mode), memory: Plain::default(), registers: vec![Vec::new(); threads.len()] };
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
            run.strict.order.barrier(&agents, &crate::code::Barrier { execution, memory, semantics });
            together.iter().for_each(|other| waiting[*other] = false);
        }
    }
    let races = run.strict.end_dispatch().iter().map(|race| race.missing).collect();
    Some((run.registers.concat(), races))
}

/// All interleavings of the threads' steps.
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

/// Outcomes without open choices.
fn orderly(threads: &[Thread]) -> BTreeSet<Outcome> {
    outcomes(threads, std::iter::once(None))
}

fn adversarial(threads: &[Thread]) -> BTreeSet<Outcome> {
    outcomes(threads, (0..SEEDS).map(Some))
}

fn values(outcomes: &BTreeSet<Outcome>) -> BTreeSet<Vec<u64>> {
    outcomes.iter().map(|(values, _)| values.clone()).collect()
}

/// Asserts that the message arrives, without races, whenever all but the last register are `seen`.
fn assert_passes(threads: &[Thread], seen: &[u64], message: u64) {
    for outcomes in [orderly(threads), adversarial(threads)] {
        let relevant: Vec<_> = outcomes.iter().filter(|(values, _)| values.starts_with(seen)).collect();
        assert!(!relevant.is_empty());
        for (values, races) in relevant {
            assert_eq!((values.last(), races.is_empty()), (Some(&message), true), "{races:?} in {threads:?}");
        }
    }
}

/// Asserts that the message may fail to arrive although all but the last register are `seen`, and that this is always
/// reported as `missing`.
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

fn threads<T: AsRef<[Op]>>(program: &[(Agent, T)]) -> Vec<Thread<'_>> {
    program.iter().map(|(agent, ops)| (*agent, ops.as_ref())).collect()
}
