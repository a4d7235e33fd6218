//! Translating, inspecting and extracting.

use std::fs;
use std::path::Path;

use crate::{fails, odd, run};

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

/// Variants for two targets and two block sizes. One device can hold the larger blocks directly.
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
    assert_eq!((files[0].to_str(), files[8].to_str()), (Some("00-lower.cfg"), Some("08-structurize.ir")));
    // One file for each pass, and all passes in the table of times.
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

/// Names as mangled by `nvcc`: `axpy(int)` and `void blas::axpy<float>(float*)`.
const MANGLED: &str = include_str!("ptx/translate.ptx");

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

/// A container with uncompressed PTX for one architecture.
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
    fails(
        &["extract", &at("out/both.fatbin.2.sm_80.ptx")],
        1,
        "this is not an executable, library, object or fat binary",
    );
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
