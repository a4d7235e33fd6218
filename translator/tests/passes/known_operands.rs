//! Operands that a driver's compiler must not know are hidden from it, and no others. The interpreter plays a driver that makes
//! of a sum with a constant zero the other addend, and the like.

use super::support::access;
use crate::evaluator::{GLOBAL_BASE, Machine};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{
    Arithmetic, Binary, Builder, Builtin, Function, Halves, Op, Space, Stmt, Type, Unary, Value, verify,
};
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::target::Facts;

const OPERATIONS: [Binary; 4] = [Binary::FAdd, Binary::FSub, Binary::FMul, Binary::FDiv];
const NUMBERS: [f32; 10] = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

fn target(known_specials_f32_right: bool, known_constants_f32_right: bool) -> Target {
    let reference = Target::reference();
    Target { facts: Facts { known_specials_f32_right, known_constants_f32_right, ..reference.facts }, ..reference }
}

/// Applies operations to operands that `make` gives for a number from memory, and stores the results.
fn function(target: &Target, make: impl Fn(&Builder<'_>, Value) -> [Value; 2]) -> Function {
    let mut function = Function::default();
    let b = Builder::new(&mut function);
    let bits = b.load_one(access(Space::Shared, 4), b.i32(0));
    let number = b.bitcast(bits, Type::F32);
    let [x, y] = make(&b, number);
    for (place, op) in OPERATIONS.into_iter().enumerate() {
        let result = b.binary(op, x, y);
        let bits = b.bits(result);
        b.store(access(Space::Global, 4), b.i64(GLOBAL_BASE + 4 * place as u64), vec![bits]);
    }
    b.finish();
    legalize(&mut function, target).unwrap();
    assert_eq!(verify(&function), Ok(()), "{function}");
    function
}

fn run(function: &Function, target: &Target, number: f32) -> Vec<u32> {
    let mut machine = Machine {
        facts: target.facts.clone(),
        shared: number.to_bits().to_le_bytes().to_vec(),
        global: vec![0; 16],
        // What operands are hidden by is drawn from a multiple of 16.
        push_constants: vec![0xf0; 64],
        steps: 1000,
        ..Machine::default()
    };
    machine.run(function).expect("it ends");
    machine.global.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four"))).collect()
}

fn exact(op: Binary, x: f32, y: f32) -> f32 {
    match op {
        Binary::FAdd => x + y,
        Binary::FSub => x - y,
        Binary::FMul => x * y,
        _ => x / y,
    }
}

fn check(function: &Function, target: &Target, operands: impl Fn(f32) -> [f32; 2]) {
    for number in NUMBERS {
        let [x, y] = operands(number);
        for (op, found) in OPERATIONS.into_iter().zip(run(function, target, number)) {
            let (found, expected) = (f32::from_bits(found), exact(op, x, y));
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{op:?} of {x} and {y}: {found}, not {expected}\n{function}");
        }
    }
}

/// The number of operands that have a bit added.
fn hidden(function: &Function) -> usize {
    function.body.iter().filter(|stmt| matches!(stmt, Stmt::Let(_, Op::Binary(Binary::Xor, ..)))).count()
}

/// Whether any operand is hidden: of a hidden positive zero, nothing but the bit is left.
fn hides(function: &Function) -> bool {
    function.body.iter().any(|stmt| matches!(stmt, Stmt::Let(_, Op::Builtin(Builtin::PushConstant(_)))))
}

#[test]
fn constants_on_either_side() {
    for constant in NUMBERS {
        for (specials, constants) in [(false, false), (false, true), (true, true)] {
            let target = target(specials, constants);
            let left = function(&target, |b, x| [b.f32(constant), x]);
            let right = function(&target, |b, x| [x, b.f32(constant)]);
            // A driver that is right needs no care, and one that is wrong about zeros and NaNs none for others.
            let is_hidden = !(if constant == 0.0 || constant.is_nan() { specials } else { constants });
            assert_eq!(hides(&right), is_hidden, "{constant}\n{right}");
            // A number that is subtracted might be the constant, for all that the compiler knows.
            assert_eq!(hides(&left), is_hidden || !specials, "{constant}\n{left}");
            if is_hidden || constant != 0.0 {
                check(&left, &target, |x| [constant, x]);
                check(&right, &target, |x| [x, constant]);
            }
        }
    }
}

/// Without the pass, the interpreter's driver folds zeros wrongly.
#[test]
fn the_driver_is_wrong() {
    let function = function(&target(true, true), |b, x| [x, b.f32(0.0)]);
    let results = run(&function, &target(false, true), -0.0);
    assert_eq!(f32::from_bits(results[0]).to_bits(), (-0.0_f32).to_bits());
}

/// A sum that begins with zero in a variable is zero for a compiler that unrolls the loop.
#[test]
fn variables_that_begin_with_constants_are_hidden() {
    let target = target(false, true);
    let function = function(&target, |b, x| {
        let sum = b.var(Type::I32);
        b.set(sum, b.i32(0));
        b.loop_(|b| {
            let is_nan = b.fne(x, x);
            b.if_(is_nan, |b| {
                b.set(sum, b.bits(x));
            });
            b.break_();
        });
        let sum = b.get(sum);
        [b.bitcast(sum, Type::F32), x]
    });
    assert!(hidden(&function) > 0, "{function}");
    check(&function, &target, |x| [if x.is_nan() { x } else { 0.0 }, x]);
}

/// Numbers from memory need no veil, except one in a difference: the compiler may see that both operands are the same.
#[test]
fn numbers_from_memory_stay() {
    let other = function(&target(false, true), |b, x| {
        let bits = b.load_one(access(Space::Shared, 4), b.i32(4));
        [x, b.bitcast(bits, Type::F32)]
    });
    assert_eq!(hidden(&other), 1, "{other}");
    let target = target(false, true);
    check(&function(&target, |_, x| [x, x]), &target, |x| [x, x]);
}

/// Of an `Fma` whose factors a driver may both know, one is hidden from a driver that would round their product.
#[test]
fn one_of_two_known_factors_is_hidden() {
    let reference = Target::reference();
    let facts = Facts { known_factors_f32_right: false, ..reference.facts.clone() };
    let wrong = Target { facts, ..Target::reference() };
    type Made = fn(&Builder<'_>, Value, Value) -> Value;
    let operations: [(Made, bool); 7] = [
        (|b, x, two| b.fma(x, two, two), false),
        (|b, x, two| b.fma(two, x, x), false),
        (|b, x, _| b.fma(x, x, x), false),
        (|b, x, two| b.fma(two, two, x), true),
        (|b, x, two| b.fma(b.fmul(two, two), b.fsub(two, two), x), true),
        // What is known times what is not is unknown.
        (|b, x, two| b.fma(b.fma(x, two, two), b.fadd(x, two), two), false),
        (|b, _, two| b.fadd(two, two), false),
    ];
    for (made, is_hidden) in operations {
        for (target, is_hidden) in [(&wrong, is_hidden), (&reference, false)] {
            let mut function = Function::default();
            let b = Builder::new(&mut function);
            let bits = b.load_one(access(Space::Shared, 4), b.i32(0));
            let result = made(&b, b.bitcast(bits, Type::F32), b.f32(2.0));
            b.store(access(Space::Global, 4), b.i64(GLOBAL_BASE), vec![b.bits(result)]);
            b.finish();
            legalize(&mut function, target).unwrap();
            assert_eq!(hides(&function), is_hidden, "{function}");
        }
    }
}

/// A driver that is wrong about f64 alone gets to know all of f32.
#[test]
fn a_width_that_is_right_stays() {
    let reference = Target::reference();
    let wrong = Facts { known_specials_f64_right: false, known_constants_f64_right: false, ..reference.facts.clone() };
    let target = Target { facts: wrong, ..reference };
    for constant in NUMBERS {
        let function = function(&target, |b, x| [b.f32(constant), x]);
        assert!(!hides(&function), "{constant}\n{function}");
    }
    // A sum of what it knows is known, also where f64 takes it over.
    let mut function = Function::default();
    let b = Builder::new(&mut function);
    let sum = b.fadd(b.f32(0.0), b.f32(1.0));
    let wide = b.unary(Unary::Widen, sum);
    let product = b.fmul(wide, wide);
    let bits = b.bits(product);
    b.store(access(Space::Global, 8), b.i64(GLOBAL_BASE), vec![bits]);
    b.finish();
    legalize(&mut function, &target).unwrap();
    assert_eq!(hidden(&function), 1, "{function}");
}

/// A driver may compute wrong on f16 with operands that it knows, or that it finds to be the same.
#[test]
fn known_operands_on_f16_are_hidden() {
    let reference = Target::reference();
    let facts = Facts { known_operands_f16_right: false, ..reference.facts.clone() };
    let wrong = Target { facts, ..Target::reference() };
    type Made = fn([Value; 2], Value) -> Arithmetic;
    let operations: [(Made, bool); 6] = [
        (|[x, y], _| Arithmetic::Fma(x, y, x), false),
        (|[x, y], one| Arithmetic::Fma(x, one, y), true),
        (|[x, y], one| Arithmetic::Fma(x, y, one), true),
        (|[x, _], one| Arithmetic::Mul(one, x), true),
        (|[x, y], _| Arithmetic::Add(x, y), false),
        (|[x, _], _| Arithmetic::Sub(x, x), true),
    ];
    for (made, is_hidden) in operations {
        for (target, is_hidden) in [(&wrong, is_hidden), (&reference, false)] {
            for halves in [Halves::Low, Halves::Both] {
                let mut function = Function::default();
                let b = Builder::new(&mut function);
                let numbers = [0, 4].map(|place| b.load_one(access(Space::Shared, 4), b.i32(place)));
                let one = b.i32(0x3c00_3c00);
                let result = b.op(Type::I32, Op::Half(halves, made(numbers, one)));
                b.store(access(Space::Global, 4), b.i64(GLOBAL_BASE), vec![result]);
                b.finish();
                legalize(&mut function, target).unwrap();
                assert_eq!(hides(&function), is_hidden, "{function}");
            }
        }
    }
}
