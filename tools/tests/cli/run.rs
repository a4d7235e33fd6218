//! Running kernels.

use std::fs;
use std::path::Path;

use ptx2spv_runtime::PROFILE_VARIABLE;

use crate::{Done, PTX, command, fails, odd, run};

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

/// The profile of the runtime, here in a program in Rust.
#[test]
fn a_profile_comes_at_the_end() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx").display().to_string();
    let launch = ["run", &ptx, "--entry", "odd", "--block", "4", "u32[4]:iota", "u32[4]"];
    let done: Done = command(&launch).env(PROFILE_VARIABLE, directory.path().join("%p.json")).output().unwrap().into();
    assert_eq!(done.status, Some(0), "{}", done.err);
    assert!(done.err.contains("\nKernels\n") && done.err.contains("  odd\n"), "{}", done.err);
    let is_trace = |path: &Path| path.file_stem().is_some_and(|name| name.to_str().unwrap().parse::<u32>().is_ok());
    let traces: Vec<_> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).filter(|path| is_trace(path)).collect();
    let [trace] = &traces[..] else { panic!("{traces:?}") };
    let events: Vec<serde_json::Value> = serde_json::from_str(&fs::read_to_string(trace).unwrap()).unwrap();
    let kernel = events.iter().find(|event| event["name"] == "odd").unwrap();
    assert_eq!((&kernel["args"]["grid"], &kernel["args"]["block"]), (&[1, 1, 1].into(), &[4, 1, 1].into()));
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
    fails(&[&["run", &at("odd.ptx"), "--save", "2=x"], &launch[..]].concat(), 2, "argument 2 is not a buffer");
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
    let line = PTX.lines().position(|line| line.contains("st.global")).unwrap() + 1;
    // The reference device checks accesses itself, on the other device the kernel does.
    for device in ["reference", "cpu"] {
        let args = ["run", &ptx, "--entry", "odd", "--block", "4", "--device", device, "--check"];
        // The output buffer has space for three of four threads.
        let done = run(&[&args[..], &["u32[4]:iota", "u32[3]"]].concat());
        assert_eq!(done.status, Some(1), "{}", done.err);
        for words in [
            "========= Out-of-bounds access: ",
            "begins 0 bytes past the end of argument 1 (12 bytes at 0x",
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
    let translated = directory.path().join("odd.spv").display().to_string();
    assert_eq!(run(&["translate", &ptx, "--target", "lavapipe", "-o", &translated]).status, Some(0));
    fails(&["run", &translated, "--device", "cpu", "--check"], 2, "or the PTX");
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

/// Writes the upper half of a handle.
const HANDLE: &str = include_str!("ptx/run.ptx");

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
    // The saved picture, used as a texture.
    let texture = format!("texture:@{}", path("out.png"));
    let done = run(&[&arguments[..], &[&texture, "surface:u16[5]", "u64[2]", "--json"]].concat());
    assert!(done.out.contains("\"image\": \"0\""), "{}{}", done.out, done.err);
    let compact: String = done.out.split_whitespace().collect();
    assert!(compact.contains("20,21,22,23]"), "{}", done.out);
    // A texture that CUDA refuses.
    let texture = "texture:u8[3],linear";
    let done = run(&[&arguments[..], &[texture, "surface:u16[5]", "u64[2]"]].concat());
    assert_eq!(done.status, Some(1), "{}", done.out);
    assert!(done.err.contains("linear filtering needs elements that are read as floats"), "{}", done.err);
    fails(&[&arguments[..], &["texture:u8[0]", "u64:0", "u64:0"]].concat(), 2, "expected a picture");
    fails(
        &[&arguments[..], &["texture:u8[4]", "u64:0", "u64[2]", "--save", "1=x"]].concat(),
        2,
        "not a buffer or an image",
    );
    let file = format!("0={}", path("x.png"));
    let arguments = [&arguments[..], &["texture:f32[4]", "u64:0", "u64[2]", "--save", &file]].concat();
    fails(&arguments, 1, "unsigned channels of 8 or 16 bits, not f32");
}

/// Programs that NVIDIA's compiler built: one of a single source file, and one of two files that are linked.
#[test]
fn kernels_out_of_programs() {
    let program = |name: &str| format!("{}/../tests/executables/{name}", env!("CARGO_MANIFEST_DIR"));
    let outcome = |arguments: &[&str]| {
        let done = run(&[arguments, &["--device", "reference"]].concat());
        assert_eq!(done.status, Some(0), "{}", done.err);
        done.out
    };
    let sums = program("sums");
    for kernel in ["sums<float>", "_Z4sumsIfEvPKT_S2_PS0_i"] {
        let launch =
            ["run", &sums, "--kernel", kernel, "--block", "4", "f32[]:1,2,3", "f32[3]:iota(10)", "f32[3]", "s32:3"];
        assert!(outcome(&launch).ends_with("arg 2, f32[3]: 1.0, 12.0, 23.0\n"));
    }
    let places = outcome(&["run", &sums, "--kernel", "places", "--block", "5", "s32[5]"]);
    assert!(places.ends_with("s32[5]: 6, 15, 105, 1005, 6\n"), "{places}");
    fails(&["run", &sums, "s32[5]"], 2, "several kernels");

    // 3 x^3 + x^2 / 2 - x + 2 by a function of the other file, and its counter of calls.
    let polynomial = program("polynomial");
    let launch = ["run", &polynomial, "--kernel", "polynomial", "--block", "4", "f32[4]:iota", "f32[4]", "u32[1]"];
    let seen = outcome(&launch);
    assert!(seen.ends_with("arg 1, f32[4]: 2.0, 4.5, 26.0, 84.5\n  arg 2, u32[1]: 4\n"), "{seen}");
}
