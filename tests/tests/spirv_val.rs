//! Every valid PTX file translated for every preset, and checked with `spirv-val` for the preset's version of Vulkan. Files of
//! single instructions are translated for half of the presets, other ones for each file, and for those that must accept all.
//!
//! A module of all kernels of a file must be valid, with or without line information, and each kernel by itself for one
//! of the presets: alone it must declare what it uses. Presets without a feature may refuse a kernel that needs it.
//! Targets made from presets by removing a feature alternate between the kernels, so that each covers some of every
//! file.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use libtest_mimic::Trial;
use ptx2spv::cases::find;
use ptx2spv_tests::device::environment;
use ptx2spv_tests::{files, suite};
use ptx2spv_translator::target::Version;
use ptx2spv_translator::{Diagnostics, ErrorKind, Feature, Options, Program, Source, Target, Translation};

fn main() -> ExitCode {
    suite::main(trials)
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

/// A target, and its name for messages.
struct Variant {
    name: String,
    target: Target,
}

impl Variant {
    fn new(preset: &str, what: &str, change: impl FnOnce(&mut Target)) -> Result<Self> {
        let mut target = Target::preset(preset).with_context(|| format!("no preset `{preset}`"))?;
        change(&mut target);
        Ok(Self { name: format!("{preset}{what}"), target })
    }

    /// Whether a preset has all features that kernels may need, so that it must accept all kernels.
    fn refuses_none(&self) -> bool {
        ["lavapipe", "lavapipe-25", "nvidia", "reference"].contains(&self.name.as_str())
    }
}

/// Features that kernels need and some preset lacks.
const LACKING: &[Feature] = &[];

fn presets() -> Result<Vec<Variant>> {
    Target::PRESETS.iter().map(|name| Variant::new(name, "", |_| ())).collect()
}

/// Targets with other features than any preset has.
fn variants() -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for preset in ["lavapipe", "nvidia"] {
        let mut add = |what: &str, change: &dyn Fn(&mut Target)| -> Result<()> {
            variants.push(Variant::new(preset, what, change)?);
            Ok(())
        };
        let without = |features: &'static [Feature]| {
            move |target: &mut Target| target.features.retain(|feature| !features.contains(feature))
        };
        add(" with SPIR-V 1.3", &|target| (target.vulkan, target.spirv) = (Version(1, 1), Version(1, 3)))?;
        add(" with SPIR-V 1.4", &|target| (target.vulkan, target.spirv) = (Version(1, 1), Version(1, 4)))?;
        add(
            " without Vulkan's memory model",
            &without(&[Feature::VulkanMemoryModel, Feature::VulkanMemoryModelDeviceScope]),
        )?;
        add(" without the memory model's device scope", &without(&[Feature::VulkanMemoryModelDeviceScope]))?;
        add(
            " without narrow types",
            &without(&[
                Feature::ShaderInt8,
                Feature::ShaderInt16,
                Feature::StorageBuffer8BitAccess,
                Feature::StorageBuffer16BitAccess,
            ]),
        )?;
        add(" with fused multiply-adds", &|target| {
            target.features.extend([Feature::ShaderFmaFloat32, Feature::ShaderFmaFloat64]);
            *target = target.clone().with_promises();
        })?;
        // Room for the fixed part only, so every parameter goes to a buffer.
        add(" with small push constants", &|target| target.limits.max_push_constants_size = 40)?;
        add(" without float controls", &|target| target.float_controls = Default::default())?;
        for size in [1, 64] {
            add(&format!(" with subgroups of {size}"), &|target| {
                target.subgroups.size = size;
                target.subgroups.min_size = size;
                target.subgroups.max_size = size;
            })?;
        }
        add(
            " without 64-bit integers",
            &without(&[Feature::ShaderInt64, Feature::ShaderBufferInt64Atomics, Feature::ShaderSharedInt64Atomics]),
        )?;
        add(
            " without 64-bit floats and atomics",
            &without(&[Feature::ShaderFloat64, Feature::ShaderBufferInt64Atomics, Feature::ShaderSharedInt64Atomics]),
        )?;
    }
    Ok(variants)
}

