//! The command line from outside: exit status, messages, files written.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptx2spv"));
    command.args(args);
    command
}

struct Done {
    status: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn run(args: &[&str]) -> Done {
    command(args).output().unwrap().into()
}

#[track_caller]
fn fails(args: &[&str], status: i32, part: &str) {
    let done = run(args);
    assert_eq!(done.status, Some(status), "{args:?}: {}", done.err);
    assert!(done.err.contains(part), "{args:?}: {}", done.err);
    assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
}

#[test]
fn help_is_there_for_every_subcommand() {
    for name in ["translate", "inspect", "extract", "link", "devices", "run", "test", "cuda", "cache", "completions"] {
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
    fails(&["run", "x.ptx", "--block", "0"], 2, "`0` is no size");
    fails(&["run", "x.json", "u8:1"], 2, "its own kernel");
    fails(&["run", "x.ptx", "--max-dispatch-ms", "0"], 2, "--max-dispatch-ms");
    fails(&["translate", "x.ptx", "--block-threads", "1025"], 2, "1..=1024");
    fails(&["completions", "dos"], 2, "dos");
    fails(&["run", "x.ptx", "--device", "reference:chek"], 2, "`chek`; there are: check, seed=N, subgroup=N");
    fails(&["run", "x.ptx", "--device", "reference", "--trace", "0"], 2, "such as 0:5");
    fails(&["run", "x.ptx", "--device", "reference", "--trace", "0:1,2,3,4"], 2, "at most three");
    fails(&["test", "x.json", "--device", "reference", "--seeds", "3..3"], 2, "`3..3` is no range");
}

#[test]
fn flags_of_the_reference_device_are_for_no_other() {
    let directory = odd("[]");
    let file = directory.path().join("odd.json").display().to_string();
    for (command, flag) in
        [("run", "--check"), ("run", "--seed=1"), ("run", "--trace=0:0"), ("test", "--check"), ("test", "--seeds=0..2")]
    {
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
    fails(&["translate", path.to_str().unwrap()], 1, "is not text");
    fails(&["translate", path.to_str().unwrap(), "--target", "atari"], 1, "no target `atari`");
    fails(&["test", directory.path().to_str().unwrap()], 1, "no launch cases found");
}

#[test]
fn several_targets_have_files_of_their_own() {
    let directory = odd("[]");
    let at = |name: &str| directory.path().join(name);
    let (ptx, out) = (at("odd.ptx").display().to_string(), at("out").display().to_string());
    let card = at("my card.json");
    fs::write(&card, run(&["devices", "--device", "reference", "--json"]).out).unwrap();
    let targets = format!("nvidia,vulkan1.1-minimum,{}", card.display());
    let done = run(&["translate", &ptx, "--target", &targets, "-o", &out]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    for label in ["nvidia", "vulkan1.1-minimum", "my card"] {
        for extension in ["spv", "json"] {
            let file = at("out").join(format!("odd.{label}.{extension}"));
            assert!(file.exists() && done.out.contains(&format!("{}\n", file.display())), "{}", done.out);
        }
    }
    let description = fs::read_to_string(at("out").join("odd.vulkan1.1-minimum.json")).unwrap();
    let description: serde_json::Value = serde_json::from_str(&description).unwrap();
    assert_eq!((&description["target"], &description["spirv"][1]), (&"vulkan1.1-minimum".into(), &3.into()));
    fails(&["translate", &ptx, "--target", "nvidia,mali", "--emit", "asm", "-o", "-"], 2, "takes one target");
    fails(&["translate", &ptx, "--target", "nvidia,nvidia"], 2, "two targets are called `nvidia`");
    fails(
        &["translate", &ptx, "--target", "nvidia,nvida"],
        1,
        "no target `nvida` (did you mean `nvidia`?): it is neither a preset (amd-rdna, ",
    );
}

/// Variants for two targets and two sizes of blocks, of which one device holds the larger ones as they are.
#[test]
fn bundles_have_variants_of_several_sizes() {
    let directory = odd("[]");
    let (ptx, out) = (directory.path().join("odd.ptx"), directory.path().join("out"));
    let (ptx, out) = (ptx.display().to_string(), out.display().to_string());
    let targets = "swiftshader,nvidia";
    fails(
        &["translate", &ptx, "--block-threads", "64,1024"],
        2,
        "several sizes of blocks go into one file: add --bundle",
    );
    let done = run(&["translate", &ptx, "--target", targets, "--block-threads", "64,1024", "--bundle", "-o", &out]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    let bundle: serde_json::Value = serde_json::from_slice(&fs::read(done.out.trim_end()).unwrap()).unwrap();
    let made = |variant: &serde_json::Value| {
        let interface = &variant["interface"];
        (interface["target"].as_str().unwrap().to_owned(), interface["entries"][1]["packing"]["lanes"].as_u64())
    };
    let variants: Vec<_> = bundle["variants"].as_array().unwrap().iter().map(made).collect();
    let expected = [("swiftshader", None), ("swiftshader", Some(4)), ("nvidia", None)];
    assert_eq!(variants, expected.map(|(target, lanes)| (target.to_owned(), lanes)));
}

#[test]
fn presets_are_listed() {
    let done = run(&["devices", "--presets"]);
    assert!(done.out.contains("apple-moltenvk") && done.out.contains("MoltenVK 1.4.1"), "{}", done.out);
    let all: Vec<serde_json::Value> = serde_json::from_str(&run(&["devices", "--presets", "--json"]).out).unwrap();
    assert!(all.iter().any(|target| target["name"] == "mali"));
    fails(&["devices", "--presets", "--device", "0"], 2, "cannot be used with");
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
fn the_cache_is_shown_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let (ptx, kept) = (folder.path().join("odd.ptx"), folder.path().join("kept"));
    fs::write(&ptx, PTX).unwrap();
    let run = |args: &[&str]| -> Done {
        let done: Done = command(args).env("PTX2SPV_CACHE", &kept).output().unwrap().into();
        assert_eq!(done.status, Some(0), "{}", done.err);
        done
    };
    let shows =
        |count: &str| run(&["cache"]).out.lines().any(|line| line.starts_with(count) && line.ends_with("translations"));
    assert!(shows("       0 files"));
    let launch = [
        "run",
        ptx.to_str().unwrap(),
        "--device",
        "reference",
        "--entry",
        "odd",
        "--block",
        "4",
        "u32[4]:iota",
        "u32[4]",
    ];
    let first = run(&launch).out;
    // What is known of the module, and its kernel.
    assert!(shows("       2 files"));
    assert_eq!(run(&launch).out, first);
    assert!(run(&["cache", "--clear"]).out.ends_with(": 2 files deleted\n"));
    assert!(shows("       0 files"));
    let off: Done = command(&["cache"]).env("PTX2SPV_CACHE", "").output().unwrap().into();
    assert!(off.out.contains("nothing is kept"), "{}", off.out);
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

/// `out[i] = 2 * in[i] + 1`, and a variable.
const PTX: &str = "
.version 7.0
.target sm_50
.address_size 64
.global .align 4 .u32 counter[3];
.visible .entry odd(.param .u64 in, .param .u64 out)
.reqntid 4, 1, 1
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd1];
    mad.lo.u32 %r2, %r2, 2, 1;
    st.global.u32 [%rd2], %r2;
    ret;
}
.visible .entry other() { ret; }
";

/// A directory with `odd.ptx` and a case for it with these expected elements.
fn odd(expected: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("odd.ptx"), PTX).unwrap();
    let case = format!(
        r#"[{{"name": "odd", "ptx": "odd.ptx", "entry": "odd", "block": [4, 1, 1],
             "args": [{{"type": "u32", "data": [5, 6, 7, 8]}}, {{"type": "u32", "zeros": 4}}],
             "expect": [{{"arg": 1, "data": {expected}}}]}}]"#
    );
    fs::write(directory.path().join("odd.json"), case).unwrap();
    directory
}

