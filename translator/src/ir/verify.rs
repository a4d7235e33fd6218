//! Checks the invariants of the intermediate representation. A broken one is always a bug of the translator.
//!
//! In a tree of statements ([`Stage::Tree`]), and in each block of a graph by itself:
//!
//! * Every value is defined once, and before its uses: earlier in the same list or in an enclosing one.
//! * Operand and result types are those that the operation names; variables are never floats.
//! * Addresses are `I64` for global and generic memory, or `Pair` for global memory, and `I32` for the rest; element counts
//!   and widths fit. Nothing else takes a `Pair` but what takes its halves.
//! * Loads don't release and stores don't acquire. A compare-and-swap, and nothing else, has something to compare with.
//! * `Break` stands inside a loop and ends its list, but for marks.
//! * Helpers take and give no floats, call nothing, and end with their result.
//!
//! When warps have been mapped to the target's subgroups ([`Stage::Mapped`]):
//!
//! * There are no warp operations, and the function doesn't ask for exited threads.
//!
//! When the function is legal ([`Stage::Legal`]):
//!
//! * No address is generic.
//! * Arithmetic rounds to nearest even and doesn't flush ([`Op::Rounded`], [`Op::Flushed`], [`Unary::Root`], [`Unary::Exp2Flushed`] and [`Binary::OrNan`]
//!   are gone), and no atomic works on 16-bit floats.
//! * There are no reports, and the function doesn't ask for a block's place in its cluster.

use super::operand_types::{element, unary_types};
use super::{
    Access, Arithmetic, Atomic, AtomicOp, Binary, Block, Builtin, Fragments, Function, Helper, MemoryOrder, Op, Space,
    Stage, Stmt, SubgroupOp, Type, Unary, Value, Warp, WarpOp,
};
use crate::index::IndexVec;

/// Returns the first broken rule of [`Stage::Tree`] in words.
pub fn verify(function: &Function) -> Result<(), String> {
    verify_at(function, Stage::Tree)
}

/// Returns the first broken rule of a stage in words.
pub fn verify_at(function: &Function, stage: Stage) -> Result<(), String> {
    let mut checker = Checker::new(function, stage)?;
    if stage >= Stage::Mapped && function.exited.is_some() {
        return Err("the function asks for exited threads after the mapping of warps".into());
    }
    for (number, helper) in function.helpers.iter().enumerate() {
        let callees = Callees { helpers: &function.helpers, first: number + 1 };
        verify_helper(helper, callees, stage).map_err(|error| format!("helper {number}: {error}"))?;
    }
    checker.list(&function.body, &[])
}

fn verify_helper(helper: &Helper, callees: Callees<'_>, stage: Stage) -> Result<(), String> {
    let Helper { parameters, result, function } = helper;
    if !function.helpers.is_empty() {
        return Err("helpers of its own".into());
    }
    if parameters.iter().chain([result]).any(|ty| matches!(ty, Type::F32 | Type::F64)) {
        return Err("floats as parameters or result".into());
    }
    let Some((Stmt::Return(value), body)) = function.body.split_last() else { return Err("no result".into()) };
    let mut checker = Checker { parameters, callees, ..Checker::new(function, stage)? };
    let mut visible = Vec::new();
    checker.statements(body, false, &mut visible)?;
    checker.expect(*value, *result)
}

/// The helpers that a function may call.
#[derive(Clone, Copy)]
struct Callees<'f> {
    helpers: &'f [Helper],
    /// The lowest number.
    first: usize,
}

/// Checks lists of statements.
pub(crate) struct Checker<'f> {
    function: &'f Function,
    stage: Stage,
    /// Types of the parameters, in the body of a helper.
    parameters: &'f [Type],
    callees: Callees<'f>,
    defined: IndexVec<Value, bool>,
}

impl<'f> Checker<'f> {
    /// Checks the rules for the whole function.
    pub(crate) fn new(function: &'f Function, stage: Stage) -> Result<Self, String> {
        if let Some(var) = function.vars.iter().position(|ty| matches!(ty, Type::F32 | Type::F64 | Type::Pair)) {
            return Err(format!("variable r{var} is {:?}", function.vars.get(var)));
        }
        let callees = Callees { helpers: &function.helpers, first: 0 };
        Ok(Self { function, stage, parameters: &[], callees, defined: IndexVec::filled(false, function.values.len()) })
    }

