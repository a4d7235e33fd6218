//! The instruction table: every form of every instruction that translates, one row each.
//!
//! To add an instruction, add its row here, its operation in [`super::operation`], its lowering function in
//! [`crate::lower`], and a case file with expected results (`docs/adding-an-instruction.md`). The order of an opcode's rows
//! is the order in which they are tried.
//!
//! A row's syntax is one string, or two: what is part of the instruction's name, such as `mul.wide`, stands in a string of its own.

use super::availability::Availability::{self, Families, Implied, Since, Specific, SpecificSince, Until};
use super::operation::Action;
use super::operation::Action::{Barrier, Branch, Call, Compute, Exit, Fail, IndexedBranch, Nothing, Return};
use super::operation::Alignment::{Aligned, AsSaid};
use super::operation::Operation::*;
use super::rule::Rule;
use ptx2spv_target::Fault;

/// One row of the instruction table.
pub struct Row {
    /// Opcode and modifiers.
    pub syntax: &'static str,
    /// The start of that which is the instruction's name, whose modifiers stand first; empty if that is the opcode alone.
    pub name: &'static str,
    /// Operands; see [`crate::decode`] for the notation.
    pub operands: &'static str,
    /// The translation of the row's instructions.
    pub action: Action,
    /// The modules that have the row.
    pub availability: Availability,
}

impl Row {
    /// The opcode without modifiers.
    pub fn opcode(&self) -> &'static str {
        split_opcode(self.syntax).0
    }
}

/// Splits `op{.a|.b}.(c|d).e` after the opcode.
pub(super) fn split_opcode(syntax: &'static str) -> (&'static str, &'static str) {
    syntax.split_at(syntax.find(['.', '{']).unwrap_or(syntax.len()))
}

macro_rules! rows {
    ($($syntax:literal $($rest:literal)?, $operands:literal => $action:expr $(, $availability:expr)?;)*) => {
        /// All rows.
        pub const ROWS: &[Row] = &[$(Row {
            syntax: concat!($syntax $(, $rest)?),
            name: rows!(name $syntax $(, $rest)?),
            operands: $operands,
            action: $action,
            availability: rows!(availability $($availability)?),
        }),*];
    };
    (name $syntax:literal) => { "" };
    (name $syntax:literal, $rest:literal) => { $syntax };
    (availability) => { Availability::Always };
    (availability $availability:expr) => { $availability };
}

/// Targets from sm_70 on lack it since PTX 6.4, in favour of a form with `.sync`.
const WITHOUT_SYNC: Availability = Until { version: (6, 4), target: 70, without: "`.sync`" };
/// `mad` on f32 without a rounding, which targets from sm_20 on lack since PTX 3.2.
const SINGLE_WITHOUT_ROUNDING: Availability = Until { version: (3, 2), target: 20, without: "a rounding" };
/// `mad` on f64 without a rounding, which PTX 2.0 lacks for all targets with f64.
const DOUBLE_WITHOUT_ROUNDING: Availability = Until { version: (2, 0), target: 13, without: "a rounding" };
/// Computations on packed integers, which only these chips have.
const PACKED: Availability = Families(&[107, 120, 121]);
/// Instructions of sm_90a alone.
const WARPGROUPS: Availability = Families(&[90]);
/// Instructions without an effect that a device without NVIDIA's caches could show.
const NOTHING: Action = Nothing(Rule::None);

