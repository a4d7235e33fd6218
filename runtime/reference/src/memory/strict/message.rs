//! The knowledge that a release passes to an acquire: which events happened before, and how far they were made
//! available.

use std::sync::Arc;

use super::clock::{Clock, Key, Time};
use super::model::Agent;
use crate::code::{Scope, Semantics};

/// The storage classes that semantics speak of: device and workgroup memory, as indices.
pub(super) const CLASSES: usize = 2;

/// The scopes that have a memory domain.
const SCOPES: [Scope; 3] = [Scope::Subgroup, Scope::Workgroup, Scope::Device];

const DOMAINS: usize = SCOPES.len();

/// When an invocation last made a write available by the write itself in each of the scopes; 0 for never.
pub(super) type Announced = [Time; DOMAINS];

/// The index of a storage class.
pub(super) fn classes(semantics: Semantics) -> impl Iterator<Item = usize> {
    [semantics.device, semantics.workgroup].into_iter().enumerate().filter_map(|(class, named)| named.then_some(class))
}

/// The narrowest scope that two invocations have in common.
pub(super) fn common(a: Agent, b: Agent) -> Scope {
    if a.workgroup != b.workgroup {
        Scope::Device
    } else if a.subgroup != b.subgroup {
        Scope::Workgroup
    } else if a.lane != b.lane {
        Scope::Subgroup
    } else {
        Scope::Invocation
    }
}

/// How many domains a scope has: its own and those within.
fn domains(scope: Scope) -> usize {
    match scope {
        Scope::Invocation => 0,
        Scope::Subgroup => 1,
        Scope::Workgroup => 2,
        Scope::Device => 3,
    }
}

/// Events in one storage class that happened before some moment of an invocation.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// All of them.
    pub(super) before: Clock,
    /// The writes that are available to the memory domain of the invocation's subgroup, its workgroup, the device.
    available: [Clock; DOMAINS],
}

impl History {
    /// Adds another invocation's knowledge; the narrowest domain that both share is that of `reach`.
    fn learn(&mut self, told: &Self, reach: Scope) {
        self.before.join(&told.before);
        let first = domains(reach).saturating_sub(1);
        for (own, told) in self.available.iter_mut().zip(&told.available).skip(first) {
            own.join(told);
        }
    }

    /// Adds all events of a key up to now.
    pub(super) fn add(&mut self, key: Key, now: Time) {
        self.before.raise(key, now);
    }

    /// An availability operation of an invocation: makes the writes of a key up to now available in a scope, and those that
    /// are available in narrower ones.
    pub(super) fn make_available(&mut self, key: Key, now: Time, scope: Scope) {
        self.raise_available(key, now, domains(scope));
        self.widen(scope);
    }

    /// Makes writes that are available in narrower scopes available in this scope.
    fn widen(&mut self, scope: Scope) {
        for domain in 1..domains(scope) {
            let (narrower, wider) = self.available.split_at_mut(domain);
            wider[0].join(&narrower[domain - 1]);
        }
    }

    /// Adds writes that made themselves available, beyond the scope of an availability operation for them all, if any.
    pub(super) fn announce(&mut self, agent: Agent, announced: &Announced, available: Option<Scope>) {
        let rest = SCOPES.into_iter().zip(announced).skip(available.map_or(0, domains));
        for (scope, time) in rest.filter(|(_, time)| **time > 0) {
            self.raise_available(Key::announced(agent, scope), *time, domains(scope));
        }
    }

    fn raise_available(&mut self, key: Key, now: Time, count: usize) {
        for own in self.available.iter_mut().take(count) {
            own.raise(key, now);
        }
    }

    /// A visibility operation: what is available in a scope becomes available in the narrower ones too.
    pub(super) fn make_visible(&mut self, scope: Scope) {
        for domain in (1..domains(scope)).rev() {
            let (narrower, wider) = self.available.split_at_mut(domain);
            narrower[domain - 1].join(&wider[0]);
        }
    }