#[test]
fn a_kernel_runs_with_arguments_from_the_command_line() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let done = run(&["run", &ptx, "--entry", "odd", "--block", "4", "--print", "3", "u32[4]:iota", "u32[4]"]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    assert_eq!(done.out, "  arg 0, u32[4]: 0, 1, 2, …\n  arg 1, u32[4]: 1, 3, 5, …\n");
    fails(&["run", &ptx, "u32[4]:iota", "u32[4]"], 2, "several kernels, name one with --entry: odd, other");
    fails(&["run", &ptx, "--entry", "none"], 1, "none");
    fails(&["run", &ptx, "--entry", "odd", "--block", "4", "u32[4]:iota"], 1, "takes 2 arguments, not 1");
    fails(&["run", &ptx, "--entry", "odd", "--block", "8", "u32[4]", "u32[4]"], 1, "block of 8 x 1 x 1");
}

#[test]
fn results_are_written_as_json_and_to_files() {
    let directory = odd("[11, 13, 15, 16]");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let launch = ["--entry", "odd", "--block", "4", "u32[4]:iota", "u32[4]"];
    let save = format!("1={}", at("odd.bin"));
    let done = run(&[&["run", &at("odd.ptx"), "--json", "--save", &save], &launch[..]].concat());
    assert_eq!(done.status, Some(0), "{}", done.err);
    let report: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["kernel"], "odd");
    assert_eq!(report["results"][1], serde_json::json!({"arg": "1", "type": "u32", "data": [1, 3, 5, 7]}));
    assert_eq!(fs::read(at("odd.bin")).unwrap(), [1, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0]);
    let done = run(&["run", &at("odd.json"), "--json"]);
    assert_eq!(done.status, Some(1), "{}", done.err);
    let reports: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&reports[0]["case"], &reports[0]["passed"]), (&"odd".into(), &false.into()));
    fails(&[&["run", &at("odd.ptx"), "--save", "2=x"], &launch[..]].concat(), 2, "argument 2 is no buffer");
    fails(&["run", &at("odd.ptx"), "--save", "x"], 2, "such as 2=sums.bin");
}

/// A struct `{ const unsigned *in; unsigned *out; unsigned n; }` by value.
#[test]
fn structs_hold_pointers() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let ptx = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry copy(.param .align 8 .b8 s[24])
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [s];
    ld.param.u64 %rd2, [s+8];
    ld.param.u32 %r1, [s+16];
    ld.global.u32 %r2, [%rd1+4];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd2], %r2;
    ret;
}
";
    fs::write(at("s.ptx"), ptx).unwrap();
    let save = format!("0.1={}", at("out.bin"));
    let done = run(&["run", &at("s.ptx"), "{u32[]:5,6;u32[1];u32:100}", "--save", &save]);
    assert_eq!(done.out, "  arg 0.0, u32[2]: 5, 6\n  arg 0.1, u32[1]: 106\n", "{}", done.err);
    assert_eq!(fs::read(at("out.bin")).unwrap(), [106, 0, 0, 0]);
    fails(&["run", &at("s.ptx"), "{u32[]:5,6;u32:100}"], 1, "has 24 bytes, the argument 16");
}

