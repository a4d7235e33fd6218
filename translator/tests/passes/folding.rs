//! Operations that are folded, held against exact arithmetic on integers of 128 bits.

use ptx2spv_translator::internals::ir::{Binary, Compare, Folded, Function, Op, Type, Unary, Value, fold, mask};

const BINARY: [Binary; 13] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::MulHighUnsigned,
    Binary::MulHighSigned,
    Binary::DivUnsigned,
    Binary::RemUnsigned,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Shl,
    Binary::Shr,
    Binary::Sar,
];
const COMPARE: [Compare; 6] = [
    Compare::Equal,
    Compare::NotEqual,
    Compare::LessUnsigned,
    Compare::LessEqualUnsigned,
    Compare::LessSigned,
    Compare::LessEqualSigned,
];

fn width(ty: Type) -> u32 {
    64 - mask(ty).leading_zeros()
}

/// The number that bits stand for.
fn signed(ty: Type, bits: u64) -> i128 {
    let bits = i128::from(bits);
    if bits >> (width(ty) - 1) & 1 == 1 { bits - (1 << width(ty)) } else { bits }
}

/// The result by the operation's definition; `None` outside of its precondition.
fn binary(op: Binary, ty: Type, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (i128::from(a), i128::from(b));
    let shift = || u32::try_from(b).ok().filter(|amount| *amount < width(ty));
    let result = match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        // Only the lower half counts.
        Binary::Mul => x.wrapping_mul(y),
        Binary::MulHighUnsigned => ((u128::from(a) * u128::from(b)) >> width(ty)) as i128,
        Binary::MulHighSigned => (signed(ty, a) * signed(ty, b)) >> width(ty),
        Binary::DivUnsigned => x.checked_div(y)?,
        Binary::RemUnsigned => x.checked_rem(y)?,
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
        Binary::Shl => (u128::from(a) << shift()?) as i128,
        Binary::Shr => x >> shift()?,
        Binary::Sar => signed(ty, a) >> shift()?,
        _ => return None,
    };
    Some(result as u64 & mask(ty))
}

fn compare(op: Compare, ty: Type, a: u64, b: u64) -> bool {
    let (x, y) = (signed(ty, a), signed(ty, b));
    match op {
        Compare::Equal => a == b,
        Compare::NotEqual => a != b,
        Compare::LessUnsigned => a < b,
        Compare::LessEqualUnsigned => a <= b,
        Compare::LessSigned => x < y,
        _ => x <= y,
    }
}

fn unary(op: Unary, from: Type, a: u64) -> u64 {
    let digits = (0..width(from)).map(|place| a >> place & 1);
    match op {
        Unary::Not => !a & mask(from),
        Unary::Neg => (-i128::from(a)) as u64 & mask(from),
        Unary::BitCount => digits.sum(),
        Unary::BitReverse => digits.fold(0, |bits, digit| bits << 1 | digit),
        Unary::FindHighBit => {
            let highest = (0..width(from)).rfind(|place| a >> place & 1 == 1);
            highest.unwrap_or(u32::MAX).into()
        }
        Unary::SignExtend => signed(from, a) as u64,
        Unary::ZeroExtend => a,
        _ => a & mask(Type::I32),
    }
}

fn samples(ty: Type) -> Vec<u64> {
    let mut list = vec![0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 0x55, 0xff, 0x100, 0xffff, 0x1_0000, 641];
    let sign = 1 << (width(ty) - 1);
    list.extend([sign - 1, sign, sign + 1, mask(ty) - 1, mask(ty), mask(ty) / 3, 0x9e37_79b9_7f4a_7c15]);
    list.iter_mut().for_each(|bits| *bits &= mask(ty));
    list.sort_unstable();
    list.dedup();
    list
}

/// An operand: its value at run time, and whether the value is known.
type Operand = (u64, bool);