    /// Checks a list by itself, and values with their types that are used at its end.
    pub(crate) fn list(&mut self, block: &Block, used: &[(Value, Type)]) -> Result<(), String> {
        let mut visible = Vec::new();
        self.statements(block, false, &mut visible)?;
        used.iter().try_for_each(|(value, ty)| self.expect(*value, *ty))?;
        self.leave(&mut visible, 0);
        Ok(())
    }

    /// Checks a list, and adds its definitions to the values that are visible. The recursion must fit a small stack, so
    /// it does nothing else.
    fn statements(&mut self, block: &[Stmt], in_loop: bool, visible: &mut Vec<Value>) -> Result<(), String> {
        for (position, stmt) in block.iter().enumerate() {
            self.statement(stmt, in_loop, &block[position + 1..], visible)?;
            let before = visible.len();
            match stmt {
                Stmt::If { then, otherwise, .. } => {
                    self.statements(then, in_loop, visible)?;
                    self.leave(visible, before);
                    self.statements(otherwise, in_loop, visible)?;
                }
                Stmt::Loop(body) => self.statements(body, true, visible)?,
                _ => continue,
            }
            self.leave(visible, before);
        }
        Ok(())
    }

    /// Forgets the values that have become visible since there were `before` of them.
    fn leave(&mut self, visible: &mut Vec<Value>, before: usize) {
        for value in visible.drain(before..) {
            self.defined[value] = false; // `define` has seen that it exists
        }
    }

    /// Checks a statement but for the lists in it.
    #[inline(never)]
    fn statement(&mut self, stmt: &Stmt, in_loop: bool, after: &[Stmt], here: &mut Vec<Value>) -> Result<(), String> {
        match stmt {
            Stmt::If { condition, .. } => self.expect(*condition, Type::Bool),
            Stmt::Break if !in_loop => Err("break outside a loop".into()),
            Stmt::Break if !after.iter().all(|after| matches!(after, Stmt::At(_))) => {
                Err("statements after a break".into())
            }
            Stmt::Return(_) => Err("a result that isn't the end of a helper".into()),
            Stmt::Report(..) if self.stage >= Stage::Legal => Err("a report".into()),
            Stmt::Warp(_) if self.stage >= Stage::Mapped => Err("an operation of a warp".into()),
            Stmt::At(_) | Stmt::Barrier(_) | Stmt::Fence(_) => Ok(()),
            Stmt::Loop(_) | Stmt::Break => Ok(()),
            Stmt::Arrive(thread) => self.expect(*thread, Type::I32),
            Stmt::Report(_, details) => details.iter().try_for_each(|value| self.expect(*value, Type::I32)),
            Stmt::Let(value, op) => {
                self.op(*value, op).map_err(|error| format!("{value} = {op}: {error}"))?;
                self.define(*value, here)
            }
            Stmt::Set(var, value) => {
                let ty = self.function.vars.at(*var).ok_or_else(|| format!("no variable {var}"))?;
                self.expect(*value, *ty)
            }
            Stmt::Load { results, access, address } => {
                self.access(access, results.len(), *address)?;
                if matches!(access.order, MemoryOrder::Release(_) | MemoryOrder::AcquireRelease(_)) {
                    return Err("a load that releases".into());
                }
                results.iter().try_for_each(|result| {
                    self.expect_type(*result, element(access))?;
                    self.define(*result, here)
                })
            }
            Stmt::Store { values, access, address } => {
                self.access(access, values.len(), *address)?;
                if matches!(access.order, MemoryOrder::Acquire(_) | MemoryOrder::AcquireRelease(_)) {
                    return Err("a store that acquires".into());
                }
                values.iter().try_for_each(|value| self.expect(*value, element(access)))
            }
            Stmt::Atomic(atomic) => self.atomic(atomic, here),
            Stmt::Warp(warp) => self.warp(warp, here),
            Stmt::Subgroup(results, op) => self.subgroup(results, *op, here),
        }
    }

    fn define(&mut self, value: Value, here: &mut Vec<Value>) -> Result<(), String> {
        match self.defined.at_mut(value) {
            None => Err(format!("no value {value}")),
            Some(true) => Err(format!("{value} is defined twice")),
            Some(defined) => {
                *defined = true;
                here.push(value);
                Ok(())
            }
        }
    }

    fn expect(&self, value: Value, ty: Type) -> Result<(), String> {
        if self.defined.at(value) != Some(&true) {
            return Err(format!("{value} is used where it is not defined"));
        }
        self.expect_type(value, ty)
    }

