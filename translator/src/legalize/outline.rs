//! Operations that are long on the target become calls of a helper, in kernels that would become large else.
//!
//! A kernel has the same few operations at many places, and more so where an invocation carries several threads. Emulated,
//! each may take hundreds of statements. Drivers inline functions, so that calls cost little, but the module stays small, and
//! the other passes go over each operation once.
//!
//! Helpers take and give the bits of floats, which moving can't change.

use rustc_hash::{FxHashMap, FxHashSet};

use super::rounded::{floors, is_floor_of_clamped};
use crate::diagnostic::ErrorKind;
use crate::ir::{
    Arithmetic, Block, Builder, Builtin, Function, HELPER_PARAMETERS, Helper, Op, Rounding, Stmt, Type, Unary, Value,
    bits_type, size,
};
use crate::opt::{Rewritten, map_op_operands, rewrite};
use crate::target::Facts;

/// Statements up to which an operation stays where it is.
const SHORT: usize = 24;

/// Statements up to which a kernel's long operations stay where they are.
const BUDGET: usize = 1500;

/// An operation by what it takes and gives.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    /// With its operands' positions for operands.
    op: Op,
    operands: Vec<Type>,
    /// The bits of operands that are constants, where these are told from others.
    constants: Vec<Option<u64>>,
    result: Type,
}

impl Shape {
    /// That of an operation, and the operands.
    fn of(function: &Function, result: Value, op: Op, constants: &[Option<u64>]) -> (Shape, Vec<Value>) {
        let mut operands = Vec::new();
        let op = map_op_operands(op, |operand| {
            operands.push(operand);
            Value(u32::try_from(operands.len() - 1).unwrap_or(u32::MAX))
        });
        let types = operands.iter().map(|operand| function.type_of(*operand)).collect();
        let constants = operands.iter().map(|operand| constants.get(operand.0 as usize).copied().flatten()).collect();
        (Shape { op, operands: types, constants, result: function.type_of(result) }, operands)
    }

    /// The same with any operands.
    fn general(&self) -> Shape {
        Shape { constants: vec![None; self.constants.len()], ..self.clone() }
    }

    /// A helper that does it.
    fn helper(&self) -> Helper {
        let mut function = Function::default();
        let mut b = Builder::new(&mut function);
        let mut operands = Vec::new();
        for (number, (ty, constant)) in (0..).zip(self.operands.iter().zip(&self.constants)) {
            operands.push(match constant {
                Some(bits) => b.constant(*ty, *bits),
                None => {
                    let bits = b.op(bits_type(*ty), Op::Builtin(Builtin::Parameter(number)));
                    b.bitcast(bits, *ty)
                }
            });
        }
        let op = map_op_operands(self.op, |position| operands.get(position.0 as usize).copied().unwrap_or(position));
        let result = b.op(self.result, op);
        let bits = b.bits(result);
        b.push(Stmt::Return(bits));
        b.finish();
        let parameters = self.operands.iter().map(|ty| bits_type(*ty)).collect();
        Helper { parameters, result: bits_type(self.result), function }
    }

    /// Statements that it comes to once `expand` is through with it.
    fn length(&self, expand: &impl Fn(&mut Function) -> Result<(), ErrorKind>) -> Result<usize, ErrorKind> {
        let mut function = Function { helpers: vec![self.helper()], ..Function::default() };
        expand(&mut function)?;
        Ok(function.helpers.iter().map(|helper| size(&helper.function.body)).sum())
    }
}

