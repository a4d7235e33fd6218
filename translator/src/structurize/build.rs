//! Writes the tree of a graph whose regions are laid out. Decides nothing.
//!
//! Item, block and region numbers index the arrays of the layout and the forest that they come from.

use std::mem;

use super::flow::{Edge, Item, Kind, Target};
use super::graph::{Error, Graph};
use super::loops::{Forest, TOP};
use super::region::Layouts;
use super::tree::{Condition, MAX_DEPTH, Node, Tree};

/// A task that remains to be done.
enum Task {
    /// Write an item, its arms and its followers.
    Expand { region: usize, item: usize },
    /// Write a node without lists in it.
    Leaf(Node),
    /// Begin a loop.
    Loop,
    /// Begin an `If` and the list that is executed if the condition holds.
    If(Condition),
    /// End that list and begin the other.
    Else,
    /// End the innermost loop or `If`.
    Close,
}

/// A node that has been begun and not ended.
enum Open {
    Loop,
    If(Condition),
    Else(Condition, Vec<Node>),
}

/// Fails if the tree gets too deep.
pub(super) fn build(graph: &Graph, forest: &Forest, layouts: &Layouts) -> Result<Tree, Error> {
    let depths = forest.regions.iter().map(|region| region.depth).max().map_or(0, |depth| depth + 1);
    let mut builder =
        Builder { graph, forest, layouts, tasks: Vec::new(), entry: None, depths: vec![None; depths], count: 0 };
    let mut tasks = vec![Task::Expand { region: TOP, item: 0 }];
    let mut nodes = Vec::new();
    // With the list around each.
    let mut open: Vec<(Open, Vec<Node>)> = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Expand { region, item } => {
                builder.expand(region, item);
                tasks.extend(builder.tasks.drain(..).rev());
            }
            Task::Leaf(node) => nodes.push(node),
            Task::Loop => open.push((Open::Loop, mem::take(&mut nodes))),
            Task::If(condition) => open.push((Open::If(condition), mem::take(&mut nodes))),
            Task::Else => {
                if let Some((begun, _)) = open.last_mut()
                    && let Open::If(condition) = *begun
                {
                    *begun = Open::Else(condition, mem::take(&mut nodes));
                }
            }
            Task::Close => {
                let Some((begun, around)) = open.pop() else { continue };
                let inner = mem::replace(&mut nodes, around);
                nodes.push(match begun {
                    Open::Loop => Node::Loop(inner),
                    Open::If(condition) => Node::If { condition, then: inner, otherwise: Vec::new() },
                    Open::Else(condition, then) => Node::If { condition, then, otherwise: inner },
                });
            }
        }
        if open.len() > MAX_DEPTH {
            return Err(Error::TooDeep);
        }
    }
    Ok(Tree { nodes, selectors: builder.count })
}

/// The role of a selector. An edge may leave several loops, each of another depth, and enter one, so it can need
/// selectors of all these roles at once.
#[derive(Clone, Copy)]
enum Role {
    /// At which of its entries an irreducible loop starts.
    Entry,
    /// The continuation of control in the regions of one depth.
    Depth(usize),
}

struct Builder<'a> {
    graph: &'a Graph,
    forest: &'a Forest,
    layouts: &'a Layouts,
    /// The tasks that expanding an item gave, in order.
    tasks: Vec<Task>,
    /// The selector of each [`Role`], where one is used.
    entry: Option<u32>,
    depths: Vec<Option<u32>>,
    count: u32,
}

impl<'a> Builder<'a> {
    /// Gives the tasks of writing an item, its arms and its followers.
    fn expand(&mut self, region: usize, item: usize) {
        let this: &'a Item = &self.layouts.regions[region][item];
        match this.kind {
            Kind::Head => {}
            Kind::Block(block) => self.expand_block(region, this, block),
            Kind::Loop(inner) => {
                self.tasks.extend([Task::Loop, Task::Expand { region: inner, item: 0 }, Task::Close]);
                if this.breaks_by_selector() {
                    let leaves = self.selected(self.role(region), self.outside());
                    self.tasks.extend([Task::If(leaves), Task::Leaf(Node::Break), Task::Close]);
                } else if matches!(this.edges[..], [Edge { target: Target::Break, .. }]) {
                    self.tasks.push(Task::Leaf(Node::Break));
                }
            }
        }
        for (number, run) in this.runs.iter().enumerate() {
            // The first run of a head holds the entries of the region, and nothing else.
            let role = if this.kind == Kind::Head && number == 0 { Role::Entry } else { self.role(region) };
            let followers = &this.followers[run.range.clone()];
            let untested = if run.exhaustive { followers.len() - 1 } else { followers.len() };
            for (index, &follower) in followers.iter().enumerate() {
                if index > 0 {
                    self.tasks.push(Task::Else);
                }
                if index < untested {
                    let chosen = self.selected(role, self.number(region, follower));
                    self.tasks.push(Task::If(chosen));
                }
                self.tasks.push(Task::Expand { region, item: follower });
            }
            self.tasks.extend((0..untested).map(|_| Task::Close));
        }
    }

