//! Restructured trees against the graphs that they come from: both are interpreted with the same conditions and must execute the same
//! blocks in the same order. The verifier, which proves more, is checked by the way. Shapes are tested beside the code.

use proptest::prelude::*;
use ptx2spv_translator::internals::structurize::{
    Condition, Error, Graph, MAX_DEPTH, Node, Terminator, Tree, structurize, verify,
};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A number that another one decides.
fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

struct Random(SplitMix64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.0.next_u64() % u64::from(bound)) as u32
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

/// The conditions that a thread meets: a function of the block, of the number of the thread's visits to the block, and
/// of a seed.
struct Thread {
    seed: u64,
    visits: Vec<u64>,
    trace: Vec<u32>,
}

impl Thread {
    fn new(graph: &Graph, seed: u64) -> Self {
        Self { seed, visits: vec![0; graph.blocks.len()], trace: Vec::new() }
    }

    fn visit(&mut self, block: u32) {
        self.visits[block as usize] += 1;
        self.trace.push(block);
    }

    fn holds(&self, block: u32) -> bool {
        mix(mix(self.seed ^ u64::from(block)) ^ self.visits[block as usize]) & 1 == 1
    }
}

/// The blocks that a thread executes, up to a number, and whether it ends by then.
fn run_graph(graph: &Graph, seed: u64, limit: usize) -> (Vec<u32>, bool) {
    let mut thread = Thread::new(graph, seed);
    let mut block = 0;
    while thread.trace.len() < limit {
        thread.visit(block);
        block = match graph.blocks[block as usize] {
            Terminator::Exit => return (thread.trace, true),
            Terminator::Goto(next) => next,
            Terminator::Branch { then, otherwise } => {
                if thread.holds(block) {
                    then
                } else {
                    otherwise
                }
            }
        };
    }
    (thread.trace, false)
}

fn run_tree(graph: &Graph, tree: &Tree, seed: u64, limit: usize) -> (Vec<u32>, bool) {
    let mut thread = Thread::new(graph, seed);
    let mut selectors = vec![None; tree.selectors as usize];
    // The rest of each list that is being executed, and the body of the loop if it is one.
    let mut lists: Vec<(&[Node], Option<&[Node]>)> = vec![(&tree.nodes, None)];
    let mut idle = 0;
    while thread.trace.len() < limit && idle < 1_000_000 {
        idle += 1;
        let Some((rest, body)) = lists.last_mut() else { return (thread.trace, true) };
        let Some((node, after)) = rest.split_first() else {
            match body {
                Some(body) => *rest = body,
                None => drop(lists.pop()),
            }
            continue;
        };
        *rest = after;
        match node {
            Node::Block(block) => {
                idle = 0;
                thread.visit(*block);
            }
            Node::Set { selector, value } => selectors[*selector as usize] = Some(*value),
            Node::If { condition, then, otherwise } => {
                let holds = match *condition {
                    Condition::Branch(block) => thread.holds(block),
                    Condition::Selector { selector, equals } => {
                        selectors[selector as usize].expect("selectors are set before they are read") == equals
                    }
                };
                lists.push((if holds { then } else { otherwise }, None));
            }
            Node::Loop(body) => lists.push((body, Some(body))),
            Node::Break => while lists.pop().expect("a loop is left from inside").1.is_none() {},
        }
    }
    // A tree that ends with its last block has only empty lists to fall out of.
    let ends = lists.iter().all(|(rest, body)| rest.is_empty() && body.is_none());
    (thread.trace, ends)
}

/// Restructures a graph, verifies the result and compares runs, one for each seed.
fn check(graph: &Graph, seeds: u64, limit: usize) -> Tree {
    let tree = structurize(graph).expect("the graph is well-formed and not too deep");
    assert_eq!(verify(graph, &tree), Ok(()), "{graph:?}\n{tree:#?}");
    for seed in 0..seeds {
        let expected = run_graph(graph, seed, limit);
        let actual = run_tree(graph, &tree, seed, limit);
        assert_eq!(actual.0, expected.0, "seed {seed}: {graph:?}\n{tree:#?}");
        // At the limit, selectors may remain to be tested before the end is reached.
        assert!(actual.1 == expected.1 || expected.0.len() == limit, "seed {seed}: {graph:?}\n{tree:#?}");
    }
    assert_eq!(structurize(graph).as_ref(), Ok(&tree), "results are deterministic");
    tree
}

fn branch(then: u32, otherwise: u32) -> Terminator {
    Terminator::Branch { then, otherwise }
}

