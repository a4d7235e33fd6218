//! Warp operations whose members reach them at different places of the program.
//!
//! In PTX a `.sync` operation waits for the threads that its mask names, wherever they are: two arms of a condition may each have a
//! `bar.warp.sync` that synchronizes the threads of both. Control flow as [`crate::warp`] executes it synchronizes threads at one place
//! only. So where members may be elsewhere (`region`), a region of the kernel becomes a loop, like the loop that
//! [`super::resolve_barriers`] makes for barriers. In each iteration every thread runs from where it is to its next operation or out of the
//! region, and publishes the operation at which it waits, with its mask and operands. A thread goes on when all members in its mask wait at
//! the same kind of operation with the same mask, as PTX requires. Kinds differ by instruction and qualifiers, not by operands.
//!
//! Each warp runs the loop by itself, until no thread can go on. Barriers of the block, and stops in loops that wait, lie after the loop:
//! threads leave the loop for them and come back. Threads that still wait for members then wait for the block's other threads
//! ([`Stop::Await`]). In a kernel without such stops they would wait for ever, so the launch fails.
//!
//! Everything else stays as it was.

mod masks;
mod region;
mod site;
mod split;

use super::barriers::{RoundsLeft, constant, new_entry};
use crate::cfg::switch::switch_among;
use crate::cfg::{Barrier, BasicBlock, BlockId, Cfg, End, Kind, Stop};
use crate::diagnostic::Span;
use crate::index::number;
use crate::ir::{
    Block, Builder, Compare, Function, Op, Stmt, Type, Value, Var, Vote, Warp, WarpOp, bits_type, last_mark,
};
use ptx2spv_target::Fault;
use region::ConvergenceRegion;
use site::{has_site, kind, push, site};

/// Turns the region of a kernel where members may be elsewhere into a loop, if there is such a region. Where threads pause in long loops,
/// the loop's iterations count too.
pub fn converge_warp_operations(function: &mut Function, cfg: &mut Cfg, rounds: Option<RoundsLeft>) {
    if !cfg.blocks.iter().any(|block| has_site(&block.body)) {
        return;
    }
    let (values, vars) = (function.values.len(), function.vars.len());
    let mut divided = cfg.clone();
    let start = new_entry(&mut divided);
    fill(&mut divided, BlockId::ENTRY, Block::new(), End::Goto(start));
    split::split(function, &mut divided);
    match region::region(function, &divided) {
        Some(region) => {
            rebuild(function, &mut divided, &region, rounds);
            *cfg = divided;
        }
        None => {
            function.values.truncate(values);
            function.vars.truncate(vars);
        }
    }
}

/// An operand that all operations of a kind have.
#[derive(Clone, Copy)]
enum Operand {
    Constant(Type, u64),
    Carried(Var),
}

impl Operand {
    /// Combines the operands of several operations; a list of statements computes each.
    fn new(function: &mut Function, each: &[(&Block, Value)]) -> Self {
        let ty = each.first().map_or(Type::I32, |(_, value)| function.type_of(*value));
        let mut constants = each.iter().map(|(body, value)| constant(body, *value));
        match constants.next().flatten() {
            Some(first) if constants.all(|other| other == Some(first)) => Self::Constant(ty, first),
            _ => Self::Carried(function.var(bits_type(ty))),
        }
    }

    fn carry(self, b: &Builder<'_>, value: Value) {
        if let Self::Carried(var) = self {
            b.set(var, value);
        }
    }

    fn value(self, b: &Builder<'_>) -> Value {
        match self {
            Self::Constant(ty, bits) => b.constant(ty, bits),
            Self::Carried(var) => b.get(var),
        }
    }
}

/// Operations of one kind, which synchronize with each other.
struct ConvergencePoint {
    op: WarpOp,
    /// Source position of the first operation.
    at: Option<Span>,
    /// The blocks that end with these operations.
    blocks: Vec<BlockId>,
    members: Operand,
    operands: Vec<Operand>,
    results: Vec<Var>,
}

