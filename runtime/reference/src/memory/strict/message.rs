//! The knowledge that a release passes to an acquire: the events that happened before, and the scopes in which they are
//! available.

use std::sync::Arc;

use super::clock::{Clock, Key, Time};
use super::model::Agent;
use crate::code::{Scope, Semantics};

/// The number of storage classes in semantics: device and workgroup memory.
pub(super) const CLASSES: usize = 2;

/// The scopes that have a memory domain.
const SCOPES: [Scope; 3] = [Scope::Subgroup, Scope::Workgroup, Scope::Device];

const DOMAINS: usize = SCOPES.len();

/// For each scope, the time when an invocation last wrote with availability in that scope; 0 for never.
pub(super) type Announced = [Time; DOMAINS];

/// The indices of the storage classes in semantics.
pub(super) fn classes(semantics: Semantics) -> impl Iterator<Item = usize> {
    [semantics.device, semantics.workgroup].into_iter().enumerate().filter_map(|(class, named)| named.then_some(class))
}

/// The narrowest scope that contains both invocations.
pub(super) fn common(a: Agent, b: Agent) -> Scope {
    match (a.workgroup == b.workgroup, a.subgroup == b.subgroup, a.lane == b.lane) {
        (false, ..) => Scope::Device,
        (_, false, _) => Scope::Workgroup,
        (.., false) => Scope::Subgroup,
        _ => Scope::Invocation,
    }
}

/// The number of domains of a scope: its own and the narrower ones.
fn domains(scope: Scope) -> usize {
    scope as usize
}

/// Events in one storage class that happened before some moment of an invocation.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) before: Clock,
    /// The writes among them that are available to the memory domains of the invocation's subgroup, its workgroup, and
    /// the device.
    available: [Clock; DOMAINS],
}

impl History {
    /// Adds another invocation's knowledge. `reach` is the narrowest scope whose domain both share.
    fn learn(&mut self, told: &Self, reach: Scope) {
        self.before.join(&told.before);
        let first = domains(reach).saturating_sub(1);
        for (own, told) in self.available.iter_mut().zip(&told.available).skip(first) {
            own.join(told);
        }
    }

    pub(super) fn add(&mut self, key: Key, now: Time) {
        self.before.raise(key, now);
    }

    /// An availability operation of an invocation: makes the writes of a key up to now available in a scope, and also the writes that are
    /// available in narrower scopes.
    pub(super) fn make_available(&mut self, key: Key, now: Time, scope: Scope) {
        self.raise_available(key, now, domains(scope));
        self.widen(scope);
    }

    /// Makes writes that are available in narrower scopes available in this scope.
    fn widen(&mut self, scope: Scope) {
        for domain in 1..domains(scope) {
            let narrower = self.available[domain - 1].clone();
            self.available[domain].join(&narrower);
        }
    }

    /// Adds the agent's writes that made themselves available, except in scopes that an availability operation for all
    /// writes covers.
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

    /// A visibility operation: writes that are available in a scope become available in the narrower ones too.
    pub(super) fn make_visible(&mut self, scope: Scope) {
        for domain in (1..domains(scope)).rev() {
            let wider = self.available[domain].clone();
            self.available[domain - 1].join(&wider);
        }
    }

    /// The available writes in the domains of a scope and of narrower ones.
    pub(super) fn available(&self, scope: Scope) -> &[Clock] {
        &self.available[..domains(scope)]
    }

    /// Removes availability in domains that the invocations of this history don't share.
    fn restrict(&mut self, spread: Scope) {
        for own in self.available.iter_mut().take(domains(spread).saturating_sub(1)) {
            *own = Clock::default();
        }
    }

    /// Adds the events of a whole workgroup up to now, and its writes as available in the given scope. Since no event
    /// is later, this replaces all other entries of the workgroup.
    fn add_workgroup(&mut self, agent: Agent, now: Time, available: Option<Scope>) {
        let Self { before, available: clocks } = self;
        let count = available.map_or(0, domains);
        for own in std::iter::once(before).chain(clocks.iter_mut().take(count)) {
            own.remove_workgroup(agent);
            own.raise(Key::workgroup(agent), now);
        }
    }

    /// Whether all clocks are the same nodes.
    fn is(&self, other: &Self) -> bool {
        self.before.is(&other.before) && self.available.iter().zip(&other.available).all(|(a, b)| a.is(b))
    }
}