fn successors(terminator: Terminator) -> Vec<u32> {
    match terminator {
        Terminator::Exit => vec![],
        Terminator::Goto(next) => vec![next],
        Terminator::Branch { then, otherwise } => vec![then, otherwise],
    }
}

/// Whether removing self-loops and merging blocks into their only predecessor (T1 and T2 of Hecht and Ullman) leaves one block.
fn is_reducible(graph: &Graph) -> bool {
    let len = graph.blocks.len();
    let mut reached = vec![false; len];
    let mut stack = vec![0];
    while let Some(block) = stack.pop() {
        if !std::mem::replace(&mut reached[block as usize], true) {
            stack.extend(successors(graph.blocks[block as usize]));
        }
    }
    let mut edges: Vec<Vec<u32>> = graph.blocks.iter().map(|&terminator| successors(terminator)).collect();
    let mut alive = reached;
    loop {
        let mut changed = false;
        for block in 0..len as u32 {
            if !alive[block as usize] {
                continue;
            }
            edges[block as usize].retain(|&next| next != block);
            let predecessors: Vec<usize> = (0..len).filter(|&p| alive[p] && edges[p].contains(&block)).collect();
            if let ([only], true) = (&predecessors[..], block != 0) {
                let moved = std::mem::take(&mut edges[block as usize]);
                edges[*only].retain(|&next| next != block);
                edges[*only].extend(moved);
                alive[block as usize] = false;
                changed = true;
            }
        }
        if !changed {
            return alive.iter().filter(|&&alive| alive).count() == 1;
        }
    }
}

/// A graph of arbitrary edges.
fn soup(random: &mut Random, len: u32) -> Graph {
    let exits = random.below(25);
    let gotos = random.below(50);
    let near = random.chance(30);
    let target = |random: &mut Random, block: u32| {
        if near { (block + 1 + random.below(6)).saturating_sub(2).min(len - 1) } else { random.below(len) }
    };
    let mut terminator = |block| match random.below(100) {
        roll if roll < exits => Terminator::Exit,
        roll if roll < exits + gotos => Terminator::Goto(target(random, block)),
        _ => branch(target(random, block), target(random, block)),
    };
    Graph { blocks: (0..len).map(&mut terminator).collect() }
}

/// Lowers a random program of nested statements to a graph, as a compiler would.
struct Program<'r> {
    random: &'r mut Random,
    blocks: Vec<Terminator>,
    /// The targets of `continue` and `break`, for each loop around.
    loops: Vec<(u32, u32)>,
    /// Percentage of statements that jump to some block written before.
    gotos: u32,
    size: usize,
}

