//! What the paths through a function need of the items that depend on dot products.
//!
//! Memory accesses, conditions and operations of a subgroup need what they use, and what that was computed from. What
//! only a selection's other operand, or the arm of a condition that isn't taken, would need isn't needed.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use super::code::{Code, Instruction};
use super::dependents::{Dependents, Item};
use super::paths::{Node, NodeId, Paths, Step};
use crate::index::{Index, IndexVec};
use crate::ir::{Function, Op};

/// The most nodes of a place that differ in what is known there.
const MOST_NODES: usize = 16;

/// The most values to look through for what two of them are both computed from.
const MOST_SOURCES: usize = 64;

/// A compiler that moves sums, by what it makes of what is known on a path.
#[derive(Clone, Copy, Debug)]
pub enum Compiler {
    /// It leaves out paths that aren't possible, and puts constants in place of what is known on the others.
    Folding,
    /// It knows nothing of paths.
    Pathless,
}

/// What is needed in a function, on the paths that are possible.
pub struct Needs<'f> {
    /// What the places mean.
    pub code: Code<'f>,
    /// What some path from a place needs, for the places where nodes begin.
    pub starts: Vec<Option<FixedBitSet>>,
    /// The places of the statements whose results some path needs. All that the statements say is computed there, whether it is known or
    /// not. The others can go.
    pub needed: FixedBitSet,
}

/// What the paths from a node need.
#[derive(Clone)]
struct State {
    /// What a path needs.
    some: FixedBitSet,
    /// What a path needs before it leaves the innermost loop, the way out of which is part of it.
    inside: FixedBitSet,
    /// What all paths need sooner or later.
    all: FixedBitSet,
    /// What all paths need before a loop that doesn't use it, or after they leave the innermost loop.
    soon: FixedBitSet,
}

struct Solver<'p> {
    paths: &'p Paths<'p>,
    dependents: &'p Dependents,
    states: IndexVec<NodeId, State>,
    before: IndexVec<NodeId, Vec<NodeId>>,
}

impl<'f> Needs<'f> {
    /// Finds what a function needs.
    pub fn new(function: &'f Function, dependents: &Dependents) -> Self {
        let paths = Paths::new(function, dependents, MOST_NODES, false);
        let mut solver = Solver::new(&paths, dependents);
        solver.settle(|state| &mut state.some);
        let mut starts = vec![None; paths.code.loops.len()];
        let mut needed = FixedBitSet::with_capacity(paths.code.loops.len());
        for (id, node) in paths.nodes.enumerated() {
            let some = &solver.states[id].some;
            starts[node.place].get_or_insert_with(|| FixedBitSet::with_capacity(some.len())).union_with(some);
            solver.node(node, |step, [some, ..]| needed.set(step.place, some || needed.contains(step.place)));
        }
        Self { starts, needed, code: paths.code }
    }
}

/// The dot products that a compiler may move although they stay.
pub fn unsettled(function: &Function, dependents: &Dependents, compiler: Compiler) -> FxHashSet<Item> {
    let most_nodes = match compiler {
        Compiler::Folding => MOST_NODES,
        Compiler::Pathless => 0,
    };
    let paths = Paths::new(function, dependents, most_nodes, true);
    let mut solver = Solver::new(&paths, dependents);
    // What some path needs is added until nothing is missing.
    solver.settle(|state| &mut state.some);
    solver.settle(|state| &mut state.inside);
    // What one round computes for the next can't leave the loop: all paths need it until that is refuted.
    solver.settle(|state| &mut state.all);
    solver.settle(|state| &mut state.soon);
    let mut unsettled = FxHashSet::default();
    for node in paths.nodes.iter() {
        solver.node(node, |step, [_, inside, _, soon]| {
            // What only follows a loop can be computed after it, whatever the exit.
            let settled = soon && (inside || paths.code.loops[step.place].is_none());
            unsettled.extend(step.result.filter(|_| step.is_dot && !settled));
        });
    }
    unsettled
}

impl<'p> Solver<'p> {
    fn new(paths: &'p Paths<'p>, dependents: &'p Dependents) -> Self {
        let none = FixedBitSet::with_capacity(dependents.len());
        let mut all = none.clone();
        all.insert_range(..);
        let mut before = IndexVec::filled(Vec::new(), paths.nodes.len());
        for (id, node) in paths.nodes.enumerated() {
            node.next.iter().for_each(|next: &NodeId| before[*next].push(id));
        }
        let state = State { some: none.clone(), inside: none, all: all.clone(), soon: all };
        Self { paths, dependents, states: IndexVec::filled(state, paths.nodes.len()), before }
    }

