//! Functions that report loops cut short, on an interpreter that plays such a driver: random programs either say so or
//! do the same to memory as without a limit.

use super::program::{MEMORY, random_program};
use super::support::{Random, access};
use crate::evaluator::{Fault, GLOBAL_BASE, Machine};
use ptx2spv_translator::interface::Status;
use ptx2spv_translator::internals::ir::{Builder, Compare, Function, Space, Type, Value, verify};
use ptx2spv_translator::internals::legalize::{expand_reports, most_rounds, report_cut_loops};
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::target::Fault as Reported;
use ptx2spv_translator::{Options, Program, Source, Target};

/// Bytes of global memory that programs use; the status record follows.
const GLOBAL: usize = MEMORY as usize + 64;
const STATUS: Status = Status { offset: GLOBAL as u64 };

/// Makes a function report loops cut short, as kernel number 5.
fn watch(function: &mut Function, nesting: Option<u32>) {
    report_cut_loops(function, STATUS, 0, nesting);
    let places = expand_reports(function, STATUS, 5);
    assert!(places.iter().all(|place| place.is_none()) && places.len() < 2, "{places:?}");
}

/// The memory and the status after a run.
fn run(function: &Function, loop_budget: Option<u32>, status: u32) -> Result<([Vec<u8>; 3], u32), Fault> {
    let mut machine = Machine {
        global: [vec![0x5a; GLOBAL], status.to_le_bytes().to_vec(), vec![0; Status::SIZE as usize - 4]].concat(),
        shared: vec![0xa5; MEMORY as usize],
        local: vec![0x3c; MEMORY as usize + 16],
        push_constants: GLOBAL_BASE.to_le_bytes().to_vec(),
        thread: 3,
        steps: 1_000_000,
        loop_budget,
        ..Machine::default()
    };
    machine.run(function)?;
    let word = machine.global.split_off(GLOBAL);
    machine.local.truncate(MEMORY as usize);
    let memory = [machine.global, machine.shared, machine.local];
    Ok((memory, u32::from_le_bytes([word[0], word[1], word[2], word[3]])))
}

#[test]
fn random_programs_are_right_or_say_so() {
    let target = Target::preset("lavapipe").expect("a preset");
    let (mut silent, mut reported) = (0, 0);
    let mut parted = 0;
    // Parts of two probes, or all in one.
    for (seed, nesting) in (1..1500).flat_map(|seed| [(seed, None), (seed, Some(4))]) {
        let mut plain = random_program(&mut Random::new(seed));
        legalize(&mut plain, &target).unwrap();
        let (expected, _) = run(&plain, None, Status::FINE).unwrap();
        let mut watched = plain.clone();
        watch(&mut watched, nesting);
        assert_eq!(verify(&watched), Ok(()), "seed {seed}\n{watched}");
        let ample = run(&watched, Some(100_000), Status::FINE);
        assert_eq!(ample, Ok((expected.clone(), Status::FINE)), "seed {seed}\n{watched}");
        // An earlier report stays and changes nothing else.
        assert_eq!(run(&watched, None, 9), Ok((expected.clone(), 9)), "seed {seed}");
        let has_loop = plain.to_string().contains("loop");
        let mut whole = plain.clone();
        watch(&mut whole, None);
        parted += u32::from(whole.to_string() != watched.to_string());
        assert_eq!(has_loop, plain.to_string() != watched.to_string(), "seed {seed}\n{watched}");
        for budget in 1..40 {
            let (memory, status) = run(&watched, Some(budget), Status::FINE).unwrap();
            if status == Status::FINE {
                assert_eq!(memory, expected, "seed {seed}, budget {budget}\n{watched}");
                silent += 1;
            } else {
                assert_eq!(status, Reported::LoopCutShort.code());
                reported += 1;
            }
        }
    }
    assert!(silent > 1000 && reported > 1000 && parted > 100, "{silent} {reported} {parted}");
}

/// `rounds` rounds, and after them a store to an address that is right only after the last.
fn counting(rounds: u64) -> Function {
    let mut function = Function::default();
    let left = function.var(Type::I64);
    let b = Builder::new(&mut function);
    b.set(left, b.i64(rounds));
    b.loop_(|b| {
        let after = b.sub_const(b.get(left), 1);
        b.set(left, after);
        b.if_(b.is_zero(after), Builder::break_);
    });
    let far = b.shl(b.get(left), 40);
    let address = b.add(b.push_constant(Type::I64, 0), far);
    b.store(access(Space::Global, 4), address, vec![b.i32(7)]);
    b.finish();
    function
}

