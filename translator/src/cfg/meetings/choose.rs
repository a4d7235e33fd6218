//! Finds the part of a kernel where members of an operation may be at another place that they could meet it from.
//!
//! Threads part at a branch on what differs between them. One side comes to an operation before the sides join. The other
//! side can come to one of the same kind without passing a barrier of the block, at which those of the first side would
//! be missed. Then threads may meet across the sides; else whoever the operation names is here, has exited, or never
//! comes, which is found at run time.
//!
//! Most masks say who is here, and need nobody from elsewhere: those that a vote or a match has given, or `activemask`,
//! behind the branch, and those that a vote on the branch's own condition has given. And where threads seem to part by
//! the number of their warp, `%tid.x` divided by 32 or compared with a multiple of 32, they don't, in blocks with rows of
//! whole warps. Where these assumptions are wrong, members are missed at run time, and the launch fails.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{kind, site};
use crate::cfg::{Cfg, End, Kind, Stop, dependence};
use crate::ir::{Binary, Block, Builtin, Compare, Function, Op, Stmt, Type, Unary, Value, Var, Warp, WarpOp};

/// Threads of a warp.
const WARP: u64 = 32;

/// A part of the graph that is entered and left at one place each.
pub struct Region {
    inside: Vec<bool>,
    /// Its first block.
    pub entry: u32,
    /// The block behind it; none if it is left by ending only.
    pub exit: Option<u32>,
}

impl Region {
    /// Whether a block belongs to it.
    pub fn has(&self, block: usize) -> bool {
        self.inside.get(block) == Some(&true)
    }
}

/// The smallest part with all such operations of a graph whose operations are divided; none if there are none.
pub fn region(function: &Function, cfg: &Cfg) -> Option<Region> {
    let graph = Graph::new(cfg);
    let definitions = Definitions::new(cfg);
    let sites: Vec<Site> = (0..cfg.blocks.len()).filter_map(|block| Site::new(function, cfg, block)).collect();
    let partings = dependence::partings(function, cfg, &|value| definitions.tells_warps(value));
    let mut found = FxHashSet::default();
    for (branch, block) in cfg.blocks.iter().enumerate() {
        let End::Branch { condition, then, otherwise } = block.end else { continue };
        if partings.get(branch) != Some(&true) {
            continue;
        }
        let join = graph.join(branch);
        for (side, other) in [(then, otherwise), (otherwise, then)] {
            let here = graph.reach(cfg, side, |block| Some(block) == join);
            let there = graph.reach(cfg, other, |block| is_barrier(cfg, block));
            for own in sites.iter().filter(|site| here.contains(&site.block)) {
                if definitions.says_who_is_here(own.members, condition, &here) {
                    continue;
                }
                let partners = sites.iter().filter(|site| site.kind == own.kind && there.contains(&site.block));
                let partners: Vec<usize> = partners.map(|site| site.block).collect();
                if !partners.is_empty() {
                    found.extend([branch, own.block]);
                    found.extend(partners);
                }
            }
        }
    }
    // Threads that wait in a loop come later to what the others of their warp have reached already.
    for (number, block) in cfg.blocks.iter().enumerate() {
        if !matches!(block.stop, Some(Stop::Yield)) {
            continue;
        }
        let behind = graph.reach(cfg, super::number(number), |block| is_barrier(cfg, block));
        let missed = sites.iter().filter(|site| behind.contains(&site.block) && !definitions.is_taken(site.members));
        let missed: Vec<usize> = missed.map(|site| site.block).collect();
        if !missed.is_empty() {
            found.insert(number);
            found.extend(missed);
        }
    }
    graph.around(cfg, found)
}

/// Whether a block ends with a barrier at which its threads wait.
fn is_barrier(cfg: &Cfg, block: usize) -> bool {
    let stop = cfg.blocks.get(block).and_then(|block| block.stop.as_ref());
    matches!(stop, Some(Stop::Barrier(barrier)) if !matches!(barrier.kind, Kind::Arrive))
}

/// An operation that waits for members.
struct Site {
    block: usize,
    members: Value,
    kind: (WarpOp, Vec<Type>),
}

impl Site {
    fn new(function: &Function, cfg: &Cfg, block: usize) -> Option<Self> {
        let (warp, members) = cfg.blocks.get(block)?.body.iter().find_map(site)?;
        Some(Self { block, members, kind: kind(function, warp) })
    }
}

/// What defines values and variables.
struct Definitions<'c> {
    values: FxHashMap<Value, &'c Op>,
    /// Results of operations of warps, with their blocks.
    warps: FxHashMap<Value, (&'c Warp, usize)>,
    /// What is assigned to each variable.
    vars: FxHashMap<Var, Vec<Value>>,
}

