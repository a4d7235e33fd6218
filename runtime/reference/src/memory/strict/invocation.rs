//! An invocation's knowledge of earlier accesses: how it grows, and how it is passed on.

use std::sync::Arc;

use super::clock::{Clock, Key, Time};
use super::event::Event;
use super::message::{Announced, CLASSES, History, Message, Release, classes};
use super::model::{Agent, Missing};
use crate::code::{Scope, Semantics};

/// An invocation's knowledge of the events in one storage class.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    pub history: History,
    /// The writes that are visible to the invocation.
    pub visible: Clock,
}

impl Knowledge {
    pub fn make_visible(&mut self, scope: Scope) {
        self.history.make_visible(scope);
        if let Some(nearest) = self.history.available(scope).first() {
            self.visible.join(nearest);
        }
    }

    /// Like [`AccessOrder::missing`](super::order::AccessOrder::missing), from the knowledge of the later access's invocation.
    pub fn missing(&self, earlier: &Event, later: &Event, unordered: Missing) -> Option<Missing> {
        if !self.history.before.knows(earlier.agent, Scope::Invocation, earlier.time) {
            return Some(unordered);
        }
        if earlier.how.is_private() || later.how.is_private() {
            return Some(Missing::NonPrivate);
        }
        // For read-modify-writes, the read is enough.
        if earlier.how.reads() {
            return None;
        }
        let knows = |clock: &Clock| clock.knows(earlier.agent, earlier.how.scope(), earlier.time);
        if !self.history.available(Scope::Device).iter().any(knows) {
            return Some(Missing::Availability);
        }
        if later.how.reads() && !knows(&self.visible) && !self.history.available(later.how.scope()).iter().any(knows) {
            return Some(Missing::Visibility);
        }
        None
    }
}

/// The storage classes whose synchronization orders both accesses.
pub(super) fn common_classes(a: &Event, b: &Event) -> impl Iterator<Item = usize> {
    let (a, b) = (a.how, b.how);
    (0..CLASSES).filter(move |class| a.concerns(*class) && b.concerns(*class))
}

pub(super) type Known = [Knowledge; CLASSES];

#[derive(Clone, Debug, Default)]
pub(super) struct Invocation {
    /// Shared with the other invocations that left the same barrier, until it changes.
    pub known: Arc<Known>,
    /// For each class, the writes since the last release that made themselves available.
    pub announced: [Announced; CLASSES],
    /// Release barriers, which synchronize through later atomic writes.
    pub fences: Vec<Fence>,
    /// For each class, the messages found by atomic reads, for later acquire barriers.
    pub pending: [Option<Arc<Message>>; CLASSES],
}

/// A release barrier of an invocation.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    pub scope: Scope,
    pub semantics: Semantics,
    /// The invocation's knowledge at the barrier, including its own events.
    pub known: Arc<Known>,
}

impl Fence {
    /// Whether the fence passes on everything that an older fence passes on.
    pub fn supersedes(&self, older: &Self) -> bool {
        let (own, older_semantics) = (self.semantics, older.semantics);
        older.scope <= self.scope && own.device >= older_semantics.device && own.workgroup >= older_semantics.workgroup
    }

    pub fn message(&self, from: Agent, scope: Scope) -> Arc<Message> {
        let mut history = [None, None];
        for class in classes(self.semantics) {
            history[class] = Some(self.known[class].history.clone());
        }
        Message::new(Release { scope: self.scope.min(scope), from, spread: Scope::Invocation, history })
    }
}

impl Invocation {
    /// Adds the invocation's own events until now to its knowledge.
    pub fn publish(&mut self, agent: Agent, now: Time, scope: Scope, semantics: Semantics) {
        let known = Arc::make_mut(&mut self.known);
        for class in classes(semantics) {
            let own = &mut known[class].history;
            own.add(Key::agent(agent), now);
            let announced = std::mem::take(&mut self.announced[class]);
            own.announce(agent, &announced, semantics.available.then_some(scope));
            if semantics.available {
                own.make_available(Key::agent(agent), now, scope);
            }
        }
    }

    /// Adds a release barrier, which passes on the current knowledge.
    pub fn add_fence(&mut self, scope: Scope, semantics: Semantics) {
        let fence = Fence { scope, semantics, known: self.known.clone() };
        self.fences.retain(|older| !fence.supersedes(older));
        self.fences.push(fence);
    }

    /// Acquires the messages found by atomic reads.
    pub fn acquire_pending(&mut self, agent: Agent, scope: Scope, semantics: Semantics) {
        let pending: Vec<_> =
            classes(semantics).filter_map(|class| self.pending[class].as_ref()?.for_reader(agent, scope)).collect();
        take_up(Arc::make_mut(&mut self.known), agent, &pending, scope, semantics);
        if scope == Scope::Device && semantics.device && semantics.workgroup {
            // Nothing is left for later.
            self.pending = [None, None];
        }
    }
}

/// An acquire operation in a scope that finds messages.
pub(super) fn take_up(known: &mut Known, agent: Agent, messages: &[Arc<Message>], scope: Scope, semantics: Semantics) {
    for class in classes(semantics) {
        let knowledge = &mut known[class];
        for release in messages.iter().flat_map(|message| message.releases()) {
            release.teach(class, &mut knowledge.history, agent);
        }
        if semantics.visible {
            knowledge.make_visible(scope);
        }
    }
}
