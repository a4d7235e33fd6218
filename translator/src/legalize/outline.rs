//! Turns operations that are long on the target into calls of helpers, in kernels that would otherwise become large.
//!
//! A kernel has the same few operations at many places, even more where an invocation carries several threads. An emulated operation may
//! take hundreds of statements. Drivers inline functions, so calls cost little, but the module stays small and the other passes process
//! each operation once. On devices whose arithmetic is not trusted, the parts of a long operation may be long too; then helpers call
//! helpers.
//!
//! Helpers take and give the bits of floats, which moving can't change.

use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::ErrorKind;
use crate::index::{Index, number};
use crate::ir::{
    Arithmetic, Builder, Builtin, Constants, Function, HELPER_PARAMETERS, Helper, Op, Rewritten, Rounding, Stmt, Type,
    Unary, Value, bits_type, for_each_op_operand, for_each_stmt, map_op_operands, rewrite, size,
};
use crate::legalize::arithmetic::division::divided_by_device;
use crate::legalize::arithmetic::rounded::{floors, is_floor_of_clamped};
use crate::policy::Policy;
use ptx2spv_target::Facts;

/// The most statements of an operation that stays inline.
const SHORT: usize = 24;

/// The most statements, over all of a kernel's long operations, with which they stay inline.
const BUDGET: usize = 1500;

/// An operation, apart from its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The operation with positions in place of its operands.
    op: Op,
    operands: [Option<Type>; HELPER_PARAMETERS],
    /// The bits of constant operands, if the shape is specific to them.
    constants: [Option<u64>; HELPER_PARAMETERS],
    result: Type,
}

impl Shape {
    /// The shape of an operation, and its operands.
    fn of(
        function: &Function,
        result: Value,
        op: Op,
        constants: &Constants,
    ) -> (Shape, [Option<Value>; HELPER_PARAMETERS]) {
        let mut operands = [None; HELPER_PARAMETERS];
        let mut slots = operands.iter_mut();
        let op = map_op_operands(op, |operand| {
            let position = HELPER_PARAMETERS - slots.len();
            // No operation has more operands.
            if let Some(slot) = slots.next() {
                *slot = Some(operand);
            }
            Value::new(position)
        });
        let types = operands.map(|operand| operand.map(|operand| function.type_of(operand)));
        let constants = operands.map(|operand| constants.of(operand?));
        (Shape { op, operands: types, constants, result: function.type_of(result) }, operands)
    }

    /// The same shape for any operands.
    fn general(&self) -> Shape {
        Shape { constants: [None; HELPER_PARAMETERS], ..*self }
    }

    /// A helper that does the operation.
    fn helper(&self) -> Helper {
        let mut function = Function::default();
        let b = Builder::new(&mut function);
        let mut operands = Vec::new();
        for (number, (ty, constant)) in (0..).zip(self.operands.into_iter().flatten().zip(self.constants)) {
            operands.push(match constant {
                Some(bits) => b.constant(ty, bits),
                None => b.bitcast(b.op(bits_type(ty), Op::Builtin(Builtin::Parameter(number))), ty),
            });
        }
        let op = map_op_operands(self.op, |position| operands.get(position.position()).copied().unwrap_or(position));
        let result = b.op(self.result, op);
        b.push(Stmt::Return(b.bits(result)));
        b.finish();
        let parameters = self.operands.into_iter().flatten().map(bits_type).collect();
        Helper { parameters, result: bits_type(self.result), function }
    }

    /// The number of statements after `expand`.
    ///
    /// # Errors
    /// The errors of `expand`.
    pub fn length(&self, expand: impl Fn(&mut Function) -> Result<(), ErrorKind>) -> Result<usize, ErrorKind> {
        let mut function = Function { helpers: vec![self.helper()], ..Function::default() };
        expand(&mut function)?;
        Ok(function.helpers.iter().map(|helper| size(&helper.function.body)).sum())
    }
}

