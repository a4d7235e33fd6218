//! Appends statements to a list, inferring result types and simplifying trivial operations on the way.
//!
//! The builder does not check its arguments: [`verify`](super::verify) does, afterwards. It merges no equal
//! operations and moves none.

use std::cell::RefCell;

use super::definitions::Definitions;
use super::fold::{Folded, fold, looks_through};
use super::semantics::mask;
use super::{
    Access, Arithmetic, Atomic, Binary, Block, Builtin, Compare, Function, Halves, Op, Ordered, OwnShared, Rounding,
    Scope, Shuffle, Stmt, Type, Unary, Value, Var, Warp, WarpOp,
};
use crate::diagnostic::Span;
use ptx2spv_target::{CheckedAccess, CheckedSpace, Fault};

/// Appends statements to a list, and takes values and variables from a function.
///
/// Methods share the builder, so that the operands of an operation can be operations themselves: those are appended first, from left to
/// right.
///
/// ```
/// use ptx2spv_translator::internals::ir::{Builder, Builtin, Function, Type};
///
/// let mut function = Function::default();
/// let register = function.var(Type::I32);
/// let b = Builder::new(&mut function);
/// let thread = b.builtin(Builtin::ThreadIndex);
/// let is_odd = b.is_nonzero(b.and_const(thread, 1));
/// b.if_else(is_odd, |b| b.set(register, b.i32(1)), |b| b.set(register, thread));
/// b.finish();
/// assert_eq!(ptx2spv_translator::internals::ir::verify(&function), Ok(()));
/// ```
pub struct Builder<'f> {
    /// The function that gives values and variables.
    function: RefCell<&'f mut Function>,
    /// The list that statements are appended to.
    block: RefCell<Block>,
    /// The definitions of values; only operations that [`fold`] looks through.
    definitions: RefCell<Definitions>,
}

impl<'f> Builder<'f> {
    /// A builder with an empty list.
    pub fn new(function: &'f mut Function) -> Self {
        let definitions = Definitions::from(function.values.len()).into();
        Self { function: RefCell::new(function), block: RefCell::default(), definitions }
    }

    /// Appends the list to the function's body.
    pub fn finish(self) {
        self.function.into_inner().body.extend(self.block.into_inner());
    }

    /// The list.
    pub fn into_block(self) -> Block {
        self.block.into_inner()
    }

    /// Whether the list has statements.
    pub fn has_statements(&self) -> bool {
        !self.block.borrow().is_empty()
    }

    /// The list so far; an empty one takes its place.
    pub fn take_block(&self) -> Block {
        self.block.take()
    }

    /// The list so far; another one takes its place.
    pub fn replace_block(&self, block: Block) -> Block {
        self.block.replace(block)
    }

    /// The result of `with`, which must not use the builder.
    pub fn function<R>(&self, with: impl FnOnce(&mut Function) -> R) -> R {
        with(&mut self.function.borrow_mut())
    }

    /// A new value, which the caller defines.
    pub fn value(&self, ty: Type) -> Value {
        self.function.borrow_mut().value(ty)
    }

    /// Appends a statement as it is.
    pub fn push(&self, stmt: Stmt) {
        self.block.borrow_mut().push(stmt);
    }

    /// Appends statements as they are.
    pub fn append(&self, mut stmts: Block) {
        self.block.borrow_mut().append(&mut stmts);
    }

    /// Marks the following statements as coming from an instruction; see [`Stmt::At`].
    pub fn at(&self, span: impl Into<Option<Span>>) {
        self.push(Stmt::At(span.into()));
    }

    /// The result of an operation: a new value, or an older one that is the same.
    pub fn op(&self, ty: Type, op: Op) -> Value {
        let folded = fold(&self.function.borrow(), &op, |value| self.definition(value));
        match folded {
            Some(Folded::Value(value)) => value,
            Some(Folded::Const(bits)) => self.constant(ty, bits),
            None => self.define(ty, op),
        }
    }

    fn definition(&self, value: Value) -> Option<Op> {
        self.definitions.borrow().of(value)
    }

    /// A new value of an operation, without simplification.
    pub fn define(&self, ty: Type, op: Op) -> Value {
        let value = self.value(ty);
        self.note(value, op);
        self.push(Stmt::Let(value, op));
        value
    }

    /// Tells the builder the definition of a value, so that it can simplify operations on the value. The definition
    /// must be visible wherever the builder appends.
    pub fn note(&self, value: Value, op: Op) {
        if looks_through(&op) {
            self.definitions.borrow_mut().note(value, op);
        }
    }

