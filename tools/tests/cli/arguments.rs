//! Behavior of all subcommands: help, wrong arguments, output.

use std::fs;

use crate::{Done, command, fails, odd, run};

#[test]
fn help_is_there_for_every_subcommand() {
    for name in [
        "translate",
        "check",
        "inspect",
        "extract",
        "link",
        "devices",
        "run",
        "test",
        "cuda",
        "cache",
        "completions",
        "man",
    ] {
        let done = run(&[name, "--help"]);
        assert_eq!(done.status, Some(0));
        assert!(done.out.contains("Example"), "{name}");
    }
}

#[test]
fn wrong_arguments_end_with_2() {
    fails(&[], 2, "Usage");
    fails(&["translate"], 2, "<FILE>");
    fails(&["translate", "x.ptx", "-o", "-"], 2, "exactly one form");
    fails(&["translate", "x.ptx", "--emit", "elf"], 2, "elf");
    fails(&["run", "x.ptx", "u8:256"], 2, "argument `u8:256`: 256 does not fit u8");
    fails(&["run", "x.ptx", "--grid", "1,2,3,4"], 2, "at most three");
    fails(&["run", "x.ptx", "--block", "0"], 2, "`0` is not a valid size");
    fails(&["run", "x.json", "u8:1"], 2, "its own kernel");
    fails(&["run", "x.ptx", "--max-dispatch-ms", "0"], 2, "--max-dispatch-ms");
    fails(&["translate", "x.ptx", "--block-threads", "1025"], 2, "1..=1024");
    fails(&["completions", "dos"], 2, "dos");
    fails(&["run", "x.ptx", "--device", "reference:chek"], 2, "`chek`; there are: check, seed=N, subgroup=N");
    fails(&["run", "x.ptx", "--device", "reference", "--trace", "0"], 2, "such as 0:5");
    fails(&["run", "x.ptx", "--device", "reference", "--trace", "0:1,2,3,4"], 2, "at most three");
    fails(&["test", "x.json", "--device", "reference", "--seeds", "3..3"], 2, "`3..3` is not a range");
}

#[test]
fn flags_of_the_reference_device_are_for_no_other() {
    let directory = odd("[]");
    let file = directory.path().join("odd.json").display().to_string();
    for (command, flag) in [("run", "--seed=1"), ("run", "--trace=0:0"), ("test", "--seeds=0..2")] {
        let name = flag.split('=').next().unwrap();
        fails(&[command, &file, "--device", "cpu", flag], 2, &format!("{name} is for the reference device"));
    }
}

#[test]
fn refused_input_ends_with_1() {
    fails(&["translate", "no/such.ptx"], 1, "error: no/such.ptx: No such file");
    fails(&["inspect", "no/such.ptx"], 1, "no/such.ptx");
    fails(&["test", "no/such.json"], 1, "error: no/such.json");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bytes.ptx");
    fs::write(&path, [0xc3, 0x28]).unwrap();
    fails(&["translate", path.to_str().unwrap()], 1, "PTX text starts with it");
    fails(&["translate", path.to_str().unwrap(), "--target", "atari"], 1, "no target `atari`");
    fails(&["test", directory.path().to_str().unwrap()], 1, "no launch cases found");
}

#[test]
fn colours_are_for_terminals() {
    let directory = odd("[11, 13, 15, 16]");
    let case = directory.path().join("odd.json").display().to_string();
    let with = |variables: &[(&str, &str)]| -> Done {
        command(&["test", &case]).envs(variables.iter().copied()).output().unwrap().into()
    };
    assert!(with(&[]).out.starts_with("FAIL "));
    assert!(with(&[("CLICOLOR_FORCE", "1")]).out.starts_with("\u{1b}[1m\u{1b}[31mFAIL\u{1b}[0m "));
    let refused = |variables: &[(&str, &str)]| -> Done {
        command(&["inspect", "none.ptx"]).envs(variables.iter().copied()).output().unwrap().into()
    };
    assert!(refused(&[("CLICOLOR_FORCE", "1")]).err.contains("error\u{1b}[0m: none.ptx"));
    assert!(refused(&[("NO_COLOR", "1")]).err.starts_with("error: none.ptx"));
}

#[test]
fn quiet_leaves_notes_out() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let out = directory.path().join("out").display().to_string();
    assert!(run(&["translate", &ptx, "-o", &out]).err.starts_with("note: translating for"));
    assert_eq!(run(&["translate", &ptx, "-o", &out, "-q"]).err, "");
    assert!(run(&["-q", "inspect", "none.ptx"]).err.starts_with("error: none.ptx"));
}

#[test]
fn a_closed_pipe_is_silent() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let done: Done = command(&["completions", "bash"]).stdout(writer).output().unwrap().into();
    assert_eq!(done.err, "");
    assert_eq!(done.status, Some(141));
}

#[test]
fn completions_know_the_subcommands() {
    let done = run(&["completions", "bash"]);
    assert_eq!(done.status, Some(0));
    assert!(done.out.contains("translate") && done.out.contains("--keep-going"));
}

#[test]
fn environment_variables_with_bad_values_are_named() {
    for (name, value, part) in [
        ("PTX2SPV_DEVICE", "reference:chek", "PTX2SPV_DEVICE is `reference:chek`: no such reference device"),
        ("PTX2SPV_DEVICE", "lvmpipe9", "PTX2SPV_DEVICE is `lvmpipe9`: no device matches"),
        ("PTX2SPV_RESTRICT", "vulkan=7", "PTX2SPV_RESTRICT is `vulkan=7`: `7` is not a Vulkan version from 1.1 on"),
        ("PTX2SPV_QUEUES", "9", "PTX2SPV_QUEUES is `9`: streams have 1 to 8 queues"),
        ("PTX2SPV_VALIDATION", "yes", "PTX2SPV_VALIDATION is `yes`: 1 switches validation on"),
    ] {
        if name == "PTX2SPV_DEVICE" {
            let directory = odd("[]");
            let case = directory.path().join("odd.json");
            let done: Done = command(&["test", case.to_str().unwrap()]).env(name, value).output().unwrap().into();
            assert_eq!(done.status, Some(1), "{}", done.err);
            assert!(done.err.contains(&format!("the environment variable {part}")), "{}", done.err);
        }
        let mut devices = command(&["devices", "--device", if name == "PTX2SPV_DEVICE" { "default" } else { "cpu" }]);
        let done: Done = devices.env(name, value).output().unwrap().into();
        assert_eq!(done.status, Some(1), "{name}: {}", done.err);
        assert!(done.err.contains(&format!("the environment variable {part}")), "{}", done.err);
    }
}