    fn ty(&self, value: Value) -> Result<Type, String> {
        self.function.values.at(value).copied().ok_or_else(|| format!("no value {value}"))
    }

    fn expect_type(&self, value: Value, ty: Type) -> Result<(), String> {
        match self.ty(value)? {
            found if found == ty => Ok(()),
            found => Err(format!("{value} is {found:?} where {ty:?} is needed")),
        }
    }

    fn access(&self, access: &Access, elements: usize, address: Value) -> Result<(), String> {
        if !matches!(access.bytes, 1 | 2 | 4 | 8)
            || !matches!(elements, 1 | 2 | 4)
            || access.bytes as usize * elements > 16
        {
            return Err(format!("{elements} elements of {} bytes", access.bytes));
        }
        if access.space == Space::Generic && self.stage >= Stage::Legal {
            return Err("a generic address".into());
        }
        let ty = match (access.space, self.ty(address)?) {
            (Space::Global, Type::Pair) => Type::Pair,
            (Space::Global | Space::Generic, _) => Type::I64,
            (Space::Shared | Space::Local, _) => Type::I32,
        };
        self.expect(address, ty)
    }

    fn atomic(&mut self, atomic: &Atomic, here: &mut Vec<Value>) -> Result<(), String> {
        self.access(&atomic.access, 1, atomic.address)?;
        let fits = match (atomic.op, atomic.access.bytes) {
            (AtomicOp::Half(..), bytes) => matches!(bytes, 2 | 4),
            (AtomicOp::CompareExchange, bytes) => matches!(bytes, 2 | 4 | 8),
            (_, bytes) => matches!(bytes, 4 | 8),
        };
        if !fits {
            return Err(format!("{:?} on {} bytes", atomic.op, atomic.access.bytes));
        }
        if matches!(atomic.op, AtomicOp::Half(..)) && self.stage >= Stage::Legal {
            return Err("an atomic on 16-bit floats".into());
        }
        if atomic.compare.is_some() != (atomic.op == AtomicOp::CompareExchange) {
            return Err(format!("{:?} with or without something to compare with", atomic.op));
        }
        let ty = element(&atomic.access);
        self.expect(atomic.operand, ty)?;
        if let Some(compare) = atomic.compare {
            self.expect(compare, ty)?;
        }
        if let Some(result) = atomic.result {
            self.expect_type(result, ty)?;
            self.define(result, here)?;
        }
        Ok(())
    }

    fn warp(&mut self, warp: &Warp, here: &mut Vec<Value>) -> Result<(), String> {
        use Type::{Bool, I32};
        let results: &[Type] = match warp.op {
            WarpOp::Vote(_, a) => self.expect(a, Bool).map(|()| &[Bool][..])?,
            WarpOp::Ballot(a) => self.expect(a, Bool).map(|()| &[I32][..])?,
            WarpOp::Shuffle { value, lane, clamp, .. } => {
                [value, lane, clamp].into_iter().try_for_each(|operand| self.expect(operand, I32))?;
                &[I32, Bool]
            }
            WarpOp::MatchAny(a) | WarpOp::MatchAll(a) => {
                let ty = self.ty(a)?;
                if !matches!(ty, I32 | Type::I64) {
                    return Err(format!("match of {ty:?}"));
                }
                self.expect(a, ty)?;
                if matches!(warp.op, WarpOp::MatchAny(_)) { &[I32] } else { &[I32, Bool] }
            }
            WarpOp::Reduce(_, a) => self.expect(a, I32).map(|()| &[I32][..])?,
            WarpOp::MatrixProduct(_, fragments) => self.fragments(fragments).map(|()| &[I32; 4][..])?,
            WarpOp::ActiveMask => &[I32],
            WarpOp::Elect => &[I32, Bool],
            WarpOp::Gathered => &[Bool],
            WarpOp::Sync => &[],
        };
        if let Some(members) = warp.members {
            self.expect(members, I32)?;
        }
        self.define_all(&warp.results, results, here)
    }