/// The lengths of operations after the passes that follow a pass. They are the same in all kernels of a module, which
/// share this table.
#[derive(Debug, Default)]
pub struct Lengths(Mutex<FxHashMap<(&'static str, Shape), usize>>);

impl Lengths {
    /// The length of an operation after the passes that follow the named one; `find` computes a length that no kernel
    /// has asked for before.
    ///
    /// # Errors
    /// The errors of `find`.
    pub fn of(
        &self,
        pass: &'static str,
        shape: &Shape,
        find: impl FnOnce() -> Result<usize, ErrorKind>,
    ) -> Result<usize, ErrorKind> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&(pass, *shape)).copied();
        if let Some(length) = known {
            return Ok(length);
        }
        // Not locked meanwhile: those passes ask for other lengths.
        let length = find()?;
        lock().insert((pass, *shape), length);
        Ok(length)
    }
}

/// Replaces operations that will be long after the later passes, if there are enough of them. `length` gives the length
/// after these passes.
///
/// # Errors
/// The errors of `length`.
pub fn outline(
    function: &mut Function,
    policy: &Policy,
    length: impl Fn(&Shape) -> Result<usize, ErrorKind>,
) -> Result<(), ErrorKind> {
    let is_fma_fused = policy.floats.trusted.fma_f32_fused;
    outline_those(function, policy, |body, value, op| is_candidate(body, is_fma_fused, value, op), length)
}

/// The same for arithmetic on f16, which is replaced before other passes look at the operations that it is made of.
///
/// # Errors
/// The errors of `length`.
pub fn outline_halves(
    function: &mut Function,
    policy: &Policy,
    length: impl Fn(&Shape) -> Result<usize, ErrorKind>,
) -> Result<(), ErrorKind> {
    outline_those(function, policy, |_, _, op| matches!(op, Op::Half(..)), length)
}

fn outline_those(
    function: &mut Function,
    policy: &Policy,
    may_be_long: impl Fn(&Function, Value, &Op) -> bool,
    length: impl Fn(&Shape) -> Result<usize, ErrorKind>,
) -> Result<(), ErrorKind> {
    let short = |body: &Function, constants: &Constants| Short {
        floors: floors_of_clamped(body, &policy.floats.trusted, constants),
        quotients: divided_by_device(body, &policy.floats, policy.avoid_double_divisions),
    };
    let candidates = Candidates::of(function, short, may_be_long);
    if candidates.often.values().all(|count| *count < 2) {
        return Ok(());
    }
    // Constants only make operations shorter, and there may be many different constants.
    let mut lengths = FxHashMap::default();
    for shape in candidates.often.keys() {
        lengths.insert(*shape, length(shape)?);
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
        lengths.insert(*shape, length(shape)?);
    }
    if total(&lengths, &candidates.counts) <= BUDGET {
        return Ok(());
    }
    let mut helpers = std::mem::take(&mut function.helpers);
    let mut added = Added { first: helpers.len(), ..Added::default() };
    for body in helpers.iter_mut().map(|helper| &mut helper.function).chain([&mut *function]) {
        let constants = body.constants();
        let short = short(body, &constants);
        rewrite(body, |b, stmt| {
            let Stmt::Let(result, op) = *stmt else { return Rewritten::Kept };
            if short.has(result, &op) {
                return Rewritten::Kept;
            }
            let (shape, operands) = b.function(|function| Shape::of(function, result, op, &constants));
            let general = shape.general();
            let is_long = lengths.get(&shape).is_some_and(|length| *length > SHORT);
            if !is_long || candidates.often.get(&general).is_none_or(|count| *count < 2) {
                return Rewritten::Kept;
            }
            let number = added.number(general);
            let passed = operands.map(|operand| operand.map(|operand| b.bits(operand)));
            let ty = b.type_of(result);
            let bits = b.op(bits_type(ty), Op::Call(number, passed));
            Rewritten::By(b.bitcast(bits, ty))
        });
    }
    helpers.append(&mut added.helpers);
    function.helpers = helpers;
    Ok(())
}

