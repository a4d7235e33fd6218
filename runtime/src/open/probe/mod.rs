//! The self-test of a device: runs instructions that rely on the device's own arithmetic, and judges their results.
//!
//! Vulkan permits imprecise division, square root, `Fma` and others, and can't report devices that do better. So a
//! device is tested on its first use: each instruction of [`instructions`] is translated as if all [`Facts`] held, and
//! runs on about a hundred thousand operands. A fact holds if all results are right. [`cache`] stores the results for
//! the driver's version. [`constants`] checks whether right arithmetic stays right when the driver's compiler knows an
//! operand. [`reconvergence`] checks whether subgroups reconverge, [`matrices`] whether matrix units compute
//! as NVIDIA's do, [`sampling`] whether samplers read textures as NVIDIA's hardware does. The self-test doesn't find other driver bugs.

mod constants;
mod findings;
mod instruction;
mod instructions;
mod judge;
mod matrices;
mod operands;
mod reconvergence;
mod sampling;

use constants::{Known, Selection};
use findings::{Attempt, stopped};
use instruction::{Instruction, Width};
use ptx2spv_translator::target::Facts;
use ptx2spv_translator::{Diagnostics, Feature, Options, Program, Source, Target, Translation};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::DeviceInfo;
use crate::launch::args::LaunchConfig;
use crate::module::kernel::Kernel;
pub(crate) use crate::open::probe::findings::{keep, known};
pub(crate) use findings::Findings;

/// Threads of a block: a size that every Vulkan device can run.
const BLOCK: u32 = 128;

/// A device's description for the self-test, in which all facts hold.
pub(crate) fn trusting(info: &DeviceInfo) -> DeviceInfo {
    DeviceInfo { target: Target { facts: Facts::TRUSTED, ..info.target.clone() }, ..info.clone() }
}

/// Runs the self-test of a device, which must have been opened with the description from [`trusting`].
///
/// # Errors
/// Those of launches. Facts that the device can't test don't hold.
pub(crate) fn measure(device: &Device) -> Result<Findings> {
    // The other facts are about `Fma` where they are about fused multiply-adds.
    let all = Facts { fma_khr_f32_right: false, fma_khr_f64_right: false, ..Facts::TRUSTED };
    let mut findings = Findings { facts: all.clone(), seen: Vec::new() };
    // First the facts that decide how all other modules declare their floats.
    let by_dot = Facts { fma_f32_denormals: false, ..all.clone() };
    let has_modes = device.target().has(Feature::ShaderFloatControls2);
    let dot_f32_fused = has_modes && holds(device, &by_dot, instructions::DOT, &mut findings)?;
    findings.facts.dot_f32_fused = dot_f32_fused;
    let by_fma = Facts { dot_f32_fused, ..all };
    for (fact, instructions) in instructions::FMA {
        *fact(&mut findings.facts) = holds(device, &by_fma, instructions, &mut findings)?;
    }
    let trusted = if dot_f32_fused { by_dot } else { by_fma };
    findings.facts.sqrt_f32_refined = holds(device, &refining(&trusted), instructions::SQRT, &mut findings)?;
    for (fact, instructions) in instructions::FACTS {
        *fact(&mut findings.facts) = holds(device, &trusted, instructions, &mut findings)?;
    }
    for (fact, operations, selection) in constants::FACTS {
        *fact(&mut findings.facts) = with_known_operands(device, &trusted, operations, selection, &mut findings)?;
    }
    for (facts, operations) in constants::OTHERS {
        let right = with_known_operands(device, &trusted, operations, Selection::Any, &mut findings)?;
        facts.iter().for_each(|fact| *fact(&mut findings.facts) &= right);
    }
    for tests in &instructions::FMA_KHR {
        // Modules hide from this instruction what others of this device must not know either.
        *(tests.fact)(&mut findings.facts) = true;
        let facts = findings.facts.clone();
        let right = device.target().has(tests.feature)
            && holds(device, &facts, tests.instructions, &mut findings)?
            && (!(tests.has_nans)(&facts) || holds(device, &facts, tests.nans, &mut findings)?)
            && with_known_operands(device, &facts, tests.known, Selection::Any, &mut findings)?;
        *(tests.fact)(&mut findings.facts) = right;
    }
    findings.facts.subgroups_reconverge = match reconvergence::attempt(device)? {
        Attempt::Right => true,
        Attempt::Wrong(seen) => {
            findings.seen.push(seen);
            false
        }
        Attempt::Impossible => false,
    };
    sampling::measure(device, &mut findings)?;
    matrices::measure(device, &mut findings)?;
    Ok(findings)
}

/// The facts with the square root computed from its inverse, and that of tiny numbers so that it is right on a device that flushes too.
fn refining(trusted: &Facts) -> Facts {
    Facts {
        sqrt_f32_rounded: false,
        sqrt_f32_normal: false,
        sqrt_f32_refined: true,
        denormals_f32_kept: false,
        ..trusted.clone()
    }
}