/// Checks the folding of operations on two operands, which are the same value if they are alike.
fn check(ty: Type, amount: Type, op: impl Fn(Value, Value) -> Op, operands: [Operand; 2], expected: u64) {
    let mut function = Function::default();
    let a = function.value(ty);
    let b = if operands[0] == operands[1] && amount == ty { a } else { function.value(amount) };
    let op = op(a, b);
    let [(x, x_known), (y, y_known)] = operands;
    let definition = |value| match value == a {
        true => x_known.then_some(Op::Const(x)),
        false => y_known.then_some(Op::Const(y)),
    };
    let found = match fold(&function, &op, definition) {
        None => return,
        Some(Folded::Const(bits)) => bits,
        Some(Folded::Value(value)) => {
            if value == a {
                x
            } else {
                y
            }
        }
    };
    assert_eq!(found, expected, "{op:?} on {ty:?} with {operands:x?}");
}

const KNOWN: [[bool; 2]; 4] = [[true, true], [true, false], [false, true], [false, false]];

#[test]
fn integers_of_two_operands() {
    for ty in [Type::I32, Type::I64] {
        for x in samples(ty) {
            for op in BINARY {
                let amount = if matches!(op, Binary::Shl | Binary::Shr | Binary::Sar) { Type::I32 } else { ty };
                for y in samples(amount) {
                    let Some(expected) = binary(op, ty, x, y) else { continue };
                    for [a, b] in KNOWN {
                        check(ty, amount, |a, b| Op::Binary(op, a, b), [(x, a), (y, b)], expected);
                    }
                }
            }
            for (op, y) in COMPARE.into_iter().flat_map(|op| samples(ty).into_iter().map(move |y| (op, y))) {
                for [a, b] in KNOWN {
                    let expected = compare(op, ty, x, y).into();
                    check(ty, ty, |a, b| Op::Compare(op, a, b), [(x, a), (y, b)], expected);
                }
            }
        }
    }
}

#[test]
fn truth_values() {
    for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        for [a, b] in KNOWN {
            for op in [Binary::And, Binary::Or, Binary::Xor] {
                let expected = binary(op, Type::Bool, x, y).expect("it is defined");
                check(Type::Bool, Type::Bool, |a, b| Op::Binary(op, a, b), [(x, a), (y, b)], expected);
            }
            for op in [Compare::Equal, Compare::NotEqual] {
                let expected = compare(op, Type::Bool, x, y).into();
                check(Type::Bool, Type::Bool, |a, b| Op::Compare(op, a, b), [(x, a), (y, b)], expected);
            }
        }
    }
}

#[test]
fn integers_of_one_operand() {
    let forms = [
        (Unary::Not, Type::I32),
        (Unary::Not, Type::I64),
        (Unary::Neg, Type::I32),
        (Unary::Neg, Type::I64),
        (Unary::BitCount, Type::I32),
        (Unary::BitReverse, Type::I32),
        (Unary::FindHighBit, Type::I32),
        (Unary::SignExtend, Type::I32),
        (Unary::ZeroExtend, Type::I32),
        (Unary::Truncate, Type::I64),
    ];
    for (op, ty) in forms {
        for x in samples(ty) {
            let mut function = Function::default();
            let a = function.value(ty);
            let folded = fold(&function, &Op::Unary(op, a), |_| Some(Op::Const(x)));
            assert_eq!(folded, Some(Folded::Const(unary(op, ty, x))), "{op:?} of {x:#x}");
        }
    }
}

/// The device rounds, and says which NaN it is.
#[test]
fn floats_are_not_folded() {
    for op in [Binary::FAdd, Binary::FSub, Binary::FMul, Binary::FDiv] {
        for ty in [Type::F32, Type::F64] {
            let mut function = Function::default();
            let (a, b) = (function.value(ty), function.value(ty));
            for operands in [[a, b], [a, a]] {
                let op = Op::Binary(op, operands[0], operands[1]);
                assert_eq!(fold(&function, &op, |_| Some(Op::Const(0))), None);
            }
        }
    }
}
