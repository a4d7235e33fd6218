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

/// What the paths from a node need: sets of items.
type State = [FixedBitSet; 4];

/// What a path needs.
const SOME: usize = 0;
/// What a path needs before it leaves the innermost loop, the way out of which is part of it.
const INSIDE: usize = 1;
/// What all paths need sooner or later.
const ALL: usize = 2;
/// What all paths need before a loop that doesn't use it, or after they leave the innermost loop.
const SOON: usize = 3;

const EVERY: [usize; 4] = [SOME, INSIDE, ALL, SOON];

struct Solver<'p> {
    paths: &'p Paths<'p>,
    dependents: &'p Dependents,
    states: IndexVec<NodeId, State>,
    none: FixedBitSet,
    before: IndexVec<NodeId, Vec<NodeId>>,
}

impl<'f> Needs<'f> {
    /// Finds what a function needs.
    pub fn new(function: &'f Function, dependents: &Dependents) -> Self {
        let paths = Paths::new(function, dependents, MOST_NODES, false);
        let mut solver = Solver::new(&paths, dependents);
        solver.settle(SOME);
        let mut state = solver.empty();
        let mut starts = vec![None; paths.code.loops.len()];
        let mut needed = FixedBitSet::with_capacity(paths.code.loops.len());
        for (id, node) in paths.nodes.enumerated() {
            let some = &solver.states[id][SOME];
            starts[node.place].get_or_insert_with(|| FixedBitSet::with_capacity(some.len())).union_with(some);
            solver.node(node, &EVERY, &mut state, |step, [some, ..]| {
                needed.set(step.place, some || needed.contains(step.place))
            });
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
    solver.settle(SOME);
    solver.settle(INSIDE);
    // What one round computes for the next can't leave the loop: all paths need it until that is refuted.
    solver.settle(ALL);
    solver.settle(SOON);
    let mut state = solver.empty();
    let mut unsettled = FxHashSet::default();
    for node in paths.nodes.iter() {
        solver.node(node, &EVERY, &mut state, |step, [_, inside, _, soon]| {
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
        let state = [none.clone(), none.clone(), all.clone(), all];
        Self { paths, dependents, states: IndexVec::filled(state, paths.nodes.len()), none, before }
    }

    fn empty(&self) -> State {
        std::array::from_fn(|_| self.none.clone())
    }

    /// Computes one set of all nodes from those that follow, until nothing changes.
    fn settle(&mut self, set: usize) {
        // What decides on any of them.
        let sets: &[usize] = if set == SOME || set == ALL { &[SOME, ALL] } else { &[SOME, ALL, set] };
        let mut open: VecDeque<NodeId> = self.states.indices().rev().collect();
        let mut is_open = IndexVec::<NodeId, bool>::filled(true, open.len());
        let mut start = self.empty();
        while let Some(id) = open.pop_front() {
            is_open[id] = false;
            self.node(&self.paths.nodes[id], sets, &mut start, |_, _| {});
            if start[set] != self.states[id][set] {
                std::mem::swap(&mut self.states[id][set], &mut start[set]);
                let before = self.before[id].iter().filter(|before| !std::mem::replace(&mut is_open[**before], true));
                open.extend(before);
            }
        }
    }

    /// Writes some sets of what the paths from a node need. Tells of each step whether some paths need its result, and whether all do.
    fn node(&self, node: &Node, sets: &[usize], state: &mut State, mut visit: impl FnMut(&Step, [bool; 4])) {
        for &set in sets {
            let next = |next: NodeId| self.after(set, node, next);
            let state = &mut state[set];
            match node.next[..] {
                [one, other] => {
                    state.clone_from(next(one));
                    match set {
                        SOME | INSIDE => state.union_with(next(other)),
                        _ => state.intersect_with(next(other)),
                    }
                }
                [one] => state.clone_from(next(one)),
                _ => state.clear(),
            }
        }
        let add = |state: &mut State, item: Item, needed: [bool; 4]| {
            sets.iter().filter(|set| needed[**set]).for_each(|set| state[*set].insert(item.position()));
        };
        for step in node.steps.iter().rev() {
            let mut needed = [true; 4];
            if let Some(item) = step.result {
                for &set in sets {
                    needed[set] = state[set].contains(item.position());
                    state[set].set(item.position(), false);
                }
            }
            visit(step, needed);
            // A dot product that not all paths need is kept in its place, where it needs its operands.
            if step.is_dot && needed[SOME] {
                needed = [true; 4];
            }
            step.uses.iter().for_each(|item| add(state, *item, needed));
            // A compiler can make a condition of a selection, of which each arm needs one of the values.
            if let Some(either) = step.either {
                either
                    .into_iter()
                    .flatten()
                    .for_each(|item| add(state, item, [needed[SOME], needed[INSIDE], false, false]));
                if let ([_, _, true, _], [Some(a), Some(b)]) = (needed, either) {
                    let others = self.sources(b);
                    let common = self.sources(a).into_iter().filter(|item| others.contains(item));
                    common.for_each(|item| add(state, item, needed));
                }
            }
        }
        if let Instruction::Loop { used, .. } = &self.paths.code.instructions[node.place] {
            // What only follows the loop could be computed after it.
            state[SOON].intersect_with(used);
        }
    }

    /// One set of what the paths from a node on the way to another need.
    fn after(&self, set: usize, node: &Node, next: NodeId) -> &FixedBitSet {
        let (loops, place) = (&self.paths.code.loops, self.paths.nodes[next].place);
        let state = &self.states[next];
        if loops[node.place] == Some(place) {
            // What a round passes on can't leave the loop.
            &state[if set == INSIDE { SOME } else { set }]
        } else if loops[place] < loops[node.place] {
            match set {
                INSIDE => &self.none,
                // What a next round needs, too, can't leave the loop, however late those need it that leave.
                SOON => &state[ALL],
                _ => &state[set],
            }
        } else {
            &state[set]
        }
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