impl<'c> Definitions<'c> {
    fn new(cfg: &'c Cfg) -> Self {
        let mut this = Self { values: FxHashMap::default(), warps: FxHashMap::default(), vars: FxHashMap::default() };
        for (number, block) in cfg.blocks.iter().enumerate() {
            this.collect(&block.body, number);
        }
        this
    }

    fn collect(&mut self, block: &'c Block, number: usize) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, op) => {
                    self.values.insert(*value, op);
                }
                Stmt::Set(var, value) => self.vars.entry(*var).or_default().push(*value),
                Stmt::Warp(warp) => {
                    self.warps.extend(warp.results.iter().map(|result| (*result, (warp, number))));
                }
                Stmt::If { then, otherwise, .. } => {
                    self.collect(then, number);
                    self.collect(otherwise, number);
                }
                Stmt::Loop(body) => self.collect(body, number),
                _ => {}
            }
        }
    }

    /// The value that a value is a copy of, through variables that are assigned once.
    fn origin(&self, mut value: Value) -> Value {
        // Registers may be assigned from each other in circles.
        for _ in 0..self.vars.len() {
            let Some(Op::Get(var)) = self.values.get(&value) else { break };
            let Some([only]) = self.vars.get(var).map(Vec::as_slice) else { break };
            value = *only;
        }
        value
    }

    fn op(&self, value: Value) -> Option<Op> {
        self.values.get(&self.origin(value)).map(|op| **op)
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.op(value) {
            Some(Op::Const(bits)) => Some(bits),
            _ => None,
        }
    }

    /// Whether a value tells the number of the warp, in blocks whose rows are whole warps, or compares it.
    fn tells_warps(&self, value: Value) -> bool {
        let thread = |value| matches!(self.op(value), Some(Op::Builtin(Builtin::ThreadId(0) | Builtin::ThreadIndex)));
        let multiple = |value, more: u64| {
            self.constant(value).is_some_and(|bits| bits.wrapping_add(more) & u64::from(u32::MAX) & (WARP - 1) == 0)
        };
        match self.values.get(&value) {
            Some(Op::Binary(Binary::Shr | Binary::Sar, a, b)) => {
                thread(*a) && self.constant(*b).is_some_and(|amount| amount >= u64::from(WARP.ilog2()))
            }
            Some(Op::Binary(Binary::DivUnsigned | Binary::And, a, b)) => thread(*a) && multiple(*b, 0),
            Some(Op::Compare(Compare::LessUnsigned | Compare::LessSigned, a, b)) => {
                thread(*a) && multiple(*b, 0) || thread(*b) && multiple(*a, 1)
            }
            Some(Op::Compare(Compare::LessEqualUnsigned | Compare::LessEqualSigned, a, b)) => {
                thread(*a) && multiple(*b, 1) || thread(*b) && multiple(*a, 0)
            }
            _ => false,
        }
    }

    /// The operations of warps that a mask may come from.
    fn sources(&self, mask: Value) -> Vec<(&'c Warp, usize)> {
        let mut sources = Vec::new();
        let mut seen = FxHashSet::default();
        let mut todo = vec![mask];
        while let Some(value) = todo.pop() {
            if !seen.insert(value) {
                continue;
            }
            if let Some((warp, block)) = self.warps.get(&value) {
                let names = WarpOp::ActiveMask == warp.op
                    || matches!(warp.op, WarpOp::Ballot(_) | WarpOp::MatchAny(_) | WarpOp::MatchAll(_));
                if names {
                    sources.push((*warp, *block));
                }
            }
            match self.values.get(&value) {
                Some(Op::Get(var)) => todo.extend(self.vars.get(var).into_iter().flatten()),
                Some(Op::Unary(_, a)) => todo.push(*a),
                Some(Op::Binary(_, a, b)) => todo.extend([*a, *b]),
                Some(Op::Select(_, a, b)) => todo.extend([*a, *b]),
                _ => {}
            }
        }
        sources
    }

    /// Whether a mask comes from operations of a warp.
    fn is_taken(&self, mask: Value) -> bool {
        !self.sources(mask).is_empty()
    }

    /// Whether a mask was taken from those on one side of a branch, or by a vote on its condition.
    fn says_who_is_here(&self, mask: Value, condition: Value, side: &FxHashSet<usize>) -> bool {
        self.sources(mask).into_iter().any(|(warp, block)| {
            side.contains(&block)
                || matches!(warp.op, WarpOp::Ballot(predicate) if self.decided_by(predicate) == self.decided_by(condition))
        })
    }

    /// What a truth value or its opposite is: a variable, or a value.
    fn decided_by(&self, value: Value) -> (Option<Var>, Value) {
        let mut value = self.origin(value);
        while let Some(Op::Unary(Unary::Not, a)) = self.values.get(&value) {
            value = self.origin(*a);
        }
        match self.values.get(&value) {
            Some(Op::Get(var)) => (Some(*var), Value(0)),
            _ => (None, value),
        }
    }
}