/// A release, or several releases by invocations of the same scope instance.
#[derive(Clone, Debug)]
pub(super) struct Release {
    /// The scope whose invocations may acquire it.
    pub(super) scope: Scope,
    /// One of the releasing invocations.
    pub(super) from: Agent,
    /// The narrowest scope that contains all of them.
    pub(super) spread: Scope,
    /// The knowledge about the storage classes in its semantics.
    pub(super) history: [Option<History>; CLASSES],
}

impl Release {
    /// Whether an acquire in a scope by an agent synchronizes with the release. Of several releases, any one is enough.
    fn reaches(&self, agent: Agent, scope: Scope) -> bool {
        let common = common(self.from, agent);
        common <= self.scope && (common <= scope || self.spread > scope)
    }

    fn is_for_same_as(&self, other: &Self) -> bool {
        self.scope == other.scope && common(self.from, other.from) <= self.scope
    }

    /// Both releases combined; `None` if that equals this one.
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

    /// Adds the release's knowledge about a storage class to an agent's history, if it has any.
    pub(super) fn teach(&self, class: usize, history: &mut History, agent: Agent) {
        if let Some(told) = &self.history[class] {
            history.learn(told, self.spread.max(common(self.from, agent)));
        }
    }

    /// The release of a barrier, as one of its participants receives it. All participants' writes count as available in
    /// each participant's subgroup. For visibility operations narrower than the barrier, this is more than the memory
    /// model requires.
    pub(super) fn told_to(&self, agent: Agent) -> Self {
        Self { from: agent, spread: Scope::Subgroup, ..self.clone() }
    }
}

/// The knowledge that readers of an atomic write can acquire.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<Arc<Release>>);

impl Message {
    pub(super) fn new(release: Release) -> Arc<Self> {
        Arc::new(Self(vec![Arc::new(release)]))
    }

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

    /// The releases that an atomic read or acquire in a scope synchronizes with.
    pub(super) fn for_reader(self: &Arc<Self>, agent: Agent, scope: Scope) -> Option<Arc<Self>> {
        self.filtered(|release| release.reaches(agent, scope))
    }

    /// The releases that invocations with this common scope can acquire.
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

    /// Drops releases that no invocation can acquire any more, given which workgroups are running.
    pub(super) fn prune(own: &mut Arc<Self>, runs: impl Fn(u32) -> bool) {
        // A few releases cost little.
        if own.0.len() > 8 {
            let lives = |release: &Arc<Release>| release.scope == Scope::Device || runs(release.from.workgroup);
            Arc::make_mut(own).0.retain(lives);
        }
    }

    pub(super) fn releases(&self) -> &[Arc<Release>] {
        &self.0
    }
}

/// Collects the knowledge that participants of a control barrier exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) release: Release,
    pub(super) now: Time,
    /// The scope of the barrier's availability operation, if it has one.
    pub(super) available: Option<Scope>,
}

impl Exchange {
    /// Adds the knowledge of a participant, or of several with the same knowledge.
    pub(super) fn bring(&mut self, class: usize, history: &History) {
        let mut history = history.clone();
        if let Some(scope) = self.available {
            history.widen(scope);
        }
        let spread = self.release.spread;
        self.release.history[class].get_or_insert_default().learn(&history, spread);
    }

    pub(super) fn add(&mut self, class: usize, agent: Agent) {
        self.add_key(class, Key::agent(agent));
    }

    fn add_key(&mut self, class: usize, key: Key) {
        let history = self.release.history[class].get_or_insert_default();
        history.add(key, self.now);
        history.raise_available(key, self.now, self.available.map_or(0, domains));
    }

    /// Adds a participant's writes that made themselves available in a wider scope than the barrier's.
    pub(super) fn announce(&mut self, class: usize, agent: Agent, announced: &Announced) {
        if *announced != Announced::default() {
            let history = self.release.history[class].get_or_insert_default();
            history.announce(agent, announced, self.available);
        }
    }

    /// Adds the events of all participants, which are a whole workgroup or subgroup.
    pub(super) fn add_all(&mut self, class: usize) {
        let agent = self.release.from;
        if self.release.spread <= Scope::Subgroup {
            self.add_key(class, Key::subgroup(agent));
        } else {
            let history = self.release.history[class].get_or_insert_default();
            history.add_workgroup(agent, self.now, self.available);
        }
    }
}

/// Records a write that makes itself available in a scope.
pub(super) fn announce(announced: &mut Announced, scope: Scope, now: Time) {
    if let Some(domain) = domains(scope).checked_sub(1) {
        announced[domain] = now;
    }
}
