//! Random executions: races are found exactly where the axioms have them, and weak visibility shows nothing that they
//! forbid.

use super::axioms::{self, judge};
use super::*;
use crate::config::{Choice, Seeded};

/// Two invocations in a subgroup, one in another subgroup, one in another workgroup.
const AGENTS: [Agent; 4] = [
    Agent { workgroup: 0, subgroup: 0, lane: 0 },
    Agent { workgroup: 0, subgroup: 0, lane: 1 },
    Agent { workgroup: 0, subgroup: 1, lane: 2 },
    Agent { workgroup: 1, subgroup: 0, lane: 0 },
];
const SHAPE: Shape = Shape { workgroup_size: 3, subgroup_size: 2 };

/// Four words, the last one in workgroup memory. Written values identify the writing event.
fn place(number: u32, agent: Agent) -> Location {
    let space = if number == 3 { Space::Workgroup(agent.workgroup) } else { Space::Device(1) };
    Location { space, offset: u64::from(number) * 4 }
}

struct Execution {
    random: Seeded,
    memory: Plain,
    strict: Strict,
    events: Vec<axioms::Event>,
    barriers: usize,
    /// Whether scopes and flags are often wrong.
    wild: bool,
}

impl Execution {
    fn scope(&mut self) -> Scope {
        let scopes = [Scope::Subgroup, Scope::Workgroup, Scope::Device];
        if self.wild { scopes[self.random.pick(3) as usize] } else { Scope::Device }
    }

    fn flag(&mut self) -> bool {
        !self.wild || self.random.pick(3) > 0
    }

    fn semantics(&mut self, acquire: bool, release: bool) -> Semantics {
        let (device, workgroup) = if acquire || release {
            let device = self.flag();
            (device, !device || self.flag())
        } else {
            (false, false)
        };
        Semantics {
            acquire,
            release,
            available: release && self.flag(),
            visible: acquire && self.flag(),
            device,
            workgroup,
            volatile: false,
        }
    }

    fn synchronisation(agent: Agent, scope: Scope, semantics: Semantics) -> axioms::Event {
        axioms::Event {
            thread: (agent.workgroup, agent.subgroup, agent.lane),
            place: None,
            reads: false,
            writes: false,
            atomic: false,
            non_private: false,
            av_vis: false,
            class: 0,
            scope,
            acquire: semantics.acquire,
            release: semantics.release,
            make_available: semantics.available,
            make_visible: semantics.visible,
            semantics: [semantics.device, semantics.workgroup],
            barrier: None,
            reads_from: None,
        }
    }

    fn written(value: u64) -> Option<usize> {
        (value as usize).checked_sub(1)
    }

    /// Word 0 is mostly accessed by atomics.
    fn access(&mut self, agent: Agent) {
        // The invocation of the other workgroup only uses device memory.
        let number = self.random.pick(if agent.workgroup == 0 { 4 } else { 3 });
        let location = place(number, agent);
        let id = self.events.len();
        let value = id as u64 + 1;
        let scope = self.scope();
        let mut event = axioms::Event {
            place: Some(number),
            class: usize::from(number == 3),
            non_private: true,
            av_vis: true,
            ..Self::synchronisation(agent, scope, RELAXED)
        };
        if self.random.pick(8) < if number == 0 { 7 } else { 1 } {
            let op = [AtomicOp::Load, AtomicOp::Store, AtomicOp::Update(Binary::IAdd)][self.random.pick(3) as usize];
            (event.reads, event.writes) = (op != AtomicOp::Store, op != AtomicOp::Load);
            let (acquire, release) = (self.random.pick(2) == 0, self.random.pick(2) == 0);
            let semantics = self.semantics(acquire && event.reads, release && event.writes);
            let atomic = atomic(op, location.space, scope, semantics);
            let old = self.strict.atomic(&self.memory, agent, location, &atomic, id as u32, |_, _| {
                event.writes.then_some(defined(value))
            });
            event = axioms::Event {
                atomic: true,
                acquire: semantics.acquire,
                release: semantics.release,
                make_available: semantics.available,
                make_visible: semantics.visible,
                semantics: [semantics.device, semantics.workgroup],
                reads_from: if event.reads { Self::written(old.bits) } else { None },
                ..event
            };
        } else {
            event.non_private = !self.wild || self.random.pick(8) > 0;
            event.av_vis = event.non_private && self.random.pick(3) == 0;
            let mut access = MemoryAccess { non_private: event.non_private, ..SHARED };
            let scope = event.av_vis.then_some(scope);
            if self.random.pick(2) == 0 {
                event.writes = true;
                access.available = scope;
                self.strict.store(&self.memory, agent, location, 4, (value, 0), &access, id as u32);
            } else {
                event.reads = true;
                access.visible = scope;
                let loaded = self.strict.load(&self.memory, agent, location, 4, &access, id as u32);
                event.reads_from = Self::written(loaded.bits);
            }
        }
        self.events.push(event);
    }

