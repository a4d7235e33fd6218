//! Happens-before, availability and visibility of the Vulkan memory model.
//!
//! Each invocation has, separately for device and workgroup memory, the set of events that inter-thread-happen-before
//! its next access, and the writes among them that are available to its memory domains or visible to it. Releases put a
//! copy of it into a [`Message`], which acquires add to their own knowledge. A dispatch happens after everything before
//! it, so each dispatch starts with empty knowledge.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::clock::Time;
use super::event::{Event, How};
use super::invocation::{Fence, Invocation, Known, common_classes, take_up};
use super::message::{Announced, Exchange, Message, Release, announce, classes, common};
use super::model::{Agent, Location, Missing, Shape, Space};
use crate::code::{Barrier, Pc, Scope, Semantics};

#[derive(Debug)]
struct Workgroup {
    invocations: Vec<Invocation>,
    /// Like [`AccessOrder::messages`], for the workgroup's memory.
    messages: FxHashMap<u64, Arc<Message>>,
}

#[derive(Debug, Default)]
pub(crate) struct AccessOrder {
    now: Time,
    /// The begin of the dispatch. All earlier events are ordered before it.
    begin: Time,
    workgroup_size: usize,
    subgroup_size: usize,
    workgroups: FxHashMap<u32, Workgroup>,
    /// The message of the last atomic write to each location in device memory (allocation and offset).
    messages: FxHashMap<(u32, u64), Arc<Message>>,
}

/// The storage class of a memory.
pub(super) fn class(space: Space) -> usize {
    match space {
        Space::Device(_) => 0,
        Space::Workgroup(_) => 1,
    }
}

impl AccessOrder {
    /// Begins a dispatch. Returns `false` if time restarted, so that older events must be dropped.
    pub(super) fn begin_dispatch(&mut self, shape: &Shape) -> bool {
        // Time 0 is reserved for "no event".
        let goes_on = self.now < Time::MAX / 2;
        self.now = if goes_on { self.now + 1 } else { 1 };
        self.begin = self.now;
        self.workgroup_size = shape.workgroup_size as usize;
        self.subgroup_size = shape.subgroup_size as usize;
        self.end_dispatch();
        goes_on
    }

    pub(super) fn end_dispatch(&mut self) {
        self.workgroups.clear();
        self.messages.clear();
    }

    pub(crate) fn begin_workgroup(&mut self, workgroup: u32) {
        let invocations = vec![Invocation::default(); self.workgroup_size];
        self.workgroups.insert(workgroup, Workgroup { invocations, messages: FxHashMap::default() });
    }

    /// Drops the knowledge of an invocation that has ended.
    pub(crate) fn end_invocation(&mut self, agent: Agent) {
        if let Some(invocation) = self.invocation_mut(agent) {
            *invocation = Invocation::default();
        }
    }

    pub(super) fn end_workgroup(&mut self, workgroup: u32) {
        self.workgroups.remove(&workgroup);
    }

    /// An access by an invocation at the current time.
    pub(super) fn event(&self, agent: Agent, pc: Pc, how: How) -> Event {
        Event { agent, time: self.now, pc, how }
    }

    /// Whether an event belongs to the running dispatch.
    pub(super) fn is_current(&self, event: &Event) -> bool {
        event.time >= self.begin
    }

    fn invocation(&self, agent: Agent) -> Option<&Invocation> {
        self.workgroups.get(&agent.workgroup)?.invocations.get(usize::from(agent.lane))
    }

    fn invocation_mut(&mut self, agent: Agent) -> Option<&mut Invocation> {
        self.workgroups.get_mut(&agent.workgroup)?.invocations.get_mut(usize::from(agent.lane))
    }

    /// Whether an earlier event happened before an event at the current time.
    pub(super) fn happened_before(&self, earlier: &Event, later: &Event) -> bool {
        earlier.agent == later.agent
            || self.invocation(later.agent).is_some_and(|invocation| {
                common_classes(earlier, later).any(|class| {
                    invocation.known[class].history.before.knows(earlier.agent, Scope::Invocation, earlier.time)
                })
            })
    }

    /// The reason why an earlier event is not location-ordered before one at the current time, to the same memory;
    /// `None` if it is. Both belong to the running dispatch, and at least one writes.
    pub(super) fn missing(&self, earlier: &Event, later: &Event) -> Option<Missing> {
        if earlier.agent == later.agent {
            return None;
        }
        let mut unordered = Missing::Order;
        if earlier.how.is_atomic() && later.how.is_atomic() && earlier.how.is_as_wide_as(later.how) {
            if common(earlier.agent, later.agent) <= earlier.how.scope().min(later.how.scope()) {
                return None;
            }
            unordered = Missing::Scope;
        }
        let Some(invocation) = self.invocation(later.agent) else { return Some(unordered) };
        let mut result = unordered;
        for class in common_classes(earlier, later) {
            // Report the class in which the accesses are closest to being ordered.
            result = result.max(invocation.known[class].missing(earlier, later, unordered)?);
        }
        Some(result)
    }