/// New helpers, after the existing ones.
#[derive(Default)]
struct Added {
    /// The number of the first new helper.
    first: usize,
    helpers: Vec<Helper>,
    numbers: FxHashMap<Shape, u32>,
}

impl Added {
    /// The number of the helper of a shape.
    fn number(&mut self, shape: Shape) -> u32 {
        *self.numbers.entry(shape).or_insert_with_key(|shape| {
            self.helpers.push(shape.helper());
            number(self.first + self.helpers.len() - 1)
        })
    }
}

/// Operations of a kernel and its helpers that may be long.
#[derive(Default)]
struct Candidates {
    /// The number of operations of each shape.
    counts: FxHashMap<Shape, usize>,
    /// The number for each shape with any operands.
    often: FxHashMap<Shape, usize>,
}

impl Candidates {
    fn of(
        function: &Function,
        short: impl Fn(&Function, &Constants) -> Short,
        may_be_long: impl Fn(&Function, Value, &Op) -> bool,
    ) -> Candidates {
        let mut candidates = Candidates::default();
        for body in function.helpers.iter().map(|helper| &helper.function).chain([function]) {
            let constants = body.constants();
            let short = short(body, &constants);
            for_each_stmt(&body.body, |stmt| {
                if let Stmt::Let(value, op) = stmt
                    && may_be_long(body, *value, op)
                    && !short.has(*value, op)
                {
                    let (shape, _) = Shape::of(body, *value, *op, &constants);
                    *candidates.often.entry(shape.general()).or_default() += 1;
                    *candidates.counts.entry(shape).or_default() += 1;
                }
            });
        }
        candidates
    }
}

/// Operations of a function that are short where they are.
struct Short {
    floors: FxHashSet<Op>,
    quotients: FxHashSet<Value>,
}

impl Short {
    fn has(&self, result: Value, op: &Op) -> bool {
        self.floors.contains(op) || self.quotients.contains(&result)
    }
}

/// Operations that are short because their first operand was clamped to [0.0, 1.0].
fn floors_of_clamped(function: &Function, facts: &Facts, constants: &Constants) -> FxHashSet<Op> {
    let mut short = FxHashSet::default();
    if !floors(facts) {
        return short;
    }
    let mut saturated = FxHashSet::default();
    for_each_stmt(&function.body, |stmt| {
        if let Stmt::Let(value, Op::Unary(Unary::Saturate, _)) = stmt {
            saturated.insert(*value);
        }
    });
    let constant = |value: Value| constants.of(value);
    for_each_stmt(&function.body, |stmt| {
        if let Stmt::Let(_, op @ Op::Rounded(Rounding::Down, Arithmetic::Fma(x, y, z))) = stmt
            && saturated.contains(x)
            && is_floor_of_clamped(constant(*y), constant(*z))
        {
            short.insert(*op);
        }
    });
    short
}

/// Whether an operation may be long: on floats, or a product or quotient of 64-bit integers.
fn is_candidate(function: &Function, is_fma_fused: bool, result: Value, op: &Op) -> bool {
    let mut wide = matches!(function.type_of(result), Type::F32 | Type::F64);
    let mut float = wide;
    for_each_op_operand(*op, |operand| {
        let ty = function.type_of(operand);
        float |= matches!(ty, Type::F32 | Type::F64);
        wide |= ty == Type::I64;
    });
    match op {
        Op::Const(_) | Op::Get(_) | Op::Builtin(_) | Op::Pair(..) | Op::Select(..) | Op::Call(..) | Op::Sample(_) => {
            false
        }
        Op::Unary(Unary::Bitcast(_) | Unary::LowWord | Unary::HighWord, _) => false,
        Op::Binary(..) => float || wide,
        // A run of several tests its operands at once.
        Op::Fma(..) if function.type_of(result) == Type::F32 => !is_fma_fused,
        Op::Unary(..) | Op::Compare(..) | Op::Fma(..) | Op::DotFma(..) => float,
        Op::Rounded(..) | Op::Flushed(..) | Op::Half(..) => float,
        Op::Matrix(..) => true,
    }
}
