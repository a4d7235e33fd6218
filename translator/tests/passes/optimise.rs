//! The passes that hold on every device keep the meaning of programs: random programs do the same to memory as before.
//! File tests look at the shape of small functions.

use super::program::{MEMORY, random_program};
use super::support::{Random, access};
use crate::evaluator::{GLOBAL_BASE, Machine};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Builder, Builtin, Function, Op, Space, Stmt, Type, Unary, Value, Var, verify};
use ptx2spv_translator::internals::opt::{
    convert_ifs, merge_ifs, narrow_truncated, propagate_copies, remove_dead, resolve_spaces,
};
use ptx2spv_translator::internals::pipeline::{legalize, optimise};

/// Memory after a run.
pub fn outcome(function: &Function) -> [Vec<u8>; 3] {
    let pattern = |salt: u8| (0..MEMORY as u8).map(|byte| byte.wrapping_mul(37) ^ salt).collect::<Vec<_>>();
    let mut machine = Machine {
        global: [pattern(0), vec![0; 64]].concat(),
        shared: pattern(1),
        local: pattern(2),
        push_constants: GLOBAL_BASE.to_le_bytes().to_vec(),
        thread: 5,
        steps: 1_000_000,
        ..Machine::default()
    };
    machine.run(function).unwrap_or_else(|fault| panic!("{fault}\n{function}"));
    [machine.global, machine.shared, machine.local]
}

/// The sizes before and after a pass, once it is known to keep the meaning.
pub fn check(
    program: &Function,
    expected: &[Vec<u8>; 3],
    name: &str,
    pass: impl FnOnce(&mut Function),
) -> (usize, usize) {
    let mut function = program.clone();
    pass(&mut function);
    assert_eq!(verify(&function), Ok(()), "after {name}\n{program}\n---\n{function}");
    assert_eq!(outcome(&function), *expected, "{name}\n{program}\n---\n{function}");
    (program.to_string().lines().count(), function.to_string().lines().count())
}

#[test]
fn random_programs_keep_their_meaning() {
    let target = Target::preset("lavapipe").expect("a preset");
    let (mut before, mut after) = (0, 0);
    for seed in 1..3000 {
        let program = random_program(&mut Random::new(seed));
        assert_eq!(verify(&program), Ok(()), "seed {seed}: the program itself");
        let expected = outcome(&program);
        let check = |name, pass: &dyn Fn(&mut Function)| check(&program, &expected, name, pass);
        check("propagate_copies", &propagate_copies);
        check("remove_dead", &remove_dead);
        check("merge_ifs", &merge_ifs);
        check("convert_ifs", &|function| convert_ifs(function, 64));
        check("resolve_spaces", &|function| resolve_spaces(function, None));
        check("narrow_truncated", &narrow_truncated);
        check("legalize", &|function| legalize(function, &target).unwrap());
        let (was, is) = check("optimise", &|function| optimise(function, &target).unwrap());
        (before, after) = (before + was, after + is);
        check("all", &|function| {
            optimise(function, &target).unwrap();
            legalize(function, &target).unwrap();
        });
    }
    assert!(after * 4 < before * 3, "{before} statements became {after}");
}

fn count(function: &Function, what: impl Fn(&str) -> bool) -> usize {
    let text = function.to_string();
    let statements = text.lines().map(str::trim_start).filter(|line| !line.starts_with("var "));
    statements.filter(|line| what(line)).count()
}

