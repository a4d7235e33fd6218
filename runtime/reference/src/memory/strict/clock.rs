//! Sets of known events of all invocations: a vector clock for very many invocations.
//!
//! Time is counted for the whole dispatch, so that one entry can stand for all invocations of a workgroup or subgroup
//! up to a moment, as after a barrier. Clocks that derive from each other share their common parts (they are Patricia
//! tries: Okasaki and Gill 1998, "Fast mergeable integer maps"), so that the cost of joining them depends only on their
//! differences.

use std::cell::RefCell;
use std::sync::Arc;

use super::model::Agent;
use crate::code::Scope;

/// A moment of a dispatch.
pub(super) type Time = u32;

/// The invocations that an entry is about. The workgroup is in the upper half, so that its entries are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    /// All invocations of the agent's workgroup.
    pub(super) fn workgroup(agent: Agent) -> Self {
        Self(u64::from(agent.workgroup) << 32)
    }

    /// All invocations of the agent's subgroup.
    pub(super) fn subgroup(agent: Agent) -> Self {
        Self::with(agent, 1, agent.subgroup)
    }

    /// The agent alone.
    pub(super) fn agent(agent: Agent) -> Self {
        Self::with(agent, 2, agent.lane)
    }

    /// Only those writes of the agent that were made available by themselves in exactly this scope.
    pub(super) fn announced(agent: Agent, scope: Scope) -> Self {
        Self::with(agent, 3 + scope as u64, agent.lane)
    }

    fn with(agent: Agent, kind: u64, number: u16) -> Self {
        Self(Self::workgroup(agent).0 | kind << 16 | u64::from(number))
    }
}

/// A set of events: for each key, all events up to a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Option<Arc<Node>>);

#[derive(Debug)]
enum Node {
    /// A single key.
    Leaf { key: u64, time: Time },
    /// Keys that agree above `bit` (a power of two): those with a 0 there are in `low`, those with a 1 in `high`.
    Branch { prefix: u64, bit: u64, low: Arc<Node>, high: Arc<Node> },
}

impl Clock {
    /// Whether the set contains an event of an agent. `announced` is the scope in which the event made itself
    /// available, or `Invocation` if it didn't.
    pub(super) fn knows(&self, agent: Agent, announced: Scope, time: Time) -> bool {
        let until = |key| self.get(key) >= time;
        self.0.is_some()
            && (until(Key::workgroup(agent))
                || until(Key::agent(agent))
                || until(Key::subgroup(agent))
                || announced > Scope::Invocation && until(Key::announced(agent, announced)))
    }

    fn get(&self, key: Key) -> Time {
        let mut next = self.0.as_ref();
        while let Some(node) = next {
            match &**node {
                Node::Leaf { key: own, time } => return if *own == key.0 { *time } else { 0 },
                Node::Branch { prefix, bit, low, high } => {
                    if above(key.0, *bit) != *prefix {
                        return 0;
                    }
                    next = Some(if key.0 & bit == 0 { low } else { high });
                }
            }
        }
        0
    }

    /// Adds all events of a key up to a time.
    pub(super) fn raise(&mut self, key: Key, time: Time) {
        MEMO.with_borrow_mut(|memo| {
            let leaf = memo.leaf(key, time);
            self.0 = Some(match &self.0 {
                None => leaf,
                Some(node) => memo.recall(node, &leaf, |node, leaf| Some(join(node, leaf))).unwrap_or(leaf),
            });
        });
    }

    /// Removes all keys of a workgroup.
    pub(super) fn remove_workgroup(&mut self, agent: Agent) {
        let key = Key::workgroup(agent);
        if let Some(node) = &self.0 {
            self.0 = MEMO.with_borrow_mut(|memo| {
                let leaf = memo.leaf(key, 0);
                memo.recall(node, &leaf, |node, _| without(node, key.0))
            });
        }
    }

    /// Adds all events of another clock.
    pub(super) fn join(&mut self, other: &Self) {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => {
                if !Arc::ptr_eq(a, b) {
                    self.0 = MEMO.with_borrow_mut(|memo| memo.recall(a, b, |a, b| Some(join(a, b))));
                }
            }
            (None, Some(_)) => self.0.clone_from(&other.0),
            (_, None) => {}
        }
    }

    /// Whether both are the same node. Equal clocks may be different nodes.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