fn check_file(file: &Path, skip: &HashSet<String>) -> Result<()> {
    let source = Source::new(files::short_name(file), fs::read_to_string(file)?);
    let program = Program::new(&source)?;
    let entries: Vec<String> =
        program.entries().into_iter().filter(|entry| !skip.contains(*entry)).map(str::to_owned).collect();
    // Don't check the same words again; many variants make no difference to a kernel.
    let mut seen = HashSet::new();
    let presets = presets()?;
    // Files of single instructions have so many kernels that half of the presets are enough for each.
    let is_sampled = source.name().starts_with("instructions");
    for (number, variant) in presets.iter().enumerate() {
        if is_sampled && !variant.refuses_none() && (number + source.text().len()).is_multiple_of(2) {
            continue;
        }
        let translated = translate(&program, &entries, variant, number % 2 == 1)?;
        validate_all(&translated, &entries, variant, &mut seen)?;
        if variant.refuses_none() {
            let kernels = translated.map_or(0, |translation| translation.interface.entries.len());
            ensure!(kernels == entries.len(), "{} of {} kernels for {}", kernels, entries.len(), variant.name);
        }
    }
    for (entry, variant) in entries.iter().zip(presets.iter().cycle().skip(entries.len())) {
        let one = std::slice::from_ref(entry);
        validate_all(&translate(&program, one, variant, false)?, one, variant, &mut seen)?;
    }
    let variants = variants()?;
    for (number, variant) in variants.iter().enumerate() {
        // Files begin with different variants, so that files with few kernels don't all use the same ones.
        let first = (number + source.text().len()) % variants.len();
        let some: Vec<String> = entries.iter().skip(first).step_by(variants.len()).cloned().collect();
        if !some.is_empty() {
            validate_all(&translate(&program, &some, variant, number % 2 == 0)?, &some, variant, &mut seen)?;
        }
    }
    Ok(())
}

/// Translates a file's kernels without those that the target refuses for a missing feature; `None` if it refuses all.
fn translate(program: &Program, entries: &[String], variant: &Variant, line_info: bool) -> Result<Option<Translation>> {
    let target = &variant.target;
    // If workgroups are smallest, kernels are translated for CUDA's largest blocks.
    let block_threads = (target.limits.max_compute_work_group_invocations == 128).then_some(1024);
    let entries = Some(entries);
    let options =
        Options::new(target).entries(entries).keep_going(true).block_threads(block_threads).line_info(line_info);
    let (translation, refused) = match program.translate(&options) {
        Ok(mut translation) => {
            let refused = translation.skipped.take();
            (Some(translation), refused)
        }
        Err(errors) => (None, Some(errors)),
    };
    match refused {
        Some(errors) if !only_lacks(&errors) => bail!("{entries:?} for {}:\n{errors}", variant.name),
        _ => Ok(translation),
    }
}

fn validate_all(
    translation: &Option<Translation>,
    entries: &[String],
    variant: &Variant,
    seen: &mut HashSet<(&'static str, Vec<u32>)>,
) -> Result<()> {
    let Some(translation) = translation else { return Ok(()) };
    let what = || match entries {
        [entry] => format!("{entry} for {}", variant.name),
        _ => format!("{} kernels for {}", entries.len(), variant.name),
    };
    validate(&translation.spirv, &variant.target, seen).with_context(what)
}

/// Whether kernels are refused only for a feature or room that some presets lack.
fn only_lacks(errors: &Diagnostics) -> bool {
    errors.list.iter().all(|error| match &error.kind {
        ErrorKind::MissingFeature { feature, .. } => LACKING.contains(feature),
        ErrorKind::Limit { .. } => true,
        _ => false,
    })
}

fn validate(spirv: &[u32], target: &Target, seen: &mut HashSet<(&'static str, Vec<u32>)>) -> Result<()> {
    let environment = environment(target);
    if !seen.insert((environment, spirv.to_vec())) {
        return Ok(());
    }
    ptx2spv_spirv_tools::validate(environment, spirv).map_err(anyhow::Error::msg)
}