    fn subgroup(&mut self, results: &[Value], op: SubgroupOp, here: &mut Vec<Value>) -> Result<(), String> {
        let (count, words) = match op {
            SubgroupOp::Ballot(a) => {
                self.expect(a, Type::Bool)?;
                (self.function.packing.map_or(0, |packing| packing.ballot_words()), [Type::I32; 4])
            }
            SubgroupOp::Shuffle(a, lane) | SubgroupOp::ShuffleXor(a, lane) => {
                self.expect(a, Type::I32)?;
                self.expect(lane, Type::I32)?;
                (1, [Type::I32; 4])
            }
            SubgroupOp::MatrixProduct(_, fragments) => {
                self.fragments(fragments)?;
                (4, [Type::I32; 4])
            }
            SubgroupOp::Barrier => (0, [Type::I32; 4]),
        };
        self.define_all(results, words.get(..count).unwrap_or_default(), here)
    }

    fn fragments(&self, Fragments { a, b, c }: Fragments) -> Result<(), String> {
        a.into_iter().chain(b).chain(c).try_for_each(|word| self.expect(word, Type::I32))
    }

    fn define_all(&mut self, results: &[Value], types: &[Type], here: &mut Vec<Value>) -> Result<(), String> {
        if results.len() != types.len() {
            return Err(format!("{} results where there are {}", results.len(), types.len()));
        }
        for (result, ty) in results.iter().zip(types) {
            self.expect_type(*result, *ty)?;
            self.define(*result, here)?;
        }
        Ok(())
    }