    /// The writes that are available in a scope's domain or a narrower one.
    pub(super) fn available(&self, scope: Scope) -> &[Clock] {
        &self.available[..domains(scope)]
    }

    /// Forgets availability in domains that the invocations which this history is about have not in common.
    fn restrict(&mut self, spread: Scope) {
        for own in self.available.iter_mut().take(domains(spread).saturating_sub(1)) {
            *own = Clock::default();
        }
    }

    /// Adds the events of a whole workgroup up to now, and its writes as available if they are. As nothing is later, this
    /// replaces all else about the workgroup.
    fn add_workgroup(&mut self, agent: Agent, now: Time, available: Option<Scope>) {
        let Self { before, available: clocks } = self;
        let count = available.map_or(0, domains);
        for own in std::iter::once(before).chain(clocks.iter_mut().take(count)) {
            own.remove_workgroup(agent);
            own.raise(Key::workgroup(agent), now);
        }
    }

    /// Whether all is one and the same.
    fn is(&self, other: &Self) -> bool {
        self.before.is(&other.before) && self.available.iter().zip(&other.available).all(|(a, b)| a.is(b))
    }
}

/// A release, or several of invocations that the same scope instance includes.
#[derive(Clone, Debug)]
pub(super) struct Release {
    /// The scope whose invocations may acquire it.
    pub(super) scope: Scope,
    /// One of the releasing invocations.
    pub(super) from: Agent,
    /// The narrowest scope that all of them have in common.
    pub(super) spread: Scope,
    /// What it tells about the storage classes in its semantics.
    pub(super) history: [Option<History>; CLASSES],
}

impl Release {
    /// Whether an acquire in a scope by an agent synchronises with it. Where one of several releases may be meant, it does.
    fn reaches(&self, agent: Agent, scope: Scope) -> bool {
        let common = common(self.from, agent);
        common <= self.scope && (common <= scope || self.spread > scope)
    }

    fn is_for_same_as(&self, other: &Self) -> bool {
        self.scope == other.scope && common(self.from, other.from) <= self.scope
    }

    /// Both in one; `None` if that is this one already.
    fn merged(&self, other: &Self) -> Option<Self> {
        let spread = self.spread.max(other.spread).max(common(self.from, other.from));
        let mut result = Self { spread, ..self.clone() };
        let mut changed = spread != self.spread;
        for ((new, own), other) in result.history.iter_mut().zip(&self.history).zip(&other.history) {
            if let Some(other) = other {
                new.get_or_insert_default().learn(other, spread);
            }
            if let Some(new) = new {
                new.restrict(spread);
                changed |= !own.as_ref().is_some_and(|own| own.is(new));
            }
        }
        changed.then_some(result)
    }

    /// Tells an agent of a storage class's events, if it tells of that class.
    pub(super) fn teach(&self, class: usize, history: &mut History, agent: Agent) {
        if let Some(told) = &self.history[class] {
            history.learn(told, self.spread.max(common(self.from, agent)));
        }
    }

    /// This as a participant of a barrier is told it, whose release this is. Everybody's own writes are available in
    /// everybody's subgroup then, which is more than due only for visibility operations narrower than the barrier.
    pub(super) fn told_to(&self, agent: Agent) -> Self {
        Self { from: agent, spread: Scope::Subgroup, ..self.clone() }
    }
}

/// All that an atomic write carries to those who read it.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<Arc<Release>>);

impl Message {
    /// One release.
    pub(super) fn new(release: Release) -> Arc<Self> {
        Arc::new(Self(vec![Arc::new(release)]))
    }

