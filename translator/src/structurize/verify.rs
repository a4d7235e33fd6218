//! Proves that a tree does the same as its graph. Shares nothing with the code that makes trees.
//!
//! Between two blocks a tree only sets selectors to constants, tests them, and tests the condition of the block that was executed last.
//! So for each block and each outcome of its condition, the path to the next block is known exactly, and must end at
//! the target of the graph's edge. Together with the rules of [`Node`] this is sufficient: if it holds for each edge,
//! it holds for each run.

use super::graph::{Graph, Terminator};
use super::tree::{Condition, Node, Tree};

/// Checks a tree against its graph:
///
/// * every block that can be reached from block 0 stands in the tree once, and no other does;
/// * the tree begins with block 0, and from every block the tree goes on to the same block as the graph, or ends where the thread does,
///   for either outcome of the condition;
/// * the condition of a block is asked only before another block is executed, and its [`Node::Block`] stands before the question in the
///   same list or one around it, with no loop between;
/// * selectors are below [`Tree::selectors`], and are set after the last block was executed and before they are asked for;
/// * [`Node::Break`] is inside of a loop and the last of its list; no `If` has two empty lists; there is no code that is never executed.
///
/// # Errors
/// The first violation found, in words.
pub fn verify(graph: &Graph, tree: &Tree) -> Result<(), String> {
    let blocks = u32::try_from(graph.blocks.len()).map_err(|_| "there are too many blocks".to_owned())?;
    if blocks == 0 {
        return Err("there is no block".to_owned());
    }
    let code = Code::new(blocks, tree)?;
    let mut walker = Walker { code: &code, entered: vec![false; code.steps.len()] };
    let mut seen = vec![false; graph.blocks.len()];
    seen[0] = true;
    walker.expect(0, None, Some(0))?;
    let mut stack = vec![0];
    while let Some(block) = stack.pop() {
        let start = code.after[block as usize].ok_or_else(|| format!("block {block} is missing"))?;
        let edges = match graph.blocks[block as usize] {
            Terminator::Exit => [None, None],
            Terminator::Goto(target) => [Some((None, target)), None],
            Terminator::Branch { then, otherwise } if then == otherwise => [Some((None, then)), None],
            Terminator::Branch { then, otherwise } => [Some((Some(true), then)), Some((Some(false), otherwise))],
        };
        if edges[0].is_none() {
            walker.expect(start, None, None)?;
        }
        for (outcome, target) in edges.into_iter().flatten() {
            walker.expect(start, outcome.map(|outcome| (block, outcome)), Some(target))?;
            // The walk has ended at this block, so it is one that the tree has, and its number is in range.
            if !std::mem::replace(&mut seen[target as usize], true) {
                stack.push(target);
            }
        }
    }
    match walker.entered.iter().zip(&code.steps).find(|(entered, step)| !**entered && step.is_node()) {
        Some((_, step)) => Err(format!("{step:?} is never executed")),
        None => Ok(()),
    }
}

/// The tree as a list of steps, in order. Positions are indices of it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Block(u32),
    Set {
        selector: u32,
        value: u32,
    },
    /// Goes on with the next step if the condition holds.
    Test {
        condition: Condition,
        otherwise: usize,
    },
    Break {
        to: usize,
    },
    Jump {
        to: usize,
    },
    End,
}

impl Step {
    /// Whether the step stands for a node of the tree, which should be of use.
    fn is_node(self) -> bool {
        matches!(self, Self::Block(_) | Self::Set { .. } | Self::Test { .. } | Self::Break { .. })
    }
}

struct Code {
    steps: Vec<Step>,
    /// The position after each block.
    after: Vec<Option<usize>>,
}

/// A list whose nodes are being turned into steps.
struct List<'t> {
    rest: std::slice::Iter<'t, Node>,
    /// Its first step. Tells lists with blocks in them apart that are at the same depth one after the other.
    start: usize,
    owner: Owner<'t>,
}

/// The node that a list belongs to.
enum Owner<'t> {
    Tree,
    /// With the `Break`s in it, which don't know yet where to go.
    Loop {
        breaks: Vec<usize>,
    },
    /// The first list of an `If`, with the step of its test, and the second list.
    Then {
        test: usize,
        otherwise: &'t [Node],
    },
    /// The second list, with the step at the end of the first.
    Otherwise {
        jump: usize,
    },
}

