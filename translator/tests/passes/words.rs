//! 64-bit integers taken apart into words of 32 bits, against the host's own: each operation on random operands and on
//! those around its corners, in registers and as constants; atomics, under locks; and random programs, which do the
//! same to memory as before.

use super::program::{MEMORY, random_program};
use super::support::{Random, access};
use crate::evaluator::{GLOBAL_BASE, Machine};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{
    Access, Atomic, AtomicOp, Binary, Builder, Builtin, Compare, Function, MemoryOrder, Op, Scope, Space, Stmt, Type,
    Unary, Value, Var, locks, verify,
};
use ptx2spv_translator::internals::legalize::{lock_long_accesses, split_words};
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::internals::policy::Policy;
use ptx2spv_translator::target::{Facts, Feature, Math};

/// A device without 64-bit integers.
fn target() -> Target {
    let mut target = Target::preset("reference").expect("a preset");
    target.features.remove(&Feature::ShaderInt64);
    target
}

/// Builds an operation on two operands.
type Build = fn(&Builder<'_>, Value, Value) -> Value;

/// The result of an operation on some operands; `None` where its precondition fails.
type Reference = fn(u64, u64) -> Option<u64>;

/// Operations on two operands of 64 bits. Of those that take an `I32`, it is the low half.
const OPERATIONS: &[(&str, Build, Reference)] = &[
    ("add", |b, x, y| b.add(x, y), |x, y| Some(x.wrapping_add(y))),
    ("sub", |b, x, y| b.sub(x, y), |x, y| Some(x.wrapping_sub(y))),
    ("neg", |b, x, _| b.neg(x), |x, _| Some(x.wrapping_neg())),
    ("not", |b, x, _| b.not(x), |x, _| Some(!x)),
    ("and", |b, x, y| b.and(x, y), |x, y| Some(x & y)),
    ("or", |b, x, y| b.or(x, y), |x, y| Some(x | y)),
    ("xor", |b, x, y| b.xor(x, y), |x, y| Some(x ^ y)),
    ("mul", |b, x, y| b.mul(x, y), |x, y| Some(x.wrapping_mul(y))),
    ("mulhi.u", |b, x, y| b.mul_high_unsigned(x, y), |x, y| Some(((u128::from(x) * u128::from(y)) >> 64) as u64)),
    (
        "mulhi.s",
        |b, x, y| b.mul_high_signed(x, y),
        |x, y| Some(((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64),
    ),
    ("div", |b, x, y| b.div_unsigned(x, y), |x, y| x.checked_div(y)),
    ("rem", |b, x, y| b.rem_unsigned(x, y), |x, y| x.checked_rem(y)),
    ("shl", |b, x, y| by_low(b, Binary::Shl, x, y), |x, y| Some(x << (y & 63))),
    ("shr", |b, x, y| by_low(b, Binary::Shr, x, y), |x, y| Some(x >> (y & 63))),
    ("sar", |b, x, y| by_low(b, Binary::Sar, x, y), |x, y| Some((x as i64 >> (y & 63)) as u64)),
    ("eq", |b, x, y| holds(b, Compare::Equal, x, y), |x, y| Some((x == y).into())),
    ("ne", |b, x, y| holds(b, Compare::NotEqual, x, y), |x, y| Some((x != y).into())),
    ("lt.u", |b, x, y| holds(b, Compare::LessUnsigned, x, y), |x, y| Some((x < y).into())),
    ("le.u", |b, x, y| holds(b, Compare::LessEqualUnsigned, x, y), |x, y| Some((x <= y).into())),
    ("lt.s", |b, x, y| holds(b, Compare::LessSigned, x, y), |x, y| Some(((x as i64) < y as i64).into())),
    ("le.s", |b, x, y| holds(b, Compare::LessEqualSigned, x, y), |x, y| Some((x as i64 <= y as i64).into())),
    ("extend.u", |b, x, _| low(b, x, Unary::ZeroExtend), |x, _| Some(x & 0xffff_ffff)),
    ("extend.s", |b, x, _| low(b, x, Unary::SignExtend), |x, _| Some(i64::from(x as i32) as u64)),
    ("mul.wide.u", |b, x, y| wide(b, x, y, Unary::ZeroExtend), |x, y| Some((x & 0xffff_ffff) * (y & 0xffff_ffff))),
    (
        "mul.wide.s",
        |b, x, y| wide(b, x, y, Unary::SignExtend),
        |x, y| Some((i64::from(x as i32) * i64::from(y as i32)) as u64),
    ),
    (
        "shl of extended",
        |b, x, y| {
            let x = low(b, x, Unary::SignExtend);
            by_low(b, Binary::Shl, x, y)
        },
        |x, y| Some((i64::from(x as i32) << (y & 63)) as u64),
    ),
    (
        "select",
        |b, x, y| {
            let odd = b.is_nonzero(b.and_const(x, 1));
            b.select(odd, x, y)
        },
        |x, y| Some(if x & 1 == 1 { x } else { y }),
    ),
    (
        "f32 of s64",
        |b, x, _| float(b, x, Unary::SignedToFloat(Type::F32)),
        |x, _| Some((x as i64 as f32).to_bits().into()),
    ),
    ("f32 of u64", |b, x, _| float(b, x, Unary::UnsignedToFloat(Type::F32)), |x, _| Some((x as f32).to_bits().into())),
    ("f64 of s64", |b, x, _| float(b, x, Unary::SignedToFloat(Type::F64)), |x, _| Some((x as i64 as f64).to_bits())),
    ("f64 of u64", |b, x, _| float(b, x, Unary::UnsignedToFloat(Type::F64)), |x, _| Some((x as f64).to_bits())),
    (
        "s64 of f64",
        |b, x, _| b.unary(Unary::FloatToSigned(Type::I64), b.bitcast(x, Type::F64)),
        |x, _| {
            Some(f64::from_bits(x)).filter(|x| *x >= -(2f64.powi(63)) && *x < 2f64.powi(63)).map(|x| x as i64 as u64)
        },
    ),
    (
        "u64 of f64",
        |b, x, _| b.unary(Unary::FloatToUnsigned(Type::I64), b.bitcast(x, Type::F64)),
        |x, _| Some(f64::from_bits(x)).filter(|x| *x > -1.0 && *x < 2f64.powi(64)).map(|x| x as u64),
    ),
    (
        "s64 of f32",
        |b, x, _| {
            let x = b.bitcast(b.truncate(x), Type::F32);
            b.unary(Unary::FloatToSigned(Type::I64), x)
        },
        |x, _| {
            Some(f32::from_bits(x as u32))
                .filter(|x| *x >= -(2f32.powi(63)) && *x < 2f32.powi(63))
                .map(|x| x as i64 as u64)
        },
    ),
    (
        "u64 of f32",
        |b, x, _| {
            let x = b.bitcast(b.truncate(x), Type::F32);
            b.unary(Unary::FloatToUnsigned(Type::I64), x)
        },
        |x, _| Some(f32::from_bits(x as u32)).filter(|x| *x > -1.0 && *x < 2f32.powi(64)).map(|x| x as u64),
    ),
];

fn by_low(b: &Builder<'_>, op: Binary, x: Value, y: Value) -> Value {
    let amount = b.and_const(b.truncate(y), 63);
    b.binary(op, x, amount)
}

fn holds(b: &Builder<'_>, op: Compare, x: Value, y: Value) -> Value {
    let holds = b.compare(op, x, y);
    b.bool_to(Type::I64, holds)
}

fn low(b: &Builder<'_>, x: Value, extend: Unary) -> Value {
    b.unary(extend, b.truncate(x))
}

fn wide(b: &Builder<'_>, x: Value, y: Value, extend: Unary) -> Value {
    let (x, y) = (low(b, x, extend), low(b, y, extend));
    b.mul(x, y)
}

fn float(b: &Builder<'_>, x: Value, op: Unary) -> Value {
    let float = b.unary(op, x);
    let bits = b.bits(float);
    if b.type_of(bits) == Type::I32 { b.zero_extend(bits) } else { bits }
}

/// Operands around corners: few bits, few zeros, halves that are nearly equal, and floats of all sizes.
fn operand(random: &mut Random) -> u64 {
    const CORNERS: [u64; 12] = [
        0,
        1,
        2,
        7,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 32,
        1 << 63,
        u64::MAX,
        u64::MAX - 1,
        0xffff_ffff_0000_0000,
    ];
    let noise = random.bits();
    match random.below(8) {
        0 => random.pick(&CORNERS),
        1 => noise >> random.below(64),
        2 => !(noise >> random.below(64)),
        3 => (1 << random.below(64)) + u64::from(noise as u8 & 3) - 1,
        4 => ((noise as i64 >> random.below(64)) as f64).to_bits(),
        5 => u64::from(((noise as i64 >> random.below(64)) as f32).to_bits()),
        6 => noise << 32 | noise >> 32 & !(noise as u32 & 1) as u64,
        _ => noise,
    }
}

/// A function that applies an operation to its variables 0 and 1, or to constants in their places, and leaves the result in
/// shared memory.
fn function(compute: fn(&Builder<'_>, Value, Value) -> Value, constants: [Option<u64>; 2]) -> Function {
    let mut function = Function { shared_bytes: 8, ..Function::default() };
    let vars = [(); 4].map(|()| function.var(Type::I32));
    let b = Builder::new(&mut function);
    let operand = |b: &Builder<'_>, constant: Option<u64>, low: Var, high: Var| match constant {
        Some(bits) => b.i64(bits),
        None => {
            let (low, high) = (b.get(low), b.get(high));
            b.join(low, high)
        }
    };
    let x = operand(&b, constants[0], vars[0], vars[1]);
    let y = operand(&b, constants[1], vars[2], vars[3]);
    let result = compute(&b, x, y);
    b.store(access(Space::Shared, 8), b.i32(0), vec![result]);
    b.finish();
    legalize(&mut function, &target()).unwrap();
    split_words(&mut function);
    assert_eq!(verify(&function), Ok(()), "{function}");
    assert!(!is_long(&function), "{function}");
    function
}

/// Whether a value or variable of 64-bit integers is left.
fn is_long(function: &Function) -> bool {
    function.to_string().contains(": i64")
}

fn apply(machine: &mut Machine, function: &Function, x: u64, y: u64) -> u64 {
    machine.vars = [x, x >> 32, y, y >> 32].map(|bits| bits & 0xffff_ffff).to_vec();
    machine.steps = 10_000;
    machine.run(function).unwrap_or_else(|fault| panic!("{x:#x}, {y:#x}: {fault}\n{function}"));
    machine.shared.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

fn machine() -> Machine {
    Machine { facts: Facts::ALL, shared: vec![0; 8], ..Machine::default() }
}

#[test]
fn operations_on_registers() {
    let mut random = Random::new(1);
    for (name, compute, reference) in OPERATIONS {
        let function = function(*compute, [None, None]);
        let mut machine = machine();
        let mut checked = 0;
        for _ in 0..40_000 {
            let (x, mut y) = (operand(&mut random), operand(&mut random));
            if random.below(8) == 0 {
                // Nearly equal, or quotients that are nearly whole numbers.
                y = if random.below(2) == 0 { x ^ 1 << random.below(64) } else { x / (1 + (y >> 60)) };
            }
            let Some(expected) = reference(x, y) else { continue };
            let found = apply(&mut machine, &function, x, y);
            assert_eq!(found, expected, "{name} {x:#x}, {y:#x}: {found:#x}, not {expected:#x}");
            checked += 1;
        }
        assert!(checked > 4_000, "{name}: {checked}");
    }
}

#[test]
fn operations_on_constants() {
    let mut random = Random::new(2);
    for (name, compute, reference) in OPERATIONS {
        for round in 0..400 {
            let constants = [operand(&mut random), operand(&mut random)];
            let constants = match round % 3 {
                0 => [Some(constants[0]), None],
                1 => [None, Some(constants[1])],
                _ => constants.map(Some),
            };
            // Where the precondition fails for the constant, for all.
            if *name == "div" && constants[1] == Some(0) || *name == "rem" && constants[1] == Some(0) {
                continue;
            }
            let mut given = || [0, 1].map(|at: usize| constants[at].unwrap_or_else(|| operand(&mut random)));
            let operands: Vec<[u64; 2]> =
                (0..8).map(|_| given()).filter(|[x, y]| reference(*x, *y).is_some()).collect();
            if operands.is_empty() {
                continue;
            }
            let function = function(*compute, constants);
            let mut machine = machine();
            for [x, y] in operands {
                let found = apply(&mut machine, &function, x, y);
                assert_eq!(Some(found), reference(x, y), "{name} {x:#x}, {y:#x} of {constants:x?}\n{function}");
            }
        }
    }
}

#[test]
fn little_is_left_of_addresses() {
    let mut function = Function::default();
    let b = Builder::new(&mut function);
    let base = b.push_constant(Type::I64, 0);
    let offset = b.mul_const(b.sign_extend(b.builtin(Builtin::ThreadIndex)), 4);
    let address = b.add(base, offset);
    b.store(access(Space::Global, 4), base, vec![b.load_one(access(Space::Global, 4), address)]);
    b.finish();
    split_words(&mut function);
    assert_eq!(verify(&function), Ok(()), "{function}");
    let count = function.body.iter().filter(|stmt| !is_constant(stmt)).count();
    // Two words of the base, the index, its two shifts, the sum with its carry, two pairs, a load and a store.
    assert_eq!(count, 3 + 2 + 5 + 2 + 2, "{function}");
}

fn is_constant(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Let(_, Op::Const(_)))
}

/// Memory after the bytes that random programs use: their results, and the table of locks.
const RESULTS: u32 = 64;

/// The first bytes of global and shared memory, and local memory, after a function has run. All locks must be free
/// then.
fn outcome(function: &Function) -> [Vec<u8>; 3] {
    let pattern = |salt: u8| (0..MEMORY as u8).map(|byte| byte.wrapping_mul(37) ^ salt).collect::<Vec<_>>();
    let results = vec![0; RESULTS as usize];
    let mut machine = Machine {
        facts: Facts::ALL,
        global: [pattern(0), results, vec![0; locks::TABLE_BYTES as usize]].concat(),
        // The translator's own shared memory begins with anything.
        shared: [pattern(1), vec![0; 64]].concat(),
        local: pattern(2),
        push_constants: GLOBAL_BASE.to_le_bytes().to_vec(),
        thread: 0,
        steps: 1_000_000,
        ..Machine::default()
    };
    machine.run(function).unwrap_or_else(|fault| panic!("{fault}\n{function}"));
    let table = machine.global.split_off((MEMORY + RESULTS) as usize);
    let own = machine.shared.split_off(MEMORY as usize);
    assert!(table.iter().chain(&own).all(|byte| *byte == 0), "a lock is still held\n{function}");
    [machine.global, machine.shared, machine.local]
}

/// The whole way of a function to a device without 64-bit integers.
fn without_long(function: &mut Function) {
    let locked =
        lock_long_accesses(function, &Policy::new(&target(), Math::EXACT).memory, Some(u64::from(MEMORY + RESULTS)));
    assert!(locked.is_ok(), "{locked:?}");
    legalize(function, &target()).unwrap();
    split_words(function);
    assert_eq!(verify(function), Ok(()), "{function}");
    assert!(!is_long(function), "{function}");
}

#[test]
fn random_programs_keep_their_meaning() {
    for seed in 1..1500 {
        let program = random_program(&mut Random::new(seed));
        let expected = outcome(&program);
        let mut function = program.clone();
        without_long(&mut function);
        assert_eq!(outcome(&function), expected, "seed {seed}\n{program}\n---\n{function}");
    }
}

#[test]
fn atomics_and_ordered_accesses_under_locks() {
    use AtomicOp::{
        Add, And, CompareExchange, Exchange, FAdd, MaxSigned, MaxUnsigned, MinSigned, MinUnsigned, Or, Xor,
    };
    let mut random = Random::new(3);
    let ops = [Add, And, Or, Xor, Exchange, CompareExchange, MinSigned, MinUnsigned, MaxSigned, MaxUnsigned, FAdd];
    for op in ops {
        for (space, round) in
            [Space::Global, Space::Shared, Space::Local, Space::Generic].into_iter().cycle().zip(0..80)
        {
            if matches!(space, Space::Local | Space::Generic) && op == FAdd {
                continue;
            }
            let mut function = Function { shared_bytes: MEMORY, local_bytes: MEMORY, ..Function::default() };
            let b = Builder::new(&mut function);
            let start =
                if matches!(space, Space::Global | Space::Generic) { b.push_constant(Type::I64, 0) } else { b.i32(0) };
            let access = Access { order: MemoryOrder::Relaxed(Scope::Device), ..access(space, 8) };
            let [old, operand] = if op == FAdd {
                [random.bits() as i64 as f64, random.bits() as i64 as f64].map(f64::to_bits)
            } else {
                [operand(&mut random), operand(&mut random)]
            };
            let [first, second] = [old, operand].map(|bits| b.i64(bits));
            // Succeeds every other time.
            let compare = (op == CompareExchange).then(|| b.i64(old ^ (round & 1)));
            b.store(access, start, vec![first, second]);
            let result = Some(b.value(Type::I64));
            b.atomic(Atomic { result, op, access, address: start, operand: second, compare });
            let after = b.add_const(start, 16);
            let loaded = b.load(access, start, 2);
            b.store(access, after, loaded);
            b.store(access, b.add_const(start, 32), result.into_iter().collect());
            b.finish();
            assert_eq!(verify(&function), Ok(()), "{function}");
            let expected = outcome(&function);
            let mut locked = function.clone();
            without_long(&mut locked);
            assert_eq!(outcome(&locked), expected, "{op:?} in {space:?}\n{function}\n---\n{locked}");
            let taken = locked.to_string().matches("exchange").count();
            assert_eq!(taken > 0, space != Space::Local, "{locked}");
        }
    }
}