/// Replaces operations that are long when later passes are through with them, if there are enough of them. `expand` runs
/// these on a function.
///
/// # Errors
/// Those of `expand`.
pub fn outline(
    function: &mut Function,
    facts: &Facts,
    expand: impl Fn(&mut Function) -> Result<(), ErrorKind>,
) -> Result<(), ErrorKind> {
    let candidates = Candidates::of(function, facts);
    // Constants only make operations shorter, and there may be many of them.
    let mut lengths = FxHashMap::default();
    for shape in candidates.often.keys() {
        lengths.insert(shape.clone(), shape.length(&expand)?);
    }
    let total = |lengths: &FxHashMap<Shape, usize>, counts: &FxHashMap<Shape, usize>| -> usize {
        let long = lengths.iter().filter(|(_, length)| **length > SHORT);
        long.map(|(shape, length)| length.saturating_mul(counts.get(shape).copied().unwrap_or(0))).sum()
    };
    if total(&lengths, &candidates.often) <= BUDGET {
        return Ok(());
    }
    let mut lengths = FxHashMap::default();
    for shape in candidates.counts.keys() {
        lengths.insert(shape.clone(), shape.length(&expand)?);
    }
    if total(&lengths, &candidates.counts) <= BUDGET {
        return Ok(());
    }
    let mut numbers: FxHashMap<Shape, u32> = FxHashMap::default();
    let mut helpers = std::mem::take(&mut function.helpers);
    rewrite(function, |b, stmt| {
        let Stmt::Let(result, op) = *stmt else { return Rewritten::Kept };
        if candidates.floors.contains(&op) {
            return Rewritten::Kept;
        }
        let (shape, operands) = Shape::of(b.function, result, op, &candidates.constants);
        let general = shape.general();
        let is_long = lengths.get(&shape).is_some_and(|length| *length > SHORT);
        if !is_long || candidates.often.get(&general).is_none_or(|count| *count < 2) {
            return Rewritten::Kept;
        }
        let number = *numbers.entry(general).or_insert_with_key(|general| {
            helpers.push(general.helper());
            u32::try_from(helpers.len() - 1).unwrap_or(u32::MAX)
        });
        let mut passed = [None; HELPER_PARAMETERS];
        for (slot, operand) in passed.iter_mut().zip(operands) {
            *slot = Some(b.bits(operand));
        }
        let ty = b.type_of(result);
        let bits = b.op(bits_type(ty), Op::Call(number, passed));
        Rewritten::By(b.bitcast(bits, ty))
    });
    function.helpers = helpers;
    Ok(())
}

/// Operations that may be long.
#[derive(Default)]
struct Candidates {
    /// Values that were clamped to [0.0, 1.0].
    saturated: FxHashSet<Value>,
    /// Operations that are short because of that.
    floors: FxHashSet<Op>,
    /// The bits of values that are constants.
    constants: Vec<Option<u64>>,
    /// How often there are those of each shape.
    counts: FxHashMap<Shape, usize>,
    /// The same whatever their operands are.
    often: FxHashMap<Shape, usize>,
}

impl Candidates {
    fn of(function: &Function, facts: &Facts) -> Candidates {
        let constants = vec![None; function.values.len()];
        let mut candidates = Candidates { constants, ..Candidates::default() };
        candidates.list(function, facts, &function.body);
        candidates
    }

    fn list(&mut self, function: &Function, facts: &Facts, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, Op::Const(bits)) => {
                    if let Some(entry) = self.constants.get_mut(value.0 as usize) {
                        *entry = Some(*bits);
                    }
                }
                Stmt::Let(value, Op::Unary(Unary::Saturate, _)) => {
                    self.saturated.insert(*value);
                }
                Stmt::Let(_, op) if floors(facts) && self.is_floor(op) => {
                    self.floors.insert(*op);
                }
                Stmt::Let(value, op) if is_candidate(function, facts.fma_f32_fused, *value, op) => {
                    let (shape, _) = Shape::of(function, *value, *op, &self.constants);
                    *self.often.entry(shape.general()).or_default() += 1;
                    *self.counts.entry(shape).or_default() += 1;
                }
                Stmt::If { then, otherwise, .. } => {
                    self.list(function, facts, then);
                    self.list(function, facts, otherwise);
                }
                Stmt::Loop(body) => self.list(function, facts, body),
                _ => {}
            }
        }
    }

    /// Whether an operation is short because of what clamped its first operand.
    fn is_floor(&self, op: &Op) -> bool {
        let Op::Rounded(Rounding::Down, Arithmetic::Fma(x, y, z)) = *op else { return false };
        let constant = |value: Value| self.constants.get(value.0 as usize).copied().flatten();
        self.saturated.contains(&x) && is_floor_of_clamped(constant(y), constant(z))
    }
}

/// Whether an operation may be long: on floats, or a product or quotient of 64-bit integers.
fn is_candidate(function: &Function, is_fma_fused: bool, result: Value, op: &Op) -> bool {
    let mut wide = matches!(function.type_of(result), Type::F32 | Type::F64);
    let mut float = wide;
    map_op_operands(*op, |operand| {
        let ty = function.type_of(operand);
        float |= matches!(ty, Type::F32 | Type::F64);
        wide |= ty == Type::I64;
        operand
    });
    match op {
        Op::Const(_) | Op::Get(_) | Op::Builtin(_) | Op::Pair(..) | Op::Select(..) | Op::Call(..) => false,
        Op::Unary(Unary::Bitcast(_) | Unary::LowWord | Unary::HighWord, _) => false,
        Op::Binary(..) => float || wide,
        // The operands of many in a row are tested at once.
        Op::Fma(..) if function.type_of(result) == Type::F32 => !is_fma_fused,
        _ => float,
    }
}