    fn op(&self, result: Value, op: &Op) -> Result<(), String> {
        let ty = self.ty(result)?;
        let abstract_op = matches!(
            op,
            Op::Rounded(..)
                | Op::Flushed(..)
                | Op::Matrix(..)
                | Op::Unary(Unary::Root(_) | Unary::Exp2Flushed | Unary::Saturate, _)
        ) || matches!(op, Op::Binary(Binary::OrNan, ..));
        if abstract_op && self.stage >= Stage::Legal {
            return Err("an operation that no device has".into());
        }
        match *op {
            Op::Const(_) if ty == Type::Pair => Err("a constant pair".into()),
            Op::Const(_) => Ok(()),
            Op::Get(var) => match self.function.vars.at(var) {
                Some(found) if *found == ty => Ok(()),
                _ => Err("variable of another type".into()),
            },
            Op::Unary(op, a) => {
                let (from, to) = unary_types(op, self.ty(a)?, ty)?;
                self.expect(a, from)?;
                self.expect_type(result, to)
            }
            Op::Binary(op, a, b) => {
                self.expect(a, ty)?;
                let shift = matches!(op, Binary::Shl | Binary::Shr | Binary::Sar);
                self.expect(b, if shift { Type::I32 } else { ty })?;
                let float = matches!(ty, Type::F32 | Type::F64);
                let logic = matches!(op, Binary::And | Binary::Or | Binary::Xor);
                use Binary::{FAdd, FDiv, FDivApprox, FMax, FMin, FMul, FSub, OrNan};
                use Binary::{MaxSigned, MaxUnsigned, MinSigned, MinUnsigned};
                let float_op = matches!(op, FAdd | FSub | FMul | FDiv | FDivApprox | FMin | FMax | OrNan);
                if matches!(op, FMin | FMax) && ty != Type::F32 {
                    return Err(format!("an extreme of {ty:?}"));
                }
                if matches!(op, MinUnsigned | MinSigned | MaxUnsigned | MaxSigned) && ty != Type::I32 {
                    return Err(format!("an extreme of {ty:?}"));
                }
                let is_dot = matches!(op, Binary::DotSigned | Binary::DotUnsigned | Binary::DotMixed);
                if is_dot && ty != Type::I32 {
                    return Err(format!("a sum of products of bytes of {ty:?}"));
                }
                if float != float_op || (ty == Type::Bool && !logic) || ty == Type::Pair {
                    return Err(format!("not an operation on {ty:?}"));
                }
                Ok(())
            }
            Op::Compare(_, a, b) => {
                if self.ty(a)? == Type::Pair {
                    return Err("comparison of pairs".into());
                }
                self.expect(a, self.ty(a)?)?;
                self.expect(b, self.ty(a)?)?;
                self.expect_type(result, Type::Bool)
            }
            Op::Select(condition, a, b) => {
                if ty == Type::Pair {
                    return Err("a choice of pairs".into());
                }
                self.expect(condition, Type::Bool)?;
                self.expect(a, ty)?;
                self.expect(b, ty)
            }
            Op::Pair(low, high) => {
                if !matches!(ty, Type::Pair | Type::F64) {
                    return Err(format!("a pair as {ty:?}"));
                }
                self.expect(low, Type::I32)?;
                self.expect(high, Type::I32)
            }
            Op::Fma(a, b, c) => {
                if !matches!(ty, Type::F32 | Type::F64) {
                    return Err("fma on integers".into());
                }
                [a, b, c].into_iter().try_for_each(|operand| self.expect(operand, ty))
            }
            Op::DotFma(a, b, c) => {
                if ty != Type::F32 {
                    return Err("a dot product on other than f32".into());
                }
                [a, b, c].into_iter().try_for_each(|operand| self.expect(operand, ty))
            }
            Op::Rounded(_, arithmetic) => {
                let narrow = matches!(arithmetic, Arithmetic::Narrow(_));
                if !matches!((ty, narrow), (Type::F32, _) | (Type::F64, false)) {
                    return Err(format!("not arithmetic on {ty:?}"));
                }
                self.expect_all(arithmetic, if narrow { Type::F64 } else { ty })
            }
            Op::Flushed(_, arithmetic) => {
                if ty != Type::F32 || matches!(arithmetic, Arithmetic::Narrow(_)) {
                    return Err(format!("not arithmetic that flushes on {ty:?}"));
                }
                self.expect_all(arithmetic, ty)
            }
            Op::Half(_, arithmetic) => {
                use Arithmetic::{Add, Fma, Mul, Sub};
                if ty != Type::I32 || !matches!(arithmetic, Add(..) | Sub(..) | Mul(..) | Fma(..)) {
                    return Err(format!("not arithmetic on f16 in {ty:?}"));
                }
                self.expect_all(arithmetic, ty)
            }
            Op::Matrix(step, a, b, c) => {
                self.expect_type(result, Type::I32)?;
                let last = if matches!(step, super::MatrixStep::Round(_)) { Type::I64 } else { Type::I32 };
                self.expect(a, Type::I32)?;
                self.expect(b, Type::I32)?;
                self.expect(c, last)
            }
            Op::Sample(sample) => {
                if ty != Type::F32 || sample.channel > 3 {
                    return Err(format!("channel {} of a sample as {ty:?}", sample.channel));
                }
                self.expect(sample.image, Type::I32)?;
                sample.place.into_iter().chain(sample.depth).try_for_each(|operand| self.expect(operand, Type::F32))
            }
            Op::Builtin(Builtin::Clock) if ty == Type::Pair => Ok(()),
            Op::Builtin(Builtin::Clock) => self.expect_type(result, Type::I64),
            Op::Builtin(Builtin::PushConstant(offset)) => match ty {
                Type::I32 if offset % 4 == 0 => Ok(()),
                Type::I64 if offset % 8 == 0 => Ok(()),
                _ => Err("misplaced push constant".into()),
            },
            Op::Builtin(
                Builtin::ThreadId(dimension)
                | Builtin::BlockSize(dimension)
                | Builtin::WorkgroupId(dimension)
                | Builtin::WorkgroupCount(dimension),
            ) if dimension > 2 => Err(format!("dimension {dimension}")),
            Op::Builtin(Builtin::ClusterRank) if self.stage >= Stage::Legal => {
                Err("a block's place in its cluster".into())
            }
            Op::Builtin(Builtin::ClusterRank) if self.function.cluster.is_none() => {
                Err("a block's number in a cluster of one".into())
            }
            Op::Builtin(Builtin::Parameter(number)) => match self.parameters.get(usize::from(number)) {
                Some(parameter) => self.expect_type(result, *parameter),
                None => Err(format!("no parameter {number}")),
            },
            Op::Builtin(_) => self.expect_type(result, Type::I32),
            Op::Call(number, operands) => {
                let Callees { helpers, first } = self.callees;
                let helper = helpers.get(number as usize).filter(|_| number as usize >= first);
                let helper = helper.ok_or_else(|| format!("no helper {number}"))?;
                let operands: Vec<Value> = operands.into_iter().flatten().collect();
                if operands.len() != helper.parameters.len() {
                    return Err(format!("{} operands for helper {number}", operands.len()));
                }
                for (operand, parameter) in operands.into_iter().zip(&helper.parameters) {
                    self.expect(operand, *parameter)?;
                }
                self.expect_type(result, helper.result)
            }
        }
    }

    /// Checks that all operands are of a type.
    fn expect_all(&self, arithmetic: Arithmetic, ty: Type) -> Result<(), String> {
        let mut result = Ok(());
        arithmetic.any(|operand| {
            result = self.expect(operand, ty);
            result.is_err()
        });
        result
    }
}
