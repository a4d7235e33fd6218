//! Control flow of a function: reachable blocks, loops, and back edges.

use crate::finding::Refusal;
use crate::module::{Block, Function, Merge, rule};

use super::{Result, refuse};

/// Maximum number of blocks of a function.
const BLOCK_LIMIT: usize = 1 << 16;

/// The depth of nested control flow that SPIR-V consumers must accept.
const NESTING_LIMIT: usize = 1023;

/// The control flow of a function. Blocks are numbered as in the function.
#[derive(Debug)]
pub(super) struct Flow {
    /// Whether control can reach a block.
    pub(super) reached: Vec<bool>,
    /// The headers of loops, outer ones before those in them.
    pub(super) loops: Vec<usize>,
    /// For every block, the loops around it, outermost first.
    pub(super) around: Vec<Vec<usize>>,
    /// For every block, the loop that it heads.
    pub(super) headed: Vec<Option<usize>>,
}

impl Flow {
    /// Analyses a function.
    ///
    /// # Errors
    /// The control flow is not structured: an edge goes back to a block that is not the header of a loop around it.
    pub(super) fn new(function: &Function) -> Result<Self> {
        let blocks = &function.blocks;
        if blocks.len() > BLOCK_LIMIT {
            return Err(refuse(rule::UNSUPPORTED, format!("a function of more than {BLOCK_LIMIT} blocks")));
        }
        let real: Vec<Vec<usize>> = blocks.iter().map(|block| block.terminator.successors()).collect();
        let structural: Vec<Vec<usize>> =
            real.iter().zip(blocks).map(|(next, block)| with_merge(next, block)).collect();
        let mut reached = vec![false; blocks.len()];
        postorder(&real).into_iter().for_each(|block| reached[block] = true);
        let tree = Dominators::new(&structural);
        let mut flow = Self {
            reached,
            loops: Vec::new(),
            around: vec![Vec::new(); blocks.len()],
            headed: vec![None; blocks.len()],
        };
        // Dominators are visited before the blocks that they dominate.
        for &block in &tree.order {
            let mut around = if block == 0 { Vec::new() } else { flow.around[tree.parent[block]].clone() };
            around.retain(|&number: &usize| merge_of(&blocks[flow.loops[number]]) != Some(block));
            if let Some(Merge::Loop { .. }) = blocks[block].merge {
                flow.headed[block] = Some(flow.loops.len());
                around.push(flow.loops.len());
                flow.loops.push(block);
            }
            if around.len() > NESTING_LIMIT {
                return Err(refuse(rule::LIMITS, format!("loops nest more than {NESTING_LIMIT} deep")));
            }
            flow.around[block] = around;
        }
        for &block in &tree.order {
            for &next in &structural[block] {
                if tree.position[next] <= tree.position[block] && !flow.goes_back(block, next) {
                    return Err(unstructured(&blocks[block], &blocks[next]));
                }
            }
        }
        Ok(flow)
    }

    /// Whether an edge goes back to the header of a loop around it.
    pub(super) fn goes_back(&self, from: usize, to: usize) -> bool {
        self.headed[to].is_some_and(|number| self.around[from].contains(&number))
    }
}

fn unstructured(from: &Block, to: &Block) -> Refusal {
    let message = format!("the branch from %{} back to %{} is not the back edge of a loop", from.label, to.label);
    refuse(rule::STRUCTURE, message)
}

fn merge_of(block: &Block) -> Option<usize> {
    match block.merge {
        Some(Merge::Loop { merge, .. } | Merge::Selection { merge }) => Some(merge),
        None => None,
    }
}

/// The successors, and the blocks named by a merge instruction.
fn with_merge(next: &[usize], block: &Block) -> Vec<usize> {
    let mut next = next.to_vec();
    match block.merge {
        Some(Merge::Loop { merge, next: again }) => next.extend([merge, again]),
        Some(Merge::Selection { merge }) => next.push(merge),
        None => {}
    }
    next
}

/// The nodes reachable from the first one, each after all its successors except those along back edges.
fn postorder(next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((node, child)) = stack.last_mut() {
        match next[*node].get(*child) {
            Some(&to) => {
                *child += 1;
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

/// Dominators by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
struct Dominators {
    /// Reachable nodes in reverse postorder.
    order: Vec<usize>,
    /// Positions of nodes in `order`; `None` for unreachable ones.
    position: Vec<Option<usize>>,
    /// Immediate dominators. The first node is its own, and those of unreachable nodes are meaningless.
    parent: Vec<usize>,
}

impl Dominators {
    fn new(next: &[Vec<usize>]) -> Self {
        let mut order = postorder(next);
        order.reverse();
        let mut position = vec![None; next.len()];
        order.iter().enumerate().for_each(|(at, &node)| position[node] = Some(at));
        let mut before = vec![Vec::new(); next.len()];
        for &node in &order {
            next[node].iter().for_each(|&to| before[to].push(node));
        }
        let mut parent = vec![0; next.len()];
        let mut found = vec![false; next.len()];
        found[0] = true;
        let mut changed = true;
        while changed {
            changed = false;
            for &node in &order[1..] {
                let known = before[node].iter().copied().filter(|&node| found[node]);
                let common = known.reduce(|mut a, mut b| {
                    while a != b {
                        while position[a] > position[b] {
                            a = parent[a];
                        }
                        while position[b] > position[a] {
                            b = parent[b];
                        }
                    }
                    a
                });
                // In reverse postorder, at least one predecessor has been visited.
                if let Some(common) = common
                    && (!found[node] || parent[node] != common)
                {
                    (found[node], parent[node]) = (true, common);
                    changed = true;
                }
            }
        }
        Self { order, position, parent }
    }
}