    /// Computes one set of all nodes from those that follow, until nothing changes.
    fn settle(&mut self, set: impl Fn(&mut State) -> &mut FixedBitSet) {
        let mut open: VecDeque<NodeId> = self.states.indices().rev().collect();
        let mut is_open = IndexVec::<NodeId, bool>::filled(true, open.len());
        while let Some(id) = open.pop_front() {
            is_open[id] = false;
            let mut start = self.node(&self.paths.nodes[id], |_, _| {});
            if set(&mut start) != set(&mut self.states[id]) {
                std::mem::swap(set(&mut self.states[id]), set(&mut start));
                let before = self.before[id].iter().filter(|before| !std::mem::replace(&mut is_open[**before], true));
                open.extend(before);
            }
        }
    }

    /// What the paths from a node need. Tells of each step whether some paths need its result, and whether all do.
    fn node(&self, node: &Node, mut visit: impl FnMut(&Step, [bool; 4])) -> State {
        let mut state = match node.next[..] {
            [one, other] => Self::join(self.after(node, one), &self.after(node, other)),
            [next] => self.after(node, next),
            _ => {
                let none = FixedBitSet::with_capacity(self.dependents.len());
                State { some: none.clone(), inside: none.clone(), all: none.clone(), soon: none }
            }
        };
        for step in node.steps.iter().rev() {
            let mut needed = match step.result {
                Some(item) => state.sets().map(|set| {
                    let was_needed = set.contains(item.position());
                    set.set(item.position(), false);
                    was_needed
                }),
                None => [true; 4],
            };
            visit(step, needed);
            // A dot product that not all paths need is kept in its place, where it needs its operands.
            if step.is_dot && needed[0] {
                needed = [true; 4];
            }
            step.uses.iter().for_each(|item| state.add(*item, needed));
            // A compiler can make a condition of a selection, of which each arm needs one of the values.
            if let Some(either) = step.either {
                either.into_iter().flatten().for_each(|item| state.add(item, [needed[0], needed[1], false, false]));
                if let ([_, _, true, _], [Some(a), Some(b)]) = (needed, either) {
                    let others = self.sources(b);
                    let common = self.sources(a).into_iter().filter(|item| others.contains(item));
                    common.for_each(|item| state.add(item, needed));
                }
            }
        }
        if let Instruction::Loop { used, .. } = &self.paths.code.instructions[node.place] {
            // What only follows the loop could be computed after it.
            state.soon.intersect_with(used);
        }
        state
    }

    /// What the paths into both arms of a condition need.
    fn join(one: State, other: &State) -> State {
        State {
            some: &one.some | &other.some,
            inside: &one.inside | &other.inside,
            all: &one.all & &other.all,
            soon: &one.soon & &other.soon,
        }
    }

    /// What the paths from a node on the way to another need.
    fn after(&self, node: &Node, next: NodeId) -> State {
        let mut state = self.states[next].clone();
        let (loops, place) = (&self.paths.code.loops, self.paths.nodes[next].place);
        if loops[node.place] == Some(place) {
            // What a round passes on can't leave the loop.
            state.inside.clone_from(&state.some);
        } else if loops[place] < loops[node.place] {
            state.inside.clear();
            // What a next round needs, too, can't leave the loop, however late those need it that leave.
            state.soon.clone_from(&state.all);
        }
        state
    }

    /// An item, and those from which it is computed in any case.
    fn sources(&self, item: Item) -> FxHashSet<Item> {
        let mut sources = FxHashSet::default();
        let mut open = vec![item];
        while let Some(item) = open.pop().filter(|_| sources.len() < MOST_SOURCES) {
            if let (true, Some(op)) = (sources.insert(item), self.dependents.op(item))
                && !matches!(op, Op::Select(..))
            {
                open.extend(self.dependents.operands(op));
            }
        }
        sources
    }
}

impl State {
    fn sets(&mut self) -> [&mut FixedBitSet; 4] {
        [&mut self.some, &mut self.inside, &mut self.all, &mut self.soon]
    }

    fn add(&mut self, item: Item, needed: [bool; 4]) {
        for (set, needed) in self.sets().into_iter().zip(needed) {
            if needed {
                set.insert(item.position());
            }
        }
    }
}
