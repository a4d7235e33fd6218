//! Splits basic blocks so that each `.sync` operation of a warp ends a block of its own. Guards become branches.

use rustc_hash::FxHashMap;

use super::site::{has_site, push, site};
use crate::cfg::{BasicBlock, BlockId, Cfg, End};
use crate::index::Index;
use crate::ir::{
    Block, Builder, Function, Op, Stmt, Value, bits_type, for_each_result, for_each_stmt_mut, last_mark, map_operands,
};

/// Splits all blocks. A block with an operation then ends with that operation and the assignments of its results, and has one successor.
pub fn split(function: &mut Function, cfg: &mut Cfg) {
    let mut todo: Vec<BlockId> = cfg.blocks.indices().collect();
    while let Some(id) = todo.pop() {
        let Some(block) = cfg.blocks.at_mut(id) else { continue };
        let waits = |stmt: &Stmt| site(stmt).is_some() || matches!(stmt, Stmt::If { .. }) && has_site_inside(stmt);
        let Some(position) = block.body.iter().position(waits) else { continue };
        let tail = block.body.split_off(position + 1);
        let Some(last) = block.body.pop() else { continue };
        let mark = last_mark(&block.body).map(Stmt::At);
        let part =
            |body: Block| BasicBlock { body: mark.iter().cloned().chain(body).collect(), stop: None, end: End::Exit };
        let mut rest = BasicBlock { stop: block.stop.take(), end: block.end, ..part(tail) };
        let b = Builder::new(function);
        match last {
            Stmt::If { condition, then, otherwise } => {
                let mut arms = [part(then), part(otherwise)];
                for part in arms.iter_mut().chain([&mut rest]) {
                    carry(&b, &block.body, part);
                }
                block.body.append(&mut b.take_block());
                // The arms come first.
                let after = BlockId::new(cfg.blocks.len() + arms.len());
                let [then, otherwise] = arms.map(|arm| cfg.blocks.push(BasicBlock { end: End::Goto(after), ..arm }));
                cfg.blocks.push(rest);
                if let Some(block) = cfg.blocks.at_mut(id) {
                    block.end = End::Branch { condition, then, otherwise };
                }
                todo.extend([then, otherwise, after]);
            }
            operation => {
                carry(&b, &block.body, &mut rest);
                block.body.append(&mut b.take_block());
                block.body.push(operation.clone());
                carry(&b, &vec![operation], &mut rest);
                block.body.append(&mut b.take_block());
                let next = push(cfg, rest.body, rest.stop, rest.end);
                if let Some(block) = cfg.blocks.at_mut(id) {
                    block.end = End::Goto(next);
                }
                todo.push(next);
            }
        }
    }
}

fn has_site_inside(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::If { then, otherwise, .. } if has_site(then) || has_site(otherwise))
}

/// Makes the values of a list known to a part that follows in another block: constants are repeated, other values go
/// through variables, which `b` sets.
pub fn carry(b: &Builder<'_>, before: &Block, part: &mut BasicBlock) {
    let mut defined: FxHashMap<Value, Option<Op>> = FxHashMap::default();
    for stmt in before {
        let constant = match stmt {
            Stmt::Let(_, op @ Op::Const(_)) => Some(*op),
            _ => None,
        };
        for_each_result(stmt, |value| {
            defined.insert(value, constant);
        });
    }
    let mut used = Vec::new();
    replace(part, &mut |value| {
        if defined.contains_key(&value) && !used.contains(&value) {
            used.push(value);
        }
        value
    });
    let mut known = FxHashMap::default();
    let mut prelude = Block::new();
    for value in used {
        let ty = b.type_of(value);
        let renewed = match defined.get(&value).copied().flatten() {
            Some(constant) => {
                let renewed = b.value(ty);
                prelude.push(Stmt::Let(renewed, constant));
                renewed
            }
            None => {
                let var = b.var(bits_type(ty));
                b.set(var, b.bits(value));
                let outer = b.take_block();
                let renewed = b.bitcast(b.get(var), ty);
                prelude.append(&mut b.take_block());
                b.replace_block(outer);
                renewed
            }
        };
        known.insert(value, renewed);
    }
    replace(part, &mut |value| known.get(&value).copied().unwrap_or(value));
    let marked = usize::from(matches!(part.body.first(), Some(Stmt::At(_))));
    part.body.splice(marked..marked, prelude);
}

/// Replaces every value that a block uses.
fn replace(part: &mut BasicBlock, map: &mut impl FnMut(Value) -> Value) {
    for_each_stmt_mut(&mut part.body, &mut |stmt| map_operands(stmt, &mut *map));
    if let Some(stop) = &mut part.stop {
        stop.map(&mut *map);
    }
    if let End::Branch { condition, .. } = &mut part.end {
        *condition = map(*condition);
    }
}
