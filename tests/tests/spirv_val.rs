//! Every valid PTX file translated for many targets, each kernel by itself and all together, the latter also with line
//! information, and checked with `spirv-val`.
//!
//! The presets must translate everything. Targets made from them that lack something may refuse a kernel, but only for
//! what they lack.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use libtest_mimic::{Arguments, Trial};
use ptx2spv::cases::find;
use ptx2spv_tests::files;
use ptx2spv_translator::target::Version;
use ptx2spv_translator::{Diagnostics, ErrorKind, Feature, Options, Program, Source, Target};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>> {
    let refused = refused_kernels()?;
    let mut trials = Vec::new();
    for file in files::valid_ptx()? {
        let skip = refused.iter().filter(|(ptx, _)| *ptx == file).map(|(_, entry)| entry.clone()).collect();
        trials.push(Trial::test(files::short_name(&file), move || Ok(check_file(&file, &skip)?)));
    }
    ensure!(!trials.is_empty(), "no PTX files found");
    Ok(trials)
}

/// Kernels that launch cases expect to be refused, with their files.
fn refused_kernels() -> Result<Vec<(PathBuf, String)>> {
    let cases = find(&files::case_directories())?.cases;
    let refused = cases.into_iter().filter(|case| case.spec.error.is_some());
    Ok(refused.map(|case| (case.file.with_file_name(&case.spec.ptx), case.spec.entry)).collect())
}

/// A target and whether it has all that its preset has.
struct Variant {
    name: String,
    target: Target,
    whole: bool,
}

fn variants() -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for name in Target::PRESETS {
        let target = Target::preset(name).with_context(|| format!("no preset `{name}`"))?;
        let mut add = |what: &str, whole: bool, change: &dyn Fn(&mut Target)| {
            let mut target = target.clone();
            change(&mut target);
            variants.push(Variant { name: format!("{name}{what}"), target, whole });
        };
        add("", true, &|_| ());
        add(" with Vulkan 1.2", true, &|target| target.vulkan = Version(1, 2));
        add(" without explicit workgroup layout", true, &|target| {
            target.features.remove(&Feature::WorkgroupMemoryExplicitLayout);
            target.features.remove(&Feature::WorkgroupMemoryExplicitLayout8BitAccess);
            target.features.remove(&Feature::WorkgroupMemoryExplicitLayout16BitAccess);
        });
        add(" without float atomics", true, &|target| {
            target.features.remove(&Feature::ShaderBufferFloat32AtomicAdd);
            target.features.remove(&Feature::ShaderSharedFloat32AtomicAdd);
            target.features.remove(&Feature::ShaderBufferFloat64AtomicAdd);
            target.features.remove(&Feature::ShaderSharedFloat64AtomicAdd);
        });
        // Room for the fixed part only, so that every parameter goes to a buffer.
        add(" with small push constants", true, &|target| target.limits.max_push_constants_size = 40);
        for size in [1, 8, 64] {
            add(&format!(" with subgroups of {size}"), true, &|target| {
                target.subgroups.size = size;
                target.subgroups.min_size = size;
                target.subgroups.max_size = size;
            });
        }
        add(" without narrow types", false, &|target| {
            target.features.remove(&Feature::ShaderInt8);
            target.features.remove(&Feature::ShaderInt16);
            target.features.remove(&Feature::StorageBuffer8BitAccess);
            target.features.remove(&Feature::StorageBuffer16BitAccess);
        });
        add(" without float controls", false, &|target| target.float_controls = Default::default());
        add(" without 64-bit integers", true, &|target| {
            target.features.remove(&Feature::ShaderInt64);
            target.features.remove(&Feature::ShaderBufferInt64Atomics);
            target.features.remove(&Feature::ShaderSharedInt64Atomics);
        });
        add(" without 64-bit floats and atomics", false, &|target| {
            target.features.remove(&Feature::ShaderFloat64);
            target.features.remove(&Feature::ShaderBufferInt64Atomics);
            target.features.remove(&Feature::ShaderSharedInt64Atomics);
        });
    }
    Ok(variants)
}

fn check_file(file: &Path, skip: &HashSet<String>) -> Result<()> {
    let source = Source::new(files::short_name(file), fs::read_to_string(file)?);
    let program = Program::new(&source)?;
    let entries: Vec<String> =
        program.entries().into_iter().filter(|entry| !skip.contains(*entry)).map(str::to_owned).collect();
    // The same words need no second look; many variants make no difference to a kernel.
    let mut seen = HashSet::new();
    for Variant { name, target, whole } in variants()? {
        let mut together = Vec::new();
        // Where workgroups are smallest, kernels are translated for CUDA's largest blocks.
        let block_threads = (target.limits.max_compute_work_group_invocations == 128).then_some(1024);
        for entry in &entries {
            let one = std::slice::from_ref(entry);
            let options = Options { entries: Some(one), block_threads, ..Options::new(&target) };
            match program.translate(&options) {
                Ok(translation) => {
                    validate(&translation.spirv, &target, &mut seen).with_context(|| format!("{entry} for {name}"))?;
                    together.push(entry.clone());
                }
                Err(errors) if !whole && only_lacks(&errors) => {}
                Err(errors) => bail!("{entry} for {name}:\n{errors}"),
            }
        }
        for line_info in [false, true] {
            if together.len() < 2 && !(line_info && together.len() == 1) {
                continue;
            }
            let options = Options { entries: Some(&together), block_threads, line_info, ..Options::new(&target) };
            let translation = program.translate(&options).with_context(|| format!("all for {name}"))?;
            validate(&translation.spirv, &target, &mut seen).with_context(|| format!("all for {name}"))?;
        }
    }
    Ok(())
}

fn only_lacks(errors: &Diagnostics) -> bool {
    errors.list.iter().all(|error| matches!(error.kind, ErrorKind::MissingFeature { .. } | ErrorKind::Limit { .. }))
}

/// A module's words without the execution mode of `SPV_KHR_maximal_reconvergence`, which SPIRV-Tools know since 2024 only.
fn without_reconvergence(spirv: &[u32]) -> impl Iterator<Item = u32> {
    const OP_EXECUTION_MODE: u32 = 16;
    const MAXIMALLY_RECONVERGES: u32 = 6023;
    let (header, mut rest) = spirv.split_at(spirv.len().min(5));
    let mut words = header.to_vec();
    while let Some(&first) = rest.first() {
        let len = ((first >> 16) as usize).clamp(1, rest.len());
        let (instruction, after) = rest.split_at(len);
        rest = after;
        if first & 0xffff != OP_EXECUTION_MODE || instruction.get(2) != Some(&MAXIMALLY_RECONVERGES) {
            words.extend(instruction);
        }
    }
    words.into_iter()
}

fn validate(spirv: &[u32], target: &Target, seen: &mut HashSet<(&'static str, Vec<u32>)>) -> Result<()> {
    let environment = if target.vulkan >= Version(1, 3) { "vulkan1.3" } else { "vulkan1.2" };
    if !seen.insert((environment, spirv.to_vec())) {
        return Ok(());
    }
    let mut child = Command::new("spirv-val")
        .args(["--target-env", environment, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("spirv-val (of SPIRV-Tools) can't be run")?;
    let bytes: Vec<u8> = without_reconvergence(spirv).flat_map(u32::to_le_bytes).collect();
    child.stdin.take().context("no pipe")?.write_all(&bytes)?;
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "spirv-val --target-env {environment}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