    fn step(&mut self) {
        let agent = AGENTS[self.random.pick(4) as usize];
        match self.random.pick(10) {
            0 | 1 => {
                let acquire = self.random.pick(3) > 0;
                let release = !acquire || self.random.pick(2) == 0;
                let barrier = Barrier {
                    execution: Scope::Invocation,
                    memory: self.scope(),
                    semantics: self.semantics(acquire, release),
                };
                self.strict.order.fence(agent, &barrier);
                self.events.push(Self::synchronisation(agent, barrier.memory, barrier.semantics));
            }
            2 => {
                let execution = [Scope::Subgroup, Scope::Workgroup][self.random.pick(2) as usize];
                let memory = if self.wild { self.scope().max(execution) } else { execution };
                let order = self.random.pick(4);
                let barrier = Barrier { execution, memory, semantics: self.semantics(order != 1, order != 2) };
                let agents = if execution == Scope::Subgroup { &AGENTS[..2] } else { &AGENTS[..3] };
                self.strict.order.barrier(agents, &barrier);
                for agent in agents {
                    let event = Self::synchronisation(*agent, memory, barrier.semantics);
                    self.events.push(axioms::Event { barrier: Some(self.barriers), ..event });
                }
                self.barriers += 1;
            }
            _ => self.access(agent),
        }
    }
}

/// Runs `steps` random steps and returns the events and the races found.
fn execute(number: u64, seed: Option<u64>, steps: u32, wild: bool) -> (Vec<axioms::Event>, Vec<Race>) {
    let mut strict = Strict::new(Mode { check: true, seed });
    strict.host_write(1, 0, 64);
    strict.begin_dispatch(SHAPE);
    strict.order.begin_workgroup(0);
    strict.order.begin_workgroup(1);
    define_workgroup(&mut strict, 0);
    let mut execution = Execution {
        random: Seeded::new(number),
        memory: Plain::default(),
        strict,
        events: Vec::new(),
        barriers: 0,
        wild,
    };
    for _ in 0..steps {
        execution.step();
    }
    let races = execution.strict.end_dispatch();
    (execution.events, races)
}

fn describe(events: &[axioms::Event]) -> String {
    events.iter().enumerate().map(|(number, event)| format!("{number}: {event:?}\n")).collect()
}

#[test]
fn no_race_is_found_where_there_is_none() {
    let (mut racy, mut clean, mut missed) = (0, 0, 0);
    for number in 0..40_000 {
        let wild = number % 2 == 0;
        let (events, races) = execute(number, None, 4 + (number % 9) as u32, wild);
        let verdict = judge(&events);
        for race in &races {
            let pair = (race.first.pc as usize, race.second.pc as usize);
            assert!(verdict.races.contains(&pair), "{number}: {pair:?} don't race ({race:?}):\n{}", describe(&events));
        }
        match (verdict.races.is_empty(), races.is_empty()) {
            (true, _) => clean += 1,
            (false, false) => racy += 1,
            (false, true) => missed += 1,
        }
    }
    assert!(racy > 5_000 && clean > 5_000, "{racy} {clean}");
    assert!(missed * 1000 < racy, "missed {missed} of {racy}");
}

#[test]
fn weak_visibility_is_consistent() {
    let (mut judged, mut stale) = (0, 0);
    for number in 0..60_000 {
        let steps = 4 + (number % 9) as u32;
        let wild = number % 2 == 0;
        let (events, _) = execute(number, Some(number), steps, wild);
        let verdict = judge(&events);
        if verdict.races.is_empty() {
            judged += 1;
            assert!(verdict.consistent, "{number}:\n{}", describe(&events));
            // The newest value would have been this one.
            stale += usize::from(events.iter().enumerate().any(|(i, event)| {
                let newest = (0..i).rev().find(|j| events[*j].writes && events[*j].place == event.place);
                event.reads && event.reads_from != newest
            }));
        }
    }
    assert!(judged > 5_000 && stale > 200, "{judged} {stale}");
}