    /// Adds another message.
    pub(super) fn join(own: &mut Option<Arc<Self>>, other: &Arc<Self>) {
        match own {
            Some(own) if Arc::ptr_eq(own, other) => {}
            Some(own) => {
                for release in &other.0 {
                    match own.0.iter().position(|own| own.is_for_same_as(release)) {
                        Some(same) if Arc::ptr_eq(&own.0[same], release) => {}
                        Some(same) => {
                            if let Some(merged) = own.0[same].merged(release) {
                                Arc::make_mut(own).0[same] = Arc::new(merged);
                            }
                        }
                        None => Arc::make_mut(own).0.push(release.clone()),
                    }
                }
            }
            None => *own = Some(other.clone()),
        }
    }

    /// What of it an atomic read or acquire in a scope takes up.
    pub(super) fn for_reader(self: &Arc<Self>, agent: Agent, scope: Scope) -> Option<Arc<Self>> {
        self.filtered(|release| release.reaches(agent, scope))
    }

    /// What of it invocations take up that have this scope in common.
    pub(super) fn for_groups(self: &Arc<Self>, scope: Scope) -> Option<Arc<Self>> {
        self.filtered(|release| release.scope >= scope)
    }

    fn filtered(self: &Arc<Self>, keep: impl Fn(&Release) -> bool) -> Option<Arc<Self>> {
        if self.0.iter().all(|release| keep(release)) {
            return Some(self.clone());
        }
        let kept: Vec<_> = self.0.iter().filter(|release| keep(release)).cloned().collect();
        (!kept.is_empty()).then(|| Arc::new(Self(kept)))
    }

    /// Drops releases that no invocation can acquire any more, given which workgroups still run.
    pub(super) fn prune(own: &mut Arc<Self>, runs: impl Fn(u32) -> bool) {
        // A few of them cost little.
        if own.0.len() > 8 {
            let lives = |release: &Arc<Release>| release.scope == Scope::Device || runs(release.from.workgroup);
            Arc::make_mut(own).0.retain(lives);
        }
    }

    /// The releases in it.
    pub(super) fn releases(&self) -> &[Arc<Release>] {
        &self.0
    }
}

/// Collects the knowledge that the participants of a control barrier exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) release: Release,
    pub(super) now: Time,
    /// The scope of the barrier's availability operation, if it has one.
    pub(super) available: Option<Scope>,
}

impl Exchange {
    /// Adds what a participant (or several that know the same) knows.
    pub(super) fn bring(&mut self, class: usize, history: &History) {
        let mut widened;
        let mut history = history;
        if let Some(scope) = self.available {
            widened = history.clone();
            widened.widen(scope);
            history = &widened;
        }
        let spread = self.release.spread;
        self.release.history[class].get_or_insert_default().learn(history, spread);
    }

    /// Adds a participant's own events.
    pub(super) fn add(&mut self, class: usize, agent: Agent) {
        let history = self.release.history[class].get_or_insert_default();
        history.add(Key::agent(agent), self.now);
        if let Some(scope) = self.available {
            history.raise_available(Key::agent(agent), self.now, domains(scope));
        }
    }

    /// Adds a participant's writes that made themselves available beyond the scope of the barrier.
    pub(super) fn announce(&mut self, class: usize, agent: Agent, announced: &Announced) {
        if *announced != Announced::default() {
            let history = self.release.history[class].get_or_insert_default();
            history.announce(agent, announced, self.available);
        }
    }

    /// Adds the events of all participants, who are a whole workgroup or subgroup.
    pub(super) fn add_all(&mut self, class: usize) {
        let agent = self.release.from;
        let history = self.release.history[class].get_or_insert_default();
        if self.release.spread <= Scope::Subgroup {
            let key = Key::subgroup(agent);
            history.add(key, self.now);
            if let Some(scope) = self.available {
                history.raise_available(key, self.now, domains(scope));
            }
        } else {
            history.add_workgroup(agent, self.now, self.available);
        }
    }
}

/// A write makes itself available in a scope.
pub(super) fn announce(announced: &mut Announced, scope: Scope, now: Time) {
    if let Some(domain) = domains(scope).checked_sub(1) {
        announced[domain] = now;
    }
}