    /// The bits of a value that this builder made as a constant.
    pub fn known(&self, value: Value) -> Option<u64> {
        match self.definition(value) {
            Some(Op::Const(bits)) => Some(bits),
            _ => None,
        }
    }

    /// The value before it was clamped to [0.0, 1.0], if it is known to have been clamped.
    pub fn unsaturated(&self, value: Value) -> Option<Value> {
        match self.definition(value) {
            Some(Op::Unary(Unary::Saturate, value)) => Some(value),
            _ => None,
        }
    }

    /// Type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.function.borrow().type_of(value)
    }

    /// Type of a variable.
    pub fn var_type(&self, var: Var) -> Type {
        self.function.borrow().var_type(var)
    }

    /// A new variable.
    pub fn var(&self, ty: Type) -> Var {
        self.function.borrow_mut().var(ty)
    }

    /// A constant by its bits; those that the type doesn't have are dropped.
    pub fn constant(&self, ty: Type, bits: u64) -> Value {
        self.define(ty, Op::Const(bits & mask(ty)))
    }

    /// A `Bool` constant.
    pub fn bool(&self, value: bool) -> Value {
        self.constant(Type::Bool, value.into())
    }

    /// An `I32` constant.
    pub fn i32(&self, value: u32) -> Value {
        self.constant(Type::I32, value.into())
    }

    /// An `I64` constant.
    pub fn i64(&self, value: u64) -> Value {
        self.constant(Type::I64, value)
    }

    /// An `F32` constant.
    pub fn f32(&self, value: f32) -> Value {
        self.constant(Type::F32, value.to_bits().into())
    }

    /// An `F64` constant.
    pub fn f64(&self, value: f64) -> Value {
        self.constant(Type::F64, value.to_bits())
    }

    /// A constant of the type that another value has.
    pub fn constant_like(&self, like: Value, bits: u64) -> Value {
        let ty = self.type_of(like);
        self.constant(ty, bits)
    }

    /// A unary operation.
    pub fn unary(&self, op: Unary, a: Value) -> Value {
        let ty = match op {
            Unary::ZeroExtend | Unary::SignExtend => Type::I64,
            Unary::Truncate
            | Unary::LowWord
            | Unary::HighWord
            | Unary::SaturateToSigned
            | Unary::SaturateToUnsigned
            | Unary::NarrowHalf => Type::I32,
            Unary::Widen => Type::F64,
            Unary::Narrow | Unary::WidenHalf => Type::F32,
            Unary::Bitcast(ty)
            | Unary::SignedToFloat(ty)
            | Unary::UnsignedToFloat(ty)
            | Unary::FloatToSigned(ty)
            | Unary::FloatToUnsigned(ty) => ty,
            _ => self.type_of(a),
        };
        self.op(ty, Op::Unary(op, a))
    }

    /// A binary operation.
    pub fn binary(&self, op: Binary, a: Value, b: Value) -> Value {
        let ty = self.type_of(a);
        self.op(ty, Op::Binary(op, a, b))
    }

    /// A binary operation with a constant (for shifts, the amount).
    pub fn binary_const(&self, op: Binary, a: Value, b: u64) -> Value {
        let ty = if matches!(op, Binary::Shl | Binary::Shr | Binary::Sar) { Type::I32 } else { self.type_of(a) };
        let b = self.constant(ty, b);
        self.binary(op, a, b)
    }

    /// A comparison.
    pub fn compare(&self, op: Compare, a: Value, b: Value) -> Value {
        self.op(Type::Bool, Op::Compare(op, a, b))
    }

    /// A comparison with a constant.
    pub fn compare_const(&self, op: Compare, a: Value, b: u64) -> Value {
        let b = self.constant_like(a, b);
        self.compare(op, a, b)
    }

    /// `condition ? then : otherwise`.
    pub fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        let ty = self.type_of(then);
        self.op(ty, Op::Select(condition, then, otherwise))
    }

    /// The lesser of two numbers by a comparison that says `<` or `<=`.
    pub fn minimum(&self, less: Compare, a: Value, b: Value) -> Value {
        self.select(self.compare(less, a, b), a, b)
    }

    /// The greater of two numbers by a comparison that says `<` or `<=`.
    pub fn maximum(&self, less: Compare, a: Value, b: Value) -> Value {
        self.select(self.compare(less, a, b), b, a)
    }

    /// `a * b + c` rounded once.
    pub fn fma(&self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.type_of(a);
        self.op(ty, Op::Fma(a, b, c))
    }

    /// 64 bits by their halves: a [`Type::Pair`] or an `F64`.
    pub fn pair(&self, ty: Type, low: Value, high: Value) -> Value {
        self.op(ty, Op::Pair(low, high))
    }

    /// Float arithmetic rounded as asked for; the device's own operation where that is to nearest even.
    pub fn rounded(&self, rounding: Rounding, arithmetic: Arithmetic) -> Value {
        use Arithmetic::{Add, Div, Fma, Mul, Narrow, Sqrt, Sub};
        if rounding == Rounding::NearestEven {
            return match arithmetic {
                Add(a, b) => self.fadd(a, b),
                Sub(a, b) => self.fsub(a, b),
                Mul(a, b) => self.fmul(a, b),
                Div(a, b) => self.fdiv(a, b),
                Fma(a, b, c) => self.fma(a, b, c),
                Sqrt(a) => self.sqrt(a),
                Narrow(a) => self.narrow(a),
            };
        }
        let ty = match arithmetic {
            Narrow(_) => Type::F32,
            Add(a, _) | Sub(a, _) | Mul(a, _) | Div(a, _) | Fma(a, ..) | Sqrt(a) => self.type_of(a),
        };
        self.op(ty, Op::Rounded(rounding, arithmetic))
    }

    /// Arithmetic on `F32` with subnormals flushed.
    pub fn flushed(&self, rounding: Rounding, arithmetic: Arithmetic) -> Value {
        self.op(Type::F32, Op::Flushed(rounding, arithmetic))
    }

    /// Arithmetic on f16 in an `I32`.
    pub fn half(&self, halves: Halves, arithmetic: Arithmetic) -> Value {
        self.op(Type::I32, Op::Half(halves, arithmetic))
    }

    /// Another lane's `I32`, in a warp all of whose lanes take part.
    pub fn from_lane(&self, value: Value, lane: Value) -> Value {
        let [members, clamp] = [u32::MAX, 31].map(|bits| self.i32(bits));
        let op = WarpOp::Shuffle { mode: Shuffle::Index, value, lane, clamp };
        let [taken, in_range] = [Type::I32, Type::Bool].map(|ty| self.value(ty));
        self.push(Stmt::Warp(Warp { results: vec![taken, in_range], op, members: Some(members) }));
        taken
    }

    /// The sum of the products of four pairs of bytes, each word's signed or not.
    pub fn dot_of_bytes(&self, a: Value, b: Value, are_signed: [bool; 2]) -> Value {
        match are_signed {
            [true, true] => self.dot_signed(a, b),
            [false, false] => self.dot_unsigned(a, b),
            [true, false] => self.dot_mixed(a, b),
            [false, true] => self.dot_mixed(b, a),
        }
    }

    /// A value that the launch gives; `I32` but for [`Builtin::Clock`].
    pub fn builtin(&self, builtin: Builtin) -> Value {
        let ty = if builtin == Builtin::Clock { Type::I64 } else { Type::I32 };
        self.op(ty, Op::Builtin(builtin))
    }

    /// A word of the push constant block; `I32` or `I64`.
    pub fn push_constant(&self, ty: Type, offset: u32) -> Value {
        self.op(ty, Op::Builtin(Builtin::PushConstant(offset)))
    }

    /// The present content of a variable.
    pub fn get(&self, var: Var) -> Value {
        let ty = self.var_type(var);
        self.op(ty, Op::Get(var))
    }

    /// Assigns a variable.
    pub fn set(&self, var: Var, value: Value) {
        self.push(Stmt::Set(var, value));
    }

    /// Reads a number of elements.
    pub fn load(&self, access: Access, address: Value, elements: usize) -> Vec<Value> {
        let ty = if access.bytes == 8 { Type::I64 } else { Type::I32 };
        let results: Vec<Value> = (0..elements).map(|_| self.value(ty)).collect();
        self.push(Stmt::Load { results: results.clone(), access, address });
        results
    }

    /// Reads one element.
    pub fn load_one(&self, access: Access, address: Value) -> Value {
        let result = self.value(if access.bytes == 8 { Type::I64 } else { Type::I32 });
        self.push(Stmt::Load { results: vec![result], access, address });
        result
    }

    /// Writes elements.
    pub fn store(&self, access: Access, address: Value, values: Vec<Value>) {
        self.push(Stmt::Store { values, access, address });
    }

    /// A read-modify-write.
    pub fn atomic(&self, atomic: Atomic) {
        self.push(Stmt::Atomic(atomic));
    }

    /// The offset in [`Space::Shared`](super::Space::Shared) of an address, as programs see addresses.
    pub fn shared_offset(&self, address: Value) -> Value {
        let start = self.function(|function| function.shared_start);
        if start == 0 {
            return address;
        }
        // An addition, since those of constants are joined.
        self.add_const(address, start.wrapping_neg().into())
    }

    /// The address of a byte in shared memory of the translator's own.
    pub fn own_shared(&self, memory: OwnShared, byte: u32) -> Value {
        let offset = memory.offset.saturating_add(byte);
        if !memory.after_kernel {
            return self.i32(offset);
        }
        let end = self.builtin(Builtin::SharedBytes);
        self.add_const(end, offset.into())
    }

    /// A barrier of the block.
    pub fn barrier(&self) {
        self.push(Stmt::Barrier(Ordered::All));
    }

    /// Tells the host of a fault that has no details, from the last mark.
    pub fn report(&self, fault: Fault) {
        self.push(Stmt::Report(fault, Vec::new()));
    }

    /// Tells the host of an illegal access to `bytes` bytes, in memory of the given size.
    pub fn report_access(&self, what: CheckedAccess, space: CheckedSpace, bytes: u32, address: Value, size: Value) {
        let (low, high) =
            if self.type_of(address) == Type::I64 { self.halves(address) } else { (address, self.i32(0)) };
        let kind = self.i32(bytes | (what as u32) << 8 | (space as u32) << 16);
        let mut details = vec![low, high, kind, size];
        for dimension in 0..3 {
            details.push(self.block_id(dimension));
        }
        for dimension in 0..3 {
            details.push(self.builtin(Builtin::ThreadId(dimension)));
        }
        self.push(Stmt::Report(Fault::IllegalAccess, details));
    }

    /// A fence.
    pub fn fence(&self, scope: Scope) {
        self.push(Stmt::Fence(scope));
    }

    /// The list that `fill` appends to, apart from the present one.
    pub fn nested(&self, fill: impl FnOnce(&Self)) -> Block {
        let outer = self.take_block();
        fill(self);
        self.replace_block(outer)
    }

    /// Appends a statement, each of whose lists is replaced by the statements that `fill` appends for it.
    pub fn push_with_lists(&self, mut stmt: Stmt, mut fill: impl FnMut(&Self, Block)) {
        for list in stmt.lists_mut() {
            let old = std::mem::take(list);
            *list = self.nested(|b| fill(b, old));
        }
        self.push(stmt);
    }

    /// Runs `then` if the condition holds.
    pub fn if_(&self, condition: Value, then: impl FnOnce(&Self)) {
        self.if_else(condition, then, |_| {});
    }

    /// Runs `then` if the condition holds, else `otherwise`.
    pub fn if_else(&self, condition: Value, then: impl FnOnce(&Self), otherwise: impl FnOnce(&Self)) {
        let then = self.nested(then);
        let otherwise = self.nested(otherwise);
        self.push(Stmt::If { condition, then, otherwise });
    }

    /// A value that one of two ways computes, through a variable of the type that `then` gives; floats go by their bits.
    pub fn choose(
        &self,
        condition: Value,
        then: impl FnOnce(&Self) -> Value,
        otherwise: impl FnOnce(&Self) -> Value,
    ) -> Value {
        let outer = self.take_block();
        let value = then(self);
        let ty = self.type_of(value);
        let var = self.var(bits_type(ty));
        self.set_bits(var, value);
        let then = self.replace_block(outer);
        let otherwise = self.nested(|b| {
            let value = otherwise(b);
            b.set_bits(var, value);
        });
        self.push(Stmt::If { condition, then, otherwise });
        let bits = self.get(var);
        self.bitcast(bits, ty)
    }

    fn set_bits(&self, var: Var, value: Value) {
        let ty = self.var_type(var);
        let bits = self.bitcast(value, ty);
        self.set(var, bits);
    }

    /// Runs `body` again and again until a break.
    pub fn loop_(&self, body: impl FnOnce(&Self)) {
        let body = self.nested(body);
        self.push(Stmt::Loop(body));
    }

    /// Leaves the innermost loop; nothing may follow in the list.
    pub fn break_(&self) {
        self.push(Stmt::Break);
    }

    /// The same bits as another type of the same width; the value itself where it has that type.
    pub fn bitcast(&self, value: Value, ty: Type) -> Value {
        if self.type_of(value) == ty { value } else { self.unary(Unary::Bitcast(ty), value) }
    }

    /// The bits of a float; an integer as it is.
    pub fn bits(&self, value: Value) -> Value {
        let ty = self.type_of(value);
        self.bitcast(value, bits_type(ty))
    }

    /// A float's bits with the sign's cleared, as an integer.
    pub fn magnitude(&self, value: Value) -> Value {
        let bits = self.bits(value);
        let ones = mask(self.type_of(bits));
        self.and_const(bits, ones >> 1)
    }

    /// Whether an integer is zero.
    pub fn is_zero(&self, value: Value) -> Value {
        self.compare_const(Compare::Equal, value, 0)
    }

    /// Whether an integer isn't zero.
    pub fn is_nonzero(&self, value: Value) -> Value {
        self.compare_const(Compare::NotEqual, value, 0)
    }

    /// 1 for true and 0 for false, of an integer type.
    pub fn bool_to(&self, ty: Type, value: Value) -> Value {
        let one = self.constant(ty, 1);
        let zero = self.constant(ty, 0);
        self.select(value, one, zero)
    }

    /// The low and high half of an `I64`.
    pub fn halves(&self, value: Value) -> (Value, Value) {
        let low = self.truncate(value);
        let high = self.shr(value, 32);
        (low, self.truncate(high))
    }

    /// An `I64` from its halves.
    pub fn join(&self, low: Value, high: Value) -> Value {
        let low = self.zero_extend(low);
        let high = self.zero_extend(high);
        let high = self.shl(high, 32);
        self.or(low, high)
    }
}

