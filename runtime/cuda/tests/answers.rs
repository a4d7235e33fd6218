//! Calls with wrong arguments give the answers of NVIDIA's driver. `answers/h200.txt` was recorded there; `answers/differences.txt` has the
//! differences, with the reasons.
#![cfg(all(unix, target_pointer_width = "64"))]

#[path = "library/calls.rs"]
mod calls;
#[path = "library/mod.rs"]
mod library;

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::{c_int, c_uint, c_void};
use std::fmt::Write;
use std::process::Command;

use calls::{ARGUMENTS, call, functions};
use libloading::Library;
use library::library;

type Anything<T = ()> = Result<T, Box<dyn Error>>;

const RECORDED: &str = include_str!("answers/h200.txt");
const DIFFERENCES: &str = include_str!("answers/differences.txt");

/// Before `cuInit`, without a current context, and with one.
const STATES: usize = 3;

/// The arguments of the six calls, in the notation of `h200.txt`. Arguments after these are as the last.
const CALLS: [&str; 6] = ["0", "1", "10", "01", "110", "120"];

/// Arguments that the recording passed.
const PASSED: usize = 10;

/// The number of an argument's kind in a call: 0, memory of zeros, or memory with a text.
fn kind(call: usize, argument: usize) -> u8 {
    let kinds = CALLS[call].as_bytes();
    if argument < PASSED { kinds[argument.min(kinds.len() - 1)] - b'0' } else { 0 }
}