/// The control-flow graph with dominators; the last node stands for the end.
struct Graph {
    dominators: Dominators<NodeIndex>,
    post_dominators: Dominators<NodeIndex>,
    before: Vec<Vec<usize>>,
    end: usize,
}

impl Graph {
    fn new(cfg: &Cfg) -> Self {
        let end = cfg.blocks.len();
        let mut graph = DiGraph::<(), ()>::new();
        for _ in 0..=end {
            graph.add_node(());
        }
        let mut before = vec![Vec::new(); end + 1];
        for (number, block) in cfg.blocks.iter().enumerate() {
            let mut to: Vec<usize> = block.end.successors().map(|next| next as usize).collect();
            if to.is_empty() {
                to.push(end);
            }
            for next in to {
                graph.add_edge(NodeIndex::new(number), NodeIndex::new(next), ());
                if let Some(before) = before.get_mut(next) {
                    before.push(number);
                }
            }
        }
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        graph.reverse();
        let post_dominators = simple_fast(&graph, NodeIndex::new(end));
        Self { dominators, post_dominators, before, end }
    }

    /// Where all ways from a block meet; none at the end.
    fn join(&self, block: usize) -> Option<usize> {
        let join = self.post_dominators.immediate_dominator(NodeIndex::new(block)).map(NodeIndex::index);
        join.filter(|join| *join != self.end)
    }

    /// The blocks on ways from a block, up to those where `stops` holds: one that is a barrier is the last of its way, the
    /// block where sides join is not on it.
    fn reach(&self, cfg: &Cfg, from: u32, stops: impl Fn(usize) -> bool) -> FxHashSet<usize> {
        let mut reached = FxHashSet::default();
        let mut todo = vec![from as usize];
        while let Some(block) = todo.pop() {
            if stops(block) || !reached.insert(block) {
                continue;
            }
            todo.extend(cfg.blocks.get(block).into_iter().flat_map(|block| block.end.successors()).map(|n| n as usize));
        }
        reached
    }

    /// The nearest block that dominates two.
    fn common(dominators: &Dominators<NodeIndex>, a: usize, b: usize) -> Option<usize> {
        let above: Vec<NodeIndex> = dominators.dominators(NodeIndex::new(a))?.collect();
        dominators.dominators(NodeIndex::new(b))?.find(|node| above.contains(node)).map(NodeIndex::index)
    }

    fn is_reachable(&self, block: usize) -> bool {
        self.dominators.dominators(NodeIndex::new(block)).is_some()
    }

    /// The smallest part that has all these blocks.
    fn around(&self, cfg: &Cfg, blocks: FxHashSet<usize>) -> Option<Region> {
        let mut blocks = blocks.into_iter().filter(|block| self.is_reachable(*block));
        let first = blocks.next()?;
        let rest: Vec<usize> = blocks.collect();
        let mut entry = first;
        for block in &rest {
            entry = Self::common(&self.dominators, entry, *block)?;
        }
        // Behind all of them, and behind the entry, from where a way may lead past.
        let mut exit = self.join(first).unwrap_or(self.end);
        let mut seen = vec![first];
        seen.extend(rest);
        loop {
            for block in seen.drain(..).chain([entry]) {
                let join = self.join(block).unwrap_or(self.end);
                exit = Self::common(&self.post_dominators, exit, join).unwrap_or(self.end);
            }
            let inside = self.reach(cfg, super::number(entry), |block| block == exit);
            let outside = inside
                .iter()
                .filter(|block| **block != entry)
                .flat_map(|block| self.before.get(*block).into_iter().flatten())
                .find(|before| !inside.contains(before) && self.is_reachable(**before));
            match outside {
                Some(outside) => {
                    entry = Self::common(&self.dominators, entry, *outside)?;
                    seen.push(*outside);
                }
                None => {
                    let inside = (0..cfg.blocks.len()).map(|block| inside.contains(&block)).collect();
                    let exit = (exit != self.end).then(|| super::number(exit));
                    return Some(Region { inside, entry: super::number(entry), exit });
                }
            }
        }
    }
}