#[test]
fn what_was_translated_before_runs() {
    let directory = odd("[]");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let card = at("card.target");
    fs::write(&card, run(&["devices", "--device", "default", "--json"]).out).unwrap();
    for (more, name) in [(&[][..], "out/odd.spv"), (&[], "out/odd.json"), (&["--bundle"], "out/odd.bundle.json")] {
        let translate = ["translate", &at("odd.ptx"), "--target", &card, "-o", &at("out")];
        assert_eq!(run(&[&translate, more].concat()).status, Some(0));
        let done = run(&["run", &at(name), "--entry", "odd", "--block", "4", "--print", "2", "u32[4]:iota", "u32[4]"]);
        assert_eq!(done.out, "  arg 0, u32[4]: 0, 1, …\n  arg 1, u32[4]: 1, 3, …\n", "{name}: {}", done.err);
        fails(&["run", &at(name)], 2, "name one with --entry: odd, other");
    }
    fails(&["run", &at("none.spv")], 1, "none.json: No such file");
}

#[test]
fn cases_pass_and_fail_by_what_the_kernel_computes() {
    for (expected, status, words) in
        [("[11, 13, 15, 17]", 0, "1 passed, 0 failed"), ("[11, 13, 15, 16]", 1, "[3] expected 16")]
    {
        let directory = odd(expected);
        for command in ["test", "run"] {
            let done = run(&[command, directory.path().join("odd.json").to_str().unwrap()]);
            assert_eq!(done.status, Some(status), "{}{}", done.out, done.err);
            assert!(command == "run" || done.out.contains(words), "{}", done.out);
        }
    }
}

#[test]
fn files_are_written_where_they_are_wanted() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let out = directory.path().join("made/here");
    let done = run(&["translate", &ptx, "--target", "lavapipe", "-o", out.to_str().unwrap()]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    let spirv = fs::read(out.join("odd.spv")).unwrap();
    assert_eq!(spirv[..4], 0x0723_0203_u32.to_le_bytes());
    let interface: serde_json::Value = serde_json::from_slice(&fs::read(out.join("odd.json")).unwrap()).unwrap();
    assert_eq!(interface["entries"].as_array().unwrap().len(), 2);
    let file = directory.path().join("one.spv").display().to_string();
    let args = ["translate", &ptx, "--target", "nvidia", "--entry", "odd", "--emit", "asm,spirv", "-o", &file];
    let done = run(&args);
    assert_eq!(done.out, format!("{file}\n{file}asm\n"), "{}", done.err);
    let text = fs::read_to_string(directory.path().join("one.spvasm")).unwrap();
    assert!(text.contains("\"odd\"") && !text.contains("\"other\"") && !text.contains("OpLine"), "{text}");
    let done = run(&["translate", &ptx, "--target", "nvidia", "-g", "--emit", "asm", "-o", "-"]);
    assert!(done.out.contains(&format!("OpString \"{ptx}\"")) && done.out.contains("OpLine"), "{}", done.out);
    fails(&["translate", &ptx, "--entry", "none"], 1, "no kernel `none`: the file has odd, other");
}

#[test]
fn names_of_files_say_their_form() {
    let directory = odd("[]");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let translate = |more: &[&str]| run(&[&["translate", &at("odd.ptx"), "--target", "nvidia"], more].concat());
    for (name, emit, expected) in [
        ("a.json", None, &["a.spv", "a.json"][..]),
        ("b.spirv", None, &["b.spirv", "b.json"]),
        ("c.spvasm", None, &["c.spvasm"]),
        ("d.spvasm", Some("asm"), &["d.spvasm"]),
        ("e.h", None, &["e.h"]),
        ("f.h", Some("spirv,header"), &["f.spv", "f.h"]),
        ("g.x", None, &["g.x/odd.spv", "g.x/odd.json"]),
    ] {
        let emit = emit.map_or(vec![], |emit| vec!["--emit", emit]);
        let done = translate(&[&["-o", &at(name)], &emit[..]].concat());
        let lines: Vec<String> = done.out.lines().map(str::to_owned).collect();
        assert_eq!(lines, expected.iter().map(|name| at(name)).collect::<Vec<_>>(), "{name}: {}", done.err);
        assert!(lines.iter().all(|file| Path::new(file).is_file()), "{name}");
    }
    let json: serde_json::Value = serde_json::from_slice(&fs::read(at("a.json")).unwrap()).unwrap();
    assert_eq!(json["entries"].as_array().unwrap().len(), 2);
    assert_eq!(fs::read(at("b.spirv")).unwrap()[..4], 0x0723_0203_u32.to_le_bytes());
    assert!(fs::read_to_string(at("c.spvasm")).unwrap().contains("OpEntryPoint"));
    assert_eq!(translate(&["--bundle", "-o", &at("both.json")]).out, format!("{}\n", at("both.json")));
    let args = ["translate", &at("odd.ptx"), "--target", "nvidia", "--emit", "asm", "-o", &at("x.spv")];
    fails(&args, 2, "is a name for spirv, which --emit doesn't list");
}