/// The integer type of a type's width (`Bool` as it is).
pub fn bits_type(ty: Type) -> Type {
    match ty {
        Type::F32 => Type::I32,
        Type::F64 => Type::I64,
        other => other,
    }
}

macro_rules! shorthands {
    (
        unary { $($unary:ident $unary_op:ident),* }
        binary { $($binary:ident $binary_const:ident $binary_op:ident),* }
        shift { $($shift:ident $shift_by:ident $shift_op:ident),* }
        float { $($float:ident $float_op:ident),* }
        compare { $($compare:ident $compare_op:ident),* }
    ) => {
        /// Shorthands by the operation's name; those with `_const` and shifts take the second operand as a constant,
        /// shifts ending in `_by` as a value.
        #[allow(missing_docs)]
        impl Builder<'_> {
            $(pub fn $unary(&self, a: Value) -> Value {
                self.unary(Unary::$unary_op, a)
            })*
            $(pub fn $binary(&self, a: Value, b: Value) -> Value {
                self.binary(Binary::$binary_op, a, b)
            }
            pub fn $binary_const(&self, a: Value, b: u64) -> Value {
                self.binary_const(Binary::$binary_op, a, b)
            })*
            $(pub fn $shift(&self, a: Value, amount: u32) -> Value {
                self.binary_const(Binary::$shift_op, a, amount.into())
            }
            pub fn $shift_by(&self, a: Value, amount: Value) -> Value {
                self.binary(Binary::$shift_op, a, amount)
            })*
            $(pub fn $float(&self, a: Value, b: Value) -> Value {
                self.binary(Binary::$float_op, a, b)
            })*
            $(pub fn $compare(&self, a: Value, b: Value) -> Value {
                self.compare(Compare::$compare_op, a, b)
            })*
        }
    };
}

