//! The self-test of a device: runs instructions that trust the device's own arithmetic, and judges their results.
//!
//! Vulkan lets division, square root, `Fma` and the like round loosely, and says nothing of devices that do better. So at its
//! first use a device is asked: each instruction of [`instructions`] is translated as if all [`Facts`] held, runs on some
//! hundred thousand operands, and a fact holds where all results are right. [`cache`] keeps the answer for the driver's
//! version. [`constants`] asks whether arithmetic that was found right stays so where the driver's compiler knows an operand. Beside
//! arithmetic, [`reconvergence`] tries whether subgroups reconverge. Other bugs of drivers are not found out here.

mod cache;
mod constants;
mod findings;
mod half;
mod instructions;
mod judge;
mod operands;
mod reconvergence;

use ptx2spv_translator::target::Facts;
use ptx2spv_translator::{Feature, Options, Program, Source, Target};

pub(crate) use cache::{keep, key, known};
pub(crate) use findings::Findings;

use crate::device::Device;
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::kernel::Kernel;
use crate::launch_config::LaunchConfig;
use findings::{Attempt, stopped};
use instructions::{Instruction, Width};

/// Threads of a block: what every Vulkan device can run.
const BLOCK: u32 = 128;

/// A device's description as the self-test needs it: everything is trusted.
pub(crate) fn trusting(info: &DeviceInfo) -> DeviceInfo {
    DeviceInfo { target: Target { facts: Facts::TRUSTED, ..info.target.clone() }, ..info.clone() }
}

/// Finds out what a device does, which must have been opened as [`trusting`].
///
/// # Errors
/// Those of launches. What the device can't run is not trusted.
pub(crate) fn measure(device: &Device) -> Result<Findings, Error> {
    let mut findings = Findings { facts: Facts::TRUSTED, seen: Vec::new() };
    // First what decides how all other modules declare their floats.
    let by_dot = Facts { fma_f32_denormals: false, ..Facts::TRUSTED };
    let has_modes = device.target().has(Feature::ShaderFloatControls2);
    let dot_f32_fused = has_modes && holds(device, &by_dot, instructions::DOT, &mut findings)?;
    findings.facts.dot_f32_fused = dot_f32_fused;
    let by_fma = Facts { dot_f32_fused, ..Facts::TRUSTED };
    for (fact, instructions) in instructions::FMA {
        *fact(&mut findings.facts) = holds(device, &by_fma, instructions, &mut findings)?;
    }
    let trusted = if dot_f32_fused { by_dot } else { by_fma };
    findings.facts.sqrt_f32_refined = holds(device, &refining(&trusted), instructions::SQRT, &mut findings)?;
    for (fact, instructions) in instructions::FACTS {
        *fact(&mut findings.facts) = holds(device, &trusted, instructions, &mut findings)?;
    }
    for (fact, width, specials) in constants::FACTS {
        *fact(&mut findings.facts) = with_known_operands(device, &trusted, width, specials, &mut findings)?;
    }
    findings.facts.subgroups_reconverge = match reconvergence::attempt(device)? {
        Attempt::Right => true,
        Attempt::Wrong(seen) => {
            findings.seen.push(seen);
            false
        }
        Attempt::Impossible => false,
    };
    Ok(findings)
}

/// With the root made of its inverse.
fn refining(trusted: &Facts) -> Facts {
    Facts { sqrt_f32_rounded: false, sqrt_f32_normal: false, sqrt_f32_refined: true, ..trusted.clone() }
}

/// Whether instructions are right, those that the device can run, if modules for it trust these facts.
fn holds(device: &Device, facts: &Facts, instructions: &[Instruction], findings: &mut Findings) -> Result<bool, Error> {
    let mut trusted = false;
    for instruction in instructions {
        match attempt(device, facts, instruction)? {
            Attempt::Right => trusted = true,
            Attempt::Wrong(seen) => {
                findings.seen.push(seen);
                return Ok(false);
            }
            // It can't be used either.
            Attempt::Impossible => {}
        }
    }
    Ok(trusted)
}

/// The kernel `probe` of a module, translated as for a device with these facts; `None` if it can't be.
fn probe(device: &Device, facts: &Facts, ptx: String) -> Result<Option<Kernel>, Error> {
    let target = Target { facts: facts.clone(), ..device.target().clone() };
    let source = Source::new("self-test", ptx);
    let translated = Program::new(&source).and_then(|program| program.translate(&Options::new(&target)));
    let Ok(translation) = translated else { return Ok(None) };
    // SAFETY: it was translated just now.
    let module = unsafe { device.load_translated(&translation) }?;
    module.kernel("probe").map(Some)
}