/// Whether all the instructions that the device can run are right in modules translated with these facts.
fn holds(device: &Device, facts: &Facts, instructions: &[Instruction], findings: &mut Findings) -> Result<bool> {
    let mut trusted = false;
    for instruction in instructions {
        match attempt(device, facts, instruction)? {
            Attempt::Right => trusted = true,
            Attempt::Wrong(seen) => {
                findings.seen.push(seen);
                return Ok(false);
            }
            // Then it can't be used in kernels either.
            Attempt::Impossible => {}
        }
    }
    Ok(trusted)
}

fn translated(ptx: &str, target: &Target) -> Result<Translation, Diagnostics> {
    Program::new(&Source::new("self-test", ptx))?.translate(&Options::new(target))
}

/// The kernel `probe` of a module, translated with these facts; `None` if it can't be translated.
fn probe(device: &Device, facts: &Facts, ptx: String) -> Result<Option<Kernel>> {
    let target = Target { facts: facts.clone(), ..device.target().clone() };
    let Ok(translation) = translated(&ptx, &target) else { return Ok(None) };
    // SAFETY: the translation is unchanged.
    let module = unsafe { device.load_translated(&translation) }?;
    module.kernel("probe").map(Some)
}

/// The number of threads: one for each of a probe's operands, of which there are thousands.
fn thread_count(operands: usize) -> Result<u32> {
    u32::try_from(operands).map_err(|_| Error::OutOfMemory(format!("no launch has {operands} threads")))
}

fn attempt(device: &Device, facts: &Facts, instruction: &Instruction) -> Result<Attempt> {
    // Without 64-bit floats these instructions are emulated, and say nothing about the device.
    if instruction.needs_doubles() && !device.info().target.has(Feature::ShaderFloat64) {
        return Ok(Attempt::Impossible);
    }
    let Some(kernel) = probe(device, facts, instruction.ptx())? else { return Ok(Attempt::Impossible) };
    let operands = (instruction.operands)();
    let bytes: Vec<u8> = operands.iter().flatten().flat_map(|bits| instruction.width.bytes(*bits)).collect();
    let input = device.upload(&bytes)?;
    let size = instruction.width.size();
    let output = device.alloc(operands.len() as u64 * size as u64)?;
    let count = thread_count(operands.len())?;
    // SAFETY: the self-test's kernels read and write `count` elements of the two buffers.
    unsafe { kernel.launch(&LaunchConfig::linear(count, BLOCK), &[(&input).into(), (&output).into(), count.into()]) }?;
    let mut results = vec![0; operands.len() * size];
    if let Some(error) = stopped(output.read(0, &mut results))? {
        return Ok(Attempt::Wrong(format!("`{}`: {error}", instruction.text)));
    }
    let results = results.chunks_exact(size).map(Width::bits);
    let wrong = operands.iter().zip(results).find(|(operands, result)| !(instruction.right)(**operands, *result));
    Ok(match wrong {
        None => Attempt::Right,
        Some((operands, result)) => Attempt::Wrong(instruction.describe(*operands, result)),
    })
}