shorthands! {
    unary {
        not Not, neg Neg, bit_count BitCount, bit_reverse BitReverse, find_high_bit FindHighBit,
        zero_extend ZeroExtend, sign_extend SignExtend, truncate Truncate, low_word LowWord, high_word HighWord, widen Widen, narrow Narrow, sqrt Sqrt
    }
    binary {
        add add_const Add, sub sub_const Sub, mul mul_const Mul,
        mul_high_unsigned mul_high_unsigned_const MulHighUnsigned,
        mul_high_signed mul_high_signed_const MulHighSigned,
        dot_signed dot_signed_const DotSigned, dot_unsigned dot_unsigned_const DotUnsigned, dot_mixed dot_mixed_const DotMixed,
        div_unsigned div_unsigned_const DivUnsigned, rem_unsigned rem_unsigned_const RemUnsigned,
        and and_const And, or or_const Or, xor xor_const Xor
    }
    shift { shl shl_by Shl, shr shr_by Shr, sar sar_by Sar }
    float { fadd FAdd, fsub FSub, fmul FMul, fdiv FDiv, or_nan OrNan }
    compare {
        eq Equal, ne NotEqual, ult LessUnsigned, ule LessEqualUnsigned, slt LessSigned, sle LessEqualSigned,
        feq FEqual, fne FNotEqual, flt FLess, fle FLessEqual
    }
}