    fn expand_block(&mut self, region: usize, item: &Item, block: u32) {
        self.tasks.push(Task::Leaf(Node::Block(block)));
        let targets: Vec<_> = self.graph.blocks[block as usize].successors().collect();
        match targets[..] {
            [] => self.leave(region, item.edges[0], None),
            [target] => self.leave(region, item.edges[0], Some(target)),
            // There are no more than two.
            [then, otherwise, ..] => {
                // What stands in the arm that does not break can as well stand after the `If`. That keeps the tree flat.
                let breaks = [item.edges[0].target == Target::Break, item.edges[1].target == Target::Break];
                let flat = breaks[0] || breaks[1];
                self.tasks.push(Task::If(Condition::Branch(block)));
                if !flat || breaks[0] {
                    self.leave(region, item.edges[0], Some(then));
                }
                self.tasks.push(Task::Else);
                if !flat || breaks[1] {
                    self.leave(region, item.edges[1], Some(otherwise));
                }
                self.tasks.push(Task::Close);
                if flat && !breaks[0] {
                    self.leave(region, item.edges[0], Some(then));
                }
                if flat && !breaks[1] {
                    self.leave(region, item.edges[1], Some(otherwise));
                }
            }
        }
    }

    /// Gives the tasks of leaving a block of a region by an edge to block `to`, or by ending the thread: the selectors that are asked
    /// for on the way are set, and then comes a `Break`, or the arm to which the edge leads, or nothing.
    fn leave(&mut self, mut region: usize, mut edge: Edge, to: Option<u32>) {
        let (forest, layouts) = (self.forest, self.layouts);
        let first = edge.target;
        let arm_region = region;
        while let (Target::Break, Some(to)) = (edge.target, to) {
            self.set(edge.tested, self.role(region), self.outside());
            let item = layouts.loop_items[region];
            region = forest.regions[region].parent;
            let target = layouts.target(forest, region, to);
            edge = find(&layouts.regions[region][item], target);
        }
        match (edge.target, to) {
            (Target::Item(item), Some(to)) => {
                self.set(edge.tested, self.role(region), self.number(region, item));
                if let Kind::Loop(inner) = layouts.regions[region][item].kind {
                    self.enter(inner, to);
                }
            }
            (Target::End, Some(to)) => {
                self.set(edge.tested, self.role(region), to);
                self.enter(region, to);
            }
            (_, _) => self.set(edge.tested, self.role(region), self.outside()),
        }
        match first {
            Target::Break => self.tasks.push(Task::Leaf(Node::Break)),
            Target::Item(item) if layouts.regions[arm_region][item].arm => {
                self.tasks.push(Task::Expand { region: arm_region, item });
            }
            Target::Item(_) | Target::End => {}
        }
    }

    /// Gives the task of choosing the entry at which a loop starts, or starts over, if it has several.
    fn enter(&mut self, region: usize, to: u32) {
        let entry = find(&self.layouts.regions[region][0], self.layouts.entry(self.forest, region, to));
        self.set(entry.tested, Role::Entry, to);
    }

    /// Gives the task of setting a selector, if that is needed.
    fn set(&mut self, needed: bool, role: Role, value: u32) {
        if needed {
            let selector = self.selector(role);
            self.tasks.push(Task::Leaf(Node::Set { selector, value }));
        }
    }

    fn selected(&mut self, role: Role, equals: u32) -> Condition {
        Condition::Selector { selector: self.selector(role), equals }
    }

    fn role(&self, region: usize) -> Role {
        Role::Depth(self.forest.regions[region].depth)
    }

    fn selector(&mut self, role: Role) -> u32 {
        let known = match role {
            Role::Entry => &mut self.entry,
            Role::Depth(depth) => &mut self.depths[depth],
        };
        *known.get_or_insert_with(|| {
            self.count += 1;
            self.count - 1
        })
    }

    /// The value that stands for an item.
    fn number(&self, region: usize, item: usize) -> u32 {
        match self.layouts.regions[region][item].kind {
            Kind::Block(block) => block,
            Kind::Loop(inner) => self.forest.regions[inner].entries[0],
            Kind::Head => self.outside(),
        }
    }

    /// The value that stands for leaving a region.
    fn outside(&self) -> u32 {
        // The caller has checked that the number of blocks fits.
        self.graph.blocks.len() as u32
    }
}

/// The edge of a head or a loop with a given target. It has one for each of its block's edges.
fn find(item: &Item, target: Target) -> Edge {
    let index = item.edges.partition_point(|edge| edge.target < target);
    item.edges[index]
}