/// Variables of the loop.
struct Loop {
    /// The continuation of the thread in this iteration: its number plus one, or 0 if the thread waits.
    state: Var,
    /// The kind of operation at which the thread waits, plus one; or 0.
    waits: Var,
    /// The continuation of the thread after that operation.
    resume: Var,
    /// The place after the loop for which the thread has left, plus one; or 0.
    left: Var,
}

fn set(b: &Builder<'_>, var: Var, value: u32) {
    b.set(var, b.i32(value));
}

fn rebuild(function: &mut Function, cfg: &mut Cfg, region: &ConvergenceRegion, rounds: Option<RoundsLeft>) {
    let mut inside: Vec<BlockId> = cfg.blocks.indices().filter(|block| region.has(*block)).collect();
    let exit = region.exit.unwrap_or_else(|| ending(cfg, &inside));
    let points = points(function, cfg, &inside);
    let at = points.first().and_then(|point| point.at);
    let [state, waits, resume, left] = [(); 4].map(|()| function.var(Type::I32));
    let vars = Loop { state, waits, resume, left };
    let latch = push(cfg, Block::new(), None, End::Exit);
    let b = Builder::new(function);
    b.at(at);
    set(&b, vars.state, 0);
    let done = push(cfg, b.into_block(), None, End::Goto(latch));
    let header = push(cfg, Block::new(), None, End::Exit);
    for (id, block) in cfg.blocks.indices().zip(&mut cfg.blocks) {
        if !region.has(id) {
            block.end = block.end.redirected(|next| if next == region.entry { header } else { next });
        }
    }

    let mut continuations = vec![region.entry];
    for (index, point) in points.iter().enumerate() {
        for block in &point.blocks {
            let next = wait(function, cfg, *block, (index, point), &vars, (continuations.len(), latch));
            continuations.extend(next);
            inside.extend(next);
        }
    }
    let mut places = Vec::new();
    for block in inside.clone() {
        let Some((place, next)) = leave(function, cfg, block, (places.len(), continuations.len()), &vars, latch) else {
            continue;
        };
        places.push(place);
        continuations.push(next);
        inside.push(next);
    }
    for block in inside {
        if let Some(block) = cfg.blocks.at_mut(block) {
            block.end = block.end.redirected(|next| if next == exit { done } else { next });
        }
    }

    let states: Vec<(u64, BlockId)> = (0..).zip([latch].into_iter().chain(continuations)).collect();
    let dispatch = switch_among(function, &mut cfg.blocks, at, vars.state, &states).unwrap_or(latch);
    for (place, state) in &places {
        let b = Builder::new(function);
        b.at(at);
        set(&b, vars.left, 0);
        set(&b, vars.state, *state);
        let back = push(cfg, b.into_block(), None, End::Goto(dispatch));
        if let Some(block) = cfg.blocks.at_mut(*place) {
            block.end = End::Goto(back);
        }
    }
    let b = Builder::new(function);
    b.at(at);
    for var in [vars.waits, vars.left] {
        set(&b, var, 0);
    }
    set(&b, vars.state, 1);
    fill(cfg, header, b.into_block(), End::Goto(dispatch));

    let after_loop = after_loop(function, cfg, (&points, &places), &vars, (at, dispatch, exit));
    let b = Builder::new(function);
    for (index, point) in points.iter().enumerate() {
        serve(&b, index, point, &vars);
    }
    b.at(at);
    if let Some(rounds) = rounds {
        rounds.count_common(&b);
    }
    let ready = b.is_nonzero(b.get(vars.state));
    let condition = b.value(Type::Bool);
    let op = WarpOp::Vote(Vote::Any, ready);
    b.push(Stmt::Warp(Warp { results: vec![condition], op, members: None }));
    let body = b.into_block();
    fill(cfg, latch, body, End::Branch { condition, then: dispatch, otherwise: after_loop });
}