impl Code {
    /// Checks everything that is about the place of nodes.
    fn new(blocks: u32, tree: &Tree) -> Result<Self, String> {
        let mut code = Self { steps: Vec::new(), after: vec![None; blocks as usize] };
        // Depth and start of the list that each block stands in.
        let mut homes = vec![(0, 0); blocks as usize];
        let mut lists = vec![List { rest: tree.nodes.iter(), start: 0, owner: Owner::Tree }];
        while let Some(list) = lists.last_mut() {
            let here = code.steps.len();
            let Some(node) = list.rest.next() else {
                let Some(List { start, owner, .. }) = lists.pop() else { break };
                match owner {
                    Owner::Tree => code.steps.push(Step::End),
                    Owner::Loop { breaks } => {
                        code.steps.push(Step::Jump { to: start });
                        for position in breaks {
                            code.steps[position] = Step::Break { to: here + 1 };
                        }
                    }
                    Owner::Then { test, otherwise } => {
                        code.steps.push(Step::Jump { to: here + 1 });
                        if let Step::Test { otherwise, .. } = &mut code.steps[test] {
                            *otherwise = here + 1;
                        }
                        lists.push(List {
                            rest: otherwise.iter(),
                            start: here + 1,
                            owner: Owner::Otherwise { jump: here },
                        });
                    }
                    Owner::Otherwise { jump } => code.steps[jump] = Step::Jump { to: here },
                }
                continue;
            };
            match node {
                Node::Block(block) => {
                    code.steps.push(Step::Block(*block));
                    let after =
                        code.after.get_mut(*block as usize).ok_or_else(|| format!("there is no block {block}"))?;
                    if after.replace(here + 1).is_some() {
                        return Err(format!("block {block} is there twice"));
                    }
                    let start = list.start;
                    homes[*block as usize] = (lists.len() - 1, start);
                }
                Node::Set { selector, value } => {
                    check_selector(tree, *selector)?;
                    code.steps.push(Step::Set { selector: *selector, value: *value });
                }
                Node::If { condition, then, otherwise } => {
                    if then.is_empty() && otherwise.is_empty() {
                        return Err(format!("the If of {condition:?} has no code"));
                    }
                    match *condition {
                        Condition::Selector { selector, .. } => check_selector(tree, selector)?,
                        Condition::Branch(block) => {
                            let there = code.after.get(block as usize).copied().flatten().is_some();
                            let home = homes.get(block as usize).copied().unwrap_or_default();
                            let inside = lists.iter().skip(home.0 + 1).all(|l| !matches!(l.owner, Owner::Loop { .. }));
                            let around = lists.get(home.0).is_some_and(|list| list.start == home.1);
                            if !(there && inside && around) {
                                return Err(format!("block {block} does not dominate the test of its condition"));
                            }
                        }
                    }
                    code.steps.push(Step::Test { condition: *condition, otherwise: here });
                    lists.push(List {
                        rest: then.iter(),
                        start: here + 1,
                        owner: Owner::Then { test: here, otherwise },
                    });
                }
                Node::Loop(body) => {
                    lists.push(List { rest: body.iter(), start: here, owner: Owner::Loop { breaks: Vec::new() } });
                }
                Node::Break => {
                    if list.rest.len() > 0 {
                        return Err("a Break is not the last of its list".to_owned());
                    }
                    code.steps.push(Step::Break { to: here });
                    let innermost = lists.iter_mut().rev().find_map(|list| match &mut list.owner {
                        Owner::Loop { breaks, .. } => Some(breaks),
                        _ => None,
                    });
                    innermost.ok_or("a Break is outside of all loops")?.push(here);
                }
            }
        }
        Ok(code)
    }
}

fn check_selector(tree: &Tree, selector: u32) -> Result<(), String> {
    if selector < tree.selectors { Ok(()) } else { Err(format!("there is no selector {selector}")) }
}

struct Walker<'c> {
    code: &'c Code,
    /// Whether some walk has come to a step.
    entered: Vec<bool>,
}

impl Walker<'_> {
    /// Walks from a position to the next block or the end, and checks that it is the expected one. `outcome` is the
    /// block just executed with the value of its condition.
    fn expect(&mut self, start: usize, outcome: Option<(u32, bool)>, expected: Option<u32>) -> Result<(), String> {
        let mut position = start;
        let mut selectors = Vec::new();
        // A walk that is longer goes in circles.
        for _ in 0..2 * self.code.steps.len() + 2 {
            // All targets of jumps are positions, as the last step is the end.
            self.entered[position] = true;
            position = match self.code.steps[position] {
                Step::Block(block) if Some(block) == expected => return Ok(()),
                Step::End if expected.is_none() => return Ok(()),
                Step::Block(_) | Step::End => {
                    let step = self.code.steps[position];
                    return Err(format!("{outcome:?} at {start} leads to {step:?} instead of {expected:?}"));
                }
                Step::Set { selector, value } => {
                    selectors.push((selector, value));
                    position + 1
                }
                Step::Test { condition: Condition::Branch(block), otherwise } => match outcome {
                    Some((last, holds)) if last == block => {
                        if holds {
                            position + 1
                        } else {
                            otherwise
                        }
                    }
                    _ => return Err(format!("the condition of block {block} is asked for too late")),
                },
                Step::Test { condition: Condition::Selector { selector, equals }, otherwise } => {
                    match selectors.iter().rev().find(|set| set.0 == selector) {
                        Some(&(_, value)) => {
                            if value == equals {
                                position + 1
                            } else {
                                otherwise
                            }
                        }
                        None => return Err(format!("selector {selector} is asked for but not set")),
                    }
                }
                Step::Break { to } | Step::Jump { to } => to,
            };
        }
        Err(format!("{outcome:?} at {start} leads to no block"))
    }
}
