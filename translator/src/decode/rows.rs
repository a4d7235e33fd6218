//! The instruction table: every form of every instruction that translates, one row each.
//!
//! To add an instruction, add its row here, its lowering function in [`crate::lower`], and a case file with expected
//! results (`docs/adding-an-instruction.md`). The order of an opcode's rows is the order in which they are tried.

use super::table::Row;
use crate::interface::Fault;
use crate::lower::Rule::{self, Barrier, Branch, Call, Exit, Fail, IndexedBranch, Nothing, Return};
use crate::lower::{
    Lowering, approximate, atomics, caches, cluster, compare, convert, convert_float, convert_packed, copies, events,
    extended, fields, float, float_bits, half, integer, logic, mbarrier, memory, movement, packed, simd, stack, video,
    warp,
};

use crate::decode::program::Instruction;

const fn lower(function: fn(&mut Lowering<'_, '_>, &Instruction) -> crate::lower::Result) -> Rule {
    Rule::Lower(function)
}

macro_rules! rows {
    ($($syntax:literal, $operands:literal => $rule:expr;)*) => {
        /// All rows.
        pub const ROWS: &[Row] = &[$(Row { syntax: $syntax, operands: $operands, rule: $rule }),*];
    };
}

rows! {
    // Integer arithmetic
    "add{.sat}.s32", "d a b" => lower(integer::add);
    "add.(u16|u32|u64|s16|s64)", "d a b" => lower(integer::add);
    "sub{.sat}.s32", "d a b" => lower(integer::sub);
    "sub.(u16|u32|u64|s16|s64)", "d a b" => lower(integer::sub);
    "mul.(hi|lo).(u16|u32|u64|s16|s32|s64)", "d a b" => lower(integer::mul);
    "mul.wide.(u16|u32|s16|s32)", "d:w0 a b" => lower(integer::mul);
    "mad.(hi|lo).(u16|u32|u64|s16|s32|s64)", "d a b c" => lower(integer::mad);
    "mad.hi.sat.s32", "d a b c" => lower(integer::mad);
    "mad.wide.(u16|u32|s16|s32)", "d:w0 a b c:w0" => lower(integer::mad);
    "mul24.(hi|lo).(u32|s32)", "d a b" => lower(integer::mul24);
    "mad24.(hi|lo).(u32|s32)", "d a b c" => lower(integer::mad24);
    "mad24.hi.sat.s32", "d a b c" => lower(integer::mad24);
    "sad.(u16|u32|u64|s16|s32|s64)", "d a b c" => lower(integer::sad);
    "div.(u16|u32|u64|s16|s32|s64)", "d a b" => lower(integer::div);
    "rem.(u16|u32|u64|s16|s32|s64)", "d a b" => lower(integer::rem);
    "abs.(s16|s32|s64)", "d a" => lower(integer::abs);
    "neg.(s16|s32|s64)", "d a" => lower(integer::neg);
    "min.(u16|u32|u64|s16|s64)", "d a b" => lower(integer::min);
    "min{.relu}.s32", "d a b" => lower(integer::min);
    "max.(u16|u32|u64|s16|s64)", "d a b" => lower(integer::max);
    "max{.relu}.s32", "d a b" => lower(integer::max);
    "add.(u16x2|s16x2)", "d a b" => lower(packed::add);
    "min.u16x2", "d a b" => lower(packed::min);
    "min{.relu}.s16x2", "d a b" => lower(packed::min);
    "max.u16x2", "d a b" => lower(packed::max);
    "max{.relu}.s16x2", "d a b" => lower(packed::max);
    "dp4a.(u32|s32).(u32|s32)", "d:u32 a:u32 b:u32 c:u32" => lower(packed::dp4a);
    "dp2a.(lo|hi).(u32|s32).(u32|s32)", "d:u32 a:u32 b:u32 c:u32" => lower(packed::dp2a);
    "popc.(b32|b64)", "d:u32 a" => lower(integer::popc);
    "clz.(b32|b64)", "d:u32 a" => lower(integer::clz);
    "bfind{.shiftamt}.(u32|u64|s32|s64)", "d:u32 a" => lower(integer::bfind);
    "brev.(b32|b64)", "d a" => lower(integer::brev);
    "bfe.(u32|u64|s32|s64)", "d a b:u32 c:u32" => lower(fields::bfe);
    "bfi.(b32|b64)", "d a b c:u32 e:u32" => lower(fields::bfi);
    "bmsk.(clamp|wrap).b32", "d:u32 a:u32 b:u32" => lower(fields::bmsk);
    "szext.(clamp|wrap).(u32|s32)", "d a b:u32" => lower(fields::szext);
    "fns.b32", "d a b c" => lower(fields::fns);

    // Extended precision
    "add.cc.(u32|s32|u64|s64)", "d a b" => lower(extended::add);
    "addc{.cc}.(u32|s32|u64|s64)", "d a b" => lower(extended::addc);
    "sub.cc.(u32|s32|u64|s64)", "d a b" => lower(extended::sub);
    "subc{.cc}.(u32|s32|u64|s64)", "d a b" => lower(extended::subc);
    "mad.(hi|lo).cc.(u32|s32|u64|s64)", "d a b c" => lower(extended::mad);
    "madc.(hi|lo){.cc}.(u32|s32|u64|s64)", "d a b c" => lower(extended::madc);

    // Floating point
    "add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "d a b" => lower(float::add);
    "add{.rn|.rz|.rm|.rp}{.ftz}.f32x2", "d a b" => lower(float::add);
    "add{.rn|.rz|.rm|.rp}.f64", "d a b" => lower(float::add);
    "add{.rn|.rz|.rm|.rp}{.sat}.f32.(f16|bf16)", "d a:1 b" => lower(float::mixed_add);
    "sub{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "d a b" => lower(float::sub);
    "sub{.rn|.rz|.rm|.rp}{.ftz}.f32x2", "d a b" => lower(float::sub);
    "sub{.rn|.rz|.rm|.rp}.f64", "d a b" => lower(float::sub);
    "sub{.rn|.rz|.rm|.rp}{.sat}.f32.(f16|bf16)", "d a:1 b" => lower(float::mixed_sub);
    "mul{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "d a b" => lower(float::mul);
    "mul{.rn|.rz|.rm|.rp}{.ftz}.f32x2", "d a b" => lower(float::mul);
    "mul{.rn|.rz|.rm|.rp}.f64", "d a b" => lower(float::mul);
    "fma.(rn|rz|rm|rp){.ftz}{.sat}.f32", "d a b c" => lower(float::fma);
    "fma.(rn|rz|rm|rp){.ftz}.f32x2", "d a b c" => lower(float::fma);
    "fma.(rn|rz|rm|rp).f64", "d a b c" => lower(float::fma);
    "fma.(rn|rz|rm|rp){.sat}.f32.(f16|bf16)", "d a:1 b:1 c" => lower(float::mixed_fma);
    "mad{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "d a b c" => lower(float::mad);
    "mad{.rn|.rz|.rm|.rp}.f64", "d a b c" => lower(float::mad);
    "div.approx{.ftz}.f32", "d a b" => lower(approximate::div);
    "div.full{.ftz}.f32", "d a b" => lower(approximate::div_full);
    "div.(rn|rz|rm|rp){.ftz}.f32", "d a b" => lower(float::div);
    "div.(rn|rz|rm|rp).f64", "d a b" => lower(float::div);
    "rcp.approx{.ftz}.f32", "d a" => lower(approximate::rcp);
    "rcp.approx.ftz.f64", "d a" => lower(approximate::rcp_upper);
    "rcp.(rn|rz|rm|rp){.ftz}.f32", "d a" => lower(float::rcp);
    "rcp.(rn|rz|rm|rp).f64", "d a" => lower(float::rcp);
    "sqrt.approx{.ftz}.f32", "d a" => lower(approximate::sqrt);
    "sqrt.(rn|rz|rm|rp){.ftz}.f32", "d a" => lower(float::sqrt);
    "sqrt.(rn|rz|rm|rp).f64", "d a" => lower(float::sqrt);
    "rsqrt.approx{.ftz}.f32", "d a" => lower(approximate::rsqrt);
    "rsqrt.approx.ftz.f64", "d a" => lower(approximate::rsqrt_upper);
    "rsqrt.approx.f64", "d a" => lower(approximate::rsqrt_double);
    "sin.approx{.ftz}.f32", "d a" => lower(approximate::sin);
    "cos.approx{.ftz}.f32", "d a" => lower(approximate::cos);
    "lg2.approx{.ftz}.f32", "d a" => lower(approximate::lg2);
    "ex2.approx{.ftz}.f32", "d a" => lower(approximate::ex2);
    "ex2.approx.(f16|f16x2)", "d a" => lower(approximate::ex2);
    "ex2.approx.ftz.(bf16|bf16x2)", "d a" => lower(approximate::ex2);
    "tanh.approx.(f32|f16|f16x2|bf16|bf16x2)", "d a" => lower(approximate::tanh);
    "abs{.ftz}.(f32|f16|f16x2)", "d a" => lower(float_bits::abs);
    "abs.(f64|bf16|bf16x2)", "d a" => lower(float_bits::abs);
    "neg{.ftz}.(f32|f16|f16x2)", "d a" => lower(float_bits::neg);
    "neg.(f64|bf16|bf16x2)", "d a" => lower(float_bits::neg);
    "min{.ftz}{.NaN}.f32", "d a b c?" => lower(float_bits::min);
    "min{.ftz}{.NaN}.abs.f32", "d a b c" => lower(float_bits::min);
    "min{.ftz}{.NaN}.(f16|f16x2)", "d a b" => lower(float_bits::min);
    "min{.ftz}{.NaN}.xorsign.abs.(f32|f16|f16x2)", "d a b" => lower(float_bits::min);
    "min{.NaN}.(bf16|bf16x2)", "d a b" => lower(float_bits::min);
    "min{.NaN}.xorsign.abs.(bf16|bf16x2)", "d a b" => lower(float_bits::min);
    "min.f64", "d a b" => lower(float_bits::min);
    "max{.ftz}{.NaN}.f32", "d a b c?" => lower(float_bits::max);
    "max{.ftz}{.NaN}.abs.f32", "d a b c" => lower(float_bits::max);
    "max{.ftz}{.NaN}.(f16|f16x2)", "d a b" => lower(float_bits::max);
    "max{.ftz}{.NaN}.xorsign.abs.(f32|f16|f16x2)", "d a b" => lower(float_bits::max);
    "max{.NaN}.(bf16|bf16x2)", "d a b" => lower(float_bits::max);
    "max{.NaN}.xorsign.abs.(bf16|bf16x2)", "d a b" => lower(float_bits::max);
    "max.f64", "d a b" => lower(float_bits::max);
    "copysign.(f32|f64)", "d a b" => lower(float_bits::copysign);
    "testp.(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)", "d:pred a" => lower(float_bits::testp);

    // Half precision
    "add{.rn}{.ftz}{.sat}.(f16|f16x2)", "d a b" => lower(half::add);
    "add{.rn}.(bf16|bf16x2)", "d a b" => lower(half::add);
    "sub{.rn}{.ftz}{.sat}.(f16|f16x2)", "d a b" => lower(half::sub);
    "sub{.rn}.(bf16|bf16x2)", "d a b" => lower(half::sub);
    "mul{.rn}{.ftz}{.sat}.(f16|f16x2)", "d a b" => lower(half::mul);
    "mul{.rn}.(bf16|bf16x2)", "d a b" => lower(half::mul);
    "fma.rn{.ftz}{.sat}.(f16|f16x2)", "d a b c" => lower(half::fma);
    "fma.rn{.ftz}.relu.(f16|f16x2)", "d a b c" => lower(half::fma);
    "fma.rn{.relu}.(bf16|bf16x2)", "d a b c" => lower(half::fma);
    "fma.rn.oob{.relu}.(f16|f16x2|bf16|bf16x2)", "d a b c" => lower(half::fma);

    // Comparison and selection
    "setp.(eq|ne).(b16|b32|b64)", "p|q a b" => lower(compare::setp);
    "setp.(eq|ne).(and|or|xor).(b16|b32|b64)", "p|q a b !c" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge).(s16|s32|s64)", "p|q a b" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge).(and|or|xor).(s16|s32|s64)", "p|q a b !c" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(u16|u32|u64)", "p|q a b" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(and|or|xor).(u16|u32|u64)", "p|q a b !c" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.f32", "p|q a b" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.f32", "p|q a b !c" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).f64", "p|q a b" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).f64", "p|q a b !c" => lower(compare::setp);
    "set.(eq|ne).(u32|s32|f32).(b16|b32|b64)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne).(and|or|xor).(u32|s32|f32).(b16|b32|b64)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge).(u32|s32|f32).(s16|s32|s64)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge).(and|or|xor).(u32|s32|f32).(s16|s32|s64)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(u32|s32|f32).(u16|u32|u64)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(and|or|xor).(u32|s32|f32).(u16|u32|u64)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(u32|s32|f32).f32", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(u32|s32|f32).f32", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(u32|s32|f32).f64", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(u32|s32|f32).f64", "d a:1 b:1 !c" => lower(compare::set);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(f16|f16x2)", "p|q a b" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(f16|f16x2)", "p|q a b !c" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(bf16|bf16x2)", "p|q a b" => lower(compare::setp);
    "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(bf16|bf16x2)", "p|q a b !c" => lower(compare::setp);
    "set.(eq|ne).(f16|bf16).(b16|b32|b64)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne).(and|or|xor).(f16|bf16).(b16|b32|b64)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge).(f16|bf16).(s16|s32|s64)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge).(and|or|xor).(f16|bf16).(s16|s32|s64)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(f16|bf16).(u16|u32|u64)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).(and|or|xor).(f16|bf16).(u16|u32|u64)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.f16.(f16|f32)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.f16.(f16|f32)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(f16|bf16).f64", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(f16|bf16).f64", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).bf16.(f16|bf16|f32)", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).bf16.(f16|bf16|f32)", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(u16|s16|u32|s32).f16", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(u16|s16|u32|s32).f16", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(u16|s16|u32|s32).bf16", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(u16|s16|u32|s32).bf16", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.ftz}.(f16x2|u32|s32).f16x2", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor){.ftz}.(f16x2|u32|s32).f16x2", "d a:1 b:1 !c" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(bf16x2|u32|s32).bf16x2", "d a:1 b:1" => lower(compare::set);
    "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).(and|or|xor).(bf16x2|u32|s32).bf16x2", "d a:1 b:1 !c" => lower(compare::set);
    "selp.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)", "d a b c:pred" => lower(compare::selp);
    "slct.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64).s32", "d a b c:1" => lower(compare::slct);
    "slct{.ftz}.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64).f32", "d a b c:1" => lower(compare::slct);

    // Logic and shifts
    "and.(pred|b16|b32|b64)", "d a b" => lower(logic::and);
    "or.(pred|b16|b32|b64)", "d a b" => lower(logic::or);
    "xor.(pred|b16|b32|b64)", "d a b" => lower(logic::xor);
    "not.(pred|b16|b32|b64)", "d a" => lower(logic::not);
    "cnot.(b16|b32|b64)", "d a" => lower(logic::cnot);
    "lop3.b32", "d_ a b c e:u32" => lower(logic::lop3);
    "lop3.(and|or).b32", "d_|p a b c e:u32 !c" => lower(logic::lop3_predicate);
    "shf.(l|r).(clamp|wrap).b32", "d a b c:u32" => lower(logic::shf);
    "shl.(b16|b32|b64)", "d a b:u32" => lower(logic::shl);
    "shr.(b16|b32|b64|u16|u32|u64|s16|s32|s64)", "d a b:u32" => lower(logic::shr);
    "prmt.b32{.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}", "d a b c" => lower(logic::prmt);

    // Video
    "vadd.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => lower(video::add);
    "vsub.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => lower(video::sub);
    "vabsdiff.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => lower(video::abs_diff);
    "vmin.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => lower(video::min);
    "vmax.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => lower(video::max);
    "vshl.(u32|s32).(u32|s32).u32{.sat}.(clamp|wrap){.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => lower(video::shl);
    "vshr.(u32|s32).(u32|s32).u32{.sat}.(clamp|wrap){.add|.min|.max}", "d.s a.s:1 a.s:2 c.s?" => lower(video::shr);
    "vset.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add|.min|.max}", "d.s:u32 a.s:0 a.s:1 c.s:u32?" => lower(video::set);
    "vmad.(u32|s32).(u32|s32).(u32|s32){.sat}{.shr7|.shr15}", "d -a.s:1 -a.s:2 -c.s" => lower(video::mad);
    "vmad.(u32|s32).(u32|s32).(u32|s32).po{.sat}{.shr7|.shr15}", "d a.s:1 a.s:2 c.s" => lower(video::mad);
    "vadd2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => lower(simd::add);
    "vsub2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => lower(simd::sub);
    "vavrg2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => lower(simd::average);
    "vabsdiff2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => lower(simd::abs_diff);
    "vmin2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => lower(simd::min);
    "vmax2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.h a.h:1 a.h:2 c.v" => lower(simd::max);
    "vset2.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add}", "d.h:u32 a.h:0 a.h:1 c.v:u32" => lower(simd::set);
    "vadd4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => lower(simd::add);
    "vsub4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => lower(simd::sub);
    "vavrg4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => lower(simd::average);
    "vabsdiff4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => lower(simd::abs_diff);
    "vmin4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => lower(simd::min);
    "vmax4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}", "d.b a.b:1 a.b:2 c.v" => lower(simd::max);
    "vset4.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add}", "d.b:u32 a.b:0 a.b:1 c.v:u32" => lower(simd::set);

    // Data movement and conversion
    "mov.(pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)", "M m" => lower(movement::mov);
    "mov.b128", "M m" => lower(movement::mov128);
    "mov.(v2|v4).(b16|b32|u16|u32|s16|s32|f32)", "W w" => lower(movement::mov_vector);
    "mov.v8.(b16|u16|s16)", "W w" => lower(movement::mov_vector);
    "mov.v2.(b64|u64|s64|f64)", "W w" => lower(movement::mov_vector);
    "cvta{.to}.(global|shared|shared::cta|shared::cluster|local|const|param|param::entry).(u32|u64)", "d &a" => lower(convert::cvta);
    "isspacep.(global|shared|shared::cta|shared::cluster|local|const|param|param::entry)", "d:pred a:u64" => lower(convert::isspacep);
    "cvt.(u8|u16|u32|u64|s8|s16|s32|s64).(u8|u16|u32|u64|s8|s16|s32|s64)", "D S:1" => lower(convert::int_to_int);
    // `.sat` stands only where the type can't hold all operands.
    "cvt.sat.u8.(u16|u32|u64|s8|s16|s32|s64)", "D S:1" => lower(convert::int_to_int);
    "cvt.sat.u16.(u32|u64|s8|s16|s32|s64)", "D S:1" => lower(convert::int_to_int);
    "cvt.sat.u32.(u64|s8|s16|s32|s64)", "D S:1" => lower(convert::int_to_int);
    "cvt.sat.u64.(s8|s16|s32|s64)", "D S:1" => lower(convert::int_to_int);
    "cvt.sat.s8.(u8|u16|u32|u64|s16|s32|s64)", "D S:1" => lower(convert::int_to_int);
    "cvt.sat.s16.(u16|u32|u64|s32|s64)", "D S:1" => lower(convert::int_to_int);
    "cvt.sat.s32.(u32|u64|s64)", "D S:1" => lower(convert::int_to_int);
    "cvt.sat.s64.u64", "D S:1" => lower(convert::int_to_int);
    "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f32.(u8|u16|u32|u64|s8|s16|s32|s64)", "D A:1" => lower(convert_float::int_to_float);
    "cvt.(rn|rz|rm|rp){.sat}.(f16|f64).(u8|u16|u32|u64|s8|s16|s32|s64)", "D A:1" => lower(convert_float::int_to_float);
    "cvt.(rn|rz|rm|rp).bf16.(u8|u16|u32|u64|s8|s16|s32|s64)", "d a:1" => lower(convert_float::int_to_float);
    "cvt.(rni|rzi|rmi|rpi){.ftz}{.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).f32", "D A:1" => lower(convert_float::float_to_int);
    "cvt.(rni|rzi|rmi|rpi){.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).(f16|f64)", "D A:1" => lower(convert_float::float_to_int);
    "cvt.(rni|rzi|rmi|rpi).(u8|u16|u32|u64|s8|s16|s32|s64).bf16", "d a:1" => lower(convert_float::float_to_int);
    "cvt{.rni|.rzi|.rmi|.rpi}{.ftz}{.sat}.f32.f32", "D A:1" => lower(convert_float::float_to_float);
    "cvt{.rni|.rzi|.rmi|.rpi}{.sat}.f64.f64", "D A:1" => lower(convert_float::float_to_float);
    "cvt{.rni|.rzi|.rmi|.rpi}{.sat}.f16.f16", "D A:1" => lower(convert_float::float_to_float);
    "cvt{.rni|.rzi|.rmi|.rpi}.bf16.bf16", "d a:1" => lower(convert_float::float_to_float);
    "cvt{.ftz}{.sat}.f64.f32", "D A:1" => lower(convert_float::float_to_float);
    "cvt{.ftz}{.sat}.f32.f16", "D A:1" => lower(convert_float::float_to_float);
    "cvt{.sat}.f64.f16", "D A:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f32.f64", "D A:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f16.f32", "D A:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz){.relu}{.satfinite}.f16.f32", "D A:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz|rm|rp){.sat}.f16.f64", "D A:1" => lower(convert_float::float_to_float);
    "cvt{.rn|.rz|.rm|.rp}{.ftz}.f32.bf16", "d a:1" => lower(convert_float::float_to_float);
    "cvt{.rn|.rz|.rm|.rp}.(f64|f16).bf16", "d a:1" => lower(convert_float::float_to_float);
    "cvt{.rn|.rz|.rm|.rp}.bf16.f16", "d a:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz|rm|rp){.ftz}.bf16.f32", "d a:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz){.relu}{.satfinite}.bf16.f32", "d a:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz|rm|rp).bf16.f64", "d a:1" => lower(convert_float::float_to_float);
    "cvt.(rn|rz){.relu}.tf32.f32", "d a:1" => lower(convert_float::to_tf32);
    "cvt.rna{.satfinite}.tf32.f32", "d a:1" => lower(convert_float::to_tf32);
    "cvt.(rn|rz){.relu}{.satfinite}.f16x2.f32", "D A:1 A:1" => lower(convert_packed::pack);
    "cvt.(rn|rz){.relu}{.satfinite}.bf16x2.f32", "d a:1 a:1" => lower(convert_packed::pack);
    "cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).f32", "d a:1 a:1" => lower(convert_packed::pack);
    "cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).f16x2", "d a:1" => lower(convert_packed::repack);
    "cvt.rn{.relu}.f16x2.(e4m3x2|e5m2x2)", "d a:1" => lower(convert_packed::repack);
    "cvt.rn.satfinite{.relu}.(e2m1x2|e2m3x2|e3m2x2).f32", "d a:1 a:1" => lower(convert_packed::pack);
    "cvt.rn{.relu}.f16x2.(e2m1x2|e2m3x2|e3m2x2)", "d a:1" => lower(convert_packed::repack);
    "cvt.pack.sat.(u16|s16).s32", "D:u32 A:s32 A:s32" => lower(packed::pack);
    "cvt.pack.sat.(u8|s8|u4|s4|u2|s2).s32.b32", "D:u32 A:s32 A:s32 A:b32" => lower(packed::pack);
    "ld{.weak}{.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry|.param::func}{.ca|.cg|.cs|.lu|.cv}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a] policy" => lower(memory::load);
    "ld.volatile{.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a]" => lower(memory::load);
    "ld.(relaxed|acquire).(cta|cluster|gpu|sys){.global|.shared|.shared::cta|.shared::cluster}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a] policy" => lower(memory::load);
    "ld.mmio.relaxed.sys{.global}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a]" => lower(memory::load);
    "ld.global{.ca|.cg|.cs}.nc{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a] policy" => lower(memory::load);
    "ldu{.global}{.v2|.v4}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "V [a]" => lower(memory::load);
    "st{.weak}{.global|.shared|.shared::cta|.shared::cluster|.local|.param|.param::func}{.wb|.cg|.cs|.wt}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v policy" => lower(memory::store);
    "st.volatile{.global|.shared|.shared::cta|.shared::cluster|.local}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v" => lower(memory::store);
    "st.(relaxed|release).(cta|cluster|gpu|sys){.global|.shared|.shared::cta|.shared::cluster}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::evict_normal|.L2::evict_first|.L2::evict_last}{.L2::cache_hint}{.v2|.v4|.v8}.(b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v policy" => lower(memory::store);
    "st.mmio.relaxed.sys{.global}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)", "[a] v" => lower(memory::store);
    "st.bulk{.weak}{.shared::cta}", "[a] b:u64 #:u64" => lower(copies::bulk_zeros);
    "alloca.(u32|u64)", "d a b:u32?" => lower(stack::alloca);
    "stacksave.(u32|u64)", "d" => lower(stack::save);
    "stackrestore.(u32|u64)", "r" => lower(stack::restore);
    "prefetch{.global|.local}.(L1|L2)", "[a]" => Nothing;
    "prefetch{.global}.(L2::evict_last|L2::evict_normal)", "[a]" => Nothing;
    "prefetch{.const|.param}.tensormap", "[a]" => Nothing;
    "prefetchu.L1", "[a]" => Nothing;
    "applypriority{.global}.L2::evict_normal", "[a] b:u32" => lower(caches::line);
    "discard{.global}.L2", "[a] b:u32" => lower(caches::line);
    "createpolicy.range{.global}.(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|.L2::evict_unchanged}.b64", "d:u64 [a] b:b32 c:b32" => lower(caches::policy);
    "createpolicy.fractional.(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|.L2::evict_unchanged}.b64", "d:u64 a:f32?" => lower(caches::policy);
    "createpolicy.cvt.L2.b64", "d:u64 a:u64" => lower(caches::policy);

    // Warps
    "vote.(all|any|uni).pred", "d:pred !c" => lower(warp::vote);
    "vote.ballot.b32", "d !c" => lower(warp::ballot);
    "vote.sync.(all|any|uni).pred", "d:pred !c e:u32" => lower(warp::vote);
    "vote.sync.ballot.b32", "d !c e:u32" => lower(warp::ballot);
    "shfl.(up|down|bfly|idx).b32", "d|q a b:u32 c:u32" => lower(warp::shfl);
    "shfl.sync.(up|down|bfly|idx).b32", "d|q a b:u32 c:u32 e:u32" => lower(warp::shfl);
    "match.any.sync.(b32|b64)", "d:u32 a e:u32" => lower(warp::match_any);
    "match.all.sync.(b32|b64)", "d_|q:u32 a e:u32" => lower(warp::match_all);
    "redux.sync.(add|min|max).(u32|s32)", "d a e:u32" => lower(warp::redux);
    "redux.sync.(and|or|xor).b32", "d:u32 a:u32 e:u32" => lower(warp::redux);
    "redux.sync.(min|max){.abs}{.NaN}.f32", "d a e:u32" => lower(warp::redux_float);
    "activemask.b32", "d" => lower(warp::activemask);
    "elect.sync", "d_|p e:u32" => lower(warp::elect);
    "bar.warp.sync", "e:u32" => lower(warp::sync);

    // Synchronisation
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(and|or|xor|exch).(b32|b64)", "d_ [a] b policy" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}.cas.(b16|b32|b64)", "d_ [a] b c" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(inc|dec).u32", "d_ [a] b policy" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.(u32|s32|u64|f32|f64)", "d_ [a] b policy" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(min|max).(u32|s32|u64|s64)", "d_ [a] b policy" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.noftz.(f16|f16x2|bf16|bf16x2)", "d_ [a] b policy" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.add.(v2|v4).f32", "W [a] w policy" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4|v8).(f16|bf16)", "W [a] w policy" => lower(atomics::atom);
    "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4).(f16x2|bf16x2)", "W [a] w policy" => lower(atomics::atom);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(and|or|xor).(b32|b64)", "[a] b policy" => lower(atomics::red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(inc|dec).u32", "[a] b policy" => lower(atomics::red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.(u32|s32|u64|f32|f64)", "[a] b policy" => lower(atomics::red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(min|max).(u32|s32|u64|s64)", "[a] b policy" => lower(atomics::red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.noftz.(f16|f16x2|bf16|bf16x2)", "[a] b policy" => lower(atomics::red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.add.(v2|v4).f32", "[a] w policy" => lower(atomics::red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4|v8).(f16|bf16)", "[a] w policy" => lower(atomics::red);
    "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4).(f16x2|bf16x2)", "[a] w policy" => lower(atomics::red);
    "bar{.cta}.sync{.aligned}", "a:u32 b:u32?" => Barrier;
    "barrier{.cta}.sync{.aligned}", "a:u32 b:u32?" => Barrier;
    "bar{.cta}.arrive{.aligned}", "a:u32 b:u32" => Barrier;
    "barrier{.cta}.arrive{.aligned}", "a:u32 b:u32" => Barrier;
    "bar{.cta}.red.popc{.aligned}.u32", "d a:u32 b:u32~ !c" => Barrier;
    "barrier{.cta}.red.popc{.aligned}.u32", "d a:u32 b:u32~ !c" => Barrier;
    "bar{.cta}.red.(and|or){.aligned}.pred", "d a:u32 b:u32~ !c" => Barrier;
    "barrier{.cta}.red.(and|or){.aligned}.pred", "d a:u32 b:u32~ !c" => Barrier;
    "barrier.cluster.arrive{.release|.relaxed}{.aligned}", "" => Barrier;
    "barrier.cluster.wait{.acquire}{.aligned}", "" => Barrier;
    "mbarrier.init{.shared|.shared::cta}.b64", "[a] b:u32" => lower(mbarrier::init);
    "mbarrier.inval{.shared|.shared::cta}.b64", "[a]" => Nothing;
    "mbarrier.(expect_tx|complete_tx){.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "[a] b:u32" => lower(mbarrier::count_bytes);
    "mbarrier.(arrive|arrive_drop){.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "d_:u64 [a] b:u32~" => lower(mbarrier::arrive);
    "mbarrier.(arrive|arrive_drop).expect_tx{.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "d_:u64 [a] b:u32" => lower(mbarrier::arrive);
    "mbarrier.(arrive|arrive_drop).noComplete{.release}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64", "d_:u64 [a] b:u32" => lower(mbarrier::arrive);
    "mbarrier.test_wait{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u64" => lower(mbarrier::test);
    "mbarrier.test_wait.parity{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u32" => lower(mbarrier::test);
    "mbarrier.try_wait{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u64 c:u32?" => lower(mbarrier::test);
    "mbarrier.try_wait.parity{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64", "d:pred [a] b:u32 c:u32?" => lower(mbarrier::test);
    "mbarrier.pending_count.b64", "d:u32 a" => lower(mbarrier::pending_count);
    "membar.(cta|gl|sys)", "" => lower(memory::fence);
    "membar.proxy.alias", "" => Nothing;
    "fence{.sc|.acq_rel|.acquire|.release}.(cta|cluster|gpu|sys)", "" => lower(memory::fence);
    "fence.acquire.sync_restrict::shared::cluster.cluster", "" => lower(memory::fence);
    "fence.release.sync_restrict::shared::cta.cluster", "" => lower(memory::fence);
    "fence.mbarrier_init.release.cluster", "" => lower(memory::fence);
    "fence.proxy.alias", "" => Nothing;
    "fence.proxy.async{.global|.shared::cta|.shared::cluster}", "" => Nothing;
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "" => lower(memory::fence);
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "" => lower(memory::fence);
    "fence.proxy.tensormap::generic.release.(cta|cluster|gpu|sys)", "" => lower(memory::fence);
    "fence.proxy.tensormap::generic.acquire.(cta|cluster|gpu|sys)", "[a] b:u32" => lower(memory::fence);
    "st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2|.v4}.(b32|b64|u32|u64|s32|s64|f32|f64)", "[a] v [a]" => lower(cluster::store_async);
    "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(inc|dec).u32", "[a] b [a]" => lower(cluster::reduce_async);
    "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(min|max).(u32|s32)", "[a] b [a]" => lower(cluster::reduce_async);
    "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(and|or|xor).b32", "[a] b [a]" => lower(cluster::reduce_async);
    "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.(u32|s32|u64)", "[a] b [a]" => lower(cluster::reduce_async);
    "mapa{.shared::cluster}.(u32|u64)", "d &a b:u32" => lower(cluster::map_address);
    "getctarank{.shared::cluster}.(u32|u64)", "d:u32 &a" => lower(cluster::rank);
    "griddepcontrol.(launch_dependents|wait)", "" => Nothing;
    "setmaxnreg.(inc|dec).sync.aligned.u32", "#" => Nothing;

    // Asynchronous copies
    "cp.async.(ca|cg).(shared|shared::cta).global{.L2::64B|.L2::128B|.L2::256B}", "[a] [a] b:u32 a|!p~" => lower(copies::copy);
    "cp.async.(ca|cg).(shared|shared::cta).global.L2::cache_hint{.L2::64B|.L2::128B|.L2::256B}", "[a] [a] b:u32 a|!p~ c:u64" => lower(copies::copy);
    "cp.async.(commit_group|wait_all)", "" => Nothing;
    "cp.async.wait_group", "#" => Nothing;
    "cp.async.mbarrier.arrive{.noinc}{.shared|.shared::cta}.b64", "[a]" => lower(mbarrier::arrive_for_copies);
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", "[a] [a] b:u32 [a]" => lower(copies::bulk_load);
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint", "[a] [a] b:u32 [a] c:u64" => lower(copies::bulk_load);
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "[a] [a] b:u32 [a]" => lower(copies::bulk_load);
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint", "[a] [a] b:u32 [a] c:u64" => lower(copies::bulk_load);
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", "[a] [a] b:u32 [a] c:b16" => lower(copies::bulk_multicast);
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint", "[a] [a] b:u32 [a] c:b16 e:u64" => lower(copies::bulk_multicast);
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "[a] [a] b:u32 [a]" => lower(copies::bulk_exchange);
    "cp.async.bulk.global.shared::cta.bulk_group", "[a] [a] b:u32" => lower(copies::bulk_store);
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint", "[a] [a] b:u32 c:u64" => lower(copies::bulk_store);
    "cp.async.bulk.prefetch.L2.global", "[a] b:u32" => Nothing;
    "cp.async.bulk.prefetch.L2.global.L2::cache_hint", "[a] b:u32 c:u64" => Nothing;
    "cp.async.bulk.commit_group", "" => Nothing;
    "cp.async.bulk.wait_group{.read}", "#" => Nothing;
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.(and|or|xor).(b32|b64)", "[a] [a] b:u32" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.(u32|s32|u64|f32|f64)", "[a] [a] b:u32" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.(min|max).(u32|s32|u64|s64)", "[a] [a] b:u32" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.(inc|dec).u32", "[a] [a] b:u32" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.(min|max).(f16|bf16)", "[a] [a] b:u32" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.(f16|bf16)", "[a] [a] b:u32" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.(and|or|xor).(b32|b64)", "[a] [a] b:u32 c:u64" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.(u32|s32|u64|f32|f64)", "[a] [a] b:u32 c:u64" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.(min|max).(u32|s32|u64|s64)", "[a] [a] b:u32 c:u64" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.(inc|dec).u32", "[a] [a] b:u32 c:u64" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.(min|max).(f16|bf16)", "[a] [a] b:u32 c:u64" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.(f16|bf16)", "[a] [a] b:u32 c:u64" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(and|or|xor).b32", "[a] [a] b:u32 [a]" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.(u32|s32|u64)", "[a] [a] b:u32 [a]" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(min|max).(u32|s32)", "[a] [a] b:u32 [a]" => lower(copies::bulk_reduce);
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(inc|dec).u32", "[a] [a] b:u32 [a]" => lower(copies::bulk_reduce);

    // Control flow
    "bra{.uni}", "@" => Branch;
    "brx.idx{.uni}", "a:u32 @@" => IndexedBranch;
    "ret{.uni}", "" => Return;
    "exit", "" => Exit;
    "trap", "" => Fail(Fault::Trap);
    "brkpt", "" => Fail(Fault::Breakpoint);
    "nanosleep.u32", "a" => Nothing;
    "pmevent{.mask}", "a:u16" => lower(events::pmevent);
    "call{.uni}", "call" => Call;
}
