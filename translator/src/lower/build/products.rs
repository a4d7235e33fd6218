//! Products of matrices. The code of one is long, and drivers inline functions. So products of a kind go to one copy in the kernel's graph, like calls
//! of a [`shared`](super::shared) function, where that leaves the rest of the graph as it is: all threads of a block execute them together, and
//! the innermost loop around them is the same.

use rustc_hash::{FxHashMap, FxHashSet};

use super::shared::Returns;
use super::{Build, Instance};
use crate::cfg::dependence::divergent_blocks;
use crate::cfg::loops::{components, marked, ways_back};
use crate::cfg::{BlockId, Cfg, End};
use crate::decode::program::Instruction;
use crate::diagnostic::{Diagnostic, Result};
use crate::index::Index;
use crate::ir::{Builder, Compare, Type};
use crate::isa::operation::{Action, Operation};
use crate::lower::thread::common::Common;
use crate::lower::thread::multiply;
use crate::lower::thread::warpgroup::Tiles;
use crate::policy::Policy;

/// The most products that share a copy. With it, 64 products, which a warp needs for 128 by 64 elements, have three
/// copies.
const MOST_SHARING: usize = 22;
/// The most on drivers that are slow with many blocks. The time that llvmpipe takes to compile one copy grows with the square of them: all elements of
/// D are carried around the loop that the returns form.
const MOST_SHARING_SLOW: usize = 16;

/// The products of a kernel that are built so far.
#[derive(Default)]
pub(super) struct Products {
    kinds: Vec<Common>,
    places: Vec<Place>,
}

/// The place of a product in the graph. Each product has a copy of the code for itself at first.
struct Place {
    kind: usize,
    /// The block that sets the operands.
    before: BlockId,
    /// The first and last block of the code.
    code: [BlockId; 2],
    /// The block that takes the results.
    after: BlockId,
}

impl<'p> Build<'p> {
    /// A product of matrices from the current block: of a warp, or of a warpgroup.
    pub(super) fn product(&mut self, instance: &mut Instance<'p>, product: &Instruction) -> Result {
        let next = self.new_block();
        if let Some((register, negated)) = product.guard {
            let then = self.new_block();
            let condition = self.guard(instance, register, negated, product.span)?;
            self.finish(instance, End::Branch { condition, then, otherwise: next }, then);
        }
        if product.form.row.action == Action::Compute(Operation::WarpgroupMultiply) {
            let tiles = self.with(instance, |l| Tiles::of(l, product))?;
            for number in 0..tiles.count() {
                let tile = self.with(instance, |l| tiles.product(l, number))?;
                self.product_of_warp(instance, &tile)?;
            }
        } else {
            self.product_of_warp(instance, product)?;
        }
        self.finish(instance, End::Goto(next), next);
        Ok(())
    }

    /// A product of matrices of a warp, whatever its guard is.
    fn product_of_warp(&mut self, instance: &mut Instance<'p>, product: &Instruction) -> Result {
        let kinds = &mut self.products.kinds;
        let kind = match kinds.iter().position(|known| known.serves(product)) {
            Some(known) => known,
            None => {
                kinds.push(Common::of(&mut self.function, product)?);
                kinds.len() - 1
            }
        };
        // The code is the same whatever the operands are.
        let Some(common) = self.products.kinds.get(kind).cloned() else {
            return Err(Diagnostic::internal("a product without its kind", product.span));
        };
        let [first, after] = [(); 2].map(|()| self.new_block());
        self.with(instance, |l| common.pass(l, product))?;
        let before = instance.current;
        self.finish(instance, End::Goto(first), first);
        let inside = common.instruction(&mut instance.frame, product.span);
        match multiply::turns(&inside)? {
            None => self.with(instance, |l| multiply::multiply(l, &inside))?,
            Some(turns) => self.in_turns(instance, &inside, turns)?,
        }
        let last = instance.current;
        self.finish(instance, End::Goto(after), after);
        self.with(instance, |l| common.take(l, product))?;
        self.products.places.push(Place { kind, before, code: [first, last], after });
        Ok(())
    }

    /// A loop in which each turn adds products to the elements of D.
    fn in_turns(&mut self, instance: &mut Instance<'p>, inside: &Instruction, turns: u32) -> Result {
        let number = self.function.var(Type::I32);
        let [then, otherwise] = [(); 2].map(|()| self.new_block());
        self.with(instance, |l| {
            l.b.set(number, l.b.i32(0));
            multiply::begin(l, inside)
        })?;
        self.finish(instance, End::Goto(then), then);
        let condition = self.with(instance, |l| {
            let turn = l.b.get(number);
            multiply::add(l, inside, turn)?;
            let next = l.b.add_const(turn, 1);
            l.b.set(number, next);
            Ok(l.b.compare_const(Compare::LessUnsigned, next, turns.into()))
        })?;
        self.finish(instance, End::Branch { condition, then, otherwise }, otherwise);
        Ok(())
    }

    /// Lets products share their code, once all are built.
    pub(super) fn share_products(&mut self, policy: &Policy) {
        let Products { kinds, mut places } = std::mem::take(&mut self.products);
        let mut left: Vec<usize> = kinds.iter().map(|kind| kind.most_alone(policy)).collect();
        places.retain(|place| {
            let Some(left) = left.get_mut(place.kind).filter(|left| **left > 0) else { return true };
            *left -= 1;
            false
        });
        if places.len() < 2 {
            return;
        }
        let mut graph = Cfg { blocks: std::mem::take(&mut self.blocks) };
        let divergent = divergent_blocks(&self.function, &graph);
        let loops = innermost_loops(&graph);
        places.retain(|place| divergent.get(place.before.position()) == Some(&false));
        let key = |place: &Place| (place.kind, loops.get(&place.before).copied());
        places.sort_by_key(key);
        let groups = places.chunk_by(|one, other| key(one) == key(other));
        let most = if policy.blocks_slow { MOST_SHARING_SLOW } else { MOST_SHARING };
        let shared = groups.flat_map(|group| group.chunks(most)).filter(|group| group.len() > 1);
        for group in shared {
            let Some([first, last]) = group.first().map(|place| place.code) else { continue };
            let mut returns = Returns::from(&mut self.function, last);
            for place in group {
                let case = returns.add_site(place.after);
                let b = Builder::new(&mut self.function);
                b.set(returns.site, b.i32(case));
                let mut body = b.into_block();
                if let Some(block) = graph.blocks.at_mut(place.before) {
                    block.body.append(&mut body);
                    block.end = End::Goto(first);
                }
            }
            returns.finish(&mut self.function, &mut graph.blocks);
        }
        graph.clear_unreachable();
        self.blocks = graph.blocks;
    }
}

/// The number of the innermost loop around each block that is in one.
fn innermost_loops(graph: &Cfg) -> FxHashMap<BlockId, usize> {
    let mut found = FxHashMap::default();
    let mut cut = FxHashSet::default();
    let mut todo = components(graph, &graph.reverse_postorder(), &cut);
    let mut number = 0;
    let predecessors = graph.predecessors();
    while let Some(component) = todo.pop() {
        found.extend(component.iter().map(|block| (*block, number)));
        number += 1;
        let back = ways_back(graph, &predecessors, &component, &marked(graph, &component));
        // Without an entry it can't be reached.
        if !back.is_empty() {
            cut.extend(back);
            todo.extend(components(graph, &component, &cut));
        }
    }
    found
}