/// Whether operations on operands known to the driver's compiler have the same results as on operands from memory.
/// Operations that are not right on the latter are skipped.
fn with_known_operands(
    device: &Device,
    facts: &Facts,
    operations: &[Known],
    selection: Selection,
    findings: &mut Findings,
) -> Result<bool> {
    for known in operations {
        if !(known.trusted)(&findings.facts) {
            continue;
        }
        // An operation that can't be translated can't be used in kernels either.
        let Some(kernel) = probe(device, facts, known.ptx(selection, &findings.facts))? else { continue };
        let (operands, corners) = known.operands();
        let size = known.width.size();
        let mut results = vec![0; 3 * corners * size];
        let threads = thread_count(corners)?;
        let (input, output) = (device.upload(&operands)?, device.alloc(results.len() as u64)?);
        // SAFETY: the self-test's kernels have `threads` threads, each of which reads and writes its own part of the
        // two buffers.
        unsafe { kernel.launch(&LaunchConfig::linear(threads, threads), &[(&input).into(), (&output).into()]) }?;
        if let Some(error) = stopped(output.read(0, &mut results))? {
            findings.seen.push(error.to_string());
            return Ok(false);
        }
        let found = results.chunks_exact(3 * size).find_map(|thread| {
            let mut words = thread.chunks_exact(size).map(Width::bits);
            known.describe(selection, std::array::from_fn(|_| words.next().unwrap_or(0)))
        });
        if let Some(seen) = found {
            findings.seen.push(seen);
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::options::ReferenceOptions;
    use ptx2spv_reference::Config;

    /// The results of the self-test on a reference device whose own arithmetic is trusted.
    fn found(options: ReferenceOptions) -> Findings {
        let config = options.config().unwrap();
        let config = Config { target: Target { facts: Facts::TRUSTED, ..config.target }, ..config };
        measure(&Device::reference(config)).unwrap()
    }

    #[test]
    fn an_exact_device_is_trusted() {
        let findings = found(ReferenceOptions::default());
        assert_eq!(findings.facts, Facts::REFERENCE);
        assert!(findings.seen.iter().any(|seen| seen.contains("red.global.add.f32")), "{:?}", findings.seen);
    }

    #[test]
    fn a_device_that_only_keeps_to_vulkan_is_not() {
        // A single seed, since each run takes long.
        let findings = found(ReferenceOptions::default().seed(Some(0)));
        // Modules declare `DenormPreserve`, `SignedZeroInfNanPreserve` and `MaximallyReconvergesKHR`.
        let promised = Facts {
            fma_khr_f32_right: true,
            fma_khr_f64_right: true,
            known_specials_f32_right: true,
            known_constants_f32_right: true,
            known_factors_f32_right: true,
            known_specials_f64_right: true,
            known_constants_f64_right: true,
            convert_f32_exact: true,
            convert_f16_exact: true,
            negate_f32_exact: true,
            denormals_f32_kept: true,
            denormals_f64_kept: true,
            normal_f32_exact: true,
            subgroups_reconverge: true,
            ..Facts::default()
        };
        assert_eq!(findings.facts, promised);
    }

    #[test]
    fn the_root_that_is_measured_is_made_of_its_inverse() {
        const INVERSE_SQUARE_ROOT: u32 = 32;
        let target = Target { facts: refining(&Facts::TRUSTED), ..Target::reference() };
        for instruction in instructions::SQRT {
            let spirv = translated(&instruction.ptx(), &target).unwrap().spirv;
            // `OpExtInst`, with its type, result and set before the function.
            let is_inverse = |words: &[u32]| words[0] == 6 << 16 | 12 && words[4] == INVERSE_SQUARE_ROOT;
            assert!(spirv.windows(6).any(is_inverse), "{}", instruction.text);
        }
    }

    #[test]
    fn all_operations_with_known_operands_are_tried() {
        let target = Target { facts: Facts::TRUSTED, ..Target::reference() };
        let arithmetic = constants::FACTS.map(|(_, operations, selection)| (operations, selection));
        let others = constants::OTHERS.map(|(_, operations)| (operations, Selection::Any));
        for (operations, selection) in arithmetic.into_iter().chain(others) {
            for known in operations {
                let ptx = known.ptx(selection, &Facts::TRUSTED);
                assert!(translated(&ptx, &target).is_ok(), "{ptx}");
            }
        }
    }

    #[test]
    fn all_instructions_are_tried() {
        let target = Target { facts: Facts::TRUSTED, ..Target::reference() };
        let lists = instructions::FMA.iter().chain(instructions::FACTS).map(|(_, instructions)| *instructions);
        for instruction in lists.chain([instructions::DOT, instructions::SQRT]).flatten() {
            let translated = translated(&instruction.ptx(), &target);
            assert!(translated.is_ok(), "{}: {translated:?}", instruction.text);
        }
    }

    /// Whether the reconvergence probe has the right results on a reference device that promises no reconvergence,
    /// except by the features in `kept`.
    fn reconverges(seed: Option<u64>, size: u32, kept: &[Feature]) -> bool {
        let reconvergence = [Feature::ShaderMaximalReconvergence, Feature::ShaderSubgroupUniformControlFlow];
        let without = reconvergence.into_iter().filter(|feature| !kept.contains(feature)).collect();
        let config = ReferenceOptions::default().seed(seed).subgroup(Some(size)).without(without).config();
        let mut config = config.unwrap();
        config.target.facts = Facts::TRUSTED;
        match reconvergence::attempt(&Device::reference(config)).unwrap() {
            Attempt::Right => true,
            Attempt::Wrong(_) => false,
            Attempt::Impossible => panic!("subgroups of {size}"),
        }
    }

    #[test]
    fn subgroups_that_run_in_step_are_found_to() {
        for size in [2, 8, 32, 64, 128] {
            assert!(reconverges(None, size, &[]), "{size}");
        }
    }

    #[test]
    fn subgroups_that_come_apart_are_found_to() {
        for (seed, size) in (0..).zip([4, 32, 64]) {
            assert!(!reconverges(Some(seed), size, &[]), "{size}");
            assert!(reconverges(Some(seed), size, &[Feature::ShaderSubgroupUniformControlFlow]), "{size}");
        }
    }

    /// Without full subgroups, the reconvergence probe doesn't run.
    #[test]
    fn without_full_subgroups_none_are_tried() {
        let without = [Feature::ComputeFullSubgroups].into();
        let config = ReferenceOptions::default().without(without).config().unwrap();
        assert!(matches!(reconvergence::attempt(&Device::reference(config)).unwrap(), Attempt::Impossible));
    }
}