#[test]
fn a_file_without_kernels_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let ptx = directory.path().join("none.ptx").display().to_string();
    let header = ".version 7.0\n.target sm_50\n.address_size 64\n";
    for body in ["", ".global .u32 g;\n", ".func f() { ret; }\n", ".extern .entry k();\n"] {
        fs::write(&ptx, format!("{header}{body}")).unwrap();
        let out = directory.path().join("out").display().to_string();
        for more in [&[][..], &["--keep-going"], &["--bundle"]] {
            let args = [&["translate", &ptx, "--target", "nvidia", "-o", &out], more].concat();
            fails(&args, 1, "the file has no kernel");
        }
        assert!(!Path::new(&out).exists());
        fails(&["run", &ptx], 1, "no kernel");
    }
}

#[test]
fn kernels_are_seen_on_their_way() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let dump = directory.path().join("dump");
    let flags = ["--emit", "ir", "-o", "-", "--time-passes", "--dump-passes"];
    let done = run(&[&["translate", &ptx, "--target", "nvidia"], &flags[..], &[dump.to_str().unwrap()]].concat());
    assert_eq!(done.status, Some(0), "{}", done.err);
    assert!(done.out.starts_with("; kernel odd\n") && done.out.contains("\n; kernel other\n"), "{}", done.out);
    let names: Vec<&str> = done.err.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[..3], ["pass", "parse", "lower"], "{}", done.err);
    assert_eq!(names[names.len() - 2..], ["emit", "all"], "{}", done.err);
    let mut files: Vec<_> = fs::read_dir(dump.join("1-odd")).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!((files[0].to_str(), files[5].to_str()), (Some("00-lower.cfg"), Some("05-structurize.ir")));
    // One for each pass, and all in the table of times.
    assert_eq!(files.len(), names.len() - 4);
    let last = fs::read_to_string(dump.join("1-odd").join(files.last().unwrap())).unwrap();
    let body = last.split_once('\n').unwrap().1;
    assert!(done.out.contains(body), "{last}");
    assert!(dump.join("2-other").is_dir());
    fs::write(directory.path().join("file"), "").unwrap();
    let blocked = directory.path().join("file").display().to_string();
    fails(
        &["translate", &ptx, "--target", "nvidia", "-o", "-", "--emit", "ir", "--dump-passes", &blocked],
        1,
        &blocked,
    );
}

#[test]
fn inspect_tells_what_a_launch_needs() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let done = run(&["inspect", &ptx, "--json"]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    let report: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let kernel = &report["kernels"][0]["interface"];
    assert_eq!(kernel["params"][1]["offset"], 8);
    assert_eq!(kernel["block"]["required"], serde_json::json!([4, 1, 1]));
    assert_eq!(report["variables"]["list"][0]["size"], 12);
    let done = run(&["inspect", &ptx]);
    for words in ["PTX 7.0, target sm_50, 64-bit", "exactly 4 x 1 x 1", "counter", "kernel other"] {
        assert!(done.out.contains(words), "{}", done.out);
    }
}

/// A case whose PTX file is empty, so that it can only fail.
fn failing_case(directory: &Path) -> String {
    fs::write(directory.join("empty.ptx"), "").unwrap();
    let case = r#"{"name": "c", "ptx": "empty.ptx", "entry": "k", "args": [{"type": "u8", "zeros": 1}],
                   "expect": [{"arg": 0, "data": [1]}]}"#;
    let file = directory.join("case.json");
    fs::write(&file, case).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn failing_cases_are_counted_and_reported() {
    let directory = tempfile::tempdir().unwrap();
    let file = failing_case(directory.path());
    let report = directory.path().join("report.out");
    let done = run(&["test", directory.path().to_str().unwrap(), "--json", report.to_str().unwrap()]);
    assert_eq!(done.status, Some(1), "{}", done.err);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", done.out);
    assert!(lines[0].starts_with(&format!("FAIL {file}:c: ")), "{}", lines[0]);
    assert!(lines[1].ends_with("0 passed, 1 failed"), "{}", lines[1]);
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["failed"], 1);
    assert_eq!(run(&["test", &file, "--filter", "nothing"]).status, Some(1));
    let done = run(&["run", &file]);
    assert_eq!(done.status, Some(1));
    assert!(done.out.contains("FAILED"), "{}", done.out);
}

#[test]
fn a_description_of_the_device_here_is_a_target() {
    let directory = tempfile::tempdir().unwrap();
    let description = directory.path().join("card.target");
    let done = run(&["devices", "--device", "best", "--json"]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    fs::write(&description, &done.out).unwrap();
    let ptx = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n  ret;\n}\n";
    let args = ["translate", "-", "--target", description.to_str().unwrap(), "--emit", "json", "-o", "-"];
    let mut child = command(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(ptx.as_bytes()).unwrap();
    let done: Done = child.wait_with_output().unwrap().into();
    assert_eq!(done.status, Some(0), "{}", done.err);
    let interface: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(interface["entries"][0]["name"], "empty");
    let list = run(&["devices", "--json"]);
    fs::write(&description, &list.out).unwrap();
    fails(&["translate", "-", "--target", description.to_str().unwrap()], 1, "several devices");
}

/// The self-test's answer is read again, and made again where it can't be.
#[test]
fn what_the_self_test_found_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let devices = || -> Done { command(&["devices"]).env("PTX2SPV_CACHE", folder.path()).output().unwrap().into() };
    let files = || {
        let found = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
        // Not the compiled pipelines beside them.
        found.filter(|file| file.file_name().to_string_lossy().starts_with("device-")).map(|file| file.path())
    };
    let first = devices();
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"div_f32_rounded\": true", "\"div_f32_rounded\": false")).unwrap();
    }
    let second = devices();
    assert_eq!(
        second.out.contains("div_f32_rounded"),
        files().next().is_some() || first.out.contains("div_f32_rounded")
    );
    for file in files() {
        fs::write(&file, "{").unwrap();
    }
    assert_eq!(devices().out, first.out);
}

