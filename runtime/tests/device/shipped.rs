//! Modules from files: pairs, bundles with the choice of a variant, and invalid files.

use std::fs;
use std::path::Path;

use ptx2spv_runtime::{Device, Error, Kernel, LaunchConfig, Module, ReferenceOptions};
use ptx2spv_translator::interface::Bundle;
use ptx2spv_translator::target::Packing;
use ptx2spv_translator::{Options, Program, Source, Target, Translation};

use crate::{Context, Launch, Load};

/// Each thread writes three times the number of its neighbour in the warp.
const ROTATE: &str = include_str!("ptx/shipped.ptx");

fn translate(target: &Target) -> Translation {
    let source = Source::new("rotate.ptx", ROTATE);
    Program::new(&source).unwrap().translate(&Options::new(target)).unwrap()
}

fn preset(name: &str) -> Translation {
    translate(&Target::preset(name).unwrap())
}

fn reference(options: &str) -> Device {
    Device::reference(options.parse::<ReferenceOptions>().unwrap().config().unwrap())
}

/// Runs the kernel and returns how it was translated.
#[track_caller]
fn packing_of(device: &Device, module: &Module) -> Option<Packing> {
    let kernel = module.kernel("rotate").unwrap();
    let out = device.upload(&[0_u32; 64]).unwrap();
    kernel.run(&LaunchConfig::new([1; 3], [64, 1, 1]), &[(&out).into()]).unwrap();
    let expected: Vec<u32> = (0..64).map(|t| 3 * (t & 32 | (t + 1) & 31)).collect();
    assert_eq!(out.download::<u32>().unwrap(), expected);
    kernel.entry().packing
}

#[test]
fn the_variant_that_fits_best_is_taken() {
    let sizes = ["reference:subgroup=8", "reference:subgroup=64", "reference"];
    let target = |text: &str| reference(text.strip_prefix("reference:").unwrap_or("threads=1")).target().clone();
    let made = sizes.map(|text| translate(&target(text)));
    let bundle = Bundle::new(made.into_iter().chain([preset("vulkan1.1-minimum")]));
    let alone = Packing { subgroup_size: 1, lanes: 32 };
    for (options, subgroup_size, lanes) in [
        ("threads=1", 32, 1),
        ("subgroup=8", 8, 4),
        ("subgroup=64", 64, 1),
        // Vulkan's guarantees for subgroups suffice.
        ("seed=3,subgroup=8", 8, 4),
        // The others have subgroups of another size, or need more features.
        ("subgroup=16", alone.subgroup_size, alone.lanes),
        ("without=computeFullSubgroups", alone.subgroup_size, alone.lanes),
    ] {
        let device = reference(options);
        let module = device.bundle(&bundle).unwrap();
        assert_eq!(packing_of(&device, &module), Some(Packing { subgroup_size, lanes }), "{options}");
    }
    // The device of the tests takes a variant too.
    let context = Context::new();
    let own = translate(context.device.target());
    let packing = own.interface.entries[0].packing;
    let module = context.device.bundle(&Bundle::new([preset("vulkan1.1-minimum"), own])).unwrap();
    assert_eq!(packing_of(&context.device, &module), packing);
}

/// Blocks of 512 threads on a device that holds 128, from a bundle with variants for several sizes.
#[test]
fn the_launch_takes_a_variant_that_holds_its_blocks() {
    let device = reference("invocations=128,subgroup=8");
    let made = |block_threads| {
        let source = Source::new("rotate.ptx", ROTATE);
        let options = Options::new(device.target()).block_threads(block_threads);
        Program::new(&source).unwrap().translate(&options).unwrap()
    };
    let launch = |kernel: &Kernel, threads: u32| {
        let out = device.upload(&vec![0_u32; threads as usize]).unwrap();
        kernel.run(&LaunchConfig::new([1; 3], [threads, 1, 1]), &[(&out).into()])?;
        let expected: Vec<u32> = (0..threads).map(|t| 3 * (t & !31 | (t + 1) & 31)).collect();
        assert_eq!(out.download::<u32>().unwrap(), expected, "{threads}");
        Ok(())
    };
    // The first takes 128 invocations of 4 threads each. The variants needn't be in the order of their sizes.
    let bundle = Bundle::new([made(Some(1024)), made(None)]);
    let module = device.bundle(&bundle).unwrap();
    let kernel = module.kernel("rotate").unwrap();
    assert_eq!(kernel.entry().packing, Some(Packing { subgroup_size: 8, lanes: 4 }));
    for threads in [64, 512, 1024, 544, 32] {
        launch(&kernel, threads).unwrap();
    }
    // A module for fewer threads reports how many it takes, and what to do.
    let module = device.translated(&made(None)).unwrap();
    let error = launch(&module.kernel("rotate").unwrap(), 1024).unwrap_err();
    assert!(matches!(error, Error::Block { .. }));
    let text = error.to_string();
    for part in ["1024 threads", "up to 512 threads here", "`--block-threads 1024`"] {
        assert!(text.contains(part), "{text}");
    }
    // A variant with variables at other offsets can't replace the others.
    let mut moved = bundle;
    moved.variants[0].interface.variables.size += 16;
    let module = device.bundle(&moved).unwrap();
    assert!(matches!(launch(&module.kernel("rotate").unwrap(), 1024), Err(Error::Block { .. })));
}