    /// Records that a write makes itself available.
    pub(super) fn announce(&mut self, event: &Event) {
        let now = self.now;
        if event.how.scope() > Scope::Invocation
            && let Some(invocation) = self.invocation_mut(event.agent)
        {
            for class in common_classes(event, event) {
                announce(&mut invocation.announced[class], event.how.scope(), now);
            }
        }
    }

    /// The message of the last atomic write to a location.
    pub(super) fn message(&self, location: Location) -> Option<&Arc<Message>> {
        match location.space {
            Space::Device(allocation) => self.messages.get(&(allocation, location.offset)),
            Space::Workgroup(workgroup) => self.workgroups.get(&workgroup)?.messages.get(&location.offset),
        }
    }

    /// Records that an atomic read by an agent has found a message.
    pub(super) fn read(&mut self, agent: Agent, message: &Arc<Message>, class: usize, scope: Scope) {
        let Some(message) = message.for_reader(agent, scope) else { return };
        if let Some(invocation) = self.invocation_mut(agent) {
            Message::join(&mut invocation.pending[class], &message);
        }
    }

    /// An atomic with acquire semantics that has found a message.
    pub(super) fn acquire(&mut self, agent: Agent, message: Option<&Arc<Message>>, scope: Scope, semantics: Semantics) {
        let message = message.and_then(|message| message.for_reader(agent, scope));
        if let Some(invocation) = self.invocation_mut(agent) {
            let known = Arc::make_mut(&mut invocation.known);
            take_up(known, agent, message.as_slice(), scope, semantics);
        }
    }

    /// Records an atomic write by an agent, with its message. `sequence` is the message of the release sequence that it
    /// continues, if any. Returns the message of the last write to the location.
    pub(super) fn write(
        &mut self,
        agent: Agent,
        location: Location,
        scope: Scope,
        semantics: Semantics,
        sequence: Option<Arc<Message>>,
    ) -> Option<Arc<Message>> {
        let mut message = sequence;
        let now = self.now;
        if scope > Scope::Invocation
            && let Some(invocation) = self.invocation_mut(agent)
        {
            let class = class(location.space);
            for fence in invocation.fences.iter().filter(|fence| classes(fence.semantics).any(|own| own == class)) {
                Message::join(&mut message, &fence.message(agent, scope));
            }
            if semantics.release {
                invocation.publish(agent, now, scope, semantics);
                let release = Fence { scope, semantics, known: invocation.known.clone() };
                Message::join(&mut message, &release.message(agent, scope));
                self.now = now.saturating_add(1);
            }
        }
        if let Some(message) = &mut message {
            Message::prune(message, |workgroup| self.workgroups.contains_key(&workgroup));
        }
        match location.space {
            Space::Device(allocation) => replace(&mut self.messages, (allocation, location.offset), message),
            Space::Workgroup(workgroup) => {
                let workgroup = self.workgroups.get_mut(&workgroup)?;
                replace(&mut workgroup.messages, location.offset, message)
            }
        }
    }

    pub(crate) fn fence(&mut self, agent: Agent, barrier: &Barrier) {
        let Barrier { memory: scope, semantics, .. } = *barrier;
        let now = self.now;
        if scope > Scope::Invocation
            && let Some(invocation) = self.invocation_mut(agent)
        {
            if semantics.acquire {
                invocation.acquire_pending(agent, scope, semantics);
            }
            if semantics.release {
                invocation.publish(agent, now, scope, semantics);
                invocation.add_fence(scope, semantics);
                self.now = now.saturating_add(1);
            }
        }
    }

    /// A control barrier of invocations that leave it together.
    pub(crate) fn barrier(&mut self, agents: &[Agent], barrier: &Barrier) {
        let Semantics { acquire, release, .. } = barrier.semantics;
        let scope = if acquire || release { barrier.execution.min(barrier.memory) } else { barrier.execution };
        match scope {
            Scope::Invocation => {}
            Scope::Subgroup => {
                let mut agents = agents.to_vec();
                agents.sort_by_key(|agent| (agent.subgroup, agent.lane));
                for agents in agents.chunk_by(|a, b| a.subgroup == b.subgroup) {
                    self.exchange(agents, barrier);
                }
            }
            Scope::Workgroup | Scope::Device => self.exchange(agents, barrier),
        }
    }