#[test]
fn reports_at_the_limit_and_not_far_below() {
    let plain = counting(100);
    assert!(matches!(run(&plain, Some(99), Status::FINE), Err(Fault::Access { .. })));
    let mut watched = plain;
    watch(&mut watched, None);
    let status = |budget| run(&watched, Some(budget), Status::FINE).map(|(memory, status)| (memory[0][0], status));
    for budget in 1..100 {
        // The store is left out.
        assert_eq!(status(budget), Ok((0x5a, Reported::LoopCutShort.code())), "{budget}");
    }
    // The probes' own rounds are five: two after the loop, one around the kernel, two at its end.
    for budget in 105..120 {
        assert_eq!(status(budget), Ok((7, Status::FINE)), "{budget}");
    }
}

/// A loop that counts by `step`, from a constant or a number that the thread's number gives, until a comparison, and
/// stores its rounds.
fn counted(random: &mut Random) -> Function {
    const COMPARISONS: [Compare; 6] = [
        Compare::Equal,
        Compare::NotEqual,
        Compare::LessUnsigned,
        Compare::LessEqualUnsigned,
        Compare::LessSigned,
        Compare::LessEqualSigned,
    ];
    const ENDS: [u64; 8] = [0, 1, 7, 64, 1000, 0x7fff_ffff, 0xffff_fff0, u64::MAX];
    let mut function = Function::default();
    let ty = [Type::I32, Type::I64][random.below(2)];
    let [counter, rounds] = [function.var(ty), function.var(Type::I32)];
    let b = Builder::new(&mut function);
    let mask = if ty == Type::I32 { u64::from(u32::MAX) } else { u64::MAX };
    let mut number = |b: &Builder<'_>, from: &[u64]| b.constant(ty, from[random.below(from.len())] & mask);
    let step = number(&b, &[1, 2, 3, 64, 0xffff_ffff, u64::MAX, u64::MAX - 3, 1 << 32, 0]);
    let first = number(&b, &ENDS);
    let mut end = number(&b, &ENDS);
    let more = number(&b, &[0, 1, 5, u64::MAX]);
    let truncated = ty == Type::I64 && random.below(2) == 1;
    if truncated {
        end = b.truncate(end);
    }
    let [known, early, swapped, negated, subtracted] = [0; 5].map(|_| random.below(2) == 1);
    let compare = COMPARISONS[random.below(COMPARISONS.len())];
    if known {
        b.set(counter, first);
    } else {
        let thread = b.shr(b.push_constant(Type::I64, 0), 5);
        let thread = if ty == Type::I32 { b.truncate(thread) } else { thread };
        b.set(counter, b.add(thread, first));
    }
    b.set(rounds, b.i32(0));
    b.loop_(|b| {
        let after = b.add_const(b.get(rounds), 1);
        b.set(rounds, after);
        let now = b.get(counter);
        let next = if subtracted { b.sub(now, step) } else { b.add(now, step) };
        if !early {
            b.set(counter, next);
        }
        let tested = b.add(b.get(counter), more);
        let tested = if truncated { b.truncate(tested) } else { tested };
        let (x, y) = if swapped { (end, tested) } else { (tested, end) };
        let condition = b.compare(compare, x, y);
        if negated {
            b.if_else(condition, |_| (), Builder::break_);
        } else {
            b.if_(condition, Builder::break_);
        }
        if early {
            b.set(counter, next);
        }
    });
    b.store(access(Space::Global, 4), b.push_constant(Type::I64, 0), vec![b.get(rounds)]);
    b.finish();
    function
}

