//! The passes that hold on every device keep the meaning of programs: random ones do to memory what they did before.
//! Further tests look at the shape of small functions.

use super::program::{MEMORY, random_program};
use super::support::{Random, access};
use crate::evaluator::{GLOBAL_BASE, Machine};
use ptx2spv_translator::internals::ir::{
    Access, Atomic, AtomicOp, Builder, Builtin, Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT,
    MemoryOrder, Op, Scope, Space, Stmt, Type, Unary, Value, Var, verify,
};
use ptx2spv_translator::internals::opt::{
    convert_ifs, merge_ifs, narrow_truncated, propagate_copies, remove_dead, resolve_spaces,
};
use ptx2spv_translator::internals::pipeline::{legalize, optimise};
use ptx2spv_translator::{Span, Target};

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
        check("resolve_spaces", &resolve_spaces);
        check("narrow_truncated", &narrow_truncated);
        check("legalize", &|function| legalize(function, &target).unwrap());
        let (was, is) = check("optimise", &optimise);
        (before, after) = (before + was, after + is);
        check("all", &|function| {
            optimise(function);
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

#[test]
fn a_variable_of_straight_line_code_disappears() {
    let mut f = function(|b, global| {
        let var = b.var(Type::I32);
        for _ in 0..3 {
            let new = b.add_const(b.get(var), 1);
            b.set(var, new);
        }
        b.store(access(Space::Global, 4), global, vec![b.get(var)]);
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.starts_with('r')), 0, "{f}");
    // The first read stays: it gives the initial content.
    assert_eq!(count(&f, |line| line.ends_with("= r0")), 1, "{f}");
    assert_eq!(count(&f, |line| line.ends_with("= 1")), 1, "one constant for all\n{f}");
}

#[test]
fn what_both_arms_agree_on_is_known_after_them() {
    let mut f = function(|b, global| {
        let (same, other) = (b.var(Type::I32), b.var(Type::I32));
        let seven = b.i32(7);
        let odd = b.is_nonzero(b.and_const(b.builtin(Builtin::ThreadIndex), 1));
        b.if_else(
            odd,
            |b| {
                b.set(same, seven);
                b.set(other, seven);
            },
            |b| b.set(same, seven),
        );
        let (x, y) = (b.get(same), b.get(other));
        b.store(access(Space::Global, 4), global, vec![x, y]);
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.starts_with("r0")), 0, "{f}");
    assert_eq!(count(&f, |line| line.starts_with("r1 :=")), 1, "{f}");
    assert_eq!(count(&f, |line| line.ends_with("= r1")), 1, "{f}");
}

#[test]
fn a_loop_forgets_what_it_assigns_and_keeps_the_rest() {
    let mut f = function(|b, global| {
        let (counter, fixed) = (b.var(Type::I32), b.var(Type::I32));
        let thread = b.builtin(Builtin::ThreadIndex);
        b.set(counter, b.i32(0));
        b.set(fixed, thread);
        b.loop_(|b| {
            let (count, limit) = (b.get(counter), b.get(fixed));
            b.if_(b.eq(count, limit), Builder::break_);
            b.set(counter, b.add_const(count, 1));
        });
        b.store(access(Space::Global, 4), global, vec![b.get(counter)]);
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.starts_with("r0 :=")), 2, "{f}");
    assert_eq!(count(&f, |line| line.ends_with("= r0")), 2, "{f}");
    assert_eq!(count(&f, |line| line.contains("r1")), 0, "{f}");
}

#[test]
fn an_arm_that_breaks_says_nothing_of_what_follows() {
    let mut f = function(|b, global| {
        let [outside, inside] = [b.var(Type::I32), b.var(Type::I32)];
        let condition = condition(b);
        let (five, six) = (b.i32(5), b.i32(6));
        b.set(outside, five);
        b.loop_(|b| {
            b.if_else(
                condition,
                |b| {
                    b.set(outside, six);
                    b.break_();
                },
                |b| {
                    b.set(outside, five);
                    b.set(inside, b.load_one(access(Space::Global, 4), global));
                },
            );
            let (known, unknown) = (b.get(outside), b.get(inside));
            b.store(access(Space::Global, 4), global, vec![known, unknown]);
        });
    });
    optimise(&mut f);
    assert_eq!(verify(&f), Ok(()), "what only the other arm sees is not used after it");
    assert_eq!(count(&f, |line| line.ends_with("= r0")), 0, "{f}");
    assert_eq!(count(&f, |line| line.ends_with("= r1")), 1, "{f}");
}

#[test]
fn only_loads_without_effect_go() {
    let mut f = function(|b, global| {
        let weak = access(Space::Global, 4);
        b.load(weak, global, 2);
        b.load(Access { order: MemoryOrder::Relaxed(Scope::System), ..weak }, global, 1);
        let one = b.i32(1);
        let result = Some(b.value(Type::I32));
        b.atomic(Atomic { result, op: AtomicOp::Add, access: weak, address: global, operand: one, compare: None });
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.contains("load")), 1, "{f}");
    let is_reduction = |stmt: &Stmt| matches!(stmt, Stmt::Atomic(atomic) if atomic.result.is_none());
    assert!(f.body.iter().any(is_reduction), "{f}");
}

#[test]
fn marks_stay_only_before_statements() {
    let mut f = function(|b, global| {
        b.at(Span { start: 1, end: 2 });
        b.i32(5);
        b.at(Span { start: 3, end: 4 });
        b.store(access(Space::Global, 4), global, vec![b.i32(1)]);
        b.at(Span { start: 5, end: 6 });
        b.i32(6);
    });
    optimise(&mut f);
    let mark = |stmt: &Stmt| if let Stmt::At(Some(at)) = stmt { Some(at.start) } else { None };
    assert_eq!(f.body.iter().filter_map(mark).collect::<Vec<_>>(), [3]);
}

/// The space in which an access through an address ends up that `pointer(b, [global, shared, local])` computes.
fn resolved(pointer: impl Fn(&Builder<'_>, [Value; 3]) -> Value) -> Space {
    let mut f = function(|b, global| {
        let thread = b.builtin(Builtin::ThreadIndex);
        let [shared, local] =
            [GENERIC_SHARED, GENERIC_LOCAL].map(|tag| b.or_const(b.zero_extend(thread), tag << GENERIC_TAG_SHIFT));
        let address = pointer(b, [global, shared, local]);
        b.store(access(Space::Generic, 4), address, vec![b.i32(1)]);
    });
    optimise(&mut f);
    assert_eq!(verify(&f), Ok(()));
    let stored = f.body.iter().find_map(|stmt| match stmt {
        Stmt::Store { access, .. } => Some(access.space),
        _ => None,
    });
    stored.expect("a store")
}

fn element(b: &Builder<'_>) -> Value {
    let wide = b.sign_extend(b.builtin(Builtin::ThreadIndex));
    b.shl(wide, 3)
}

fn condition(b: &Builder<'_>) -> Value {
    b.is_zero(b.builtin(Builtin::ThreadIndex))
}

/// The two halves of an address, loaded and joined.
fn joined(b: &Builder<'_>, global: Value) -> Value {
    let halves = b.load(access(Space::Global, 4), global, 2);
    b.join(halves[0], halves[1])
}

#[test]
fn spaces_are_proven_where_they_can_be() {
    assert_eq!(resolved(|_, [global, _, _]| global), Space::Global);
    assert_eq!(resolved(|_, [_, shared, _]| shared), Space::Shared);
    assert_eq!(resolved(|_, [_, _, local]| local), Space::Local);
    let indexed = |b: &Builder<'_>, base| {
        let index = element(b);
        b.add(base, index)
    };
    assert_eq!(resolved(|b, [_, shared, _]| indexed(b, shared)), Space::Shared);
    assert_eq!(resolved(|b, [global, _, _]| indexed(b, global)), Space::Global);
    // Parameters: a base and a number of bytes.
    let with_parameter = |b: &Builder<'_>, base| {
        let bytes = b.push_constant(Type::I64, 8);
        b.add(base, bytes)
    };
    assert_eq!(resolved(|b, [global, _, _]| with_parameter(b, global)), Space::Global);
    // Rounding down to a multiple.
    assert_eq!(resolved(|b, [_, shared, _]| b.and_const(shared, !15)), Space::Shared);
    // A null pointer joins with any.
    let or_null = |b: &Builder<'_>, pointer| {
        let (condition, null) = (condition(b), b.i64(0));
        b.select(condition, pointer, null)
    };
    assert_eq!(resolved(|b, [_, shared, _]| or_null(b, shared)), Space::Shared);
    // Memory that isn't written.
    let constant = Access { read_only: true, ..access(Space::Global, 8) };
    assert_eq!(resolved(|b, [global, _, _]| b.load_one(constant, global)), Space::Global);
    // Through a variable in a loop.
    let walked = |b: &Builder<'_>, base| {
        let var = b.var(Type::I64);
        b.set(var, base);
        b.loop_(|b| {
            let pointer = b.add_const(b.get(var), 4);
            b.set(var, pointer);
            let condition = condition(b);
            b.if_(condition, Builder::break_);
        });
        b.get(var)
    };
    assert_eq!(resolved(|b, [_, _, local]| walked(b, local)), Space::Local);
}