    /// A control barrier of invocations that are all in each other's memory scope.
    fn exchange(&mut self, agents: &[Agent], barrier: &Barrier) {
        let Some(&from) = agents.first() else { return };
        let one_subgroup = agents.iter().all(|agent| agent.subgroup == from.subgroup);
        let spread = if one_subgroup { Scope::Subgroup } else { Scope::Workgroup };
        let size = if one_subgroup {
            let first = usize::from(from.subgroup) * self.subgroup_size;
            self.subgroup_size.min(self.workgroup_size.saturating_sub(first))
        } else {
            self.workgroup_size
        };
        let now = self.now;
        self.now = now.saturating_add(1);
        let Some(workgroup) = self.workgroups.get_mut(&from.workgroup) else { return };
        let Barrier { memory: scope, semantics, .. } = *barrier;
        if scope > Scope::Invocation && semantics.acquire {
            workgroup.for_each(agents, |agent, invocation| {
                if invocation.pending.iter().any(Option::is_some) {
                    invocation.acquire_pending(agent, scope, semantics);
                }
            });
        }
        let told = if semantics.release {
            let mut exchange = Exchange {
                release: Release { scope, from, spread, history: [None, None] },
                now,
                available: semantics.available.then_some(scope),
            };
            workgroup.gather(agents, semantics, agents.len() == size, &mut exchange);
            Told::All(exchange.release)
        } else {
            Told::Fences(workgroup.gather_fences(agents).and_then(|fences| fences.for_groups(spread)))
        };
        if semantics.acquire {
            workgroup.acquire(agents, scope, semantics, &told);
        } else {
            workgroup.for_each(agents, |agent, invocation| {
                if let Some(told) = told.to(agent) {
                    invocation.pending.iter_mut().for_each(|pending| Message::join(pending, &told));
                }
                if semantics.release {
                    invocation.publish(agent, now, scope, semantics);
                }
            });
        }
        if semantics.release {
            workgroup.for_each(agents, |_, invocation| invocation.add_fence(scope, semantics));
        }
    }
}

/// The knowledge that the participants of a control barrier exchange.
enum Told {
    /// Everything that the participants know.
    All(Release),
    /// Only the knowledge of earlier release barriers, since this barrier doesn't release.
    Fences(Option<Arc<Message>>),
}

impl Told {
    fn to(&self, agent: Agent) -> Option<Arc<Message>> {
        match self {
            Self::All(release) => Some(Message::new(release.told_to(agent))),
            Self::Fences(message) => message.clone(),
        }
    }
}

impl Workgroup {
    fn for_each(&mut self, agents: &[Agent], mut action: impl FnMut(Agent, &mut Invocation)) {
        for agent in agents {
            if let Some(invocation) = self.invocations.get_mut(usize::from(agent.lane)) {
                action(*agent, invocation);
            }
        }
    }

    /// Collects the knowledge and the own events of the participants of a releasing barrier.
    fn gather(&mut self, agents: &[Agent], semantics: Semantics, whole: bool, exchange: &mut Exchange) {
        let mut last: Option<Arc<Known>> = None;
        self.for_each(agents, |agent, invocation| {
            let known_already = last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &invocation.known));
            for class in classes(semantics) {
                if !known_already {
                    exchange.bring(class, &invocation.known[class].history);
                }
                if !whole {
                    exchange.add(class, agent);
                }
                let announced = &mut invocation.announced[class];
                exchange.announce(class, agent, announced);
                if semantics.acquire {
                    // The barrier itself has passed this on.
                    *announced = Announced::default();
                }
            }
            last = Some(invocation.known.clone());
        });
        if whole {
            classes(semantics).for_each(|class| exchange.add_all(class));
        }
    }

    /// Collects the knowledge that the participants' earlier release barriers pass on through a barrier that doesn't release.
    fn gather_fences(&mut self, agents: &[Agent]) -> Option<Arc<Message>> {
        let mut result = None;
        self.for_each(agents, |agent, invocation| {
            for fence in &invocation.fences {
                Message::join(&mut result, &fence.message(agent, fence.scope));
            }
        });
        result
    }

    /// The participants acquire the knowledge exchanged at a barrier.
    fn acquire(&mut self, agents: &[Agent], scope: Scope, semantics: Semantics, told: &Told) {
        // Participants with the same knowledge before have the same knowledge after.
        let mut last: Option<(Arc<Known>, Arc<Known>)> = None;
        self.for_each(agents, |agent, invocation| {
            if let Some((old, new)) = &last
                && Arc::ptr_eq(old, &invocation.known)
            {
                invocation.known = new.clone();
                return;
            }
            let mut known = Known::clone(&invocation.known);
            take_up(&mut known, agent, told.to(agent).as_slice(), scope, semantics);
            let old = std::mem::replace(&mut invocation.known, Arc::new(known));
            last = Some((old, invocation.known.clone()));
        });
    }
}

fn replace<K: std::hash::Hash + Eq>(
    messages: &mut FxHashMap<K, Arc<Message>>,
    key: K,
    message: Option<Arc<Message>>,
) -> Option<Arc<Message>> {
    match message {
        Some(message) => messages.insert(key, message),
        None => messages.remove(&key),
    }
}