/// A loop that goes from one number to another, some of them by a number that the thread's number gives, and stores its
/// rounds.
fn numbered(random: &mut Random) -> Function {
    const NUMBERS: u64 = 6;
    let mut function = Function::default();
    let [state, rounds] = [(); 2].map(|()| function.var(Type::I32));
    let b = Builder::new(&mut function);
    let base = b.push_constant(Type::I64, 0);
    let odd = b.truncate(b.shr(base, 5));
    let numbers: Vec<Value> = (0..NUMBERS).map(|number| b.i32(number as u32)).collect();
    let first = numbers[random.below(2)];
    b.set(state, first);
    b.set(rounds, b.i32(0));
    // Most lead to greater numbers, so that many loops end.
    let go = |b: &Builder<'_>, from: u64, random: &mut Random| {
        let next = if random.below(12) == 0 { random.below(6) } else { from as usize + 1 + random.below(3) };
        match numbers.get(next) {
            Some(next) => b.set(state, *next),
            None => b.break_(),
        }
    };
    b.loop_(|b| {
        let after = b.add_const(b.get(rounds), 1);
        b.set(rounds, after);
        let now = b.get(state);
        for number in 0..NUMBERS {
            let is_it = b.compare_const(Compare::Equal, now, number);
            b.if_(is_it, |b| {
                if random.below(3) > 0 {
                    return go(b, number, random);
                }
                let unknown = b.compare_const(Compare::LessUnsigned, odd, 1 << random.below(32));
                b.if_(unknown, |b| go(b, number, random));
                go(b, number, random);
            });
        }
    });
    b.store(access(Space::Global, 4), base, vec![b.get(rounds)]);
    b.finish();
    function
}

#[test]
fn known_rounds_are_enough() {
    let (mut known, mut exact) = ([0; 2], [0; 2]);
    for seed in 1..3000 {
        let kind = seed as usize % 2;
        let function = [counted, numbered][kind](&mut Random::new(seed));
        assert_eq!(verify(&function), Ok(()), "seed {seed}\n{function}");
        let Some(most) = most_rounds(&function) else { continue };
        known[kind] += 1;
        let expected = run(&function, None, Status::FINE);
        assert!(expected.is_ok(), "seed {seed}: it ends\n{function}");
        let most = u32::try_from(most).unwrap();
        assert_eq!(run(&function, Some(most), Status::FINE), expected, "seed {seed}, {most}\n{function}");
        exact[kind] += u32::from(run(&function, Some(most - 1), Status::FINE) != expected);
    }
    // Most limits are of loops that end in their first round, or begin anywhere.
    assert!(known.iter().all(|known| *known > 250) && exact.iter().all(|exact| *exact > 50), "{known:?} {exact:?}");
}

#[test]
fn known_rounds_of_random_programs_are_enough() {
    let target = Target::preset("lavapipe").expect("a preset");
    let mut known = 0;
    for seed in 1..1500 {
        let mut plain = random_program(&mut Random::new(seed));
        legalize(&mut plain, &target).unwrap();
        let Some(most) = most_rounds(&plain).filter(|&most| most > 0) else { continue };
        known += 1;
        let expected = run(&plain, None, Status::FINE).unwrap();
        assert_eq!(run(&plain, Some(most as u32), Status::FINE), Ok(expected), "seed {seed}\n{plain}");
    }
    assert!(known > 100, "{known}");
}

#[test]
fn loops_of_few_rounds_have_no_probes() {
    for (rounds, budget, is_watched) in
        [(100, 1000, false), (100, 200, true), (40_000, 65_535, true), (4_000, 65_535, false)]
    {
        let plain = counting(rounds);
        let mut watched = plain.clone();
        report_cut_loops(&mut watched, STATUS, budget, None);
        assert_eq!(plain.to_string() != watched.to_string(), is_watched, "{rounds} {budget}");
    }
}

const MODULE: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 2 .b8 odd[7];
.visible .entry straight() { ret; }
.visible .entry forever() { again: bra again; }
";

#[test]
fn the_word_follows_the_variables_whatever_the_entries() {
    let source = Source::new("module.ptx", MODULE);
    let program = Program::new(&source).unwrap();
    let mut target = Target::preset("lavapipe").unwrap();
    // What lets a kernel without loops report too.
    target.quirks.offsets_unchecked = false;
    let interface = |target: &Target, entries: Option<&[String]>| {
        program.translate(&Options::new(target).entries(entries)).unwrap().interface
    };
    let all = interface(&target, None);
    assert_eq!((all.status, all.variables.size), (Some(Status { offset: 8 }), 8 + Status::SIZE));
    // Only what has loops may report, from no place in particular.
    let reports: Vec<(u32, usize)> = all.entries.iter().map(|entry| (entry.number, entry.reports.len())).collect();
    assert_eq!(reports, [(0, 0), (1, 1)]);
    for entries in [&[][..], &["straight".to_owned()], &["forever".to_owned()]] {
        let some = interface(&target, Some(entries));
        assert_eq!((some.status, &some.variables), (all.status, &all.variables));
    }
    target.quirks.loop_budget = None;
    let without = interface(&target, None);
    assert_eq!((without.status, without.variables.size), (None, 7));
}