/// Nowhere to keep what was found is no error.
#[test]
fn a_home_that_is_missing_or_read_only_will_do() {
    let variables = ["HOME", "XDG_CACHE_HOME", "PTX2SPV_CACHE"];
    let without = variables.iter().fold(command(&["devices"]), |mut command, name| {
        command.env_remove(name);
        command
    });
    let mut read_only = command(&["devices"]);
    // No file system to write to, not even for root.
    read_only.env("HOME", "/proc/self").env("PTX2SPV_CACHE", "/proc/self/none");
    for mut command in [without, read_only] {
        let done: Done = command.output().unwrap().into();
        assert_eq!(done.status, Some(0), "{}", done.err);
        assert!(!done.err.contains("panicked"), "{}", done.err);
    }
}

/// The rows of `devices`' table.
fn rows(done: &Done) -> impl Iterator<Item = &str> {
    done.out.lines().filter(|line| !line.starts_with("not to be trusted"))
}

#[test]
fn the_reference_device_needs_no_driver() {
    let directory = odd("[11, 13, 15, 17]");
    let file = directory.path().join("odd.json").display().to_string();
    let nowhere = [("VK_DRIVER_FILES", "/nonexistent/icd.json"), ("VK_ICD_FILENAMES", "/nonexistent/icd.json")];
    let without_driver =
        |args: &[&str]| -> Done { command(args).envs(nowhere).env_remove("PTX2SPV_DEVICE").output().unwrap().into() };
    let done = without_driver(&["test", &file]);
    assert_eq!(done.status, Some(0), "{}{}", done.out, done.err);
    assert_eq!(done.out, "reference: 1 passed, 0 failed\n");
    assert!(done.err.starts_with("warning: no Vulkan device can be used ("), "{}", done.err);
    assert!(
        done.err.contains("/nonexistent/icd.json: No such file")
            && done.err.contains("reference device, an interpreter")
    );
    let done = without_driver(&["devices"]);
    assert_eq!(rows(&done).count(), 2, "{}", done.out);
    // Who asks for another device does not get this one.
    let done = without_driver(&["test", &file, "--device", "cpu"]);
    assert_eq!(done.status, Some(1), "{}{}", done.out, done.err);
    assert!(done.err.contains("no Vulkan device found"), "{}", done.err);
}

/// The loader says nothing of drivers that it can't load.
#[test]
fn a_driver_that_does_not_load_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("broken_icd.json");
    let text =
        r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "libvulkan_broken.so", "api_version": "1.3.0"}}"#;
    fs::write(&manifest, text).unwrap();
    let variables = [("VK_DRIVER_FILES", &manifest), ("VK_ICD_FILENAMES", &manifest)];
    let done: Done = command(&["devices", "--device", "cpu"]).envs(variables).output().unwrap().into();
    assert_eq!(done.status, Some(1));
    for part in ["broken_icd.json", "libvulkan_broken.so", "can't be loaded"] {
        assert!(done.err.contains(part), "{}", done.err);
    }
}

#[test]
fn environment_variables_with_bad_values_are_named() {
    for (name, value, part) in [
        ("PTX2SPV_DEVICE", "reference:chek", "PTX2SPV_DEVICE is `reference:chek`: no such reference device"),
        ("PTX2SPV_DEVICE", "lvmpipe9", "PTX2SPV_DEVICE is `lvmpipe9`: no device matches"),
        ("PTX2SPV_RESTRICT", "vulkan=7", "PTX2SPV_RESTRICT is `vulkan=7`: no Vulkan 7"),
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

/// Names as `nvcc` makes them: `axpy(int)` and `void blas::axpy<float>(float*)`.
const MANGLED: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry _Z4axpyi(.param .u32 n) { ret; }
.visible .entry _ZN4blas4axpyIfEEvPT_(.param .u64 x)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    st.global.u32 [%rd1], 7;
    ret;
}
";

#[test]
fn kernels_go_by_their_names_in_cpp() {
    let directory = tempfile::tempdir().unwrap();
    let ptx = directory.path().join("names.ptx").display().to_string();
    fs::write(&ptx, MANGLED).unwrap();
    for name in ["blas::axpy<float>", "void blas::axpy<float>(float*)", "_ZN4blas4axpyIfEEvPT_"] {
        let done = run(&["run", &ptx, "--entry", name, "u32[1]"]);
        assert_eq!(done.out, "  arg 0, u32[1]: 7\n", "{}", done.err);
    }
    let message = "no kernel `axyp` (did you mean `axpy`?): the file has axpy(int), void blas::axpy<float>(float*)";
    fails(&["run", &ptx, "--entry", "axyp"], 1, message);
    fails(&["run", &ptx], 2, "name one with --entry: axpy(int), void blas::axpy<float>(float*)");
    let done = run(&["inspect", &ptx]);
    assert!(
        done.out.contains("\nkernel void blas::axpy<float>(float*)\n  symbol    _ZN4blas4axpyIfEEvPT_\n"),
        "{}",
        done.out
    );
    fails(&["run", &ptx, "--entry", "axpy"], 1, "kernel `axpy(int)` takes 1 arguments, not 0");
}

#[test]
fn files_that_are_not_ptx_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("k").display().to_string();
    let mut cubin = b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0\x02\0".to_vec();
    cubin.extend(190_u16.to_le_bytes());
    for (bytes, kind, help) in [
        (&cubin[..], "machine code for one kind of NVIDIA device (a cubin), where PTX is needed", "nvcc -ptx"),
        (b"BC\xc0\xde", "LLVM bitcode, not PTX", "llc -mcpu="),
        (b"__global__ void k() {}", "a source file in C++, not PTX", "nvcc -ptx"),
    ] {
        fs::write(&path, bytes).unwrap();
        for command in ["translate", "inspect", "run"] {
            fails(&[command, &path], 1, kind);
            fails(&[command, &path], 1, help);
        }
    }
}

