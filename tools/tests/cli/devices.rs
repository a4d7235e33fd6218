//! Devices, presets, and the cache of their properties.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use ptx2spv_translator::target::Target;

use crate::{Done, PTX, command, fails, odd, run};

#[test]
fn presets_are_listed() {
    let done = run(&["devices", "--presets"]);
    assert!(done.out.contains("apple-moltenvk") && done.out.contains("MoltenVK 1.4.1"), "{}", done.out);
    let all: Vec<serde_json::Value> = serde_json::from_str(&run(&["devices", "--presets", "--json"]).out).unwrap();
    assert!(all.iter().any(|target| target["name"] == "mali"));
    fails(&["devices", "--presets", "--device", "0"], 2, "cannot be used with");
    fails(&["devices", "--presets", "--facts"], 2, "cannot be used with");
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
    // The description of the module, and its kernel.
    assert!(shows("       2 files"));
    assert_eq!(run(&launch).out, first);
    assert!(run(&["cache", "--clear"]).out.ends_with(": 2 files deleted\n"));
    assert!(shows("       0 files"));
    let off: Done = command(&["cache"]).env("PTX2SPV_CACHE", "").output().unwrap().into();
    assert!(off.out.contains("nothing is kept"), "{}", off.out);
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

/// Results of the self-test are reused, and the test runs again if they are damaged.
#[test]
fn what_the_self_test_found_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let devices =
        || -> Done { command(&["devices", "--facts"]).env("PTX2SPV_CACHE", folder.path()).output().unwrap().into() };
    let files = || {
        let found = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
        // Without the compiled pipelines in the same folder.
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

/// A missing cache folder is not an error.
#[test]
fn a_home_that_is_missing_or_read_only_will_do() {
    let variables = ["HOME", "XDG_CACHE_HOME", "PTX2SPV_CACHE"];
    let without = variables.iter().fold(command(&["devices"]), |mut command, name| {
        command.env_remove(name);
        command
    });
    let mut read_only = command(&["devices"]);
    // A path that can't be written, not even by root.
    read_only.env("HOME", "/proc/self").env("PTX2SPV_CACHE", "/proc/self/none");
    for mut command in [without, read_only] {
        let done: Done = command.output().unwrap().into();
        assert_eq!(done.status, Some(0), "{}", done.err);
        assert!(!done.err.contains("panicked"), "{}", done.err);
    }
}

#[test]
fn facts_are_shown_on_request() {
    let devices = |flags: &[&str]| run(&[&["devices", "--device", "reference"], flags].concat()).out;
    assert!(!devices(&[]).contains("nan_f32_nvidia"));
    assert!(devices(&["--facts"]).contains("not to be trusted on reference: "));
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
    assert!(done.err.starts_with("ptx2spv: warning: no Vulkan device can be used ("), "{}", done.err);
    assert!(
        done.err.contains("/nonexistent/icd.json: No such file")
            && done.err.contains("reference device, an interpreter")
    );
    let done = without_driver(&["devices"]);
    assert_eq!(done.out.lines().count(), 2, "{}", done.out);
    // A request for another device is not replaced by this one.
    let done = without_driver(&["test", &file, "--device", "cpu"]);
    assert_eq!(done.status, Some(1), "{}{}", done.out, done.err);
    assert!(done.err.contains("no Vulkan device found"), "{}", done.err);
}

/// The loader doesn't report drivers that it can't load.
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
fn the_reference_device_is_described_as_configured() {
    let done = run(&["devices", "--device", "reference:subgroup=64,without=shaderFloat64", "--json"]);
    assert_eq!(done.status, Some(0), "{}", done.err);
    let target: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(target["subgroups"]["size"], 64);
    let features: Vec<&str> =
        target["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(features.contains(&"shaderInt64") && !features.contains(&"shaderFloat64"), "{features:?}");
    // A device's description makes such a device again.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("card.json").display().to_string();
    fs::write(&file, &done.out).unwrap();
    let again = run(&["devices", "--device", &format!("reference:target={file}"), "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&again["subgroups"], &again["features"]), (&target["subgroups"], &target["features"]));
    let done = run(&["devices"]);
    assert!(done.out.lines().last().unwrap().trim_start().starts_with("reference"), "{}", done.out);
}

/// RADV has devices without hardware, which report what the cards do with this version of Mesa.
#[test]
fn presets_for_amd_claim_nothing_that_such_a_device_lacks() {
    for (family, preset) in [("navi21", "amd-rdna"), ("navi31", "amd-rdna"), ("polaris10", "amd-gcn")] {
        let cache = tempfile::tempdir().unwrap();
        let mut devices = command(&["devices", "--device", "RADV", "--json"]);
        devices.env("RADV_FORCE_FAMILY", family).env("PTX2SPV_CACHE", cache.path());
        let done: Done = devices.output().unwrap().into();
        if ["no Vulkan device", "Unknown family"].iter().any(|reason| done.err.contains(reason)) {
            // Mesa 22.3 doesn't know Navi 31, and other systems have no RADV.
            println!("{family} is skipped: {}", done.err);
            continue;
        }
        assert_eq!(done.status, Some(0), "{family}: {}", done.err);
        let (found, preset): (Target, _) = (serde_json::from_str(&done.out).unwrap(), Target::preset(preset).unwrap());
        let missing: Vec<_> = preset.features.difference(&found.features).collect();
        assert!(missing.is_empty(), "{family} lacks {missing:?}");
        let controls = |target: &Target| serde_json::to_value(&target.float_controls).unwrap();
        let (promised, offered) = (controls(&preset), controls(&found));
        for (control, promised) in promised.as_object().unwrap() {
            assert!(promised == false || offered[control] == true, "{family} lacks {control}");
        }
        let (promised, offered) = (&preset.limits, &found.limits);
        let sizes = |limits: &ptx2spv_translator::target::Limits| {
            let [x, y, z] = limits.max_compute_work_group_size;
            let [grid_x, grid_y, grid_z] = limits.max_compute_work_group_count;
            let scalars = [
                limits.max_push_constants_size,
                limits.max_compute_shared_memory_size,
                limits.max_compute_work_group_invocations,
            ];
            [&scalars[..], &[x, y, z, grid_x, grid_y, grid_z]].concat()
        };
        let is_larger = |(promised, offered): (&u32, &u32)| promised > offered;
        let larger = sizes(promised).iter().zip(&sizes(offered)).any(is_larger);
        assert!(!larger, "{family} has {offered:?}, and the preset {promised:?}");
        let (promised, offered) = (&preset.subgroups, &found.subgroups);
        assert!(
            promised.size == offered.size
                && promised.min_size >= offered.min_size
                && promised.max_size <= offered.max_size,
            "{family} has {offered:?}, and the preset {promised:?}"
        );
        assert!(offered.ballot >= promised.ballot && offered.shuffle >= promised.shuffle, "{family}: {offered:?}");
    }
}
