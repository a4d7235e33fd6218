//! The paths through a function, as a graph whose nodes differ in what is known there.
//!
//! A loop with several exits assigns a constant to a variable before each `Break`, and conditions after the loop compare
//! that variable. So the same statements get a node for each thing that is known before them, up to a limit, and a condition
//! that is known leads to one arm only. The next round of a loop knows what no round changes, and forgets the rest.

use rustc_hash::FxHashMap;

use super::code::{Code, Instruction};
use super::dependents::{Dependents, Item};
use super::known::{Knowledge, Known};
use crate::index::{Index, IndexVec, indices};
use crate::ir::{Folded, Function, Op, Stmt, Value, Var, for_each_operand};

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

indices!(NodeId);

/// Statements that run one after the other.
pub struct Node {
    /// The place of the first one in [`Code`].
    pub place: usize,
    /// What they do with items.
    pub steps: Vec<Step>,
    /// What follows, two nodes after a condition that isn't known.
    pub next: Vec<NodeId>,
    /// The node where the innermost loop around them began.
    header: Option<NodeId>,
    known: Known,
}

/// What a statement does with items.
pub struct Step {
    /// The statement's place.
    pub place: usize,
    /// What it computes; none if it can't be moved or left out.
    pub result: Option<Item>,
    pub uses: Vec<Item>,
    /// Of which it uses one or the other.
    pub either: Option<[Option<Item>; 2]>,
    /// Whether it is a dot product.
    pub is_dot: bool,
}

/// The graph.
pub struct Paths<'f> {
    /// What its places mean.
    pub code: Code<'f>,
    /// Its nodes; the first is the start.
    pub nodes: IndexVec<NodeId, Node>,
}

struct Explorer<'f, 'd> {
    dependents: &'d Dependents,
    knowledge: Knowledge<'f>,
    /// Read by threads other than this one.
    exited: Option<Var>,
    code: Code<'f>,
    nodes: IndexVec<NodeId, Node>,
    found: FxHashMap<(usize, Option<NodeId>, Known), NodeId>,
    /// The number of nodes of each place.
    counts: Vec<usize>,
    most_nodes: usize,
    /// Whether what comes to a constant uses nothing.
    folds: bool,
    /// Nodes where nothing is known.
    general: FxHashMap<usize, NodeId>,
}

impl<'f> Paths<'f> {
    /// Follows all paths. A place gets up to `most_nodes` nodes that differ in what is known, and one more, where nothing is known, if that isn't
    /// enough. A condition or an operation that is known on a path uses nothing there if it `folds`.
    pub fn new(function: &'f Function, dependents: &Dependents, most_nodes: usize, folds: bool) -> Self {
        let code = Code::new(function, dependents);
        let mut explorer = Explorer {
            dependents,
            knowledge: Knowledge::new(function, &code),
            exited: function.exited,
            nodes: IndexVec::new(),
            found: FxHashMap::default(),
            counts: vec![0; code.loops.len()],
            most_nodes,
            folds,
            general: FxHashMap::default(),
            code,
        };
        explorer.node(0, None, Known::default());
        let mut explored = 0;
        while explored < explorer.nodes.len() {
            explorer.explore(NodeId::new(explored));
            explored += 1;
        }
        Self { code: explorer.code, nodes: explorer.nodes }
    }
}

impl Explorer<'_, '_> {
    /// The node of a place where this is known.
    fn node(&mut self, place: usize, header: Option<NodeId>, mut known: Known) -> NodeId {
        self.knowledge.forget_unused(&mut known, place);
        if let Instruction::Loop { assigned, .. } = &self.code.instructions[place] {
            known.forget(assigned);
        }
        let key = (place, header, known);
        if let Some(node) = self.found.get(&key) {
            return *node;
        }
        if self.counts[place] >= self.most_nodes {
            return self.general(place);
        }
        self.counts[place] += 1;
        let (_, header, known) = key.clone();
        let node = self.nodes.push(Node { place, steps: Vec::new(), next: Vec::new(), header, known });
        self.found.insert(key, node);
        node
    }

    /// The node of a place where nothing is known, in loops that began so.
    fn general(&mut self, place: usize) -> NodeId {
        if let Some(node) = self.general.get(&place) {
            return *node;
        }
        let header = self.code.loops[place].map(|around| self.general(around));
        let known = Known::default();
        let node = self.nodes.push(Node { place, steps: Vec::new(), next: Vec::new(), header, known });
        self.general.insert(place, node);
        node
    }