/// A container with plain PTX for one architecture.
fn fat_binary(text: &str) -> Vec<u8> {
    let mut payload = text.as_bytes().to_vec();
    payload.resize((text.len() + 1).next_multiple_of(8), 0);
    let mut bytes = 0xba55_ed50_u32.to_le_bytes().to_vec();
    bytes.extend([1, 0, 16, 0]);
    bytes.extend((64 + payload.len() as u64).to_le_bytes());
    bytes.extend([1, 0, 1, 1, 64, 0, 0, 0]);
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 80, 0, 0, 0]);
    bytes.extend([0; 32]);
    bytes.extend(payload);
    bytes
}

#[test]
fn programs_out_of_fat_binaries() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let kernel = |name: &str, value: u32| {
        format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry {name}(.param .u64 out)\n{{\n.reg .b64 %rd;\n\
             ld.param.u64 %rd, [out];\nst.global.u32 [%rd], {value};\nret;\n}}\n"
        )
    };
    let file = at("both.fatbin");
    fs::write(&file, [fat_binary(&kernel("one", 1)), fat_binary(&kernel("two", 2))].concat()).unwrap();
    let device = ["--device", "reference", "u32[1]"];
    for (arguments, value) in
        [(["--kernel", "one"], "1"), (["--kernel", "two"], "2"), (["--module", "2"], "2"), (["--entry", "one"], "1")]
    {
        let done = run(&[&["run", &file][..], &arguments, &device].concat());
        assert_eq!(done.out, format!("  arg 0, u32[1]: {value}\n"), "{}", done.err);
    }
    fails(&["run", &file], 2, "both.fatbin has 2 programs: name one by its number with --module");
    fails(&["inspect", &file, "--module", "3"], 1, "has no PTX with the number 3");
    fails(&["run", &file, "--kernel", "three"], 1, "no program in");
    fails(&["translate", &file, "--arch", "sm_90"], 1, "there is no PTX for sm_90 in it; it has PTX for sm_80");
    let listed: serde_json::Value = serde_json::from_str(&run(&["extract", &file, "--json"]).out).unwrap();
    assert_eq!(
        (&listed[1]["number"], &listed[1]["kernels"][0], &listed[1]["version"]),
        (&2.into(), &"two".into(), &"8.1".into())
    );
    assert!(run(&["extract", &file]).out.contains("kernels of 2\n  two\n"));
    let done = run(&["extract", &file, "-o", &at("out")]);
    let written = at("out/both.fatbin.2.sm_80.ptx");
    assert!(done.out.ends_with(&format!("{written}\n")), "{}", done.out);
    assert_eq!(fs::read_to_string(written).unwrap(), kernel("two", 2));
    fails(&["extract", &at("out/both.fatbin.2.sm_80.ptx")], 1, "this is no executable, library, object or fat binary");
}

#[test]
fn modules_are_linked() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let header = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let (kernel, data, linked) = (at("kernel.ptx"), at("data.ptx"), at("linked.ptx"));
    let text = ".extern .global .u32 x;\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd;\n.reg .b32 %r;\n\
                ld.param.u64 %rd, [out];\nld.global.u32 %r, [x];\nst.global.u32 [%rd], %r;\nret;\n}\n";
    fs::write(&kernel, format!("{header}{text}")).unwrap();
    fs::write(&data, format!("{header}.visible .global .u32 x = 7;\n")).unwrap();
    assert_eq!(run(&["link", &kernel, &data, "-o", &linked]).out, format!("{linked}\n"));
    let device = ["u32[1]", "--device", "reference"];
    for arguments in [&["run", &linked][..], &["run", &kernel, "--link", &data]] {
        let done = run(&[arguments, &device].concat());
        assert_eq!(done.out, "  arg 0, u32[1]: 7\n", "{}", done.err);
    }
    let done = run(&["inspect", &linked]);
    assert!(done.out.contains(&format!("{data}: PTX 7.0, target sm_70, 64-bit addresses")), "{}", done.out);
    fails(&["link", &kernel, "-o", &linked], 1, &format!("Undefined reference to `x`\n  ┌─ {kernel}:4:22"));
    fails(&["link", &data, &data, "-o", &linked], 1, "Multiple definition of `x`");
}

