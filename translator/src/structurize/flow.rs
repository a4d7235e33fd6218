//! Decides which item of a region stands in which list of the tree, and on which edges a selector must be set. Writes no tree.
//!
//! Take an item `c` of the region's dominator tree. Its children are either *arms*, entered by one side of the branch of `c` and by
//! nothing else, or *followers*, which stand after `c` and its arms, in topological order. Edges out of `c` and out of the subtrees
//! of its children lead to a later follower of `c`, or out of the subtree of `c` to something that stands later still. As control
//! falls through from one list element to the next, a follower that some edge jumps over needs a test of the selector, and any edge
//! with a test on its way must set it. Neighbouring followers without edges between them make one *run*, a chain of if, else-if, else.
//! `Break` needs no falling through, so edges that leave the region by it jump over nothing.
//!
//! Items are numbered by position in the topological order and index all arrays here. An edge leads to a later item.

use std::ops::Range;

/// The target of an edge inside of its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// To a later item.
    Item(usize),
    /// To the end of the list: the loop starts over, or outside of all loops the thread ends.
    End,
    /// Out of the loop that the region is.
    Break,
}

/// An edge inside of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub target: Target,
    /// Whether a test of the region's selector lies on the edge's way.
    pub tested: bool,
}

/// The kinds of items in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The entrance of control: it has an edge to each entry, and no code.
    Head,
    Block(u32),
    Loop(usize),
}

/// A vertex of the acyclic graph that a region is.
pub(super) struct Item {
    pub kind: Kind,
    /// For a block those of its terminator in order, the end of the thread counting as one. For others sorted, each target once.
    pub edges: Vec<Edge>,
    /// Whether the item is an arm of its immediate dominator. Its only edge then comes from there.
    pub arm: bool,
    /// The items that stand after this one.
    pub followers: Vec<usize>,
    /// The followers once more, in groups.
    pub runs: Vec<Run>,
}

/// Neighbouring followers of which control passes through at most one.
pub(super) struct Run {
    /// Positions in [`Item::followers`].
    pub range: Range<usize>,
    /// Whether control passes through exactly one, so that the last needs no test.
    pub exhaustive: bool,
}

impl Item {
    pub fn new(kind: Kind, targets: Vec<Target>) -> Self {
        let edges = targets.into_iter().map(|target| Edge { target, tested: false }).collect();
        Self { kind, edges, arm: false, followers: Vec::new(), runs: Vec::new() }
    }

    /// Whether a selector decides if control breaks out of the region after this inner loop.
    pub fn breaks_by_selector(&self) -> bool {
        // `Break` sorts last.
        matches!(self.kind, Kind::Loop(_))
            && self.edges.len() > 1
            && self.edges.last().is_some_and(|e| e.target == Target::Break)
    }

    fn is_branch(&self) -> bool {
        matches!(self.kind, Kind::Block(_)) && self.edges.len() == 2
    }
}

impl Run {
    /// Whether the run has no test.
    pub fn is_plain(&self) -> bool {
        self.exhaustive && self.range.len() == 1
    }
}

/// Fills in all of the items that [`Item::new`] did not.
pub(super) fn arrange(items: &mut [Item]) {
    let dominators = Dominators::new(items);
    for (item, &(parent, edges)) in dominators.parents.iter().enumerate().skip(1) {
        items[item].arm = edges == 1 && items[parent].is_branch();
        if !items[item].arm {
            items[parent].followers.push(item);
        }
    }
    let spans = Spans::new(items, &dominators);
    for (index, item) in items.iter_mut().enumerate() {
        item.runs = spans.runs(index, &item.followers);
    }
    mark(items, &dominators);
}

/// The dominator tree of a region.
struct Dominators {
    /// The immediate dominator of each item and how many edges enter it. The head is its own.
    parents: Vec<(usize, usize)>,
    /// The depth of each item below the head.
    depths: Vec<usize>,
    /// An ancestor further up, so that any can be found in O(log n) steps (Myers, "An applicative random-access stack").
    jumps: Vec<usize>,
}

impl Dominators {
    fn new(items: &[Item]) -> Self {
        let len = items.len();
        let mut this = Self { parents: vec![(0, 0); len], depths: vec![0; len], jumps: vec![0; len] };
        for (item, from) in items.iter().enumerate() {
            // All edges that enter the item have been seen.
            if item > 0 {
                let parent = this.parents[item].0;
                let (jump, jump2) = (this.jumps[parent], this.jumps[this.jumps[parent]]);
                let even = this.depths[parent] + this.depths[jump2] == 2 * this.depths[jump];
                this.jumps[item] = if even { jump2 } else { parent };
                this.depths[item] = this.depths[parent] + 1;
            }
            for edge in &from.edges {
                let Target::Item(to) = edge.target else { continue };
                let (parent, edges) = this.parents[to];
                this.parents[to] = (if edges == 0 { item } else { this.common(parent, item) }, edges + 1);
            }
        }
        this
    }

    fn parent(&self, item: usize) -> usize {
        self.parents[item].0
    }

    /// The ancestor of an item, or itself, at a depth that is not below it.
    fn ancestor(&self, mut item: usize, depth: usize) -> usize {
        while self.depths[item] > depth {
            let jump = self.jumps[item];
            item = if self.depths[jump] >= depth { jump } else { self.parent(item) };
        }
        item
    }

    /// The deepest common ancestor.
    fn common(&self, a: usize, b: usize) -> usize {
        let depth = self.depths[a].min(self.depths[b]);
        let (mut a, mut b) = (self.ancestor(a, depth), self.ancestor(b, depth));
        // At the same depth jumps are of the same length.
        while a != b {
            (a, b) = match (self.jumps[a], self.jumps[b]) {
                (x, y) if x != y => (x, y),
                _ => (self.parent(a), self.parent(b)),
            };
        }
        a
    }