    /// Finds what a node does, and what follows.
    fn explore(&mut self, id: NodeId) {
        let Node { place: start, header, ref known, .. } = self.nodes[id];
        let (mut place, mut known) = (start, known.clone());
        let is_general = self.general.get(&start) == Some(&id);
        let mut steps = Vec::new();
        let next = loop {
            match &self.code.instructions[place] {
                Instruction::Plain(stmt) => {
                    if !is_general && let Some(condition) = self.knowledge.undecided(&known, stmt) {
                        break self.fork(header, &known, condition, [place; 2]);
                    }
                    steps.extend(self.step(place, stmt, &known));
                    self.knowledge.pass(&mut known, place, stmt);
                    place += 1;
                }
                Instruction::If { condition, branch, .. } => {
                    let (condition, arms) = (*condition, branch.arms);
                    if !self.folds || self.knowledge.bits(&known, condition).is_none() {
                        let uses = self.dependents.value(condition).into_iter().collect();
                        steps.push(Step { place, result: None, uses, either: None, is_dot: false });
                    }
                    break self.fork(header, &known, condition, arms);
                }
                Instruction::Join { condition, meets } => {
                    if *meets {
                        known.leave(*condition);
                    }
                    let Some(branch) = self.code.branch(*condition) else { break Vec::new() };
                    break vec![self.node(branch.end, header, known)];
                }
                // The start of a loop and each way out have nodes of their own.
                Instruction::Loop { .. } | Instruction::Break if place != start => {
                    break vec![self.node(place, header, known)];
                }
                Instruction::Loop { .. } => break vec![self.node(place + 1, Some(id), known)],
                Instruction::Repeat => {
                    let Some(header) = header.map(|header| &self.nodes[header]) else { break Vec::new() };
                    self.knowledge.repeat(&mut known, header.place);
                    break vec![self.node(header.place, header.header, known)];
                }
                Instruction::Break => {
                    let Some(header) = header.map(|header| &self.nodes[header]) else { break Vec::new() };
                    let Some(branch) = self.code.branch(header.place) else { break Vec::new() };
                    break vec![self.node(branch.end, header.header, known)];
                }
                Instruction::End => break Vec::new(),
            }
        };
        (self.nodes[id].steps, self.nodes[id].next) = (steps, next);
    }

    /// The nodes that follow if a condition holds and if it doesn't; one of them if it is known.
    fn fork(&mut self, header: Option<NodeId>, known: &Known, condition: Value, to: [usize; 2]) -> Vec<NodeId> {
        let bits = self.knowledge.bits(known, condition);
        let ways = [true, false].into_iter().zip(to).filter(|(holds, _)| bits.is_none_or(|bits| (bits != 0) == *holds));
        let next = ways.map(|(holds, place)| {
            let mut known = known.clone();
            self.knowledge.learn(&mut known, place, condition, holds);
            self.node(place, header, known)
        });
        next.collect()
    }

    /// What a statement does with items, if anything.
    fn step(&self, place: usize, stmt: &Stmt, known: &Known) -> Option<Step> {
        let mut step = Step { place, result: None, uses: Vec::new(), either: None, is_dot: false };
        match stmt {
            Stmt::Let(value, op) => {
                step.result = Some(self.dependents.value(*value)?);
                step.is_dot = matches!(op, Op::DotFma(..));
                let folded = if self.folds { self.knowledge.folded(known, op) } else { None };
                match (folded, op) {
                    (Some(Folded::Const(_)), _) => {}
                    (Some(Folded::Value(value)), _) => step.uses.extend(self.dependents.value(value)),
                    (None, Op::Get(var)) => step.uses.extend(self.dependents.var(*var)),
                    (None, Op::Select(condition, a, b)) => {
                        step.uses.extend(self.dependents.value(*condition));
                        step.either = Some([*a, *b].map(|value| self.dependents.value(value)));
                    }
                    (None, _) => step.uses = self.dependents.operands(*op),
                }
            }
            Stmt::Set(var, value) if self.exited != Some(*var) => {
                step.result = Some(self.dependents.var(*var)?);
                step.uses.extend(self.dependents.value(*value));
            }
            _ => for_each_operand(stmt, |value| step.uses.extend(self.dependents.value(value))),
        }
        (step.result.is_some() || !step.uses.is_empty()).then_some(step)
    }
}