/// A function with a global address at hand, into which `fill` writes.
fn function(fill: impl FnOnce(&Builder<'_>, Value)) -> Function {
    let mut function = Function { shared_bytes: 64, local_bytes: 64, ..Function::default() };
    let b = Builder::new(&mut function);
    let global = b.push_constant(Type::I64, 0);
    fill(&b, global);
    b.finish();
    assert_eq!(verify(&function), Ok(()));
    function
}

/// `If`s and loops in each other, 2,000 deep.
fn deep() -> Function {
    let mut function = Function { shared_bytes: 16, ..Function::default() };
    let var = function.var(Type::I32);
    let b = Builder::new(&mut function);
    let global = b.push_constant(Type::I64, 0);
    let zero = b.is_zero(b.builtin(Builtin::ThreadIndex));
    let one = b.i32(1);
    let preamble = b.take_block();
    for level in 0..2000 {
        let mut inner = b.take_block();
        let new = b.add(b.get(var), one);
        b.set(var, new);
        b.store(access(Space::Generic, 4), global, vec![new]);
        if level % 2 == 0 {
            b.push(Stmt::If { condition: zero, then: inner, otherwise: Vec::new() });
        } else {
            inner.push(Stmt::Break);
            b.push(Stmt::Loop(inner));
        }
    }
    b.append(b.replace_block(preamble));
    b.finish();
    function
}

#[test]
fn deep_nesting_fits_a_small_stack() {
    let target = Target::preset("nvidia").expect("a preset");
    let run = move || {
        let mut f = deep();
        assert_eq!(verify(&f), Ok(()));
        optimise(&mut f, &target).unwrap();
        legalize(&mut f, &target).unwrap();
        assert_eq!(verify(&f), Ok(()));
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no overflow");
}

#[test]
fn extended_numbers_are_compared_before_they_are_extended() {
    let target = Target::preset("lavapipe").expect("a preset");
    let numbers = [0i64, 5, -5, i32::MAX.into(), i32::MIN.into()];
    let bounds = [0i64, 5, -6, i32::MAX.into(), i32::MIN.into(), 1 << 31, -(1 << 31) - 1, i64::MAX, i64::MIN];
    for (number, bound) in numbers.into_iter().flat_map(|number| bounds.map(|bound| (number, bound))) {
        let mut f = Function::default();
        let var = f.var(Type::I32);
        let b = Builder::new(&mut f);
        let value = b.get(var);
        let wide = b.value(Type::I64);
        b.push(Stmt::Let(wide, Op::Unary(Unary::SignExtend, value)));
        let bound_value = b.i64(bound.cast_unsigned());
        let results =
            [b.slt(wide, bound_value), b.sle(wide, bound_value), b.slt(bound_value, wide), b.sle(bound_value, wide)];
        for (place, result) in results.into_iter().enumerate() {
            let result = b.bool_to(Type::I32, result);
            b.store(access(Space::Shared, 4), b.i32(4 * place as u32), vec![result]);
        }
        b.finish();
        optimise(&mut f, &target).unwrap();
        assert_eq!(verify(&f), Ok(()));
        assert_eq!(count(&f, |line| line.contains("i64 =")), 0, "{f}");
        let vars = vec![u64::from((number as i32).cast_unsigned())];
        let mut machine = Machine { shared: vec![0; 16], vars, steps: 1000, ..Machine::default() };
        machine.run(&f).unwrap_or_else(|fault| panic!("{fault}\n{f}"));
        let found: Vec<bool> = machine.shared.chunks(4).map(|word| word[0] != 0).collect();
        assert_eq!(found, [number < bound, number <= bound, bound < number, bound <= number], "{number} and {bound}");
    }
}

/// A function with an `If` on whether the thread's number is odd, whose arms are as given, and a variable that is stored
/// after it.
fn conditional(then: impl FnOnce(&Builder<'_>, Var), otherwise: impl FnOnce(&Builder<'_>, Var)) -> Function {
    function(|b, global| {
        let var = b.var(Type::I32);
        let odd = b.is_nonzero(b.and_const(b.builtin(Builtin::ThreadIndex), 1));
        b.if_else(odd, |b| then(b, var), |b| otherwise(b, var));
        b.store(access(Space::Global, 4), global, vec![b.get(var)]);
    })
}

#[test]
fn small_conditions_become_selects() {
    // Nested: the inner one reads what the outer one has assigned.
    let nested = |b: &Builder<'_>, var: Var| {
        let seven = b.i32(7);
        b.set(var, seven);
        let above = b.ult(seven, b.builtin(Builtin::ThreadIndex));
        b.if_(above, |b| {
            let new = b.add_const(b.get(var), 1);
            b.set(var, new);
        });
    };
    let other = |b: &Builder<'_>, var: Var| {
        b.set(var, b.i32(9));
    };
    let original = conditional(nested, other);
    for (most, ifs) in [(64, 0), (2, 1), (1, 2)] {
        let mut f = original.clone();
        convert_ifs(&mut f, most);
        assert_eq!(verify(&f), Ok(()), "{f}");
        assert_eq!(count(&f, |line| line.starts_with("if")), ifs, "{most}: {f}");
        assert_eq!(outcome(&f), outcome(&original), "{f}");
    }
}