#[test]
fn the_reference_device_is_described_as_configured() {
    let done = run(&["devices", "--device", "reference:subgroup=64,without=shaderFloat64", "--json"]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    let target: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(target["subgroups"]["size"], 64);
    let features: Vec<&str> =
        target["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(features.contains(&"shaderInt64") && !features.contains(&"shaderFloat64"), "{features:?}");
    // What it says of itself makes such a device again.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("card.json").display().to_string();
    fs::write(&file, &done.out).unwrap();
    let again = run(&["devices", "--device", &format!("reference:target={file}"), "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&again["subgroups"], &again["features"]), (&target["subgroups"], &target["features"]));
    let done = run(&["devices"]);
    assert!(rows(&done).last().unwrap().trim_start().starts_with("reference"), "{}", done.out);
}

#[test]
fn buffers_of_a_case_are_saved() {
    let directory = odd("[11, 13, 15, 17]");
    let file = directory.path().join("odd.json").display().to_string();
    let spec: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let spec = spec[0].clone();
    let mut second = spec.clone();
    second["name"] = "second".into();
    let both = directory.path().join("both.json").display().to_string();
    fs::write(&both, serde_json::json!([spec, second]).to_string()).unwrap();
    let index = spec["expect"][0]["arg"].as_u64().unwrap();
    let saved = directory.path().join("saved.bin");
    let save = format!("{index}={}", saved.display());
    let expected: Vec<u8> = [11_u32, 13, 15, 17].into_iter().flat_map(u32::to_le_bytes).collect();
    for args in [&[&file[..]][..], &[&both, "--case", "second"]] {
        let done = run(&[&["run"], args, &["--device", "reference", "--save", &save]].concat());
        assert_eq!(done.status, Some(0), "{}{}", done.out, done.err);
        assert_eq!(fs::read(&saved).unwrap(), expected);
        fs::remove_file(&saved).unwrap();
    }
    fails(&["run", &both, "--save", &save], 2, "has several cases, name one with --case: ");
    fails(&["run", &both, "--case", "third"], 2, "has no case `third`; there are ");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    fails(&["run", &ptx, "--case", "second"], 2, "holds no launch cases");
}

#[test]
fn findings_are_printed_and_fail() {
    let directory = odd("[11, 13, 15, 17]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let args = ["run", &ptx, "--entry", "odd", "--block", "4", "--device", "reference", "--check"];
    // The output has room for three of four threads.
    let done = run(&[&args[..], &["u32[4]:iota", "u32[3]"]].concat());
    assert_eq!(done.status, Some(1), "{}", done.err);
    let line = PTX.lines().position(|line| line.contains("st.global")).unwrap() + 1;
    for words in [
        "========= Out-of-bounds access: ",
        &format!("=========     at {ptx}:{line} in kernel odd"),
        "=========         st.global.u32 [%rd2], %r2;",
        "=========     by thread (3,0,0) of block (0,0,0)",
        "========= SUMMARY: 1 finding",
    ] {
        assert!(done.out.contains(words), "{words}\n{}", done.out);
    }
    let done = run(&[&args[..], &["u32[4]:iota", "u32[4]"]].concat());
    assert_eq!(done.status, Some(0), "{}", done.err);
    assert!(done.out.ends_with("========= SUMMARY: nothing found\n"), "{}", done.out);
}

#[test]
fn every_seed_is_a_run_of_its_own() {
    let directory = odd("[11, 13, 15, 17]");
    let file = directory.path().join("odd.json").display().to_string();
    let report = directory.path().join("report.out");
    let json = report.to_str().unwrap();
    let done = run(&["test", &file, "--device", "reference", "--check", "--seeds", "3..6", "--json", json]);
    assert_eq!(done.status, Some(0), "{}{}", done.out, done.err);
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["passed"], 3);
    assert_eq!(report["cases"][2]["device"], "reference (check,seed=5)");
}

#[test]
fn one_thread_is_followed() {
    let directory = odd("[11, 13, 15, 17]");
    let file = directory.path().join("odd.json").display().to_string();
    let done = run(&["run", &file, "--device", "reference", "--trace", "0:2"]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    let stores = done.out.lines().filter(|line| line.contains("OpStore")).count();
    assert!(stores >= 1, "{}", done.out);
    assert!(done.out.ends_with("  passed\n"), "{}", done.out);
}

/// Stores to an address that is not there.
const CRASHING: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry crashing(.param .u64 number)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [number];
    shl.b64 %rd2, %rd1, 3;
    st.global.u32 [%rd2], 1;
    ret;
}
";

/// On CPU devices such a kernel ends the process; other devices fail in ways of their own, and the reference device says what it was.
#[test]
fn a_crash_names_the_kernel() {
    let directory = tempfile::tempdir().unwrap();
    let ptx = directory.path().join("crashing.ptx").display().to_string();
    fs::write(&ptx, CRASHING).unwrap();
    let case = r#"{"name": "wild", "ptx": "crashing.ptx", "entry": "crashing", "args": [{"type": "u64", "value": 1}],
                   "expect": [{"global": "g", "type": "u32", "data": [1]}]}"#;
    let cases = directory.path().join("cases.json").display().to_string();
    fs::write(&cases, case).unwrap();
    let here = run(&["devices", "--device", "default"]);
    let crashes = here.out.contains("llvmpipe");
    for (args, name) in [
        (vec!["run", &ptx, "u64:1"], "kernel `crashing` on"),
        (vec!["run", &cases], "kernel `crashing` (case `wild`) on"),
    ] {
        let done = run(&args);
        assert_eq!(done.status, Some(1), "{args:?}: {}{}", done.out, done.err);
        if crashes {
            for part in [name, " ended the process (", "SIGSEGV", "\nhelp: `--device reference --check` finds out"] {
                assert!(done.err.contains(part), "{args:?}: {}", done.err);
            }
        }
    }
    let done = run(&["run", &ptx, "--device", "reference", "u64:1"]);
    assert_eq!(done.status, Some(1), "{}", done.err);
    assert!(done.out.contains("ut-of-bounds access"), "{}", done.out);

    // Other cases run on, in their order.
    let other = odd("[11, 13, 15, 17]");
    let other = other.path().join("odd.json").display().to_string();
    for jobs in ["1", "3"] {
        let done = run(&["test", &other, &cases, &other, "--jobs", jobs, "--verbose"]);
        assert_eq!(done.status, Some(1), "{}{}", done.out, done.err);
        assert!(done.out.ends_with("2 passed, 1 failed\n"), "{}{}", done.out, done.err);
        if crashes {
            let failed = done.out.lines().nth(1).unwrap();
            for part in ["FAIL ", "kernel `crashing` (case `wild`) on", " ended the process (", "SIGSEGV", "--check"] {
                assert!(failed.contains(part), "{}", done.out);
            }
        }
    }
}

#[test]
fn arguments_of_the_wrong_kind_are_refused() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let fails =
        |first: &str, part: &str| fails(&["run", &ptx, "--entry", "odd", "--block", "4", first, "u32[4]"], 1, part);
    fails("null", "argument 0, `null`: the kernel accesses memory through its parameter `in`");
    fails("f64:5", "argument 0, `f64:5`: the kernel accesses memory through its parameter `in`");
    fails("u32:5", "parameter `in` has 8 bytes, the argument 4");
    let wide = directory.path().join("wide.ptx").display().to_string();
    fs::write(&wide, ".version 7.0 .target sm_50 .address_size 64 .entry k(.param .u32 a, .param .f64 b) { ret; }")
        .unwrap();
    self::fails(&["run", &wide, "u32[1]", "f64:1"], 1, "an address has 8 bytes, parameter `a` has 4");
    self::fails(&["run", &wide, "u64:1", "f64:1"], 1, "parameter `a` has 4 bytes, the argument 8");
    self::fails(&["run", &wide, "u32:1", "f64[1]"], 1, "the parameter `b` is a number of the type f64");
}

/// The process that runs kernels ends when the one that watches it is killed.
#[test]
fn nothing_runs_on_unwatched() {
    let directory = tempfile::tempdir().unwrap();
    let ptx = directory.path().join("many.ptx");
    fs::write(&ptx, ".version 7.0 .target sm_50 .address_size 64 .entry k() { ret; }").unwrap();
    // So many blocks take hours.
    let mut watcher = command(&["run", ptx.to_str().unwrap(), "--grid", "2147483647,65535"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = watcher.stdout.take().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    // The reading ends when no process has the other end any more.
    std::thread::spawn(move || sender.send(output.read_to_string(&mut String::new()).is_ok()));
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(true), "the kernel runs on");
}

/// Writes the upper half of a handle.
const HANDLE: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry handle(.param .u64 texture, .param .u64 surface, .param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [texture];
    ld.param.u64 %rd2, [surface];
    ld.param.u64 %rd3, [out];
    cvta.to.global.u64 %rd3, %rd3;
    setp.ne.u64 %p1, %rd1, 0;
    setp.ne.u64 %p2, %rd2, %rd1;
    selp.u64 %rd1, 1, 0, %p1;
    selp.u64 %rd2, 2, 0, %p2;
    st.global.u64 [%rd3], %rd1;
    st.global.u64 [%rd3+8], %rd2;
    ret;
}
";

#[test]
fn textures_and_pictures_on_the_command_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("k.ptx"), HANDLE).unwrap();
    fs::write(path("in.raw"), (0..24).collect::<Vec<u8>>()).unwrap();
    let arguments = ["run", &path("k.ptx"), "--device", "reference:check"];
    let texture = format!("texture:u8x4[3x2]@{},linear,float,clamp", path("in.raw"));
    let save = [format!("0={}", path("out.png")), format!("1={}", path("out.raw"))];
    let rest = [&texture[..], "surface:u16[5]", "u64[2]", "--save", &save[0], "--save", &save[1]];
    let done = run(&[&arguments[..], &rest].concat());
    assert_eq!(done.status, Some(0), "{}{}", done.out, done.err);
    assert!(done.out.contains("u64[2]: 1, 2") && done.out.contains("image 0, u8[24]: 0, 1, 2"), "{}", done.out);
    assert_eq!(fs::read(path("out.raw")).unwrap(), [0; 10]);
    // The picture as a texture again.
    let texture = format!("texture:@{}", path("out.png"));
    let done = run(&[&arguments[..], &[&texture, "surface:u16[5]", "u64[2]", "--json"]].concat());
    assert!(done.out.contains("\"image\": \"0\""), "{}{}", done.out, done.err);
    let compact: String = done.out.split_whitespace().collect();
    assert!(compact.contains("20,21,22,23]"), "{}", done.out);
    // What CUDA refuses.
    let texture = "texture:u8[3],linear";
    let done = run(&[&arguments[..], &[texture, "surface:u16[5]", "u64[2]"]].concat());
    assert_eq!(done.status, Some(1), "{}", done.out);
    assert!(done.err.contains("linear filtering needs elements that are read as floats"), "{}", done.err);
    fails(&[&arguments[..], &["texture:u8[0]", "u64:0", "u64:0"]].concat(), 2, "expected a picture");
    fails(&[&arguments[..], &["texture:u8[4]", "u64:0", "u64[2]", "--save", "1=x"]].concat(), 2, "no buffer or image");
    let file = format!("0={}", path("x.png"));
    let arguments = [&arguments[..], &["texture:f32[4]", "u64:0", "u64[2]", "--save", &file]].concat();
    fails(&arguments, 1, "unsigned channels of 8 or 16 bits, not f32");
}