fn attempt(device: &Device, facts: &Facts, instruction: &Instruction) -> Result<Attempt, Error> {
    // Without 64-bit floats these say nothing of the device: they are emulated.
    if instruction.needs_doubles() && !device.info().target.has(Feature::ShaderFloat64) {
        return Ok(Attempt::Impossible);
    }
    let Some(kernel) = probe(device, facts, instruction.ptx())? else { return Ok(Attempt::Impossible) };
    let operands = (instruction.operands)();
    let bytes: Vec<u8> = operands.iter().flatten().flat_map(|bits| instruction.width.bytes(*bits)).collect();
    let input = device.upload(&bytes)?;
    let size = instruction.width.size();
    let output = device.alloc(operands.len() as u64 * size as u64)?;
    let count = u32::try_from(operands.len()).unwrap_or(u32::MAX);
    // SAFETY: these kernels of ours read and write `count` elements of the two buffers.
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

/// Whether arithmetic gives with operands that the driver's compiler knows, specials or others, what it gives with those from
/// memory. What isn't trusted with the latter is left out.
fn with_known_operands(
    device: &Device,
    facts: &Facts,
    width: Width,
    specials: bool,
    findings: &mut Findings,
) -> Result<bool, Error> {
    for known in constants::of(width) {
        if !(known.trusted)(&findings.facts) {
            continue;
        }
        // What can't be translated can't be used either.
        let Some(kernel) = probe(device, facts, known.ptx(specials, &findings.facts))? else { continue };
        let (operands, threads) = known.operands();
        let size = known.width.size();
        let mut results = vec![0; 3 * threads as usize * size];
        let (input, output) = (device.upload(&operands)?, device.alloc(results.len() as u64)?);
        // SAFETY: these kernels of ours have `threads` threads, each of which reads and writes its own part of the two buffers.
        unsafe { kernel.launch(&LaunchConfig::linear(threads, threads), &[(&input).into(), (&output).into()]) }?;
        if let Some(error) = stopped(output.read(0, &mut results))? {
            findings.seen.push(error.to_string());
            return Ok(false);
        }
        let found = results.chunks_exact(3 * size).find_map(|thread| {
            let mut words = thread.chunks_exact(size).map(Width::bits);
            known.describe(specials, std::array::from_fn(|_| words.next().unwrap_or(0)))
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
    use ptx2spv_reference::Config;

    use super::*;
    use crate::options::ReferenceOptions;

    /// What the self-test finds on a reference device that trusts its own arithmetic.
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
        // One seed: the self-test asks so much that each takes long.
        let findings = found(ReferenceOptions { seed: Some(0), ..ReferenceOptions::default() });
        // Modules declare `DenormPreserve`, `SignedZeroInfNanPreserve` and `MaximallyReconvergesKHR`.
        let promised = Facts {
            known_specials_f32_right: true,
            known_constants_f32_right: true,
            known_specials_f64_right: true,
            known_constants_f64_right: true,
            convert_f32_exact: true,
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
            let source = Source::new("self-test", instruction.ptx());
            let program = Program::new(&source).unwrap();
            let spirv = program.translate(&Options::new(&target)).unwrap().spirv;
            // `OpExtInst`, with its type, result and set before the function.
            let is_inverse = |words: &[u32]| words[0] == 6 << 16 | 12 && words[4] == INVERSE_SQUARE_ROOT;
            assert!(spirv.windows(6).any(is_inverse), "{}", instruction.text);
        }
    }

    /// Whether the kernel that diverges gives the right results on a reference device without promises of reconvergence, but for the features in `kept`.
    fn reconverges(seed: Option<u64>, size: u32, kept: &[Feature]) -> bool {
        let reconvergence = [Feature::ShaderMaximalReconvergence, Feature::ShaderSubgroupUniformControlFlow];
        let without = reconvergence.into_iter().filter(|feature| !kept.contains(feature)).collect();
        let config = ReferenceOptions { seed, subgroup: Some(size), without, ..ReferenceOptions::default() }.config();
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

    /// Without subgroups there is nothing to be said of them.
    #[test]
    fn without_full_subgroups_none_are_tried() {
        let without = [Feature::ComputeFullSubgroups].into();
        let config = ReferenceOptions { without, ..ReferenceOptions::default() }.config().unwrap();
        assert!(matches!(reconvergence::attempt(&Device::reference(config)).unwrap(), Attempt::Impossible));
    }
}
