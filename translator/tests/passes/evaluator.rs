//! A small interpreter of the intermediate representation, for tests: one thread, memories as byte arrays.
//!
//! It plays a device with given [`Facts`]: float arithmetic that a fact vouches for is correctly rounded, and what no
//! fact vouches for goes wrong on purpose, so that code which relies on it shows. Operations as the device gives them
//! (`…Approx`) are the host's, off by one unit in the last place.

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use ptx2spv_translator::internals::ir::semantics;
use ptx2spv_translator::internals::ir::{
    Access, Arithmetic, Atomic, AtomicOp, Binary, Block, Builtin, Compare, Function, GENERIC_LOCAL, GENERIC_SHARED,
    GENERIC_TAG_SHIFT, Halves, Helper, Op, Rounding, Space, Stmt, SubgroupOp, Type, Unary, Value, mask,
};
use ptx2spv_translator::target::Facts;

use super::exact::{Operation, half, reference};

/// Address of the first byte of [`Machine::global`].
pub const GLOBAL_BASE: u64 = 0x10000;

/// Why a run stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An access outside its memory, or misaligned.
    #[error("access to {bytes} bytes at {address:#x} of {space:?} memory")]
    Access {
        /// Where.
        space: Space,
        /// Address or offset.
        address: u64,
        /// Bytes of the access.
        bytes: usize,
    },
    /// An operation whose precondition failed.
    #[error("the precondition of {0:?} failed")]
    Precondition(Op),
    /// An operation that only legalized functions are free of.
    #[error("{0:?} is not legalized")]
    NotLegal(AtomicOp),
    /// An operation between threads: there is only one.
    #[error("an operation between threads")]
    Threads,
    /// More steps than allowed.
    #[error("out of steps")]
    Steps,
}

/// The thread, its memories and its device.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The operations of the device's arithmetic that are right.
    pub facts: Facts,
    /// Whether the machine runs float arithmetic that no device has, by its definition.
    pub defines: bool,
    /// Global memory from [`GLOBAL_BASE`] on.
    pub global: Vec<u8>,
    /// The block's memory.
    pub shared: Vec<u8>,
    /// The thread's memory.
    pub local: Vec<u8>,
    /// The push constant block.
    pub push_constants: Vec<u8>,
    /// The thread's number within its block; the block is a row.
    pub thread: u32,
    /// Bits of the variables; set to zero for those that a function has more.
    pub vars: Vec<u64>,
    /// Statements that may still run.
    pub steps: u64,
    /// Rounds of loops after which every loop ends, as `Quirks::loop_budget` says of drivers.
    pub loop_budget: Option<u32>,
    /// Bits of the values that a run came to.
    pub values: Vec<u64>,
    /// The values that a run came to whose definitions are constants.
    pub constants: Vec<bool>,
    /// Bits of the parameters of a helper.
    pub parameters: Vec<u64>,
    /// Bits of a helper's result.
    pub result: u64,
}

impl Machine {
    /// Runs a function that passes `verify`, starting with the variables as they are.
    pub fn run(&mut self, function: &Function) -> Result<(), Fault> {
        self.body(function, &function.helpers)
    }

    /// Runs a function that may call these helpers.
    fn body(&mut self, function: &Function, helpers: &[Helper]) -> Result<(), Fault> {
        self.vars.resize(function.vars.len(), 0);
        self.values.resize(function.values.len(), 0);
        self.constants.clear();
        self.constants.resize(function.values.len(), false);
        self.block(function, helpers, &function.body).map(|_| ())
    }

