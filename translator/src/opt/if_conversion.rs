//! Turns `If`s with short arms into selects: both arms are computed, and the condition selects the value of each assigned
//! variable. The code has fewer blocks, which drivers compile faster, and fewer branches.
//!
//! An arm may hold only assignments and operations that are cheap and defined for any operands, since they are now
//! executed even if the condition doesn't hold. An undefined value, such as that of a shift by too much, is never
//! selected.

use rustc_hash::FxHashMap;

use crate::diagnostic::Span;
use crate::ir::{Binary, Block, Builtin, Function, Op, Stmt, Type, Unary, Value, Var, map_op_operands};

/// Flattens `If`s of up to `most` operations and assignments in both arms together; see the module.
pub fn convert_ifs(function: &mut Function, most: u32) {
    let body = std::mem::take(&mut function.body);
    let mut pass = Flatten { function, most };
    let body = pass.list(body, None);
    function.body = body;
}

struct Flatten<'f> {
    function: &'f mut Function,
    most: u32,
}

/// The values of variables at the end of an arm, in the order in which the arm assigned them first.
#[derive(Default)]
struct Assigned {
    order: Vec<Var>,
    holds: FxHashMap<Var, Value>,
}

impl Flatten<'_> {
    /// `at` is the mark that holds around the list.
    fn list(&mut self, block: Block, mut at: Option<Span>) -> Block {
        let mut out = Block::with_capacity(block.len());
        for stmt in block {
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    let then = self.list(then, at);
                    let otherwise = self.list(otherwise, at);
                    if self.is_small(&then, &otherwise) {
                        self.flatten(&mut out, condition, then, otherwise, at);
                    } else {
                        out.push(Stmt::If { condition, then, otherwise });
                    }
                }
                Stmt::Loop(body) => {
                    let body = self.list(body, at);
                    out.push(Stmt::Loop(body));
                }
                stmt => {
                    if let Stmt::At(mark) = stmt {
                        at = mark;
                    }
                    out.push(stmt);
                }
            }
        }
        out
    }

    #[inline(never)]
    fn is_small(&self, then: &Block, otherwise: &Block) -> bool {
        let mut cost = 0_u32;
        then.iter().chain(otherwise).all(|stmt| {
            let known = match stmt {
                Stmt::At(_) => Some(0),
                // A select.
                Stmt::Set(..) => Some(1),
                Stmt::Let(value, op) => self.cost(op, self.function.type_of(*value)),
                _ => None,
            };
            known.is_some_and(|known| {
                cost = cost.saturating_add(known);
                cost <= self.most
            })
        })
    }

    /// The cost of an operation with a result of some type, if the operation may be done in vain.
    fn cost(&self, op: &Op, ty: Type) -> Option<u32> {
        let is_double = |value: Value| self.function.type_of(value) == Type::F64;
        match *op {
            Op::Const(_) | Op::Get(_) | Op::Unary(Unary::Bitcast(_), _) | Op::Pair(..) => Some(0),
            Op::Builtin(builtin) => (builtin != Builtin::Clock).then_some(0),
            _ if ty == Type::F64 => None,
            Op::Unary(op, a) => (is_cheap_unary(op) && !is_double(a)).then_some(1),
            Op::Binary(op, ..) => is_cheap_binary(op).then_some(1),
            Op::Compare(_, a, _) => (!is_double(a)).then_some(1),
            Op::Select(..) | Op::Fma(..) | Op::DotFma(..) | Op::Half(..) => Some(1),
            Op::Rounded(..) | Op::Flushed(..) | Op::Matrix(..) | Op::Sample(_) | Op::Call(..) => None,
        }
    }

    /// Appends both arms, for whose `If` a mark holds, and the selects.
    #[inline(never)]
    fn flatten(&mut self, out: &mut Block, condition: Value, then: Block, otherwise: Block, at: Option<Span>) {
        let then = inline(out, then);
        out.push(Stmt::At(at));
        let otherwise = inline(out, otherwise);
        out.push(Stmt::At(at));
        let only_otherwise = otherwise.order.iter().filter(|var| !then.holds.contains_key(var));
        let vars: Vec<Var> = then.order.iter().chain(only_otherwise).copied().collect();
        for var in vars {
            let ty = self.function.var_type(var);
            let mut held = |assigned: &Assigned| match assigned.holds.get(&var) {
                Some(&value) => value,
                None => {
                    let value = self.function.value(ty);
                    out.push(Stmt::Let(value, Op::Get(var)));
                    value
                }
            };
            let (a, b) = (held(&then), held(&otherwise));
            let selected = self.function.value(ty);
            out.push(Stmt::Let(selected, Op::Select(condition, a, b)));
            out.push(Stmt::Set(var, selected));
        }
    }
}