impl Program<'_> {
    fn graph(random: &mut Random, size: usize, gotos: u32) -> Graph {
        let mut program = Program { random, blocks: vec![Terminator::Exit], loops: Vec::new(), gotos, size };
        let mut end = 0;
        while program.blocks.len() < size {
            end = program.statements(end, 0);
        }
        program.blocks[end as usize] = Terminator::Exit;
        Graph { blocks: program.blocks }
    }

    fn block(&mut self) -> u32 {
        self.blocks.push(Terminator::Exit);
        self.blocks.len() as u32 - 1
    }

    fn end(&mut self, block: u32, terminator: Terminator) {
        self.blocks[block as usize] = terminator;
    }

    /// Lowers statements into a block and those after it, and returns the block where control goes on.
    fn statements(&mut self, mut block: u32, depth: u32) -> u32 {
        for _ in 0..1 + self.random.below(4) {
            block = self.statement(block, depth);
        }
        block
    }

    fn statement(&mut self, block: u32, depth: u32) -> u32 {
        if self.random.chance(self.gotos) {
            let next = self.block();
            let target = self.random.below(self.blocks.len() as u32);
            self.end(block, branch(target, next));
            return next;
        }
        let leaf = depth > 6 || self.blocks.len() > self.size;
        match self.random.below(if leaf { 5 } else { 10 }) {
            0 | 1 => {
                let next = self.block();
                self.end(block, Terminator::Goto(next));
                next
            }
            // A conditional return, continue or break, the latter two of any loop around.
            2 => {
                let (leave, next) = (self.block(), self.block());
                self.end(block, branch(leave, next));
                next
            }
            3 | 4 => {
                let next = self.block();
                let loops = self.loops.len() as u32;
                let target = if loops == 0 {
                    next
                } else {
                    let (again, out) = self.loops[self.random.below(loops) as usize];
                    if self.random.chance(50) { again } else { out }
                };
                let leaves = self.random.chance(50);
                self.end(block, if leaves { branch(target, next) } else { branch(next, target) });
                next
            }
            5 | 6 => {
                let (then, otherwise, next) = (self.block(), self.block(), self.block());
                self.condition(block, then, otherwise);
                let end = self.statements(then, depth + 1);
                self.end(end, Terminator::Goto(next));
                let end = if self.random.chance(50) { self.statements(otherwise, depth + 1) } else { otherwise };
                self.end(end, Terminator::Goto(next));
                next
            }
            7 => {
                let (head, body, next) = (self.block(), self.block(), self.block());
                self.end(block, Terminator::Goto(head));
                self.condition(head, body, next);
                self.loops.push((head, next));
                let end = self.statements(body, depth + 1);
                self.loops.pop();
                self.end(end, Terminator::Goto(head));
                next
            }
            8 => {
                let (body, test, next) = (self.block(), self.block(), self.block());
                self.end(block, Terminator::Goto(body));
                self.loops.push((test, next));
                let end = self.statements(body, depth + 1);
                self.loops.pop();
                self.end(end, Terminator::Goto(test));
                self.condition(test, body, next);
                next
            }
            // A switch, with falling through.
            _ => {
                let next = self.block();
                let cases: Vec<u32> = (0..2 + self.random.below(4)).map(|_| self.block()).collect();
                let mut test = block;
                for &case in &cases {
                    let other = self.block();
                    self.end(test, branch(case, other));
                    test = other;
                }
                self.end(test, Terminator::Goto(next));
                for (index, &case) in cases.iter().enumerate() {
                    let end = self.statements(case, depth + 1);
                    let after = cases.get(index + 1).copied().unwrap_or(next);
                    let target = if self.random.chance(70) { next } else { after };
                    self.end(end, Terminator::Goto(target));
                }
                next
            }
        }
    }

    /// Lowers a condition of one to three parts joined by `and` or `or`.
    fn condition(&mut self, mut block: u32, then: u32, otherwise: u32) {
        while self.random.chance(25) {
            let more = self.block();
            let part = if self.random.chance(50) { branch(then, more) } else { branch(more, otherwise) };
            self.end(block, part);
            block = more;
        }
        self.end(block, branch(then, otherwise));
    }
}

#[test]
fn small_graphs_of_arbitrary_edges() {
    let mut random = Random::new(1);
    let mut irreducible = 0;
    for _ in 0..12_000 {
        let len = 2 + random.below(15);
        let graph = soup(&mut random, len);
        irreducible += u32::from(!is_reducible(&graph));
        check(&graph, 8, 150);
    }
    assert!(irreducible > 2000, "only {irreducible} were irreducible");
}

#[test]
fn every_graph_of_three_blocks() {
    let terminators = || {
        let gotos = (0..3).map(Terminator::Goto);
        let branches = (0..9).map(|pair| branch(pair / 3, pair % 3));
        [Terminator::Exit].into_iter().chain(gotos).chain(branches)
    };
    for first in terminators() {
        for second in terminators() {
            for third in terminators() {
                check(&Graph { blocks: vec![first, second, third] }, 4, 20);
            }
        }
    }
}

#[test]
fn small_programs() {
    let mut random = Random::new(2);
    for round in 0..3000 {
        let size = 3 + random.below(30) as usize;
        let graph = Program::graph(&mut random, size, [0, 0, 15][round % 3]);
        if round % 3 != 2 && graph.blocks.len() < 40 {
            assert!(is_reducible(&graph), "structured programs are reducible");
        }
        check(&graph, 6, 200);
    }
}