fn fill(cfg: &mut Cfg, block: BlockId, body: Block, end: End) {
    if let Some(slot) = cfg.blocks.at_mut(block) {
        *slot = BasicBlock { body, stop: None, end };
    }
}

/// A block where all threads that end in the region end.
fn ending(cfg: &mut Cfg, inside: &[BlockId]) -> BlockId {
    let end = push(cfg, Block::new(), None, End::Exit);
    for block in inside {
        if let Some(block) = cfg.blocks.at_mut(*block).filter(|block| block.end == End::Exit) {
            block.end = End::Goto(end);
        }
    }
    end
}

/// The operations of the region, by kind.
fn points(function: &mut Function, cfg: &Cfg, inside: &[BlockId]) -> Vec<ConvergencePoint> {
    type Found<'c> = ((WarpOp, Vec<Type>), Vec<(BlockId, &'c Block, &'c Warp, Value)>);
    let mut found: Vec<Found<'_>> = Vec::new();
    for block in inside {
        let Some(body) = cfg.blocks.at(*block).map(|block| &block.body) else { continue };
        let Some((warp, members)) = body.iter().find_map(site) else { continue };
        let kind = kind(function, warp);
        let entry = (*block, body, warp, members);
        match found.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, each)) => each.push(entry),
            None => found.push((kind, vec![entry])),
        }
    }
    let point = |((op, types), each): Found<'_>| {
        let members: Vec<_> = each.iter().map(|(_, body, _, members)| (*body, *members)).collect();
        let members = Operand::new(function, &members);
        let operands = (0..types.len()).map(|position| {
            let values = each.iter().filter_map(|(_, body, warp, _)| Some((*body, *operands(warp).get(position)?)));
            let values: Vec<_> = values.collect();
            Operand::new(function, &values)
        });
        let operands = operands.collect();
        let first = each.first().map(|(_, body, warp, _)| (*body, *warp));
        let results = first.map_or(&[][..], |(_, warp)| &warp.results);
        let results: Vec<Type> = results.iter().map(|result| function.type_of(*result)).collect();
        let results = results.into_iter().map(|ty| function.var(ty)).collect();
        let at = first.and_then(|(body, _)| last_mark(body)).unwrap_or_default();
        ConvergencePoint { op, at, blocks: each.iter().map(|(block, ..)| *block).collect(), members, operands, results }
    };
    found.into_iter().map(point).collect()
}

fn operands(warp: &Warp) -> Vec<Value> {
    let mut values = Vec::new();
    warp.op.map(|value| {
        values.push(value);
        value
    });
    values
}

/// Makes a block end with the wait at its operation; gives the block where the thread then goes on.
fn wait(
    function: &mut Function,
    cfg: &mut Cfg,
    block: BlockId,
    (index, point): (usize, &ConvergencePoint),
    vars: &Loop,
    (continuations, latch): (usize, BlockId),
) -> Option<BlockId> {
    let block = cfg.blocks.at_mut(block)?;
    let position = block.body.iter().position(|stmt| site(stmt).is_some())?;
    let tail = block.body.split_off(position + 1);
    let Some(Stmt::Warp(warp)) = block.body.pop() else { return None };
    let b = Builder::new(function);
    for (operand, value) in point.operands.iter().zip(operands(&warp)) {
        operand.carry(&b, value);
    }
    if let Some(members) = warp.members {
        point.members.carry(&b, members);
    }
    set(&b, vars.waits, number(index + 1));
    set(&b, vars.resume, number(continuations + 1));
    set(&b, vars.state, 0);
    block.body.append(&mut b.take_block());
    let next = std::mem::replace(&mut block.end, End::Goto(latch));
    let mut body: Block = last_mark(&block.body).map(Stmt::At).into_iter().collect();
    let results = warp.results.iter().zip(&point.results);
    body.extend(results.map(|(result, var)| Stmt::Let(*result, Op::Get(*var))));
    body.extend(tail);
    Some(push(cfg, body, None, next))
}