/// Appends the operations of an arm, and keeps its assignments back.
fn inline(out: &mut Block, arm: Block) -> Assigned {
    let mut assigned = Assigned::default();
    // Values that are read from variables which the arm has assigned.
    let mut known: FxHashMap<Value, Value> = FxHashMap::default();
    for stmt in arm {
        match stmt {
            Stmt::Set(var, value) => {
                let value = known.get(&value).copied().unwrap_or(value);
                if assigned.holds.insert(var, value).is_none() {
                    assigned.order.push(var);
                }
            }
            Stmt::Let(value, Op::Get(var)) if assigned.holds.contains_key(&var) => {
                known.extend(assigned.holds.get(&var).map(|&holds| (value, holds)));
            }
            Stmt::Let(value, op) => {
                let op = map_op_operands(op, |operand| known.get(&operand).copied().unwrap_or(operand));
                out.push(Stmt::Let(value, op));
            }
            stmt => out.push(stmt),
        }
    }
    assigned
}

fn is_cheap_unary(op: Unary) -> bool {
    match op {
        Unary::Not
        | Unary::Neg
        | Unary::BitCount
        | Unary::BitReverse
        | Unary::FindHighBit
        | Unary::ZeroExtend
        | Unary::SignExtend
        | Unary::Truncate
        | Unary::LowWord
        | Unary::HighWord
        | Unary::Bitcast(_)
        | Unary::SignedToFloat(_)
        | Unary::UnsignedToFloat(_)
        | Unary::Trunc
        | Unary::RoundEven
        | Unary::Floor
        | Unary::Ceil
        | Unary::FNeg
        | Unary::Saturate
        | Unary::Clamp
        | Unary::SaturateToSigned
        | Unary::SaturateToUnsigned
        | Unary::WidenHalf
        | Unary::NarrowHalf => true,
        // Conversions to integers are undefined out of range.
        Unary::FloatToSigned(_)
        | Unary::FloatToUnsigned(_)
        | Unary::Widen
        | Unary::Narrow
        | Unary::Sqrt
        | Unary::SqrtApprox
        | Unary::InverseSqrtApprox
        | Unary::Exp2Approx
        | Unary::Exp2Flushed
        | Unary::Log2Approx
        | Unary::SinApprox
        | Unary::CosApprox
        | Unary::TanhApprox
        | Unary::Root(_) => false,
    }
}

fn is_cheap_binary(op: Binary) -> bool {
    match op {
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::MulHighUnsigned
        | Binary::MulHighSigned
        | Binary::DotSigned
        | Binary::DotUnsigned
        | Binary::DotMixed
        | Binary::MinUnsigned
        | Binary::MinSigned
        | Binary::MaxUnsigned
        | Binary::MaxSigned
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr
        | Binary::Sar
        | Binary::FAdd
        | Binary::FSub
        | Binary::FMul
        | Binary::FMin
        | Binary::FMax => true,
        // Undefined for a divisor of zero, or long.
        Binary::DivUnsigned | Binary::RemUnsigned | Binary::FDiv | Binary::FDivApprox | Binary::OrNan => false,
    }
}
