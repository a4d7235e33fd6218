//! Operations between the threads of a warp (PTX section 9.7.12). Each becomes a statement here, and `crate::warp` maps
//! these statements to the device.

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Reduction, Shuffle, Stmt, Type, Value, Vote, Warp, WarpOp};
use crate::isa::modifiers::{self, Operator};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;
use crate::soft::{self, SINGLE};

/// `vote.all`, `.any` and `.uni`
pub fn vote(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let vote = match i.required(i.modifiers.vote())? {
        modifiers::Vote::All => Vote::All,
        modifiers::Vote::Any => Vote::Any,
        modifiers::Vote::Uni => Vote::Uniform,
    };
    let predicate = l.int(i, 1, ScalarType::Pred)?;
    let [result] = operation(l, i, 2, WarpOp::Vote(vote, predicate), [Type::Bool])?;
    l.set(i, 0, ScalarType::Pred, result)
}

/// `vote.ballot`
pub fn ballot(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let predicate = l.int(i, 1, ScalarType::Pred)?;
    let [result] = operation(l, i, 2, WarpOp::Ballot(predicate), [Type::I32])?;
    l.set(i, 0, ScalarType::B32, result)
}

pub fn shfl(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let mode = match i.required(i.modifiers.shuffle())? {
        modifiers::Shuffle::Up => Shuffle::Up,
        modifiers::Shuffle::Down => Shuffle::Down,
        modifiers::Shuffle::Bfly => Shuffle::Butterfly,
        modifiers::Shuffle::Idx => Shuffle::Index,
    };
    let value = l.int(i, 1, ScalarType::B32)?;
    let lane = l.int(i, 2, ScalarType::U32)?;
    let clamp = l.int(i, 3, ScalarType::U32)?;
    let results = operation(l, i, 4, WarpOp::Shuffle { mode, value, lane, clamp }, [Type::I32, Type::Bool])?;
    set_pair(l, i, results)
}

/// `match.any.sync`
pub fn match_any(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let value = l.int(i, 1, i.ty(0)?)?;
    let [result] = operation(l, i, 2, WarpOp::MatchAny(value), [Type::I32])?;
    l.set(i, 0, ScalarType::B32, result)
}

/// `match.all.sync`
pub fn match_all(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let value = l.int(i, 1, i.ty(0)?)?;
    let results = operation(l, i, 2, WarpOp::MatchAll(value), [Type::I32, Type::Bool])?;
    set_pair(l, i, results)
}

/// `redux.sync`
pub fn redux(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let signed = i.ty(0)?.is_signed();
    let reduction = match (i.required(i.modifiers.operator())?, signed) {
        (Operator::Add, _) => Reduction::Add,
        (Operator::Min, false) => Reduction::MinUnsigned,
        (Operator::Min, true) => Reduction::MinSigned,
        (Operator::Max, false) => Reduction::MaxUnsigned,
        (Operator::Max, true) => Reduction::MaxSigned,
        (Operator::And, _) => Reduction::And,
        (Operator::Or, _) => Reduction::Or,
        (Operator::Xor, _) => Reduction::Xor,
        (other @ (Operator::Inc | Operator::Dec | Operator::Exch | Operator::Cas), _) => {
            return Err(i.unexpected(other.word()));
        }
    };
    let value = l.int(i, 1, ScalarType::B32)?;
    let [result] = operation(l, i, 2, WarpOp::Reduce(reduction, value), [Type::I32])?;
    l.set(i, 0, ScalarType::B32, result)
}

/// `redux.sync` on f32: as an integer reduction on keys. A number's key is its bits, with the order of negative numbers reversed. NaNs get
/// a key at the end where they lose, or with `.NaN` win.
pub fn redux_float(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let smallest = i.modifiers.has(Word::Min);
    let bits = l.int(i, 1, ScalarType::F32)?;
    let bits = if i.modifiers.has(Word::Abs) { l.b.magnitude(bits) } else { bits };
    let is_nan = soft::is_nan(&l.b, SINGLE, bits);
    let end = if smallest == i.modifiers.has(Word::NaN) { 1 << 31 } else { i32::MAX as u32 };
    let end = l.b.i32(end);
    let key = turned_round(l, bits);
    let key = l.b.select(is_nan, end, key);
    let reduction = if smallest { Reduction::MinSigned } else { Reduction::MaxSigned };
    let [key] = operation(l, i, 2, WarpOp::Reduce(reduction, key), [Type::I32])?;
    let result = turned_round(l, key);
    let is_nan = soft::is_nan(&l.b, SINGLE, result);
    l.set(i, 0, ScalarType::F32, l.b.select(is_nan, l.b.constant(Type::I32, SINGLE.nan), result))
}

/// Reverses the order of words with the sign bit set; applied twice, gives the word itself.
fn turned_round(l: &mut Lowering<'_, '_>, bits: Value) -> Value {
    l.b.xor(bits, l.b.and_const(l.b.sar(bits, 31), SINGLE.sign() - 1))
}

pub fn activemask(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let [result] = operation(l, i, 1, WarpOp::ActiveMask, [Type::I32])?;
    l.set(i, 0, ScalarType::B32, result)
}

/// `elect.sync`
pub fn elect(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let results = operation(l, i, 1, WarpOp::Elect, [Type::I32, Type::Bool])?;
    set_pair(l, i, results)
}

/// `bar.warp.sync`, and `wgmma.fence`, which all lanes execute.
pub fn sync(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    if i.operands.is_empty() {
        sync_all(l);
    } else {
        let [] = operation(l, i, 0, WarpOp::Sync, [])?;
    }
    Ok(())
}

/// Waits for all lanes of the warp.
pub(super) fn sync_all(l: &mut Lowering<'_, '_>) {
    let [] = by_all(l, WarpOp::Sync, []);
}

/// Appends an operation of all lanes of the warp.
pub(super) fn by_all<const N: usize>(l: &mut Lowering<'_, '_>, op: WarpOp, types: [Type; N]) -> [Value; N] {
    l.note_exits();
    statement(l, op, Some(l.b.i32(u32::MAX)), types)
}

/// Appends the operation. Its member mask is operand number `members`; the forms without `.sync` have none.
fn operation<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    members: usize,
    op: WarpOp,
    types: [Type; N],
) -> Result<[Value; N]> {
    let mut mask = None;
    if i.operands.len() > members {
        mask = Some(l.int(i, members, ScalarType::B32)?);
        l.note_exits();
        if l.layout.reserved_shared > 0 && !matches!(op, WarpOp::Sync) {
            // CUDA's libraries rely on the operation to make other lanes' writes to reserved shared memory visible.
            l.b.push(Stmt::Warp(Warp { results: Vec::new(), op: WarpOp::Sync, members: mask }));
        }
    }
    Ok(statement(l, op, mask, types))
}

/// Appends the operation with these members.
fn statement<const N: usize>(l: &Lowering<'_, '_>, op: WarpOp, members: Option<Value>, types: [Type; N]) -> [Value; N] {
    let results = types.map(|ty| l.b.value(ty));
    l.b.push(Stmt::Warp(Warp { results: results.to_vec(), op, members }));
    results
}

/// Writes a word and a predicate to the first operand.
fn set_pair(l: &mut Lowering<'_, '_>, i: &Instruction, [value, predicate]: [Value; 2]) -> Result {
    let Operand::Pair(pair) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a destination without its predicate", i.span));
    };
    l.assign(&pair[0], ScalarType::B32, value)?;
    l.assign(&pair[1], ScalarType::Pred, predicate)
}