#[test]
fn large_graphs() {
    let mut random = Random::new(3);
    for round in 0..12 {
        let size = 200 + random.below(1800);
        check(&Program::graph(&mut random, size as usize, [0, 5][round % 2]), 6, 5000);
        let len = 200 + random.below(300);
        check(&soup(&mut random, len), 3, 3000);
    }
    check(&soup(&mut random, 2000), 3, 5000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same once more for its shrinking.
    #[test]
    fn any_graph(raw in prop::collection::vec((0..10u8, any::<u32>(), any::<u32>()), 1..12)) {
        let len = raw.len() as u32;
        let terminator = |&(kind, then, otherwise): &(u8, u32, u32)| match kind {
            0 => Terminator::Exit,
            1..=3 => Terminator::Goto(then % len),
            _ => branch(then % len, otherwise % len),
        };
        check(&Graph { blocks: raw.iter().map(terminator).collect() }, 6, 100);
    }
}

#[test]
fn long_chain_of_diamonds() {
    // Block 3i branches to the next two, which meet in block 3i + 3.
    let mut blocks = Vec::new();
    for i in 0..3333 {
        let block = 3 * i;
        blocks.extend([branch(block + 1, block + 2), Terminator::Goto(block + 3), Terminator::Goto(block + 3)]);
    }
    blocks.push(Terminator::Exit);
    let tree = check(&Graph { blocks }, 2, 20_000);
    assert_eq!((tree.selectors, tree.nodes.len()), (0, 2 * 3333 + 1));
}

#[test]
fn long_chain_of_loops_and_blocks() {
    let mut blocks: Vec<_> = (0..5000).map(|block| branch(block, block + 1)).collect();
    blocks.extend((5000..10_000).map(|block| Terminator::Goto(block + 1)));
    blocks.push(Terminator::Exit);
    assert_eq!(check(&Graph { blocks }, 1, 30_000).selectors, 0);
}

#[test]
fn loop_with_thousands_of_breaks() {
    // The breaks all lead to the same block, so neither depth nor selectors are needed.
    let mut blocks: Vec<_> = (0..5000).map(|block| branch(block + 1, 5001)).collect();
    blocks.extend([Terminator::Goto(0), Terminator::Exit]);
    assert_eq!(check(&Graph { blocks }, 2, 10_000).selectors, 0);
}

/// Ifs in ifs, each of two blocks, around one more.
fn nest_of_ifs(depth: u32) -> Graph {
    let open = (0..depth).map(|block| branch(block + 1, 2 * depth - block));
    let close = (depth + 1..2 * depth).map(|block| Terminator::Goto(block + 1));
    Graph { blocks: open.chain([Terminator::Goto(depth + 1)]).chain(close).chain([Terminator::Exit]).collect() }
}

/// Loops in loops, with a head and a latch each, around one more block.
fn nest_of_loops(depth: u32) -> Graph {
    let heads = (0..depth).map(|block| Terminator::Goto(block + 1));
    let latches = (depth + 1..=2 * depth).map(|block| branch(2 * depth - block, block + 1));
    Graph { blocks: heads.chain([Terminator::Goto(depth + 1)]).chain(latches).chain([Terminator::Exit]).collect() }
}

#[test]
fn deep_nests() {
    let limit = MAX_DEPTH as u32;
    assert_eq!(check(&nest_of_ifs(limit), 2, 5000).selectors, 0);
    assert_eq!(structurize(&nest_of_ifs(limit + 1)), Err(Error::TooDeep));
    assert_eq!(structurize(&nest_of_ifs(20_000)), Err(Error::TooDeep));
    // The innermost latch is an `If` in its loop.
    assert_eq!(check(&nest_of_loops(limit - 1), 2, 5000).selectors, 0);
    assert_eq!(structurize(&nest_of_loops(limit)), Err(Error::TooDeep));
    assert_eq!(structurize(&nest_of_loops(5000)), Err(Error::TooDeep));
}

#[test]
fn complete_graphs() {
    // Binary trees of branches lead from each of `n` blocks to any of them: every pair is joined, and all are entries of one loop.
    for n in 2..10 {
        let mut blocks = vec![Terminator::Exit; n];
        for from in 0..n {
            let mut at = from;
            for to in 0..n {
                blocks.push(Terminator::Exit);
                blocks[at] = branch(to as u32, blocks.len() as u32 - 1);
                at = blocks.len() - 1;
            }
        }
        check(&Graph { blocks }, 10, 1000);
    }
}

#[test]
fn loops_with_many_entries() {
    // A chain of tests leads to each block of a ring, which is left from each to a block of its own.
    for n in [2, 3, 17, 100] {
        let mut blocks: Vec<_> = (0..n - 1).map(|i| branch(n + i, if i + 2 < n { i + 1 } else { 2 * n - 1 })).collect();
        blocks.push(Terminator::Exit);
        blocks.extend((0..n).map(|i| branch(n + (i + 1) % n, 2 * n + i)));
        blocks.extend((0..n).map(|_| Terminator::Exit));
        let tree = check(&Graph { blocks }, 20, 1000);
        assert!(tree.selectors <= 2);
    }
}

#[test]
fn bad_block_numbers() {
    let graph = |blocks: &[Terminator]| Graph { blocks: blocks.to_vec() };
    assert_eq!(structurize(&graph(&[])), Err(Error::Malformed(0)));
    assert_eq!(structurize(&graph(&[Terminator::Goto(1)])), Err(Error::Malformed(1)));
    assert_eq!(structurize(&graph(&[branch(0, u32::MAX)])), Err(Error::Malformed(u32::MAX)));
    // Even where they can't be reached.
    assert_eq!(structurize(&graph(&[Terminator::Exit, branch(7, 0)])), Err(Error::Malformed(7)));
}