#[test]
fn spaces_stay_open_where_they_are() {
    assert_eq!(resolved(|b, [global, _, _]| b.load_one(access(Space::Global, 8), global)), Space::Generic);
    let either = |b: &Builder<'_>, x, y| {
        let condition = condition(b);
        b.select(condition, x, y)
    };
    assert_eq!(resolved(|b, [global, shared, _]| either(b, shared, global)), Space::Generic);
    assert_eq!(resolved(|b, [_, shared, local]| either(b, shared, local)), Space::Generic);
    assert_eq!(resolved(|b, [global, shared, _]| b.add(shared, global)), Space::Generic);
    assert_eq!(resolved(|b, [_, shared, _]| b.not(shared)), Space::Generic);
    // The halves of an address joined: alone, with a number from the host, and or an address of shared memory.
    assert_eq!(resolved(|b, [global, _, _]| joined(b, global)), Space::Generic);
    let with_parameter = |b: &Builder<'_>, base| {
        let (pointer, bytes) = (joined(b, base), b.push_constant(Type::I64, 8));
        b.add(pointer, bytes)
    };
    assert_eq!(resolved(|b, [global, _, _]| with_parameter(b, global)), Space::Generic);
    let or_shared = |b: &Builder<'_>, base, shared| {
        let pointer = joined(b, base);
        either(b, shared, pointer)
    };
    assert_eq!(resolved(|b, [global, shared, _]| or_shared(b, global, shared)), Space::Generic);
}