/// The last results. An invocation's clocks for happens-before, availability and visibility, in both storage classes,
/// are mostly the same node and change in the same way. Reusing the result keeps them the same, and saves work.
#[derive(Default)]
struct Memo {
    leaf: Option<(Key, Time, Arc<Node>)>,
    results: [Option<Recalled>; 4],
    next: usize,
}

/// Two operands, kept alive so that their addresses are not reused, and the result.
struct Recalled {
    a: Arc<Node>,
    b: Arc<Node>,
    result: Option<Arc<Node>>,
}

thread_local! {
    static MEMO: RefCell<Memo> = RefCell::default();
}

impl Memo {
    fn leaf(&mut self, key: Key, time: Time) -> Arc<Node> {
        match &self.leaf {
            Some((last_key, last_time, leaf)) if *last_key == key && *last_time == time => leaf.clone(),
            _ => {
                let leaf = Arc::new(Node::Leaf { key: key.0, time });
                self.leaf = Some((key, time, leaf.clone()));
                leaf
            }
        }
    }

    fn recall(
        &mut self,
        a: &Arc<Node>,
        b: &Arc<Node>,
        compute: impl FnOnce(&Arc<Node>, &Arc<Node>) -> Option<Arc<Node>>,
    ) -> Option<Arc<Node>> {
        let same = |recalled: &&Recalled| Arc::ptr_eq(&recalled.a, a) && Arc::ptr_eq(&recalled.b, b);
        if let Some(recalled) = self.results.iter().flatten().find(same) {
            return recalled.result.clone();
        }
        let result = compute(a, b);
        self.results[self.next] = Some(Recalled { a: a.clone(), b: b.clone(), result: result.clone() });
        self.next = (self.next + 1) % self.results.len();
        result
    }
}

fn above(key: u64, bit: u64) -> u64 {
    key & !(bit | (bit - 1))
}

/// A node for two nodes without common keys, whose keys differ in a bit above both.
fn fork(a: &Arc<Node>, a_key: u64, b: &Arc<Node>, b_key: u64) -> Arc<Node> {
    let bit = 1 << (63 - (a_key ^ b_key).leading_zeros());
    let (low, high) = if a_key & bit == 0 { (a, b) } else { (b, a) };
    Arc::new(Node::Branch { prefix: above(a_key, bit), bit, low: low.clone(), high: high.clone() })
}

/// The branch `node` with other subtrees. Returns the node itself if they are unchanged.
fn rebuilt(node: &Arc<Node>, new_low: Arc<Node>, new_high: Arc<Node>) -> Arc<Node> {
    match &**node {
        Node::Branch { prefix, bit, low, high } if !(Arc::ptr_eq(low, &new_low) && Arc::ptr_eq(high, &new_high)) => {
            Arc::new(Node::Branch { prefix: *prefix, bit: *bit, low: new_low, high: new_high })
        }
        _ => node.clone(),
    }
}

fn join(a: &Arc<Node>, b: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(a, b) {
        return a.clone();
    }
    match (&**a, &**b) {
        (Node::Leaf { key: a_key, time: a_time }, Node::Leaf { key: b_key, time: b_time }) if a_key == b_key => {
            if a_time >= b_time {
                a.clone()
            } else {
                b.clone()
            }
        }
        (Node::Leaf { key: a_key, .. }, Node::Leaf { key: b_key, .. }) => fork(a, *a_key, b, *b_key),
        (Node::Leaf { .. }, Node::Branch { .. }) => join(b, a),
        (Node::Branch { prefix, bit, low, high }, Node::Leaf { key, .. }) => {
            if above(*key, *bit) != *prefix {
                fork(a, *prefix, b, *key)
            } else if key & bit == 0 {
                rebuilt(a, join(low, b), high.clone())
            } else {
                rebuilt(a, low.clone(), join(high, b))
            }
        }
        (
            Node::Branch { prefix, bit, low, high },
            Node::Branch { prefix: b_prefix, bit: b_bit, low: b_low, high: b_high },
        ) => {
            if bit < b_bit {
                join(b, a)
            } else if above(*b_prefix, *bit) != *prefix {
                fork(a, *prefix, b, *b_prefix)
            } else if bit == b_bit {
                let (new_low, new_high) = (join(low, b_low), join(high, b_high));
                // Either operand may already be the result.
                if Arc::ptr_eq(&new_low, b_low) && Arc::ptr_eq(&new_high, b_high) {
                    b.clone()
                } else {
                    rebuilt(a, new_low, new_high)
                }
            } else if b_prefix & bit == 0 {
                rebuilt(a, join(low, b), high.clone())
            } else {
                rebuilt(a, low.clone(), join(high, b))
            }
        }
    }
}