    /// The start of an edge, seen from the immediate dominator of its target: the dominator itself, or its child that
    /// has the start in its subtree.
    fn origin(&self, from: usize, to: usize) -> usize {
        let parent = self.parent(to);
        if from == parent { from } else { self.ancestor(from, self.depths[parent] + 1) }
    }
}

/// The followers that edges lead to, and the reach of their jumps. Places count from 1 for the first follower; place 0
/// is the item itself with its arms.
struct Spans {
    /// The place of each item among those of its immediate dominator.
    places: Vec<usize>,
    /// The last place among its siblings to which an edge leads from the subtree of a follower.
    from_subtree: Vec<Reach>,
    /// The last place among its followers to which an edge leads from the item or its arms.
    from_self: Vec<Reach>,
    /// The last place among its siblings from which an edge leads to a follower.
    latest: Vec<usize>,
}

/// The reach of edges among siblings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Up to this place.
    Place(usize),
    /// Past all siblings.
    Beyond,
}

/// The depth in the dominator tree that edges lead to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    /// As deep as that.
    At(usize),
    /// Below all items.
    Deepest,
}

impl Spans {
    fn new(items: &[Item], dominators: &Dominators) -> Self {
        let len = items.len();
        let here = Reach::Place(0);
        let mut this = Self {
            places: vec![0; len],
            from_subtree: vec![here; len],
            from_self: vec![here; len],
            latest: vec![0; len],
        };
        for item in items {
            for (place, &follower) in (1..).zip(&item.followers) {
                this.places[follower] = place;
            }
        }
        for (from, item) in items.iter().enumerate() {
            for edge in &item.edges {
                let Target::Item(to) = edge.target else { continue };
                let origin = dominators.origin(from, to);
                let place = if origin == dominators.parent(to) { 0 } else { this.places[origin] };
                this.latest[to] = this.latest[to].max(place);
                this.reach(origin, dominators.parent(to), Reach::Place(this.places[to]));
            }
        }
        // An edge from the subtree of an item leads past all of its followers if it leads to something that is not in its subtree. The
        // highest dominator of a target, counted from 1 and with 0 for the end of the list, tells for all of a subtree at once. Edges that
        // break out count as leading deeper than any.
        let mut highest = vec![Depth::Deepest; len];
        for from in (0..len).rev() {
            for edge in &items[from].edges {
                let height = match edge.target {
                    Target::Item(to) => Depth::At(dominators.depths[dominators.parent(to)] + 1),
                    Target::End => Depth::At(0),
                    Target::Break => Depth::Deepest,
                };
                if height <= Depth::At(dominators.depths[from]) {
                    this.from_self[from] = Reach::Beyond;
                }
                highest[from] = highest[from].min(height);
            }
            let parent = dominators.parent(from);
            if from > 0 && highest[from] <= Depth::At(dominators.depths[parent]) {
                this.reach(from, parent, Reach::Beyond);
            }
            highest[parent] = highest[parent].min(highest[from]);
        }
        this
    }

    /// Notes that an edge out of an item, or out of its subtree, leads to a place among the children of its parent. The item may also
    /// be that parent itself.
    fn reach(&mut self, origin: usize, parent: usize, to: Reach) {
        let of_parent = origin == parent || self.places[origin] == 0;
        let reach = if of_parent { &mut self.from_self[parent] } else { &mut self.from_subtree[origin] };
        *reach = to.max(*reach);
    }

    /// Groups the followers of an item.
    fn runs(&self, item: usize, followers: &[usize]) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut reach = self.from_self[item];
        let mut start = 0;
        while start < followers.len() {
            // At places up to `start`, everything is before the run.
            let more = followers[start + 1..].iter().take_while(|&&follower| self.latest[follower] <= start).count();
            let end = start + 1 + more;
            runs.push(Run { range: start..end, exhaustive: reach <= Reach::Place(end) });
            reach = followers[start..end].iter().fold(reach, |reach, &follower| reach.max(self.from_subtree[follower]));
            start = end;
        }
        runs
    }
}

/// Finds the edges that have a test on their way.
fn mark(items: &mut [Item], dominators: &Dominators) {
    // The number of the run that a follower is in, from 1; 0 for an arm.
    let mut run_of = vec![0; items.len()];
    for item in items.iter() {
        for (number, run) in (1..).zip(&item.runs) {
            for &follower in &item.followers[run.range.clone()] {
                run_of[follower] = number;
            }
        }
    }
    // For each item the lowest dominator, counted from 1, that is followed by a run which control falls into from the item.
    let mut lowest = vec![0; items.len()];
    for item in 1..items.len() {
        let parent = dominators.parent(item);
        let more = run_of[item] < items[parent].runs.len();
        lowest[item] = if more { dominators.depths[parent] + 1 } else { lowest[parent] };
    }
    for from in 0..items.len() {
        let always = items[from].breaks_by_selector();
        let own = !items[from].runs.is_empty();
        for index in 0..items[from].edges.len() {
            let tested = match items[from].edges[index].target {
                Target::Item(to) => {
                    let parent = dominators.parent(to);
                    let inner = from != parent && (own || lowest[from] > dominators.depths[parent] + 1);
                    let origin = dominators.origin(from, to);
                    let before = if origin == parent { 0 } else { run_of[origin] };
                    let outer =
                        !items[to].arm && (run_of[to] - before > 1 || !items[parent].runs[run_of[to] - 1].is_plain());
                    inner || outer
                }
                Target::End => own || lowest[from] > 0,
                Target::Break => false,
            };
            items[from].edges[index].tested = always || tested;
        }
    }
}