rows! {
    // Integer arithmetic
    "add{.sat}.s32", "d a b" => Compute(IntegerAdd);
    "add.(u16|u32|u64|s16|s64)", "d a b" => Compute(IntegerAdd);
    "sub{.sat}.s32", "d a b" => Compute(IntegerSub);
    "sub.(u16|u32|u64|s16|s64)", "d a b" => Compute(IntegerSub);
    "mul.(hi|lo)" ".(u16|u32|u64|s16|s32|s64)", "d a b" => Compute(IntegerMul);
    "mul.wide" ".(u16|u32|s16|s32)", "d:w0 a b" => Compute(IntegerMul);
    "mad.(hi|lo)" ".(u16|u32|u64|s16|s32|s64)", "d a b c" => Compute(IntegerMad);
    "mad.hi" ".sat.s32", "d a b c" => Compute(IntegerMad);
    "mad.wide" ".(u16|u32|s16|s32)", "d:w0 a b c:w0" => Compute(IntegerMad);
    "mul24.(hi|lo)" ".(u32|s32)", "d a b" => Compute(Mul24);
    "mad24.(hi|lo)" ".(u32|s32)", "d a b c" => Compute(Mad24);
    "mad24.hi" ".sat.s32", "d a b c" => Compute(Mad24);
    "sad.(u16|u32|u64|s16|s32|s64)", "d a b c" => Compute(Sad);
    "div.(u16|u32|u64|s16|s32|s64)", "d a b" => Compute(IntegerDiv);
    "rem.(u16|u32|u64|s16|s32|s64)", "d a b" => Compute(IntegerRem);
    "abs.(s16|s32|s64)", "d a" => Compute(IntegerAbs);
    "neg.(s16|s32|s64)", "d a" => Compute(IntegerNeg);
    "min.(u16|u32|u64|s16|s64)", "d a b" => Compute(IntegerMin);
    "min{.relu}.s32", "d a b" => Compute(IntegerMin);
    "max.(u16|u32|u64|s16|s64)", "d a b" => Compute(IntegerMax);
    "max{.relu}.s32", "d a b" => Compute(IntegerMax);
    "add.sat.u32", "d a b" => Compute(IntegerAdd), PACKED;
    "add.(u16x2|s16x2)", "d a b" => Compute(PackedAdd);
    "add.sat.(u16x2|s16x2)", "d a b" => Compute(PackedAdd), PACKED;
    "add{.sat}.(u8x4|s8x4)", "d a b" => Compute(PackedAdd), PACKED;
    "sub{.sat}.(u8x4|s8x4)", "d a b" => Compute(PackedSub), PACKED;
    "neg.s8x4", "d a" => Compute(PackedNeg), PACKED;
    "min.u16x2", "d a b" => Compute(PackedMin);
    "min{.relu}.s16x2", "d a b" => Compute(PackedMin);
    "min.u8x4", "d a b" => Compute(PackedMin), PACKED;
    "min{.relu}.s8x4", "d a b" => Compute(PackedMin), PACKED;
    "max.u16x2", "d a b" => Compute(PackedMax);
    "max{.relu}.s16x2", "d a b" => Compute(PackedMax);
    "max.u8x4", "d a b" => Compute(PackedMax), PACKED;
    "max{.relu}.s8x4", "d a b" => Compute(PackedMax), PACKED;
    "dp4a.(u32|s32).(u32|s32)", "d:u32 a b:1 c:u32" => Compute(PackedDp4a);
    "dp2a.(lo|hi)" ".(u32|s32).(u32|s32)", "d:u32 a b:1 c:u32" => Compute(PackedDp2a);
    "popc.(b32|b64)", "d:u32 a" => Compute(Popc);
    "clz.(b32|b64)", "d:u32 a" => Compute(Clz);
    "bfind{.shiftamt}.(u32|u64|s32|s64)", "d:u32 a" => Compute(Bfind);
    "brev.(b32|b64)", "d a" => Compute(Brev);
    "bfe.(u32|u64|s32|s64)", "d a b:u32 c:u32" => Compute(Bfe);
    "bfi.(b32|b64)", "d a b c:u32 e:u32" => Compute(Bfi);
    "bmsk.(clamp|wrap).b32", "d:u32 a:u32 b:u32" => Compute(Bmsk);
    "szext.(clamp|wrap).(u32|s32)", "d a b:u32" => Compute(Szext);
    "fns.b32", "d a b c" => Compute(Fns);

    // Extended precision
    "add.cc.(u32|s32|u64|s64)", "d a b" => Compute(ExtendedAdd);
    "addc{.cc}.(u32|s32|u64|s64)", "d a b" => Compute(ExtendedAddc);
    "sub.cc.(u32|s32|u64|s64)", "d a b" => Compute(ExtendedSub);
    "subc{.cc}.(u32|s32|u64|s64)", "d a b" => Compute(ExtendedSubc);
    "mad.(hi|lo)" ".cc.(u32|s32|u64|s64)", "d a b c" => Compute(ExtendedMad);
    "madc.(hi|lo)" "{.cc}.(u32|s32|u64|s64)", "d a b c" => Compute(ExtendedMadc);

    // Floating point
    "add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "d a b" => Compute(FloatAdd);
    "add{.rn|.rz|.rm|.rp}{.ftz}.f32x2", "d a b" => Compute(FloatAdd), Since(100);
    "add{.rn|.rz|.rm|.rp}.f64", "d a b" => Compute(FloatAdd);
    "add{.rn|.rz|.rm|.rp}{.sat}.f32.(f16|bf16)", "d a:1 b" => Compute(FloatMixedAdd), Since(100);
    "sub{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "d a b" => Compute(FloatSub);
    "sub{.rn|.rz|.rm|.rp}{.ftz}.f32x2", "d a b" => Compute(FloatSub), Since(100);
    "sub{.rn|.rz|.rm|.rp}.f64", "d a b" => Compute(FloatSub);
    "sub{.rn|.rz|.rm|.rp}{.sat}.f32.(f16|bf16)", "d a:1 b" => Compute(FloatMixedSub), Since(100);
    "mul{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "d a b" => Compute(FloatMul);
    "mul{.rn|.rz|.rm|.rp}{.ftz}.f32x2", "d a b" => Compute(FloatMul), Since(100);
    "mul{.rn|.rz|.rm|.rp}.f64", "d a b" => Compute(FloatMul);
    "fma.(rn|rz|rm|rp){.ftz}{.sat}.f32", "d a b c" => Compute(FloatFma);
    "fma.(rn|rz|rm|rp){.ftz}.f32x2", "d a b c" => Compute(FloatFma), Since(100);
    "fma.(rn|rz|rm|rp).f64", "d a b c" => Compute(FloatFma);
    "fma.(rn|rz|rm|rp){.sat}.f32.(f16|bf16)", "d a:1 b:1 c" => Compute(FloatMixedFma), Since(100);
    "mad.(rn|rz|rm|rp){.ftz}{.sat}.f32", "d a b c" => Compute(FloatMad);
    "mad{.ftz}{.sat}.f32", "d a b c" => Compute(FloatMad), SINGLE_WITHOUT_ROUNDING;
    "mad.(rn|rz|rm|rp).f64", "d a b c" => Compute(FloatMad);
    "mad.f64", "d a b c" => Compute(FloatMad), DOUBLE_WITHOUT_ROUNDING;
    "div.approx{.ftz}.f32", "d a b" => Compute(ApproximateDiv), Implied;
    "div.full" "{.ftz}.f32", "d a b" => Compute(ApproximateDivFull);
    "div.(rn|rz|rm|rp){.ftz}.f32", "d a b" => Compute(FloatDiv);
    "div.(rn|rz|rm|rp).f64", "d a b" => Compute(FloatDiv), Implied;
    "rcp.approx{.ftz}.f32", "d a" => Compute(ApproximateRcp), Implied;
    "rcp.approx.ftz.f64", "d a" => Compute(ApproximateRcpUpper);
    "rcp.(rn|rz|rm|rp){.ftz}.f32", "d a" => Compute(FloatRcp);
    "rcp.(rn|rz|rm|rp).f64", "d a" => Compute(FloatRcp), Implied;
    "sqrt.approx{.ftz}.f32", "d a" => Compute(ApproximateSqrt), Implied;
    "sqrt.(rn|rz|rm|rp){.ftz}.f32", "d a" => Compute(FloatSqrt);
    "sqrt.(rn|rz|rm|rp).f64", "d a" => Compute(FloatSqrt), Implied;
    "rsqrt.approx{.ftz}.f32", "d a" => Compute(ApproximateRsqrt), Implied;
    "rsqrt.approx.ftz.f64", "d a" => Compute(ApproximateRsqrtUpper);
    "rsqrt.approx.f64", "d a" => Compute(ApproximateRsqrtDouble), Implied;
    "sin.approx{.ftz}.f32", "d a" => Compute(ApproximateSin), Implied;
    "sin.approx.ftz.2pi.f32", "d a" => Compute(ApproximateSin);
    "cos.approx{.ftz}.f32", "d a" => Compute(ApproximateCos), Implied;
    "cos.approx.ftz.2pi.f32", "d a" => Compute(ApproximateCos);
    "lg2.approx{.ftz}.f32", "d a" => Compute(ApproximateLg2), Implied;
    "ex2.approx{.ftz}.f32", "d a" => Compute(ApproximateEx2), Implied;
    "ex2.approx.(f16|f16x2)", "d a" => Compute(ApproximateEx2);
    "ex2.approx.ftz.(bf16|bf16x2)", "d a" => Compute(ApproximateEx2);
    "tanh.approx.(f32|f16|f16x2|bf16|bf16x2)", "d a" => Compute(ApproximateTanh);
    "abs{.ftz}.(f32|f16|f16x2)", "d a" => Compute(FloatAbs);
    "abs.(f64|bf16|bf16x2)", "d a" => Compute(FloatAbs);
    "neg{.ftz}.(f32|f16|f16x2)", "d a" => Compute(FloatNeg);
    "neg.(f64|bf16|bf16x2)", "d a" => Compute(FloatNeg);
    "min{.ftz}{.NaN}.f32", "d a b" => Compute(FloatMin);
    "min{.ftz}{.NaN}.f32", "d a b c" => Compute(FloatMin), Since(100);
    "min{.ftz}{.NaN}.abs.f32", "d a b c" => Compute(FloatMin), Since(100);
    "min{.ftz}{.NaN}.(f16|f16x2)", "d a b" => Compute(FloatMin);
    "min{.ftz}{.NaN}.xorsign.abs.(f32|f16|f16x2)", "d a b" => Compute(FloatMin);
    "min{.NaN}.(bf16|bf16x2)", "d a b" => Compute(FloatMin);
    "min{.NaN}.xorsign.abs.(bf16|bf16x2)", "d a b" => Compute(FloatMin);
    "min.f64", "d a b" => Compute(FloatMin);
    "max{.ftz}{.NaN}.f32", "d a b" => Compute(FloatMax);
    "max{.ftz}{.NaN}.f32", "d a b c" => Compute(FloatMax), Since(100);
    "max{.ftz}{.NaN}.abs.f32", "d a b c" => Compute(FloatMax), Since(100);
    "max{.ftz}{.NaN}.(f16|f16x2)", "d a b" => Compute(FloatMax);
    "max{.ftz}{.NaN}.xorsign.abs.(f32|f16|f16x2)", "d a b" => Compute(FloatMax);
    "max{.NaN}.(bf16|bf16x2)", "d a b" => Compute(FloatMax);
    "max{.NaN}.xorsign.abs.(bf16|bf16x2)", "d a b" => Compute(FloatMax);
    "max.f64", "d a b" => Compute(FloatMax);
    "copysign.(f32|f64)", "d a b" => Compute(FloatCopysign);
    "testp.(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)", "d:pred a" => Compute(FloatTestp);

    // Half precision
    "add{.rn}{.ftz}{.sat}.(f16|f16x2)", "d a b" => Compute(HalfAdd);
    "add{.rn}.(bf16|bf16x2)", "d a b" => Compute(HalfAdd);
    "sub{.rn}{.ftz}{.sat}.(f16|f16x2)", "d a b" => Compute(HalfSub);
    "sub{.rn}.(bf16|bf16x2)", "d a b" => Compute(HalfSub);
    "mul{.rn}{.ftz}{.sat}.(f16|f16x2)", "d a b" => Compute(HalfMul);
    "mul{.rn}.(bf16|bf16x2)", "d a b" => Compute(HalfMul);
    "fma.rn{.ftz}{.sat}.(f16|f16x2)", "d a b c" => Compute(HalfFma);
    "fma.rn{.ftz}.relu.(f16|f16x2)", "d a b c" => Compute(HalfFma);
    "fma.rn{.relu}.(bf16|bf16x2)", "d a b c" => Compute(HalfFma);
    "fma.rn.oob{.relu}.(f16|f16x2|bf16|bf16x2)", "d a b c" => Compute(HalfFma);

    // Comparison and selection
    "setp.(eq|ne).(b16|b32|b64)", "p|q a b" => Compute(Setp);
    "setp.(eq|ne).(and|or|xor).(b16|b32|b64)", "p|q a b !c" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge).(s16|s32|s64)", "p|q a b" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge).(and|or|xor).(s16|s32|s64)", "p|q a b !c" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(u16|u32|u64)", "p|q a b" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(and|or|xor).(u16|u32|u64)", "p|q a b !c" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.f32", "p|q a b" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.f32", "p|q a b !c" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).f64", "p|q a b" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).f64", "p|q a b !c" => Compute(Setp);
    "set.(eq|ne).(u32|s32|f32).(b16|b32|b64)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne).(and|or|xor).(u32|s32|f32).(b16|b32|b64)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge).(u32|s32|f32).(s16|s32|s64)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge).(and|or|xor).(u32|s32|f32).(s16|s32|s64)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(u32|s32|f32).(u16|u32|u64)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(and|or|xor).(u32|s32|f32).(u16|u32|u64)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(u32|s32|f32).f32", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(u32|s32|f32).f32", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(u32|s32|f32).f64", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(u32|s32|f32).f64", "d a:1 b:1 !c" => Compute(Set);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(f16|f16x2)", "p|q a b" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(f16|f16x2)", "p|q a b !c" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(bf16|bf16x2)", "p|q a b" => Compute(Setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(bf16|bf16x2)", "p|q a b !c" => Compute(Setp);
    "set.(eq|ne).(f16|bf16).(b16|b32|b64)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne).(and|or|xor).(f16|bf16).(b16|b32|b64)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge).(f16|bf16).(s16|s32|s64)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge).(and|or|xor).(f16|bf16).(s16|s32|s64)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(f16|bf16).(u16|u32|u64)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(and|or|xor).(f16|bf16).(u16|u32|u64)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.f16.(f16|f32)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.f16.(f16|f32)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(f16|bf16).f64", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(f16|bf16).f64", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).bf16.(f16|bf16|f32)", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).bf16.(f16|bf16|f32)", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(u16|s16|u32|s32).f16", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(u16|s16|u32|s32).f16", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(u16|s16|u32|s32).bf16", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(u16|s16|u32|s32).bf16", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(f16x2|u32|s32).f16x2", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(f16x2|u32|s32).f16x2", "d a:1 b:1 !c" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(bf16x2|u32|s32).bf16x2", "d a:1 b:1" => Compute(Set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(bf16x2|u32|s32).bf16x2", "d a:1 b:1 !c" => Compute(Set);
    "selp.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)", "d a b c:pred" => Compute(Selp);
    "slct.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64).s32", "d a b c:1" => Compute(Slct);
    "slct{.ftz}.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64).f32", "d a b c:1" => Compute(Slct);

    // Logic and shifts
    "and.(pred|b16|b32|b64)", "d a b" => Compute(And);
    "or.(pred|b16|b32|b64)", "d a b" => Compute(Or);
    "xor.(pred|b16|b32|b64)", "d a b" => Compute(Xor);
    "not.(pred|b16|b32|b64)", "d a" => Compute(Not);
    "cnot.(b16|b32|b64)", "d a" => Compute(Cnot);
    "lop3.b32", "d_ a b c e:u32" => Compute(Lop3);
    "lop3.(and|or).b32", "d_|p a b c e:u32 !c" => Compute(Lop3Predicate);
    "shf.(l|r)" ".(clamp|wrap).b32", "d a b c:u32" => Compute(Shf);
    "shl.(b16|b32|b64)", "d a b:u32" => Compute(Shl);
    "shr.(b16|b32|b64|u16|u32|u64|s16|s32|s64)", "d a b:u32" => Compute(Shr);
    "prmt.b32{.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}", "d a b c" => Compute(Prmt);

    // Video
    "vadd.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => Compute(VideoAdd);
    "vsub.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => Compute(VideoSub);
    "vabsdiff.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => Compute(VideoAbsDiff);
    "vmin.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => Compute(VideoMin);
    "vmax.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => Compute(VideoMax);
    "vshl.(u32|s32).(u32|s32).u32{.sat}.(clamp|wrap){.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => Compute(VideoShl);
    "vshr.(u32|s32).(u32|s32).u32{.sat}.(clamp|wrap){.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => Compute(VideoShr);
    "vset.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add|.min|.max}", "d.s:u32 a.s:0 a.s:1 c.s:u32?" => Compute(VideoSet);
    "vmad.(u32|s32).(u32|s32).(u32|s32){.sat}{.shr7|.shr15}", "d -a.s:1 -a.s:2 -c.s" => Compute(VideoMad);
    "vmad.(u32|s32).(u32|s32).(u32|s32).po{.sat}{.shr7|.shr15}", "d a.s:1 a.s:2 c.s" => Compute(VideoMad);
    "vadd2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => Compute(SimdAdd);
    "vsub2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => Compute(SimdSub);
    "vavrg2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => Compute(SimdAverage);
    "vabsdiff2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => Compute(SimdAbsDiff);
    "vmin2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => Compute(SimdMin);
    "vmax2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => Compute(SimdMax);
    "vset2.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add}", "d.h:u32 a.h:0 a.h:1 c.v:u32" => Compute(SimdSet);
    "vadd4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => Compute(SimdAdd);
    "vsub4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => Compute(SimdSub);
    "vavrg4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => Compute(SimdAverage);
    "vabsdiff4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => Compute(SimdAbsDiff);
    "vmin4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => Compute(SimdMin);
    "vmax4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => Compute(SimdMax);
    "vset4.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add}", "d.b:u32 a.b:0 a.b:1 c.v:u32" => Compute(SimdSet);

    // Data movement and conversion
    "mov.(pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)", "M m" => Compute(Mov);
    "mov.b128", "M m" => Compute(Mov128);
    "mov.(v2|v4).(b16|b32|u16|u32|s16|s32|f32)", "W w" => Compute(MovVector);
    "mov.v2.(b64|u64|s64|f64)", "W w" => Compute(MovVector);
    "cvta{.to}" ".(global|shared|shared::cta|shared::cluster|local|const|param|param::entry).(u32|u64)", "d &a" => Compute(Cvta);
    "isspacep.(global|shared|shared::cta|shared::cluster|local|const|param|param::entry)", "d:pred a:ptr" => Compute(Isspacep);
    "cvt.(u8|u16|u32|u64|s8|s16|s32|s64).(u8|u16|u32|u64|s8|s16|s32|s64)", "D S:1" => Compute(ConvertIntToInt);
    // `.sat` stands only where the type can't hold all operands.
    "cvt.sat.u8.(u16|u32|u64|s8|s16|s32|s64)", "D S:1" => Compute(ConvertIntToInt);
    "cvt.sat.u16.(u32|u64|s8|s16|s32|s64)", "D S:1" => Compute(ConvertIntToInt);
    "cvt.sat.u32.(u64|s8|s16|s32|s64)", "D S:1" => Compute(ConvertIntToInt);
    "cvt.sat.u64.(s8|s16|s32|s64)", "D S:1" => Compute(ConvertIntToInt);
    "cvt.sat.s8.(u8|u16|u32|u64|s16|s32|s64)", "D S:1" => Compute(ConvertIntToInt);
    "cvt.sat.s16.(u16|u32|u64|s32|s64)", "D S:1" => Compute(ConvertIntToInt);
    "cvt.sat.s32.(u32|u64|s64)", "D S:1" => Compute(ConvertIntToInt);
    "cvt.sat.s64.u64", "D S:1" => Compute(ConvertIntToInt);
    "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f32.(u8|u16|u32|u64|s8|s16|s32|s64)", "D A:1" => Compute(ConvertIntToFloat);
    "cvt.(rn|rz|rm|rp){.sat}.(f16|f64).(u8|u16|u32|u64|s8|s16|s32|s64)", "D A:1" => Compute(ConvertIntToFloat);
    "cvt.(rn|rz|rm|rp).bf16.(u8|u16|u32|u64|s8|s16|s32|s64)", "d a:1" => Compute(ConvertIntToFloat);
    "cvt.(rni|rzi|rmi|rpi){.ftz}{.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).f32", "D A:1" => Compute(ConvertFloatToInt);
    "cvt.(rni|rzi|rmi|rpi){.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).(f16|f64)", "D A:1" => Compute(ConvertFloatToInt);
    "cvt.(rni|rzi|rmi|rpi).(u8|u16|u32|u64|s8|s16|s32|s64).bf16", "d a:1" => Compute(ConvertFloatToInt);
    "cvt{.rni|.rzi|.rmi|.rpi}{.ftz}{.sat}.f32.f32", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt{.rni|.rzi|.rmi|.rpi}{.sat}.f64.f64", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt{.rni|.rzi|.rmi|.rpi}{.sat}.f16.f16", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt{.rni|.rzi|.rmi|.rpi}.bf16.bf16", "d a:1" => Compute(ConvertFloatToFloat);
    "cvt{.ftz}{.sat}.f64.f32", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt{.ftz}{.sat}.f32.f16", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt{.sat}.f64.f16", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f32.f64", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f16.f32", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz){.relu}{.satfinite}.f16.f32", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz|rm|rp){.sat}.f16.f64", "D A:1" => Compute(ConvertFloatToFloat);
    "cvt{.rn|.rz|.rm|.rp}{.ftz}.f32.bf16", "d a:1" => Compute(ConvertFloatToFloat);
    "cvt{.rn|.rz|.rm|.rp}.(f64|f16).bf16", "d a:1" => Compute(ConvertFloatToFloat);
    "cvt{.rn|.rz|.rm|.rp}.bf16.f16", "d a:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz|rm|rp){.ftz}.bf16.f32", "d a:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz){.relu}{.satfinite}.bf16.f32", "d a:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz|rm|rp).bf16.f64", "d a:1" => Compute(ConvertFloatToFloat);
    "cvt.(rn|rz){.satfinite}{.relu}.tf32.f32", "d a:1" => Compute(ConvertToTf32);
    "cvt.rna{.satfinite}.tf32.f32", "d a:1" => Compute(ConvertToTf32);
    "cvt.(rn|rz){.relu}{.satfinite}.f16x2.f32", "D A:1 A:1" => Compute(ConvertPack);
    "cvt.(rn|rz){.relu}{.satfinite}.bf16x2.f32", "d a:1 a:1" => Compute(ConvertPack);
    "cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).f32", "d a:1 a:1" => Compute(ConvertPack);
    "cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).f16x2", "d a:1" => Compute(ConvertRepack);
    "cvt.rn{.relu}.f16x2.(e4m3x2|e5m2x2)", "d a:1" => Compute(ConvertRepack);
    "cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).bf16x2", "d a:1" => Compute(ConvertRepack), SpecificSince(100);
    "cvt.rn{.satfinite}{.relu}.bf16x2.(e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2)", "d a:1" => Compute(ConvertRepack), SpecificSince(100);
    "cvt.rn{.satfinite}{.relu}.scaled::n2::ue8m0.bf16x2.(e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2)", "d a:1 c:b16" => Compute(ConvertRepack), SpecificSince(100);
    "cvt.rn.satfinite{.relu}.(e2m1x2|e2m3x2|e3m2x2).f32", "d a:1 a:1" => Compute(ConvertPack), Since(100);
    "cvt.rn.satfinite{.relu}.(e2m1x2|e2m3x2|e3m2x2).(f16x2|bf16x2)", "d a:1" => Compute(ConvertRepack), SpecificSince(100);
    "cvt.rn{.relu}.f16x2.(e2m1x2|e2m3x2|e3m2x2)", "d a:1" => Compute(ConvertRepack), Since(100);
    "cvt.rs{.relu}{.satfinite}.f16x2.f32", "D A:1 A:1 r:b32" => Compute(ConvertStochastic), Since(100);
    "cvt.rs{.relu}{.satfinite}.bf16x2.f32", "d a:1 a:1 r:b32" => Compute(ConvertStochastic), Since(100);
    "cvt.rs{.relu}.satfinite.(e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4).f32", "d {a,a,a,a}:1 r:b32" => Compute(ConvertStochastic), Since(100);
    "cvt.(rz|rp){.satfinite}.ue8m0x2.f32", "d a:1 a:1" => Compute(ConvertToExponents), Since(100);
    "cvt.(rz|rp){.satfinite}.ue8m0x2.bf16x2", "d a:1" => Compute(ConvertToExponents), Since(100);
    "cvt.rn.bf16x2.ue8m0x2", "d a:1" => Compute(ConvertFromExponents), Since(100);
    "cvt.rn.satfinite{.relu}.s2f6x2.f32", "d a:1 a:1" => Compute(ConvertToFixed), SpecificSince(100);
    "cvt.rn.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.f32", "d a:1 a:1 c:b16" => Compute(ConvertToFixed), SpecificSince(100);
    "cvt.rn.satfinite{.relu}.s2f6x2.bf16x2", "d a:1" => Compute(ConvertToFixed), SpecificSince(100);
    "cvt.rn.satfinite{.relu}.scaled::n2::ue8m0.s2f6x2.bf16x2", "d a:1 c:b16" => Compute(ConvertToFixed), SpecificSince(100);
    "cvt.rn{.satfinite}{.relu}.bf16x2.s2f6x2", "d a:1" => Compute(ConvertRepack), SpecificSince(100);
    "cvt.rn{.satfinite}{.relu}.scaled::n2::ue8m0.bf16x2.s2f6x2", "d a:1 c:b16" => Compute(ConvertRepack), SpecificSince(100);
    "cvt.pack" ".sat.(u16|s16).s32", "D:u32 A:s32 A:s32" => Compute(IntegerPack);
    "cvt.pack" ".sat.(u8|s8|u4|s4|u2|s2).s32.b32", "D:u32 A:s32 A:s32 A:b32" => Compute(IntegerPack);
    "ld{.weak}{.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry|.param::func}{.ca|.cg|.cs|.lu|.cv}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a] policy" => Compute(Load);
    "ld.volatile{.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a]" => Compute(Load);
    "ld.(relaxed|acquire).(cta|cluster|gpu|sys){.global|.shared|.shared::cta|.shared::cluster}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a] policy" => Compute(Load);
    "ld.(relaxed|acquire).mmio.sys{.global}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a]" => Compute(Load);
    "ld.global{.ca|.cg|.cs}.nc{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a] policy" => Compute(Load);
    "ldu{.global}{.v2|.v4}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a]" => Compute(LoadReadOnly);
    "st{.weak}{.global|.shared|.shared::cta|.shared::cluster|.local|.param|.param::func}{.wb|.cg|.cs|.wt}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v policy" => Compute(Store);
    "st.volatile{.global|.shared|.shared::cta|.shared::cluster|.local}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v" => Compute(Store);
    "st.(relaxed|release).(cta|cluster|gpu|sys){.global|.shared|.shared::cta|.shared::cluster}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v policy" => Compute(Store);
    "st.(relaxed|release).mmio.sys{.global}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v" => Compute(Store);
    "st.bulk" "{.weak}{.shared::cta}", "[a] b:u64 #:u64" => Compute(BulkZeros), Since(100);
    "alloca.(u32|u64)", "d a b:u32?" => Compute(Alloca);
    "stacksave.(u32|u64)", "d" => Compute(StackSave);
    "stackrestore.(u32|u64)", "r" => Compute(StackRestore);
    "prefetch{.global|.local}.(L1|L2)", "[a]" => NOTHING;
    "prefetch{.global}.(L2::evict_last|L2::evict_normal)", "[a]" => NOTHING;
    "prefetch{.const|.param}.tensormap", "[a]" => Nothing(Rule::AnyAddress);
    "prefetchu.L1", "[a]" => Nothing(Rule::GlobalVariable);
    "applypriority{.global}.L2::evict_normal", "[a] b:u32" => Compute(CacheLine);
    "discard{.global}.L2", "[a] b:u32" => Compute(CacheLine);
    "createpolicy.range" "{.global}.(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|.L2::evict_unchanged}.b64", "d:u64 [a] b:u32 c:u32" => Compute(CachePolicy);
    "createpolicy.fractional" ".(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|.L2::evict_unchanged}.b64", "d:u64 a:f32?" => Compute(CachePolicy);
    "createpolicy.cvt" ".L2.b64", "d:u64 a:u64" => Compute(CachePolicy);

    // Warps
    "vote.(all|any|uni).pred", "d:pred !c" => Compute(Vote), WITHOUT_SYNC;
    "vote.ballot.b32", "d !c" => Compute(Ballot), WITHOUT_SYNC;
    "vote.sync.(all|any|uni).pred", "d:pred !c e:u32" => Compute(Vote);
    "vote.sync.ballot.b32", "d !c e:u32" => Compute(Ballot);
    "shfl.(up|down|bfly|idx).b32", "d|q a b c" => Compute(Shuffle), WITHOUT_SYNC;
    "shfl.sync.(up|down|bfly|idx).b32", "d|q a b c e:u32" => Compute(Shuffle);
    "match.any.sync.(b32|b64)", "d:u32 a e:u32" => Compute(MatchAny);
    "match.all.sync.(b32|b64)", "d_|q:u32 a e:u32" => Compute(MatchAll);
    "redux.sync.(add|min|max).(u32|s32)", "d:u32 a:u32 e:u32" => Compute(Redux);
    "redux.sync.(and|or|xor).b32", "d:u32 a:u32 e:u32" => Compute(Redux);
    "redux.sync.(min|max){.abs}{.NaN}.f32", "d a e:u32" => Compute(ReduxFloat), Since(100);
    "ldmatrix.sync.aligned.m8n8.(x1|x2|x4){.trans}{.shared|.shared::cta}.b16", "{W}:b32 [a]" => Compute(MatrixLoad);
    "stmatrix.sync.aligned.m8n8.(x1|x2|x4){.trans}{.shared|.shared::cta}.b16", "[a] {w}:b32" => Compute(MatrixStore);
    "movmatrix.sync.aligned.m8n8.trans.b16", "d:b32 r:b32" => Compute(MatrixTranspose);
    "mma.sync.aligned.(m16n8k8|m16n8k16).row.col.f16.f16.f16.f16", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m16n8k8|m16n8k16).row.col.f32.f16.f16.f32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m16n8k8|m16n8k16).row.col.f32.bf16.bf16.f32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m16n8k4|m16n8k8).row.col.f32.tf32.tf32.f32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.m8n8k4.(row|col).(row|col).f16.f16.f16.f16", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.m8n8k4.(row|col).(row|col).f32.f16.f16.(f16|f32)", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m16n8k16|m16n8k32).row.col.f32.(e4m3|e5m2).(e4m3|e5m2).f32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m16n8k16|m16n8k32).row.col.f16.(e4m3|e5m2).(e4m3|e5m2).f16", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m8n8k16|m16n8k16|m16n8k32).row.col{.satfinite}.s32.(u8|s8).(u8|s8).s32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m8n8k32|m16n8k32|m16n8k64).row.col{.satfinite}.s32.(u4|s4).(u4|s4).s32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m8n8k128|m16n8k128|m16n8k256).row.col.s32.b1.b1.s32.(xor|and).popc", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.sync.aligned.(m8n8k4|m16n8k4|m16n8k8|m16n8k16).row.col{.rn|.rz|.rm|.rp}.f64.f64.f64.f64", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "mma.(sp|sp::ordered_metadata).sync.aligned.(m16n8k16|m16n8k32).row.col.f16.f16.f16.f16", "{D} {A} {B} {C} r:b32 selector" => Compute(MatrixMultiply);
    "mma.(sp|sp::ordered_metadata).sync.aligned.(m16n8k16|m16n8k32).row.col.f32.f16.f16.f32", "{D} {A} {B} {C} r:b32 selector" => Compute(MatrixMultiply);
    "mma.(sp|sp::ordered_metadata).sync.aligned.(m16n8k16|m16n8k32).row.col.f32.bf16.bf16.f32", "{D} {A} {B} {C} r:b32 selector" => Compute(MatrixMultiply);
    "mma.(sp|sp::ordered_metadata).sync.aligned.(m16n8k8|m16n8k16).row.col.f32.tf32.tf32.f32", "{D} {A} {B} {C} r:b32 selector" => Compute(MatrixMultiply);
    "mma.(sp|sp::ordered_metadata).sync.aligned.m16n8k64.row.col.f32.(e4m3|e5m2).(e4m3|e5m2).f32", "{D} {A} {B} {C} r:b32 selector" => Compute(MatrixMultiply);
    "mma.(sp|sp::ordered_metadata).sync.aligned.(m16n8k32|m16n8k64).row.col{.satfinite}.s32.(u8|s8).(u8|s8).s32", "{D} {A} {B} {C} r:b32 selector" => Compute(MatrixMultiply);
    "mma.(sp|sp::ordered_metadata).sync.aligned.(m16n8k64|m16n8k128).row.col{.satfinite}.s32.(u4|s4).(u4|s4).s32", "{D} {A} {B} {C} r:b32 selector" => Compute(MatrixMultiply);
    "wmma.load.(a|b)" ".sync.aligned.(row|col).(m16n16k16|m32n8k16|m8n32k16){.global|.shared|.shared::cta}.(f16|bf16|u8|s8)", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.(a|b)" ".sync.aligned.(row|col).m16n16k8{.global|.shared|.shared::cta}.tf32", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.(a|b)" ".sync.aligned.(row|col).m8n8k4{.global|.shared|.shared::cta}.f64", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.a" ".sync.aligned.row.m8n8k32{.global|.shared|.shared::cta}.(u4|s4)", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.b" ".sync.aligned.col.m8n8k32{.global|.shared|.shared::cta}.(u4|s4)", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.a" ".sync.aligned.row.m8n8k128{.global|.shared|.shared::cta}.b1", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.b" ".sync.aligned.col.m8n8k128{.global|.shared|.shared::cta}.b1", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.c" ".sync.aligned.(row|col).(m16n16k16|m32n8k16|m8n32k16){.global|.shared|.shared::cta}.(f16|f32|s32)", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.c" ".sync.aligned.(row|col).m16n16k8{.global|.shared|.shared::cta}.f32", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.c" ".sync.aligned.(row|col).m8n8k4{.global|.shared|.shared::cta}.f64", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.load.c" ".sync.aligned.(row|col).(m8n8k32|m8n8k128){.global|.shared|.shared::cta}.s32", "{D} [a] a:u32?" => Compute(FragmentLoad);
    "wmma.store.d" ".sync.aligned.(row|col).(m16n16k16|m32n8k16|m8n32k16){.global|.shared|.shared::cta}.(f16|f32|s32)", "[a] {C} a:u32?" => Compute(FragmentStore);
    "wmma.store.d" ".sync.aligned.(row|col).m16n16k8{.global|.shared|.shared::cta}.f32", "[a] {C} a:u32?" => Compute(FragmentStore);
    "wmma.store.d" ".sync.aligned.(row|col).m8n8k4{.global|.shared|.shared::cta}.f64", "[a] {C} a:u32?" => Compute(FragmentStore);
    "wmma.store.d" ".sync.aligned.(row|col).(m8n8k32|m8n8k128){.global|.shared|.shared::cta}.s32", "[a] {C} a:u32?" => Compute(FragmentStore);
    "wmma.mma" ".sync.aligned.(row|col).(row|col).(m16n16k16|m32n8k16|m8n32k16).(f16|f32).(f16|f32)", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".sync.aligned.(row|col).(row|col).(m16n16k16|m32n8k16|m8n32k16).f32.bf16.bf16.f32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".sync.aligned.(row|col).(row|col).m16n16k8.f32.tf32.tf32.f32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".sync.aligned.(row|col).(row|col).m8n8k4{.rn|.rz|.rm|.rp}.f64.f64.f64.f64", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".sync.aligned.(row|col).(row|col).(m16n16k16|m32n8k16|m8n32k16){.satfinite}.s32.u8.u8.s32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".sync.aligned.(row|col).(row|col).(m16n16k16|m32n8k16|m8n32k16){.satfinite}.s32.s8.s8.s32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".sync.aligned.row.col.m8n8k32{.satfinite}.s32.u4.u4.s32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".sync.aligned.row.col.m8n8k32{.satfinite}.s32.s4.s4.s32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wmma.mma" ".(xor|and).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "{D} {A} {B} {C}" => Compute(MatrixMultiply);
    "wgmma.fence" ".sync.aligned", "" => Compute(WarpSync), WARPGROUPS;
    "wgmma.commit_group" ".sync.aligned", "" => NOTHING, WARPGROUPS;
    "wgmma.wait_group" ".sync.aligned", "#:u32" => Barrier(Aligned), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk16.(f16|f32).f16.f16", "{CD} a:b64 a:b64 !scale sign sign turn turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk16.(f16|f32).f16.f16", "{CD} {A} a:b64 !scale sign sign turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk16.f32.bf16.bf16", "{CD} a:b64 a:b64 !scale sign sign turn turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk16.f32.bf16.bf16", "{CD} {A} a:b64 !scale sign sign turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk8.f32.tf32.tf32", "{CD} factor a:b64 !scale sign sign" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk32.(f16|f32).(e4m3|e5m2).(e4m3|e5m2)", "{CD} factor a:b64 !scale sign sign" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk32{.satfinite}.s32.(u8|s8).(u8|s8)", "{CD} factor a:b64 !scale" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sync.aligned.m64nNk256.s32.b1.b1.and.popc", "{CD} factor a:b64 !scale" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sp.sync.aligned.m64nNk32.(f16|f32).f16.f16", "{CD} a:b64 a:b64 r:b32 selector !scale sign sign turn turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sp.sync.aligned.m64nNk32.(f16|f32).f16.f16", "{CD} {A} a:b64 r:b32 selector !scale sign sign turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sp.sync.aligned.m64nNk32.f32.bf16.bf16", "{CD} a:b64 a:b64 r:b32 selector !scale sign sign turn turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sp.sync.aligned.m64nNk32.f32.bf16.bf16", "{CD} {A} a:b64 r:b32 selector !scale sign sign turn" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sp.sync.aligned.m64nNk16.f32.tf32.tf32", "{CD} factor a:b64 r:b32 selector !scale sign sign" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sp.sync.aligned.m64nNk64.(f16|f32).(e4m3|e5m2).(e4m3|e5m2)", "{CD} factor a:b64 r:b32 selector !scale sign sign" => Compute(WarpgroupMultiply), WARPGROUPS;
    "wgmma.mma_async" ".sp.sync.aligned.m64nNk64{.satfinite}.s32.(u8|s8).(u8|s8)", "{CD} factor a:b64 r:b32 selector !scale" => Compute(WarpgroupMultiply), WARPGROUPS;
    "activemask.b32", "d" => Compute(Activemask);
    "elect.sync", "d_|p:u32 e:u32" => Compute(Elect);
    "bar.warp.sync" "", "e:u32" => Compute(WarpSync);

    // Synchronisation
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(and|or|xor|exch).(b32|b64)", "d_ [a] b policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}.cas.(b16|b32|b64)", "d_ [a] b c" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.exch.b128", "d_ [a] b policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}.cas.b128", "d_ [a] b c" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(inc|dec).u32", "d_ [a] b policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.(u32|s32|u64|f32|f64)", "d_ [a] b policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(min|max).(u32|s32|u64|s64)", "d_ [a] b policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.noftz.(f16|f16x2|bf16|bf16x2)", "d_ [a] b policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.add.(v2|v4).f32", "W_ [a] w policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4|v8).(f16|bf16)", "W_ [a] w policy" => Compute(Atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4).(f16x2|bf16x2)", "W_ [a] w policy" => Compute(Atom);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(and|or|xor).(b32|b64)", "[a] b policy" => Compute(Red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(inc|dec).u32", "[a] b policy" => Compute(Red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.(u32|s32|u64|f32|f64)", "[a] b policy" => Compute(Red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(min|max).(u32|s32|u64|s64)", "[a] b policy" => Compute(Red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.noftz.(f16|f16x2|bf16|bf16x2)", "[a] b policy" => Compute(Red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.add.(v2|v4).f32", "[a] w policy" => Compute(Red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4|v8).(f16|bf16)", "[a] w policy" => Compute(Red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4).(f16x2|bf16x2)", "[a] w policy" => Compute(Red);
    "multimem.ld_reduce" "{.weak}{.global}.(min|max).(u32|s32|u64|s64)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.add.(u32|s32|u64|f64)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.(and|or|xor).(b32|b64)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.(min|max){.v2|.v4}.(f16x2|bf16x2)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.add{.acc::f32}{.v2|.v4}.(f16x2|bf16x2)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.(min|max).(v2|v4|v8).(f16|bf16)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.add{.acc::f32}.(v2|v4|v8).(f16|bf16)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.add{.v2|.v4}.f32", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" "{.weak}{.global}.(min|max){.v2|.v4}.(e4m3x4|e5m2x4)", "W [a]" => Compute(MultimemLoad), Since(100);
    "multimem.ld_reduce" "{.weak}{.global}.add{.acc::f16}{.v2|.v4}.(e4m3x4|e5m2x4)", "W [a]" => Compute(MultimemLoad), Since(100);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.(min|max).(u32|s32|u64|s64)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.add.(u32|s32|u64|f64)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.(and|or|xor).(b32|b64)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.(min|max){.v2|.v4}.(f16x2|bf16x2)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.add{.acc::f32}{.v2|.v4}.(f16x2|bf16x2)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.(min|max).(v2|v4|v8).(f16|bf16)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.add{.acc::f32}.(v2|v4|v8).(f16|bf16)", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.add{.v2|.v4}.f32", "W [a]" => Compute(MultimemLoad);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.(min|max){.v2|.v4}.(e4m3x4|e5m2x4)", "W [a]" => Compute(MultimemLoad), Since(100);
    "multimem.ld_reduce" ".(relaxed|acquire).(cta|cluster|gpu|sys){.global}.add{.acc::f16}{.v2|.v4}.(e4m3x4|e5m2x4)", "W [a]" => Compute(MultimemLoad), Since(100);
    "multimem.st" "{.weak}{.global}.(b32|b64|u32|u64|s32|s64|f64)", "[a] w" => Compute(MultimemStore);
    "multimem.st" "{.weak}{.global}{.v2|.v4}.(f16x2|bf16x2|f32)", "[a] w" => Compute(MultimemStore);
    "multimem.st" "{.weak}{.global}.(v2|v4|v8).(f16|bf16)", "[a] w" => Compute(MultimemStore);
    "multimem.st" "{.weak}{.global}{.v2|.v4}.(e4m3x4|e5m2x4)", "[a] w" => Compute(MultimemStore), Since(100);
    "multimem.st" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.(b32|b64|u32|u64|s32|s64|f64)", "[a] w" => Compute(MultimemStore);
    "multimem.st" ".(relaxed|release).(cta|cluster|gpu|sys){.global}{.v2|.v4}.(f16x2|bf16x2|f32)", "[a] w" => Compute(MultimemStore);
    "multimem.st" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.(v2|v4|v8).(f16|bf16)", "[a] w" => Compute(MultimemStore);
    "multimem.st" ".(relaxed|release).(cta|cluster|gpu|sys){.global}{.v2|.v4}.(e4m3x4|e5m2x4)", "[a] w" => Compute(MultimemStore), Since(100);
    "multimem.red" "{.global}.(min|max).(u32|s32|u64|s64)", "[a] b" => Compute(Red);
    "multimem.red" "{.global}.add.(u32|s32|u64|f64)", "[a] b" => Compute(Red);
    "multimem.red" "{.global}.(and|or|xor).(b32|b64)", "[a] b" => Compute(Red);
    "multimem.red" "{.global}.add{.v2|.v4}.(f16x2|bf16x2|f32)", "[a] w" => Compute(Red);
    "multimem.red" "{.global}.(min|max).(v2|v4).(f16x2|bf16x2)", "[a] w" => Compute(Red);
    "multimem.red" "{.global}.(add|min|max).(v2|v4|v8).(f16|bf16)", "[a] w" => Compute(Red);
    "multimem.red" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.(min|max).(u32|s32|u64|s64)", "[a] b" => Compute(Red);
    "multimem.red" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.add.(u32|s32|u64|f64)", "[a] b" => Compute(Red);
    "multimem.red" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.(and|or|xor).(b32|b64)", "[a] b" => Compute(Red);
    "multimem.red" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.add{.v2|.v4}.(f16x2|bf16x2|f32)", "[a] w" => Compute(Red);
    "multimem.red" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.(min|max).(v2|v4).(f16x2|bf16x2)", "[a] w" => Compute(Red);
    "multimem.red" ".(relaxed|release).(cta|cluster|gpu|sys){.global}.(add|min|max).(v2|v4|v8).(f16|bf16)", "[a] w" => Compute(Red);
    "bar{.cta}.sync" "{.aligned}", "a:u32 b:u32?" => Barrier(Aligned);
    "barrier{.cta}.sync" "{.aligned}", "a:u32 b:u32?" => Barrier(AsSaid);
    "bar{.cta}.arrive" "{.aligned}", "a:u32 b:u32" => Barrier(Aligned);
    "barrier{.cta}.arrive" "{.aligned}", "a:u32 b:u32" => Barrier(AsSaid);
    "bar{.cta}.red" ".popc{.aligned}.u32", "d a:u32 b:u32~ !c" => Barrier(Aligned);
    "barrier{.cta}.red" ".popc{.aligned}.u32", "d a:u32 b:u32~ !c" => Barrier(AsSaid);
    "bar{.cta}.red" ".(and|or){.aligned}.pred", "d a:u32 b:u32~ !c" => Barrier(Aligned);
    "barrier{.cta}.red" ".(and|or){.aligned}.pred", "d a:u32 b:u32~ !c" => Barrier(AsSaid);
    "barrier.cluster.arrive" "{.release|.relaxed}{.aligned}", "" => Barrier(AsSaid);
    "barrier.cluster.wait" "{.acquire}{.aligned}", "" => Barrier(AsSaid);
    "mbarrier.init" "{.shared|.shared::cta}.b64", "[a] b:u32" => Compute(MbarrierInit);
    "mbarrier.inval" "{.shared|.shared::cta}.b64", "[a]" => NOTHING;
    "mbarrier.(expect_tx|complete_tx)" "{.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "[a] b:u32" => Compute(MbarrierCountBytes);
    "mbarrier.(arrive|arrive_drop)" "{.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "d_:u64 [a] b:u32~" => Compute(MbarrierArrive);
    "mbarrier.(arrive|arrive_drop).expect_tx" "{.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "d_:u64 [a] b:u32" => Compute(MbarrierArrive);
    "mbarrier.(arrive|arrive_drop).noComplete" "{.release}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "d_:u64 [a] b:u32" => Compute(MbarrierArrive);
    "mbarrier.test_wait" "{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u64" => Compute(MbarrierTest);
    "mbarrier.test_wait.parity" "{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u32" => Compute(MbarrierTest);
    "mbarrier.try_wait" "{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u64 c:u32?" => Compute(MbarrierTest);
    "mbarrier.try_wait.parity" "{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u32 c:u32?" => Compute(MbarrierTest);
    "mbarrier.pending_count" ".b64", "d:u32 a" => Compute(MbarrierPendingCount);
    "membar.(cta|gl|sys)", "" => Compute(FenceSequential);
    "membar.proxy" ".alias", "" => NOTHING;
    "fence.sc.(cta|cluster|gpu|sys)", "" => Compute(FenceSequential);
    "fence{.acq_rel|.acquire|.release}.(cta|cluster|gpu|sys)", "" => Compute(Fence);
    "fence.acquire.sync_restrict::shared::cluster.cluster", "" => Compute(Fence);
    "fence.release.sync_restrict::shared::cta.cluster", "" => Compute(Fence);
    "fence.mbarrier_init" ".release.cluster", "" => Compute(Fence);
    "fence.proxy" ".alias", "" => NOTHING;
    "fence.proxy" ".async{.global|.shared::cta|.shared::cluster}", "" => NOTHING;
    "fence.proxy" ".async::generic.acquire.sync_restrict::shared::cluster.cluster", "" => Compute(Fence);
    "fence.proxy" ".async::generic.release.sync_restrict::shared::cta.cluster", "" => Compute(Fence);
    "fence.proxy" ".tensormap::generic.release.(cta|cluster|gpu|sys)", "" => Compute(Fence);
    "fence.proxy" ".tensormap::generic.acquire.(cta|cluster|gpu|sys)", "[a] 128" => Compute(Fence);
    "st.async" "{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2|.v4}.(b32|b64|u32|u64|s32|s64|f32|f64)", "[a] w [a]" => Compute(StoreAsync);
    "st.async" "{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes.b128", "[a] w [a]" => Compute(StoreAsync);
    "st.async" ".release.(gpu|sys){.global}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] w" => Compute(Store), Since(100);
    "st.async" ".release.mmio.sys{.global}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] w" => Compute(Store), Since(100);
    "red.async" ".release.(gpu|sys){.global}.(inc|dec).u32", "[a] b" => Compute(Red), Since(100);
    "red.async" ".release.(gpu|sys){.global}.(min|max).(u32|s32)", "[a] b" => Compute(Red), Since(100);
    "red.async" ".release.(gpu|sys){.global}.(and|or|xor).b32", "[a] b" => Compute(Red), Since(100);
    "red.async" ".release.(gpu|sys){.global}.add.(u32|s32|u64|s64)", "[a] b" => Compute(Red), Since(100);
    "red.async" ".release.mmio.sys{.global}.add.(u32|s32|u64|s64)", "[a] b" => Compute(Red), Since(100);
    "red.async" ".relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(inc|dec).u32", "[a] b [a]" => Compute(ReduceAsync);
    "red.async" ".relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(min|max).(u32|s32)", "[a] b [a]" => Compute(ReduceAsync);
    "red.async" ".relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(and|or|xor).b32", "[a] b [a]" => Compute(ReduceAsync);
    "red.async" ".relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.(u32|s32|u64)", "[a] b [a]" => Compute(ReduceAsync);
    "clusterlaunchcontrol.try_cancel.async" "{.shared::cta}.mbarrier::complete_tx::bytes.b128", "[a] [a]" => Compute(TryCancel), Since(100);
    "clusterlaunchcontrol.query_cancel.is_canceled" ".pred.b128", "d:pred r:b128" => Compute(IsCanceled), Since(100);
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4" ".b32.b128", "W r:b128" => Compute(FirstCanceled), Since(100);
    "clusterlaunchcontrol.query_cancel.(get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z)" ".b32.b128", "d r:b128" => Compute(FirstCanceled), Since(100);
    "mapa{.shared::cluster}.(u32|u64)", "d &a b:u32" => Compute(MapAddress);
    "getctarank{.shared::cluster}.(u32|u64)", "d:u32 &a" => Compute(ClusterRank);
    "griddepcontrol.(launch_dependents|wait)", "" => NOTHING;
    "setmaxnreg.(inc|dec)" ".sync.aligned.u32", "#" => Nothing(Rule::Registers), Specific;

    // Asynchronous copies
    "cp.async" ".(ca|cg).(shared|shared::cta).global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}", "[a] [a] b:u32 a|!p~ hint" => Compute(CopyAsync);
    "cp.async.(commit_group|wait_all)" "", "" => Compute(CopiesAwaited);
    "cp.async.wait_group" "", "#:u32" => Compute(CopiesAwaited);
    "cp.async.mbarrier.arrive" "{.noinc}{.shared|.shared::cta}.b64", "[a]" => Compute(MbarrierArriveForCopies);
    "cp.async.bulk" ".shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint}", "[a] [a] b:u32 [a] hint" => Compute(BulkLoad);
    "cp.async.bulk" ".shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint}.ignore_oob", "[a] [a] b:u32 c:u32 e:u32 [a] hint" => Compute(BulkLoadWithin);
    "cp.async.bulk" ".shared::cluster.global.mbarrier::complete_tx::bytes{.L2::cache_hint}", "[a] [a] b:u32 [a] hint" => Compute(BulkLoad);
    "cp.async.bulk" ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster{.L2::cache_hint}", "[a] [a] b:u32 [a] c:b16 hint" => Compute(BulkMulticast);
    "cp.async.bulk" ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "[a] [a] b:u32 [a]" => Compute(BulkExchange);
    "cp.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}", "[a] [a] b:u32 hint" => Compute(BulkStore);
    "cp.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask", "[a] [a] b:u32 hint c:b16" => Compute(BulkStore);
    "cp.async.bulk.prefetch" ".L2.global{.L2::cache_hint}", "[a] b:u32 hint" => Nothing(Rule::Copy);
    "cp.async.bulk.commit_group" "", "" => NOTHING;
    "cp.async.bulk.wait_group" "{.read}", "#:u32" => NOTHING;
    "cp.reduce.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}.(and|or|xor).(b32|b64)", "[a] [a] b:u32 hint" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}.add.(u32|s32|u64|f32|f64)", "[a] [a] b:u32 hint" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}.(min|max).(u32|s32|u64|s64)", "[a] [a] b:u32 hint" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}.(inc|dec).u32", "[a] [a] b:u32 hint" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}.(min|max).(f16|bf16)", "[a] [a] b:u32 hint" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.(f16|bf16)", "[a] [a] b:u32 hint" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(and|or|xor).b32", "[a] [a] b:u32 [a]" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.(u32|s32|u64)", "[a] [a] b:u32 [a]" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(min|max).(u32|s32)", "[a] [a] b:u32 [a]" => Compute(BulkReduce);
    "cp.reduce.async.bulk" ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(inc|dec).u32", "[a] [a] b:u32 [a]" => Compute(BulkReduce);
    "cp.async.bulk.tensor" ".(1d|2d|3d|4d|5d).(shared::cta|shared::cluster).global{.tile}.mbarrier::complete_tx::bytes{.cta_group::1|.cta_group::2}{.L2::cache_hint}", "[a] [map] [a] hint" => Compute(TensorLoad);
    "cp.async.bulk.tensor" ".(1d|2d|3d|4d|5d).shared::cluster.global{.tile}.mbarrier::complete_tx::bytes.multicast::cluster{.cta_group::1|.cta_group::2}{.L2::cache_hint}", "[a] [map] [a] c:b16 hint" => Compute(TensorLoad);
    "cp.async.bulk.tensor" ".(3d|4d|5d).(shared::cta|shared::cluster).global.im2col.mbarrier::complete_tx::bytes{.cta_group::1|.cta_group::2}{.L2::cache_hint}", "[a] [map] [a] {offsets} hint" => Compute(TensorLoad);
    "cp.async.bulk.tensor" ".(3d|4d|5d).shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster{.cta_group::1|.cta_group::2}{.L2::cache_hint}", "[a] [map] [a] {offsets} c:b16 hint" => Compute(TensorLoad);
    "cp.async.bulk.tensor" ".2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes{.L2::cache_hint}", "[a] [map] [a] hint" => Compute(TensorLoad), Since(100);
    "cp.async.bulk.tensor" ".2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes.(cta_group::1|cta_group::2){.L2::cache_hint}", "[a] [map] [a] hint" => Compute(TensorLoad), SpecificSince(100);
    "cp.async.bulk.tensor" ".2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes{.cta_group::1|.cta_group::2}{.L2::cache_hint}", "[a] [map] [a] hint" => Compute(TensorLoad), SpecificSince(100);
    "cp.async.bulk.tensor" ".2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster{.cta_group::1|.cta_group::2}{.L2::cache_hint}", "[a] [map] [a] c:b16 hint" => Compute(TensorLoad), SpecificSince(100);
    "cp.async.bulk.tensor" ".(1d|2d|3d|4d|5d).global.shared::cta{.tile}.bulk_group{.L2::cache_hint}", "[map] [a] hint" => Compute(TensorStore);
    "cp.async.bulk.tensor" ".(3d|4d|5d).global.shared::cta.im2col_no_offs.bulk_group{.L2::cache_hint}", "[map] [a] hint" => Compute(TensorStore);
    "cp.async.bulk.tensor" ".2d.global.shared::cta.tile::scatter4.bulk_group{.L2::cache_hint}", "[map] [a] hint" => Compute(TensorStore), SpecificSince(100);
    "cp.async.bulk.prefetch.tensor" ".(1d|2d|3d|4d|5d).L2.global{.tile}{.L2::cache_hint}", "[map] hint" => Nothing(Rule::Copy);
    "cp.async.bulk.prefetch.tensor" ".(3d|4d|5d).L2.global.im2col{.L2::cache_hint}", "[map] {offsets} hint" => Nothing(Rule::Copy);
    "cp.async.bulk.prefetch.tensor" ".2d.L2.global.tile::gather4{.L2::cache_hint}", "[map] hint" => Nothing(Rule::Copy), SpecificSince(100);
    "cp.reduce.async.bulk.tensor" ".(1d|2d|3d|4d|5d).global.shared::cta.(add|min|max|inc|dec|and|or|xor){.tile}.bulk_group{.L2::cache_hint}", "[map] [a] hint" => Compute(TensorReduce);
    "cp.reduce.async.bulk.tensor" ".(3d|4d|5d).global.shared::cta.(add|min|max|inc|dec|and|or|xor).im2col_no_offs.bulk_group{.L2::cache_hint}", "[map] [a] hint" => Compute(TensorReduce);
    "cp.reduce.async.bulk.tensor" ".2d.global.shared::cta.(add|min|max|inc|dec|and|or|xor).tile::scatter4.bulk_group{.L2::cache_hint}", "[map] [a] hint" => Compute(TensorReduce), SpecificSince(100);
    "tensormap.replace.tile.global_address{.global|.shared::cta}.b1024.b64", "[a] b:u64" => Compute(TensorMapReplace), Specific;
    "tensormap.replace.tile.rank{.global|.shared::cta}.b1024.b32", "[a] b:u32" => Compute(TensorMapReplace), Specific;
    "tensormap.replace.tile.(box_dim|global_dim|element_stride){.global|.shared::cta}.b1024.b32", "[a] #:u32 b:u32" => Compute(TensorMapReplace), Specific;
    "tensormap.replace.tile.global_stride{.global|.shared::cta}.b1024.b64", "[a] #:u32 b:u64" => Compute(TensorMapReplace), Specific;
    "tensormap.replace.tile.(elemtype|interleave_layout|swizzle_mode|fill_mode){.global|.shared::cta}.b1024.b32", "[a] #:u32" => Compute(TensorMapReplace), Specific;
    "tensormap.replace.tile.swizzle_atomicity{.global|.shared::cta}.b1024.b32", "[a] #:u32" => Compute(TensorMapReplace), SpecificSince(100);
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.(cta|cluster|gpu|sys).sync.aligned", "[a] [a] #:u32" => Compute(TensorMapCopy);

    // Textures and surfaces
    "tex{.base}.(1d|2d|3d|a1d|a2d|2dms|a2dms).v4.(u32|s32|f16|f32).s32", "texture" => Compute(TextureFetch);
    "tex{.base}.(1d|2d|3d|a1d|a2d|2dms|a2dms).v2.f16x2.s32", "texture" => Compute(TextureFetch);
    "tex.level.(1d|2d|3d|a1d|a2d).v4.(u32|s32|f16|f32).s32", "texture" => Compute(TextureFetch);
    "tex.level.(1d|2d|3d|a1d|a2d).v2.f16x2.s32", "texture" => Compute(TextureFetch);
    "tex.grad.(1d|2d|3d|a1d|a2d).v4.(u32|s32|f16|f32).s32", "texture" => Compute(TextureSample);
    "tex.grad.(1d|2d|3d|a1d|a2d).v2.f16x2.s32", "texture" => Compute(TextureSample);
    "tex{.base|.level|.grad}.(1d|2d|3d|a1d|a2d|cube|acube).v4.(u32|s32|f16|f32).f32", "texture" => Compute(TextureSample);
    "tex{.base|.level|.grad}.(1d|2d|3d|a1d|a2d|cube|acube).v2.f16x2.f32", "texture" => Compute(TextureSample);
    "tld4.(r|g|b|a).(2d|a2d|cube|acube).v4.(u32|s32|f32).f32", "texture" => Compute(TextureGather);
    "txq.(width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples).b32", "d [texref]" => Compute(TextureQuery);
    "txq.(filter_mode|addr_mode_0|addr_mode_1|addr_mode_2).b32", "d [samplerref]" => Compute(TextureQuery);
    "txq.force_unnormalized_coords.b32", "d [samplerref]" => Compute(TextureQuery);
    "txq.level.(width|height|depth).b32", "d [texref] a:s32" => Compute(TextureQuery);
    "istypep.(texref|samplerref|surfref)", "d:pred r:u64" => Compute(IsTypeOf);
    "suld.b.(1d|2d|3d|a1d|a2d){.ca|.cg|.cs|.cv}{.v2|.v4}.(b8|b16|b32|b64).(trap|clamp|zero)", "V [surface]" => Compute(SurfaceLoad);
    "sust.b.(1d|2d|3d|a1d|a2d){.wb|.cg|.cs|.wt}{.v2|.v4}.(b8|b16|b32|b64).(trap|clamp|zero)", "[surface] v" => Compute(SurfaceStore);
    "sust.p.(1d|2d|3d|a1d|a2d){.v2|.v4}.b32.(trap|clamp|zero)", "[surface] v" => Compute(SurfaceStoreFormatted);
    "sured.b.add.(1d|2d|3d).(u32|s32|u64).(trap|clamp|zero)", "[surface] b" => Compute(SurfaceReduce);
    "sured.b.(min|max).(1d|2d|3d).(u32|s32|u64|s64).(trap|clamp|zero)", "[surface] b" => Compute(SurfaceReduce);
    "sured.b.(and|or).(1d|2d|3d).b32.(trap|clamp|zero)", "[surface] b" => Compute(SurfaceReduce);
    "sured.p.(add|min|max|and|or).(1d|2d|3d).b32.(trap|clamp|zero)", "[surface] b" => Compute(SurfaceReduce);
    "sured.p.(min|max).(1d|2d|3d).b64.(trap|clamp|zero)", "[surface] b" => Compute(SurfaceReduce);
    "suq.(width|height|depth|channel_data_type|channel_order|array_size|memory_layout).b32", "d [surfref]" => Compute(SurfaceQuery);

    // Control flow
    "bra{.uni}", "@" => Branch;
    "brx.idx{.uni}", "a:u32 @@" => IndexedBranch;
    "ret{.uni}", "" => Return;
    "exit", "" => Exit;
    "trap", "" => Fail(Fault::Trap);
    "brkpt", "" => Fail(Fault::Breakpoint);
    "nanosleep.u32", "a:u32" => NOTHING;
    "pmevent{.mask}", "a:u16" => Compute(Pmevent);
    "call{.uni}", "call" => Call;
}