#[test]
fn a_device_that_none_fits_is_told_why() {
    let bundle = Bundle::new(["nvidia", "reference"].map(preset));
    let error = reference("without=shaderInt64+computeFullSubgroups").bundle(&bundle).unwrap_err();
    let text = error.to_string();
    for part in [
        "no variant of the module fits reference (",
        "\n  nvidia: ",
        "\n  reference: ",
        "lacks what the module needs: shaderInt64",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let empty = Bundle { format: Bundle::FORMAT, variants: Vec::new() };
    assert!(matches!(reference("threads=1").bundle(&empty), Err(Error::NoVariant { .. })));
    let newer = Bundle { format: 7, ..bundle };
    assert!(matches!(reference("threads=1").bundle(&newer), Err(Error::Interface(_))));
    // A single module is refused in the same way.
    let divides = ROTATE.replace("mul.lo.u32 %own, %t, 3;", "mul.lo.u32 %own, %t, 3; div.rn.f32 %own, %own, %t;");
    let source = Source::new("divides.ptx", divides);
    let reference_target = Target::preset("reference").unwrap();
    let divides = Program::new(&source).unwrap().translate(&Options::new(&reference_target)).unwrap();
    match reference("seed=1").translated(&divides).unwrap_err() {
        Error::MadeForOthers { reasons, .. } => {
            assert!(reasons.contains(&"`div_f32_rounded` doesn't hold".to_owned()), "{reasons:?}");
        }
        other => panic!("{other}"),
    }
}

fn write_pair(folder: &Path, translation: &Translation) {
    let bytes: Vec<u8> = translation.spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(folder.join("rotate.spv"), bytes).unwrap();
    fs::write(folder.join("rotate.json"), serde_json::to_vec(&translation.interface).unwrap()).unwrap();
}

#[test]
fn files_are_loaded_by_any_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let translation = preset("reference");
    write_pair(folder.path(), &translation);
    let bundle = serde_json::to_vec(&Bundle::new([translation])).unwrap();
    fs::write(folder.path().join("rotate.bundle.json"), bundle).unwrap();
    fs::write(folder.path().join("rotate.ptx"), ROTATE).unwrap();
    let device = reference("threads=1");
    for name in ["rotate.spv", "rotate.json", "rotate.bundle.json", "rotate.ptx"] {
        let module = device.file(folder.path().join(name)).unwrap();
        assert_eq!(packing_of(&device, &module), Some(Packing { subgroup_size: 32, lanes: 1 }), "{name}");
    }
}

#[test]
fn wrong_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let device = reference("threads=1");
    let translation = preset("reference");
    write_pair(folder.path(), &translation);
    let file = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).unwrap();
        device.file(folder.path().join(name)).err()
    };
    for (name, bytes) in [
        ("rotate.txt", &b""[..]),
        ("alone.spv", b"\x03\x02\x23\x07"),
        ("alone.json", b"{}"),
        ("list.json", b"[1, 2]"),
        ("cut.json", b"{\"variants\": ["),
        ("bundle.json", b"{\"format\": 1, \"variants\": [{}]}"),
    ] {
        assert!(matches!(file(name, bytes), Some(Error::File { .. })), "{name}");
    }
    assert!(matches!(device.file(folder.path().join("none.ptx")), Err(Error::File { .. })));
    // PTX may have any bytes in comments, but not here.
    assert!(matches!(file("text.ptx", b"\xff\xfe"), Some(Error::Translation(_))));
    // Every number of the description is made wrong in turn. The module must be refused or do no harm: some numbers,
    // such as `line`, have no effect.
    let good = serde_json::to_value(&translation.interface).unwrap();
    let mut numbers = Vec::new();
    find_numbers(&good, String::new(), &mut numbers);
    assert!(numbers.len() > 10, "{numbers:?}");
    let mut refused = 0;
    for place in &numbers {
        // Some gigabytes of variables are valid, but take long.
        let most = if place == "/variables/size" { 1 << 20..1 << 40 } else { 0..0_u64 };
        for wrong in [0, 1, 3, 63, u64::from(u32::MAX), u64::MAX, i64::MAX as u64 - 7] {
            if most.contains(&wrong) {
                continue;
            }
            let mut changed = good.clone();
            *changed.pointer_mut(place).unwrap() = wrong.into();
            fs::write(folder.path().join("rotate.json"), changed.to_string()).unwrap();
            match device.file(folder.path().join("rotate.spv")) {
                Ok(module) => {
                    let Ok(kernel) = module.kernel("rotate") else { continue };
                    // The arguments may not fit, and the device may refuse the kernel, but it must not panic.
                    let out = device.upload(&[0_u32; 64]).unwrap();
                    let _ = kernel.run(&LaunchConfig::new([1; 3], [64, 1, 1]), &[(&out).into()]);
                    let _ = device.synchronize();
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > numbers.len(), "{refused}");
}

/// Places of all numbers, as JSON pointers.
fn find_numbers(value: &serde_json::Value, place: String, numbers: &mut Vec<String>) {
    match value {
        serde_json::Value::Number(_) => numbers.push(place),
        serde_json::Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                find_numbers(value, format!("{place}/{index}"), numbers);
            }
        }
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                find_numbers(value, format!("{place}/{name}"), numbers);
            }
        }
        _ => {}
    }
}