/// A node without the keys of a workgroup, given by the workgroup's own key.
fn without(node: &Arc<Node>, workgroup: u64) -> Option<Arc<Node>> {
    const GROUP: u64 = !0 << 32;
    match &**node {
        Node::Leaf { key, .. } => (key & GROUP != workgroup).then(|| node.clone()),
        Node::Branch { prefix, bit, low, high } => {
            if *bit < 1 << 32 {
                (prefix & GROUP != workgroup).then(|| node.clone())
            } else if above(workgroup, *bit) != *prefix {
                Some(node.clone())
            } else {
                match (without(low, workgroup), without(high, workgroup)) {
                    (Some(low), Some(high)) => Some(rebuilt(node, low, high)),
                    (one, other) => one.or(other),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::config::{Choice, Seeded};

    fn agent(workgroup: u32, lane: u16) -> Agent {
        Agent { workgroup, subgroup: lane / 4, lane }
    }

    #[test]
    fn agrees_with_a_map() {
        let mut random = Seeded::new(1);
        let mut clocks: Vec<(Clock, HashMap<u64, Time>)> = vec![Default::default(); 4];
        for _ in 0..4000 {
            let i = random.pick(4) as usize;
            let j = random.pick(4) as usize;
            if random.pick(3) == 0 {
                let other = clocks[j].clone();
                clocks[i].0.join(&other.0);
                for (key, time) in other.1 {
                    let own = clocks[i].1.entry(key).or_default();
                    *own = time.max(*own);
                }
            } else {
                let key = Key::agent(agent(random.pick(5) * 1_000_003, random.pick(40) as u16));
                let time = random.pick(1000);
                clocks[i].0.raise(key, time);
                let own = clocks[i].1.entry(key.0).or_default();
                *own = time.max(*own);
            }
            for group in 0..5 {
                for lane in 0..40 {
                    let key = Key::agent(agent(group * 1_000_003, lane));
                    assert_eq!(clocks[i].0.get(key), clocks[i].1.get(&key.0).copied().unwrap_or(0));
                }
            }
        }
    }

    #[test]
    fn groups_stand_for_their_agents() {
        let mut clock = Clock::default();
        clock.raise(Key::agent(agent(1, 3)), 9);
        clock.raise(Key::agent(agent(2, 3)), 9);
        clock.remove_workgroup(agent(1, 0));
        clock.raise(Key::workgroup(agent(1, 0)), 20);
        assert!(clock.knows(agent(1, 7), Scope::Invocation, 20));
        assert!(!clock.knows(agent(1, 7), Scope::Invocation, 21));
        assert!(!clock.knows(agent(0, 7), Scope::Invocation, 1));
        assert!(clock.knows(agent(2, 3), Scope::Invocation, 9));
        assert!(!clock.knows(agent(2, 2), Scope::Invocation, 9));
        assert_eq!(clock.get(Key::agent(agent(1, 3))), 0, "replaced by the entry of the workgroup");
        clock.raise(Key::subgroup(agent(2, 4)), 30);
        assert!(clock.knows(agent(2, 5), Scope::Invocation, 30));
        assert!(!clock.knows(agent(2, 3), Scope::Invocation, 30));
        clock.raise(Key::announced(agent(3, 0), Scope::Workgroup), 5);
        assert!(clock.knows(agent(3, 0), Scope::Workgroup, 5));
        assert!(!clock.knows(agent(3, 0), Scope::Device, 5));
        assert!(!clock.knows(agent(3, 0), Scope::Invocation, 5));
    }

    #[test]
    fn joining_a_subset_changes_nothing() {
        let mut small = Clock::default();
        for lane in 0..50 {
            small.raise(Key::agent(agent(0, lane)), 5);
        }
        let mut large = small.clone();
        for lane in 0..100 {
            large.raise(Key::agent(agent(7, lane)), 6);
        }
        let before = large.clone();
        large.join(&small);
        assert!(large.is(&before));
        small.join(&large);
        assert!(small.is(&large));
    }
}