    /// Runs a list; true if it ended by a break.
    fn block(&mut self, function: &Function, helpers: &[Helper], block: &Block) -> Result<bool, Fault> {
        for stmt in block {
            self.steps = self.steps.checked_sub(1).ok_or(Fault::Steps)?;
            match stmt {
                Stmt::At(_) | Stmt::Barrier(_) | Stmt::Report(..) | Stmt::Arrive(_) | Stmt::Fence(_) => {}
                // From the only invocation to itself.
                Stmt::Subgroup(results, SubgroupOp::Shuffle(value, lane)) if self.get(*lane) == 0 => {
                    let bits = self.get(*value);
                    results.iter().for_each(|result| self.values[result.0 as usize] = bits);
                }
                Stmt::Warp(_) | Stmt::Subgroup(..) => return Err(Fault::Threads),
                Stmt::Let(value, Op::Call(helper, operands)) => {
                    self.values[value.0 as usize] = self.call(helpers, *helper, operands)?;
                }
                Stmt::Let(value, Op::Const(bits)) => {
                    self.values[value.0 as usize] = bits & mask(function.type_of(*value));
                    self.constants[value.0 as usize] = true;
                }
                Stmt::Let(value, op) => self.values[value.0 as usize] = self.op(function, *value, op)?,
                Stmt::Return(value) => self.result = self.get(*value),
                Stmt::Set(var, value) => self.vars[var.0 as usize] = self.get(*value),
                Stmt::Load { results, access, address } => self.load(results, access, *address)?,
                Stmt::Store { values, access, address } => self.store(values, access, *address)?,
                Stmt::Atomic(atomic) => self.atomic(atomic)?,
                Stmt::If { condition, then, otherwise } => {
                    let arm = if self.get(*condition) != 0 { then } else { otherwise };
                    if self.block(function, helpers, arm)? {
                        return Ok(true);
                    }
                }
                Stmt::Loop(body) => {
                    // The round that leaves the loop counts too.
                    while {
                        let left = self.block(function, helpers, body)?;
                        self.has_rounds_left() && !left
                    } {
                        // An empty body would never use up the steps.
                        self.steps = self.steps.checked_sub(1).ok_or(Fault::Steps)?;
                    }
                }
                Stmt::Break => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Runs a helper with a machine of its own.
    fn call(&mut self, helpers: &[Helper], helper: u32, operands: &[Option<Value>]) -> Result<u64, Fault> {
        let mut machine = Machine {
            facts: self.facts.clone(),
            defines: self.defines,
            thread: self.thread,
            steps: self.steps,
            loop_budget: self.loop_budget,
            parameters: operands.iter().flatten().map(|operand| self.get(*operand)).collect(),
            ..Machine::default()
        };
        machine.body(&helpers[helper as usize].function, helpers)?;
        (self.steps, self.loop_budget) = (machine.steps, machine.loop_budget);
        Ok(machine.result)
    }

    /// Takes a round from the budget of loops, if there is one; false if it was the last or there is none left.
    fn has_rounds_left(&mut self) -> bool {
        self.loop_budget = self.loop_budget.map(|rounds| rounds.saturating_sub(1));
        self.loop_budget != Some(0)
    }

    fn get(&self, value: Value) -> u64 {
        self.values[value.0 as usize]
    }

    fn op(&self, function: &Function, result: Value, op: &Op) -> Result<u64, Fault> {
        let ty = function.type_of(result);
        let undefined = || Fault::Precondition(*op);
        Ok(match *op {
            Op::Get(var) => self.vars[var.0 as usize],
            Op::Unary(unary, a) => {
                let (from, a) = (function.type_of(a), self.get(a));
                match semantics::unary(unary, from, ty, a) {
                    Some(bits) => bits,
                    None => self.float_unary(unary, from, ty, a).ok_or_else(undefined)?,
                }
            }
            Op::Binary(binary, a, b) => {
                let folded = self.folded(binary, ty, a, b);
                let (a, b) = (self.get(a), self.get(b));
                match ty {
                    Type::F32 if binary == Binary::OrNan && self.defines => {
                        if f32::from_bits(a as u32).is_nan() {
                            b
                        } else {
                            a
                        }
                    }
                    Type::F64 if binary == Binary::OrNan && self.defines => {
                        if f64::from_bits(a).is_nan() {
                            b
                        } else {
                            a
                        }
                    }
                    Type::F32 | Type::F64 if folded.is_some() => folded.ok_or_else(undefined)?,
                    Type::F32 => self.f32_binary(binary, a, b).ok_or_else(undefined)?,
                    Type::F64 => self.f64_binary(binary, a, b).ok_or_else(undefined)?,
                    _ => semantics::binary(binary, ty, a, b).ok_or_else(undefined)?,
                }
            }
            Op::Compare(compare, a, b) => {
                let (ty, a, b) = (function.type_of(a), self.get(a), self.get(b));
                match semantics::compare(compare, ty, a, b) {
                    Some(holds) => holds,
                    None => {
                        // Of two equal operands, one may be flushed and the other not.
                        let keeps = ty == Type::F64 || self.facts.denormals_f32_kept || self.steps.is_multiple_of(3);
                        let other = if keeps { self.operand(ty, b) } else { flushed(f32::from_bits(b as u32)).into() };
                        let holds = float_compare(compare, self.operand(ty, a), other);
                        holds ^ (ty == Type::F32 && !self.facts.are_normals_exact())
                    }
                }
                .into()
            }
            Op::Select(condition, a, b) => self.get(if self.get(condition) != 0 { a } else { b }),
            Op::Pair(low, high) => self.get(high) << 32 | self.get(low),
            Op::Fma(a, b, c) => self.fma(ty, self.get(a), self.get(b), self.get(c)),
            Op::DotFma(a, b, c) => self.dot_fma(self.get(a), self.get(b), self.get(c)),
            Op::Rounded(rounding, arithmetic) if self.defines => {
                let (operation, operands) = Operation::taken(arithmetic);
                let from = function.type_of(operands[0]);
                any_nan(ty, reference(operation, rounding, from, operands.map(|value| self.get(value))))
            }
            Op::Flushed(Rounding::NearestEven, arithmetic) if self.defines => self.flushed_arithmetic(arithmetic),
            Op::Half(halves, arithmetic) if self.defines => {
                let (operation, operands) = Operation::taken(arithmetic);
                let operands = operands.map(|value| self.get(value));
                let upper = if halves == Halves::Both { half(operation, operands.map(|bits| bits >> 16)) } else { 0 };
                upper << 16 | half(operation, operands)
            }
            // No device has it.
            Op::Rounded(..) | Op::Flushed(..) | Op::Half(..) | Op::Matrix(..) => return Err(undefined()),
            Op::Builtin(builtin) => self.builtin(builtin, ty),
            // There are no images.
            Op::Sample(_) => return Err(undefined()),
            // Statements of their own.
            Op::Const(_) | Op::Call(..) => return Err(undefined()),
        })
    }

    /// Arithmetic with `.ftz`, to nearest even. Numbers are scaled away from the subnormal ones to tell whether the result, rounded
    /// to 24 bits, is below the least normal number.
    fn flushed_arithmetic(&self, arithmetic: Arithmetic) -> u64 {
        let (operation, operands) = Operation::taken(arithmetic);
        let operands = operands.map(|value| u64::from(flushed(f32::from_bits(self.get(value) as u32)).to_bits()));
        let scaled = |bits: u64| u64::from((f32::from_bits(bits as u32) * 2f32.powi(64)).to_bits());
        let [x, y, z] = operands;
        let raised = match operation {
            Operation::Mul | Operation::Div => [scaled(x), y, z],
            Operation::Fma => [scaled(x), y, scaled(z)],
            _ => operands.map(scaled),
        };
        let nearest = |operands| reference(operation, Rounding::NearestEven, Type::F32, operands);
        let bits = nearest(operands);
        let is_tiny = operation != Operation::Sqrt
            && f32::from_bits(nearest(raised) as u32).abs() < f32::MIN_POSITIVE * 2f32.powi(64);
        any_nan(Type::F32, if is_tiny { bits & 1 << 31 } else { bits })
    }

    /// The folding of a driver's compiler for a float operation with an operand that is known to be zero, or with the
    /// same value twice, if the compiler ignores signs, infinities and NaNs. Mesa's llvmpipe does so.
    fn folded(&self, op: Binary, ty: Type, a: Value, b: Value) -> Option<u64> {
        let is_zero = |value: Value| self.constants[value.0 as usize] && self.get(value) & mask(ty) >> 1 == 0;
        match op {
            _ if ty == Type::F32 && self.facts.known_specials_f32_right => None,
            _ if ty == Type::F64 && self.facts.known_specials_f64_right => None,
            Binary::FSub if a == b => Some(0),
            Binary::FAdd if is_zero(a) => Some(self.get(b)),
            Binary::FAdd | Binary::FSub if is_zero(b) => Some(self.get(a)),
            Binary::FMul if is_zero(a) || is_zero(b) => Some(0),
            Binary::FDiv | Binary::FDivApprox if is_zero(a) || is_zero(b) => Some(0),
            _ => None,
        }
    }

    fn builtin(&self, builtin: Builtin, ty: Type) -> u64 {
        match builtin {
            Builtin::ThreadId(0) | Builtin::ThreadIndex | Builtin::InvocationIndex => self.thread.into(),
            Builtin::ThreadId(_)
            | Builtin::ClusterRank
            | Builtin::WorkgroupId(_)
            | Builtin::SubgroupId
            | Builtin::SubgroupLane => 0,
            Builtin::BlockSize(_) | Builtin::WorkgroupCount(_) | Builtin::Invocations => 1,
            Builtin::SharedBytes => self.shared.len() as u64,
            Builtin::DynamicSharedBytes | Builtin::TextureBits => 0,
            Builtin::PushConstant(offset) => {
                let bytes = if ty == Type::I64 { 8 } else { 4 };
                self.push_constants
                    .get(offset as usize..)
                    .map_or(0, |tail| little_endian(&tail[..bytes.min(tail.len())]))
            }
            Builtin::Clock => self.steps,
            Builtin::Parameter(number) => self.parameters[usize::from(number)],
        }
    }

    /// An `F32` as the device takes or gives it. Denormals are flushed now and then if they are not always kept.
    fn flushed(&self, x: f32) -> f32 {
        if self.facts.denormals_f32_kept { x } else { self.sometimes_flushed(x) }
    }

    /// Flushed in three cases of four, whatever the facts say of sums.
    fn sometimes_flushed(&self, x: f32) -> f32 {
        let is_kept = (self.steps ^ u64::from(x.to_bits().count_ones())).is_multiple_of(4);
        if is_kept { x } else { flushed(x) }
    }

    /// The number that a float operation takes from an operand's bits.
    fn operand(&self, ty: Type, bits: u64) -> f64 {
        if ty == Type::F32 { self.flushed(f32::from_bits(bits as u32)).into() } else { f64::from_bits(bits) }
    }

    fn float_unary(&self, op: Unary, from: Type, to: Type, a: u64) -> Option<u64> {
        let rounds = matches!(op, Unary::Trunc | Unary::RoundEven | Unary::Floor | Unary::Ceil);
        let x = match from {
            Type::F32 if rounds && self.facts.rounding_exact => f32::from_bits(a as u32).into(),
            Type::F32 if matches!(op, Unary::SqrtApprox | Unary::InverseSqrtApprox) => {
                let Facts { roots_f32_denormals, roots_f32_flush, .. } = self.facts;
                let x = f32::from_bits(a as u32);
                match () {
                    () if roots_f32_flush => flushed(x).into(),
                    () if roots_f32_denormals => x.into(),
                    () => self.sometimes_flushed(x).into(),
                }
            }
            Type::F32 if op == Unary::Exp2Approx && self.facts.exp2_f32_flushes => {
                flushed(f32::from_bits(a as u32)).into()
            }
            _ => self.operand(from, a),
        };
        let signed = if from == Type::I32 { i64::from(a as i32) } else { a as i64 };
        let as_f32 = |x: f32| u64::from(self.flushed(x).to_bits());
        // Rounds an `F64` result to the type; only for results that are exact in `F32` where that is the type.
        let exact = |x: f64| if to == Type::F32 { as_f32(x as f32) } else { x.to_bits() };
        let in_range = |low: f64, high: f64| x > low && x < high;
        Some(match op {
            Unary::SignedToFloat(Type::F32) => {
                off_by_one_unless(self.facts.convert_f32_exact, to, as_f32(signed as f32))
            }
            Unary::SignedToFloat(_) => (signed as f64).to_bits(),
            Unary::UnsignedToFloat(Type::F32) => off_by_one_unless(self.facts.convert_f32_exact, to, as_f32(a as f32)),
            Unary::UnsignedToFloat(_) => (a as f64).to_bits(),
            Unary::FloatToSigned(Type::I32) if in_range(-2147483649.0, 2147483648.0) => u64::from(x as i32 as u32),
            Unary::FloatToSigned(Type::I64) if in_range(-9223372036854777856.0, 9223372036854775808.0) => {
                x as i64 as u64
            }
            Unary::FloatToUnsigned(Type::I32) if in_range(-1.0, 4294967296.0) => u64::from(x as u32),
            Unary::FloatToUnsigned(Type::I64) if in_range(-1.0, 18446744073709551616.0) => x as u64,
            Unary::SaturateToSigned if self.facts.to_integer_f32_saturates => u64::from(x as i32 as u32),
            Unary::SaturateToUnsigned if self.facts.to_integer_f32_saturates => u64::from(x as u32),
            Unary::Clamp if self.facts.clamp_f32_right => {
                let clamped = (x as f32).clamp(0.0, 1.0).max(0.0);
                u64::from(if self.steps.is_multiple_of(2) { clamped } else { flushed(clamped) }.to_bits())
            }
            Unary::FNeg if self.facts.negate_f32_exact => a ^ 1 << 31,
            Unary::Widen => x.to_bits(),
            Unary::Narrow => as_f32(x as f32),
            Unary::WidenHalf if self.facts.convert_f16_exact => {
                let wide: Single = Half::from_bits((a & 0xffff).into()).convert(&mut false).value;
                wide.to_bits() as u64
            }
            Unary::Saturate if self.defines => u64::from((x as f32).clamp(0.0, 1.0).max(0.0).to_bits()),
            Unary::NarrowHalf if self.defines && x.is_nan() => 0x7fff,
            // The device's own NaN isn't NVIDIA's.
            Unary::NarrowHalf if self.facts.convert_f16_exact && x.is_nan() => 0xfe00,
            Unary::NarrowHalf if self.facts.convert_f16_exact => {
                let narrow: Half = Single::from_bits(a.into()).convert(&mut false).value;
                narrow.to_bits() as u64
            }
            _ if rounds && !self.facts.rounding_exact && !x.is_normal() => 0,
            Unary::Trunc => exact(x.trunc()),
            Unary::RoundEven => exact(x.round_ties_even()),
            Unary::Floor => exact(x.floor()),
            Unary::Ceil => exact(x.ceil()),
            // Where Vulkan has no result, and its bound for angles.
            Unary::SqrtApprox | Unary::InverseSqrtApprox if x <= 0.0 && !self.facts.roots_f32_ends => exact(42.0),
            Unary::Log2Approx if !self.facts.log2_f32_close && x <= 0.0 => exact(42.0),
            Unary::SinApprox | Unary::CosApprox if !self.facts.sin_cos_f32_close => exact(0.0004),
            Unary::Sqrt if to == Type::F32 => {
                let Facts { sqrt_f32_rounded, sqrt_f32_normal, .. } = self.facts;
                let x = f32::from_bits(a as u32);
                let x = if sqrt_f32_rounded { x } else { self.sometimes_flushed(x) };
                off_by_one_unless(sqrt_f32_rounded || sqrt_f32_normal, to, x.sqrt().to_bits().into())
            }
            Unary::Sqrt => off_by_one_unless(self.facts.sqrt_f64_rounded, to, x.sqrt().to_bits()),
            Unary::SqrtApprox => off_by_one_unless(false, to, exact(x.sqrt())),
            Unary::InverseSqrtApprox if self.facts.sqrt_f32_refined => exact(x.sqrt().recip()),
            Unary::InverseSqrtApprox => off_by_one_unless(false, to, exact(x.sqrt().recip())),
            Unary::Exp2Approx if self.facts.exp2_f32_flushes && x < -126.0 => 0,
            Unary::Exp2Approx => off_by_one_unless(false, to, exact(x.exp2())),
            Unary::Log2Approx => off_by_one_unless(false, to, exact(x.log2())),
            Unary::SinApprox => off_by_one_unless(false, to, exact(x.sin())),
            Unary::CosApprox => off_by_one_unless(false, to, exact(x.cos())),
            Unary::TanhApprox => off_by_one_unless(false, to, exact(x.tanh())),
            _ => return None,
        })
    }

    fn f32_binary(&self, op: Binary, a: u64, b: u64) -> Option<u64> {
        let facts = &self.facts;
        if facts.min_max_f32_exact && matches!(op, Binary::FMin | Binary::FMax) {
            return Some(extreme(op, a as u32, b as u32).into());
        }
        let is_division = matches!(op, Binary::FDiv | Binary::FDivApprox);
        let keeps = if is_division { facts.div_f32_rounded } else { facts.denormals_f32_kept };
        let always = facts.add_f32_flushes && !is_division;
        let flushed = |x| match () {
            () if keeps => x,
            () if always => flushed(x),
            () => self.sometimes_flushed(x),
        };
        let [x, y] = [a, b].map(|bits| flushed(f32::from_bits(bits as u32)));
        // Far from where exponents end, this tells what is tiny.
        if op == Binary::FMul && always && !keeps && (x * 2f32.powi(32) * y).abs() < f32::MIN_POSITIVE * 2f32.powi(32) {
            return Some(0f32.copysign(x * y).to_bits().into());
        }
        let result = match op {
            Binary::FAdd => x + y,
            Binary::FSub => x - y,
            Binary::FMul => x * y,
            Binary::FDiv | Binary::FDivApprox => x / y,
            _ => return None,
        };
        let right = match op {
            Binary::FDiv => facts.div_f32_rounded || facts.div_f32_normal,
            Binary::FDivApprox => false,
            _ => facts.are_normals_exact(),
        };
        let rounded: u64 = flushed(result).to_bits().into();
        let shown = off_by_one_unless(right, Type::F32, rounded);
        // Vulkan's bound of division is 2.5 units.
        let is_approximate = op == Binary::FDivApprox && shown != rounded;
        Some(if is_approximate && (a ^ b) & 2 != 0 { shown ^ 3 } else { shown })
    }

    fn f64_binary(&self, op: Binary, a: u64, b: u64) -> Option<u64> {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let (result, right) = match op {
            Binary::FAdd => (x + y, true),
            Binary::FSub => (x - y, true),
            Binary::FMul => (x * y, true),
            Binary::FDiv => (x / y, self.facts.div_f64_rounded),
            Binary::FDivApprox => (x / y, false),
            _ => return None,
        };
        Some(off_by_one_unless(right, Type::F64, result.to_bits()))
    }

    fn dot_fma(&self, a: u64, b: u64, c: u64) -> u64 {
        let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
        let result = if self.facts.dot_f32_fused { a.mul_add(b, c) } else { a * b + c };
        result.to_bits().into()
    }

    fn fma(&self, ty: Type, a: u64, b: u64, c: u64) -> u64 {
        if ty == Type::F64 {
            let (a, b, c) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            return if self.facts.fma_f64_fused { a.mul_add(b, c) } else { a * b + c }.to_bits();
        }
        let facts = &self.facts;
        let flushed = |x: f32| if facts.fma_f32_denormals && !facts.fma_f32_flushes { x } else { flushed(x) };
        let [a, b, c] = [a, b, c].map(|bits| flushed(f32::from_bits(bits as u32)));
        let result = if self.facts.fma_f32_fused { a.mul_add(b, c) } else { flushed(a * b) + c };
        // Far from where exponents end, this tells what is tiny.
        let scaled = (a * 2f32.powi(32)).mul_add(b, c * 2f32.powi(32));
        let is_tiny = facts.fma_f32_flushes && scaled.abs() < f32::MIN_POSITIVE * 2f32.powi(32);
        let result = if is_tiny { 0f32.copysign(scaled) } else { result };
        flushed(result).to_bits().into()
    }

    /// The memory of a space with the index of an access in it.
    fn memory(&mut self, space: Space, address: u64, bytes: usize) -> Result<&mut [u8], Fault> {
        let fault = Fault::Access { space, address, bytes };
        if !address.is_multiple_of(bytes as u64) {
            return Err(fault);
        }
        let (memory, offset) = match (space, address >> GENERIC_TAG_SHIFT) {
            (Space::Generic, GENERIC_SHARED) => (&mut self.shared, Some(address & u64::from(u32::MAX))),
            (Space::Generic, GENERIC_LOCAL) => (&mut self.local, Some(address & u64::from(u32::MAX))),
            (Space::Global | Space::Generic, _) => (&mut self.global, address.checked_sub(GLOBAL_BASE)),
            (Space::Shared, _) => (&mut self.shared, Some(address)),
            (Space::Local, _) => (&mut self.local, Some(address)),
        };
        offset
            .and_then(|offset| usize::try_from(offset).ok())
            .and_then(|start| memory.get_mut(start..start.checked_add(bytes)?))
            .ok_or(fault)
    }

    fn load(&mut self, results: &[Value], access: &Access, address: Value) -> Result<(), Fault> {
        let element = usize::from(access.bytes);
        let address = self.get(address);
        let bytes = self.memory(access.space, address, element * results.len())?;
        let loaded: Vec<u64> = bytes.chunks(element).map(little_endian).collect();
        for (result, bits) in results.iter().zip(loaded) {
            self.values[result.0 as usize] = bits;
        }
        Ok(())
    }

    fn store(&mut self, values: &[Value], access: &Access, address: Value) -> Result<(), Fault> {
        let element = usize::from(access.bytes);
        let bits: Vec<u64> = values.iter().map(|value| self.get(*value)).collect();
        let address = self.get(address);
        let bytes = self.memory(access.space, address, element * values.len())?;
        for (into, bits) in bytes.chunks_mut(element).zip(bits) {
            into.copy_from_slice(&bits.to_le_bytes()[..element]);
        }
        Ok(())
    }

    fn atomic(&mut self, atomic: &Atomic) -> Result<(), Fault> {
        let ty = if atomic.access.bytes == 8 { Type::I64 } else { Type::I32 };
        let x = self.get(atomic.operand);
        let expected = atomic.compare.map(|value| self.get(value));
        let address = self.get(atomic.address);
        let bytes = self.memory(atomic.access.space, address, atomic.access.bytes.into())?;
        let old = little_endian(bytes);
        let holds = |compare| semantics::compare(compare, ty, old, x) == Some(true);
        let new = match atomic.op {
            AtomicOp::Add => old.wrapping_add(x),
            AtomicOp::And => old & x,
            AtomicOp::Or => old | x,
            AtomicOp::Xor => old ^ x,
            AtomicOp::Exchange => x,
            AtomicOp::CompareExchange if expected == Some(old) => x,
            AtomicOp::CompareExchange => old,
            AtomicOp::MinUnsigned if holds(Compare::LessUnsigned) => old,
            AtomicOp::MinSigned if holds(Compare::LessSigned) => old,
            AtomicOp::MinUnsigned | AtomicOp::MinSigned => x,
            AtomicOp::MaxUnsigned if holds(Compare::LessUnsigned) => x,
            AtomicOp::MaxSigned if holds(Compare::LessSigned) => x,
            AtomicOp::MaxUnsigned | AtomicOp::MaxSigned => old,
            AtomicOp::Increment => {
                if old >= x {
                    0
                } else {
                    old + 1
                }
            }
            AtomicOp::Decrement => {
                if old == 0 || old > x {
                    x
                } else {
                    old - 1
                }
            }
            AtomicOp::FAdd if ty == Type::I64 => (f64::from_bits(old) + f64::from_bits(x)).to_bits(),
            AtomicOp::FAdd => (f32::from_bits(old as u32) + f32::from_bits(x as u32)).to_bits().into(),
            AtomicOp::Half(..) => return Err(Fault::NotLegal(atomic.op)),
        };
        let length = bytes.len();
        bytes.copy_from_slice(&new.to_le_bytes()[..length]);
        if let Some(result) = atomic.result {
            self.values[result.0 as usize] = old;
        }
        Ok(())
    }
}

/// The smaller or larger of two `F32` by their bits.
fn extreme(op: Binary, a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    // Where numbers are equal, bits order zeros.
    let is_less = x < y || x == y && a > b;
    match () {
        () if x.is_nan() => b,
        () if y.is_nan() => a,
        () if is_less == (op == Binary::FMin) => a,
        () => b,
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

fn float_compare(op: Compare, x: f64, y: f64) -> bool {
    match op {
        Compare::FEqual => x == y,
        Compare::FNotEqual => x != y,
        Compare::FLess => x < y,
        _ => x <= y,
    }
}

/// The host's NaN for another: which one it is isn't defined.
fn any_nan(ty: Type, bits: u64) -> u64 {
    match ty {
        Type::F32 if f32::from_bits(bits as u32).is_nan() => f32::NAN.to_bits().into(),
        Type::F64 if f64::from_bits(bits).is_nan() => f64::NAN.to_bits(),
        _ => bits,
    }
}

/// A zero of the same sign if the number is subnormal.
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// A result as it is where a fact vouches for it, else, if it is normal, a neighbour.
fn off_by_one_unless(right: bool, ty: Type, bits: u64) -> u64 {
    let normal = match ty {
        Type::F32 => f32::from_bits(bits as u32).is_normal(),
        _ => f64::from_bits(bits).is_normal(),
    };
    if right || !normal { bits } else { bits ^ 1 }
}