/// The recorded answers of a line's function, by state and call.
fn recorded(line: &str) -> Option<(&str, Vec<Vec<&str>>)> {
    let (name, answers) = line.split_once(' ').filter(|(name, _)| *name != "#")?;
    let groups = answers.split(" | ").map(|list| {
        let list: Vec<&str> = list.split(' ').collect();
        if list.len() == 1 { vec![list[0]; CALLS.len()] } else { list }
    });
    Some((name, groups.collect()))
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

unsafe extern "C" fn nothing_of_stream(_: usize, _: c_uint, _: *mut c_void) {}

unsafe extern "C" fn no_bytes(_: c_int) -> usize {
    0
}

/// Memory at an address whose lower half is the same in each run, because some functions take it for a number.
fn memory() -> Anything<usize> {
    const ADDRESS: usize = 0x6f00_1000_0000;
    const BYTES: usize = (PASSED << 16) + 1;
    // SAFETY: no other memory is replaced without `MAP_FIXED`.
    let place = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(ADDRESS as *mut c_void, BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if place as usize == ADDRESS { Ok(ADDRESS) } else { Err("no memory at the address".into()) }
}

/// Tells the process that it is the one that makes the calls, and in which state.
const VARIABLE: &str = "PTX2SPV_ANSWERS";

/// Makes the calls in a state, and prints the answers.
fn make_calls(state: usize) -> Anything {
    // SAFETY: the library has no initialisation of its own.
    let library = unsafe { Library::new(library()?) }?;
    let memory = memory()?;
    let of = |values: &[usize]| {
        let mut list = [0; ARGUMENTS];
        list[..values.len()].copy_from_slice(values);
        list
    };
    let mut context = 0_usize;
    if state > 0 {
        assert_eq!(call(&library, "cuInit", of(&[])), 0);
    }
    if state > 1 {
        let place = (&raw mut context).expose_provenance();
        assert_eq!(call(&library, "cuDevicePrimaryCtxRetain", of(&[place])), 0);
    }
    let table = functions(include_str!("../api.in"));
    let types: BTreeMap<&str, &[&str]> = table
        .iter()
        .filter(|function| function.has_code)
        .map(|function| (function.names[0].as_str(), function.arguments.as_slice()))
        .collect();
    for (name, answers) in RECORDED.lines().filter_map(recorded) {
        let arguments = types.get(name).copied().ok_or_else(|| format!("{name} isn't exported"))?;
        for (number, answer) in answers[state].iter().enumerate() {
            if ["x", "-"].contains(answer) {
                continue;
            }
            if state > 0 {
                call(&library, "cuCtxSetCurrent", of(&[context]));
            }
            // SAFETY: the memory has this size, and no reference to it exists.
            unsafe {
                (memory as *mut u8).write_bytes(0, PASSED << 16);
                ((memory + ((PASSED - 1) << 16)) as *mut [u8; 8]).write(*b"missing\0");
            }
            let mut list = [0; ARGUMENTS];
            for (index, value) in list.iter_mut().enumerate() {
                *value = match (kind(number, index), arguments.get(index)) {
                    (0, _) => 0,
                    // Data can't be called.
                    (_, Some(&"HostFunction")) => nothing as *const () as usize,
                    (_, Some(&"StreamCallback")) => nothing_of_stream as *const () as usize,
                    (_, Some(&"SizeFunction")) => no_bytes as *const () as usize,
                    (2, _) => memory + ((PASSED - 1) << 16),
                    _ => memory + (index << 16),
                };
            }
            print!("\n= {name} {number} ");
            println!("{}", call(&library, name, list));
        }
    }
    Ok(())
}

/// The answers in a state, by function and call.
fn answers(state: usize) -> Anything<BTreeMap<(String, usize), u32>> {
    // Some functions write files.
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--exact", "answers_are_nvidias", "--nocapture"]).env(VARIABLE, state.to_string());
    let run = command.current_dir(folder.path()).output()?;
    let text = String::from_utf8_lossy(&run.stdout);
    let lines = text.lines().filter_map(|line| line.strip_prefix("= "));
    assert!(run.status.success(), "{} in state {state}, after {:?}", run.status, lines.clone().next_back());
    let mut answers = BTreeMap::new();
    for line in lines {
        let [name, number, answer] = line.split(' ').collect::<Vec<_>>()[..] else { return Err(line.into()) };
        answers.insert((name.to_owned(), number.parse()?), answer.parse()?);
    }
    Ok(answers)
}

/// Whether a call passes memory as a handle. NVIDIA's driver reads the memory, and its answer depends on the contents.
fn has_false_handle(arguments: &[&str], number: usize) -> bool {
    let is_handle = |ty: &str| ty.ends_with("Handle") && !ty.starts_with("Out<") && !ty.starts_with("In<");
    arguments.iter().enumerate().any(|(index, ty)| is_handle(ty) && kind(number, index) > 0)
}

#[test]
fn answers_are_nvidias() -> Anything {
    if let Ok(state) = std::env::var(VARIABLE) {
        return make_calls(state.parse()?);
    }
    let ours = (0..STATES).map(answers).collect::<Anything<Vec<_>>>()?;
    let table = functions(include_str!("../api.in"));
    let mut found = String::new();
    for (name, groups) in RECORDED.lines().filter_map(recorded) {
        let arguments = &table.iter().find(|function| function.names[0] == name).ok_or(name)?.arguments;
        for (state, group) in groups.iter().enumerate() {
            for (number, theirs) in group.iter().enumerate() {
                let Some(&ours) = ours[state].get(&(name.to_owned(), number)) else { continue };
                let theirs: u32 = theirs.parse()?;
                if ours == theirs {
                    continue;
                }
                if has_false_handle(arguments, number) && [0, 201, 709].contains(&theirs) {
                    assert_ne!(ours, 0, "{name}, state {state}, call {number}");
                } else {
                    writeln!(found, "{name} {state} {number} {ours}")?;
                }
            }
        }
    }
    let lines = |text: &str| -> Vec<String> {
        let mut list: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        list.sort();
        list
    };
    let (known, found) = (lines(DIFFERENCES), lines(&found));
    let new: Vec<_> = found.iter().filter(|line| !known.contains(line)).collect();
    let gone: Vec<_> = known.iter().filter(|line| !found.contains(line)).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "differences that answers/differences.txt lacks: {new:#?}, and that are gone: {gone:#?}"
    );
    Ok(())
}