#[test]
fn shared_offsets_are_computed_on_32_bits() {
    let mut f = function(|b, _| {
        let thread = b.builtin(Builtin::ThreadIndex);
        let base = b.or_const(b.zero_extend(thread), GENERIC_SHARED << GENERIC_TAG_SHIFT);
        let index = element(b);
        b.store(access(Space::Generic, 4), b.add(base, index), vec![thread]);
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.contains("i64 =")), 0, "{f}");
}

#[test]
fn generic_accesses_choose_among_the_spaces_that_exist() {
    let target = Target::preset("lavapipe").expect("a preset");
    let choices = |shared_bytes, dynamic_shared, local_bytes| {
        let mut f = function(|b, global| {
            let address = b.load_one(access(Space::Global, 8), global);
            let loaded = b.load(access(Space::Generic, 4), address, 2);
            b.store(access(Space::Global, 4), global, loaded);
        });
        (f.shared_bytes, f.dynamic_shared, f.local_bytes) = (shared_bytes, dynamic_shared, local_bytes);
        legalize(&mut f, &target).unwrap();
        assert_eq!(verify(&f), Ok(()));
        assert_eq!(count(&f, |line| line.contains("generic")), 0, "{f}");
        count(&f, |line| line.starts_with("if"))
    };
    assert_eq!(choices(0, false, 0), 0);
    assert_eq!(choices(64, false, 0), 1);
    assert_eq!(choices(0, true, 0), 1);
    assert_eq!(choices(0, false, 16), 1);
    assert_eq!(choices(64, true, 16), 2);
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
        optimise(&mut f);
        legalize(&mut f, &target).unwrap();
        assert_eq!(verify(&f), Ok(()));
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no overflow");
}