/// Makes a block with a stop leave the loop for a place after the loop. Gives that place, the state in which the thread comes back, and the
/// block where the thread then goes on.
fn leave(
    function: &mut Function,
    cfg: &mut Cfg,
    id: BlockId,
    (places, continuations): (usize, usize),
    vars: &Loop,
    latch: BlockId,
) -> Option<((BlockId, u32), BlockId)> {
    let block = cfg.blocks.at_mut(id)?;
    if matches!(block.stop, None | Some(Stop::Barrier(Barrier { kind: Kind::Arrive, .. }))) {
        return None;
    }
    let mark = last_mark(&block.body).map(Stmt::At).into_iter().collect();
    let mut place = BasicBlock { body: mark, stop: block.stop.take(), end: End::Exit };
    let b = Builder::new(function);
    split::carry(&b, &block.body, &mut place);
    set(&b, vars.left, number(places + 1));
    set(&b, vars.state, 0);
    block.body.append(&mut b.take_block());
    let next = std::mem::replace(&mut block.end, End::Goto(latch));
    let place = cfg.blocks.push(place);
    Some(((place, number(continuations + 1)), push(cfg, Block::new(), None, next)))
}

/// The blocks after the loop; gives the first.
fn after_loop(
    function: &mut Function,
    cfg: &mut Cfg,
    (points, places): (&[ConvergencePoint], &[(BlockId, u32)]),
    vars: &Loop,
    (at, dispatch, exit): (Option<Span>, BlockId, BlockId),
) -> BlockId {
    if places.is_empty() {
        let b = Builder::new(function);
        for (index, point) in points.iter().enumerate() {
            b.at(point.at);
            let here = b.compare_const(Compare::Equal, b.get(vars.waits), index as u64 + 1);
            b.if_(here, |b| b.push(Stmt::Report(Fault::DivergedMembers, Vec::new())));
        }
        let body = b.into_block();
        return push(cfg, body, None, End::Goto(exit));
    }
    let cases: Vec<(u64, BlockId)> =
        (0..).zip([exit].into_iter().chain(places.iter().map(|(place, _)| *place))).collect();
    let otherwise = switch_among(function, &mut cfg.blocks, at, vars.left, &cases).unwrap_or(exit);
    let then = push(cfg, vec![Stmt::At(at)], Some(Stop::Await), End::Goto(dispatch));
    let b = Builder::new(function);
    b.at(at);
    let condition = b.is_nonzero(b.get(vars.waits));
    let body = b.into_block();
    push(cfg, body, None, End::Branch { condition, then, otherwise })
}

/// Executes the operation for threads whose members all wait at this kind, and lets them go on.
fn serve(b: &Builder<'_>, index: usize, point: &ConvergencePoint, vars: &Loop) {
    b.at(point.at);
    let here = b.compare_const(Compare::Equal, b.get(vars.waits), index as u64 + 1);
    b.if_(here, |b| {
        let members = Some(point.members.value(b));
        let gathered = b.value(Type::Bool);
        b.push(Stmt::Warp(Warp { results: vec![gathered], op: WarpOp::Gathered, members }));
        b.if_(gathered, |b| {
            let operands: Vec<Value> = point.operands.iter().map(|operand| operand.value(b)).collect();
            let mut operands = operands.into_iter();
            // There are as many operands as the operation has.
            let op = point.op.map(|value| operands.next().unwrap_or(value));
            let results: Vec<Value> = point.results.iter().map(|var| b.value(b.var_type(*var))).collect();
            b.push(Stmt::Warp(Warp { results: results.clone(), op, members }));
            for (var, result) in point.results.iter().zip(results) {
                b.set(*var, result);
            }
            b.set(vars.state, b.get(vars.resume));
            set(b, vars.waits, 0);
        });
    });
}