#[test]
fn neighbours_that_ask_the_same_are_one() {
    let mut f = function(|b, global| {
        let (x, y) = (b.var(Type::I32), b.var(Type::I32));
        let thread = b.builtin(Builtin::ThreadIndex);
        let odd = b.is_nonzero(b.and_const(thread, 1));
        let even = b.not(odd);
        b.if_(odd, |b| b.set(x, thread));
        b.if_(even, |b| b.set(y, thread));
        b.if_(odd, |b| b.store(access(Space::Global, 4), global, vec![thread]));
        let (x, y) = (b.get(x), b.get(y));
        b.store(access(Space::Global, 4), global, vec![x, y]);
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.starts_with("if ")), 1, "{f}");
}

#[test]
fn conditions_that_may_have_changed_stay_apart() {
    let mut f = function(|b, global| {
        let x = b.var(Type::I32);
        for _ in 0..2 {
            let value = b.load_one(access(Space::Global, 4), global);
            let set = b.is_nonzero(value);
            b.if_(set, |b| {
                let one = b.i32(1);
                b.store(access(Space::Global, 4), global, vec![one]);
                b.set(x, one);
            });
        }
        b.store(access(Space::Global, 4), global, vec![b.get(x)]);
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.starts_with("if ")), 2, "{f}");
}

#[test]
fn addresses_of_shared_memory_are_computed_on_32_bits() {
    let mut f = function(|b, _| {
        let thread = b.builtin(Builtin::ThreadIndex);
        let scaled = b.mul_const(b.zero_extend(thread), 4);
        let address = b.truncate(b.add_const(scaled, 16));
        b.store(access(Space::Shared, 4), address, vec![thread]);
    });
    optimise(&mut f);
    assert_eq!(count(&f, |line| line.contains("i64 =")), 0, "{f}");
}

#[test]
fn extended_numbers_are_compared_before_they_are_extended() {
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
        optimise(&mut f);
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

#[test]
fn what_may_not_be_done_in_vain_keeps_its_condition() {
    type Arm = fn(&Builder<'_>, Var);
    let arms: [Arm; 4] = [
        |b, var| {
            let (seven, zero) = (b.i32(7), b.i32(0));
            b.set(var, b.div_unsigned(seven, zero));
        },
        |b, var| {
            let found = b.load(access(Space::Shared, 4), b.i32(0), 1);
            b.set(var, found[0]);
        },
        |b, _| {
            let zero = b.i32(0);
            b.store(access(Space::Shared, 4), zero, vec![zero]);
        },
        |b, var| {
            let root = b.unary(Unary::Sqrt, b.constant(Type::F32, 0x3f80_0000));
            b.set(var, b.bitcast(root, Type::I32));
        },
    ];
    for arm in arms {
        let mut f = conditional(arm, |_, _| {});
        convert_ifs(&mut f, 64);
        assert_eq!(count(&f, |line| line.starts_with("if")), 1, "{f}");
    }
}
