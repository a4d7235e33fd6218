//! The devices that run a campaign's programs, and the conclusions from their results.

use std::fmt;
use std::num::NonZeroUsize;

use anyhow::{Context, Result};
use ptx2spv::cases::prepare::Expectation;
use ptx2spv::cases::{Backend, CudaBackend, DeviceBackend, Failure, Outputs, Prepared, Verdict, judge};
use ptx2spv_runtime::{DeviceKind, DeviceSelector, Error, InstanceOptions, ReferenceOptions, devices};

use crate::straight::{Mix, same};

/// Instructions after which reference devices give up.
const STEPS: u64 = 200_000_000;
/// Runs that tell whether results depend on an order.
const ORDERS: u64 = 4;
/// The name of the reference device whose choices are the worst, others for each program.
const ADVERSARIAL: &str = "adversarial";

struct Side {
    name: String,
    part: Part,
    /// `None` for the adversarial device, which is made for each program.
    backend: Option<Box<dyn Backend>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Reference,
    Vulkan,
    /// CUDA, whose assembler optimizes as usual.
    Cuda,
    /// CUDA, whose assembler optimizes nothing.
    Unoptimized,
}

/// The outcome of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// All devices agree, and with the expected results if there are some.
    Same,
    /// The program means nothing, or is too large for a device.
    LeftOut,
    /// Vulkan devices alone differ: their drivers, or output for them.
    Driver,
    /// CUDA differs where its assembler optimizes.
    Assembler,
    /// CUDA differs from all others: its compiler, or output for all devices.
    Cuda,
    /// A reference device differs: the translator.
    Translator,
    /// Vulkan devices and CUDA differ from the reference devices.
    Several,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
            Self::LeftOut => "left-out",
            Self::Driver => "driver",
            Self::Assembler => "assembler",
            Self::Cuda => "CUDA",
            Self::Translator => "translator",
            Self::Several => "several",
        })
    }
}

pub struct Sides {
    list: Vec<Side>,
    /// Whether CUDA failed: after a kernel's fault no call of the process succeeds.
    cuda_failed: bool,
}

impl Sides {
    /// Opens devices: `cuda`, `adversarial`, or as `ptx2spv run` names them. Without names: two reference devices, the adversarial one, all
    /// Vulkan devices that can run kernels, and CUDA if there is one.
    pub fn open(names: &[String]) -> Result<Self> {
        let mut sides = Vec::new();
        let chosen = if names.is_empty() { every() } else { names.to_vec() };
        for name in chosen {
            if name == "cuda" {
                let (cuda, unoptimized) = match (CudaBackend::new(), CudaBackend::unoptimized()) {
                    (Ok(cuda), Ok(unoptimized)) => (cuda, unoptimized),
                    (Err(_), _) | (_, Err(_)) if names.is_empty() => continue,
                    (Err(error), _) | (_, Err(error)) => return Err(error.into()),
                };
                sides.push(Side { name: cuda.name(), part: Part::Cuda, backend: Some(Box::new(cuda)) });
                let name = format!("{} without optimizations", unoptimized.name());
                sides.push(Side { name, part: Part::Unoptimized, backend: Some(Box::new(unoptimized)) });
            } else if name == ADVERSARIAL {
                sides.push(Side { name, part: Part::Reference, backend: None });
            } else {
                let selector: DeviceSelector = name.parse()?;
                let part =
                    if matches!(selector, DeviceSelector::Reference(_)) { Part::Reference } else { Part::Vulkan };
                let device = DeviceBackend::open(&selector, None).with_context(|| name.clone())?;
                let name = if part == Part::Reference { name } else { device.name() };
                sides.push(Side { name, part, backend: Some(Box::new(device)) });
            }
        }
        Ok(Self { list: sides, cuda_failed: false })
    }

    /// The devices' names.
    pub fn names(&self) -> String {
        self.list.iter().map(|side| side.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether CUDA failed, so that nothing can run on it in this process any more.
    pub fn cuda_failed(&self) -> bool {
        self.cuda_failed
    }

    /// Runs a program on all devices and compares the results. One that may mean nothing, `loose`, is left out where the first device says
    /// so or refuses it.
    pub fn compare(&mut self, seed: u64, mix: Mix, loose: bool, case: &Prepared) -> (Class, String) {
        let Expectation::Results(checks) = &case.expectation else { return (Class::LeftOut, String::new()) };
        let mut first: Option<Outputs> = None;
        let mut ran = Vec::new();
        let mut wrong = Vec::new();
        let mut said = String::new();
        for side in &mut self.list {
            // What may be fused is fused by an optimization, which is to be followed.
            if side.part == Part::Unoptimized && matches!(mix, Mix::Contraction(_)) {
                continue;
            }
            let result = side.run(seed, case);
            let is_cuda = matches!(side.part, Part::Cuda | Part::Unoptimized);
            self.cuda_failed |= is_cuda && matches!(result, Err(Failure::Broken(_)));
            let complaint = match (&result, &first) {
                (Err(Failure::TooLarge(_)), _) => continue,
                (Err(Failure::Refused(_)), _) if loose => continue,
                (Err(error @ Failure::Fault(_)), _) if loose && first.is_none() => {
                    return (Class::LeftOut, error.to_string());
                }
                (Err(error), _) => Some(error.to_string()),
                (Ok(outputs), _) if !outputs.findings.is_empty() && loose => return (Class::LeftOut, String::new()),
                (Ok(_), _) if !checks.is_empty() => match judge(&case.expectation, &result) {
                    Verdict::Failed(complaint) => Some(complaint),
                    Verdict::Passed | Verdict::LeftOut(_) => None,
                },
                (Ok(outputs), _) if !outputs.findings.is_empty() => outputs.findings.first().map(ToString::to_string),
                (Ok(outputs), Some(first)) => first_difference(mix, first, outputs),
                (Ok(_), None) => None,
            };
            ran.push(side.part);
            if let Some(complaint) = complaint {
                wrong.push(side.part);
                // A list of diagnostics may be long.
                said += &format!("{}: {complaint:.500}\n", side.name);
            }
            if let (None, Ok(outputs)) = (&first, result) {
                first = Some(outputs);
            }
        }
        // The results may depend on an order that is not determined.
        if loose && !wrong.is_empty() && self.is_undetermined(seed, mix, case) {
            return (Class::LeftOut, said);
        }
        let all_of = |parts: &[Part]| wrong.iter().all(|part| parts.contains(part));
        let class = match wrong.len() {
            _ if ran.is_empty() => Class::LeftOut,
            0 => Class::Same,
            _ if all_of(&[Part::Vulkan]) => Class::Driver,
            _ if all_of(&[Part::Cuda]) && ran.contains(&Part::Unoptimized) => Class::Assembler,
            _ if all_of(&[Part::Cuda, Part::Unoptimized]) => Class::Cuda,
            _ if wrong.contains(&Part::Reference) => Class::Translator,
            _ => Class::Several,
        };
        (class, said)
    }

    /// Whether reference devices with different choices, or at different addresses, give different results.
    fn is_undetermined(&self, seed: u64, mix: Mix, case: &Prepared) -> bool {
        let runs = (0..ORDERS).map(|order| adversarial(seed.wrapping_add(order << 32), case, order as usize));
        let Ok(runs) = runs.collect::<Result<Vec<_>, _>>() else { return true };
        runs.iter().any(|run| !run.findings.is_empty() || first_difference(mix, &runs[0], run).is_some())
    }

    /// The results on the first device.
    pub fn first(&mut self, seed: u64, case: &Prepared) -> Option<Outputs> {
        self.list.first_mut()?.run(seed, case).ok()
    }
}

impl Side {
    fn run(&mut self, seed: u64, case: &Prepared) -> Result<Outputs, Failure> {
        match &mut self.backend {
            Some(backend) => backend.run(case),
            None => adversarial(seed, case, 0),
        }
    }
}

/// Runs a program on the reference device that a seed makes, after some runs that move its buffers to other addresses.
fn adversarial(seed: u64, case: &Prepared, before: usize) -> Result<Outputs, Failure> {
    let options = ReferenceOptions::default().check(true).seed(Some(seed)).subgroup(Some(1 << (seed % 8)));
    let options = options.steps(Some(STEPS)).threads(NonZeroUsize::new(1));
    let broken = |error: Error| Failure::Broken(error.to_string());
    let mut device = DeviceBackend::reference(options.config().map_err(broken)?).map_err(broken)?;
    for _ in 0..before {
        device.run(case)?;
    }
    device.run(case)
}

/// The names of all devices here.
fn every() -> Vec<String> {
    let plain = |size: u32| format!("reference:subgroup={size},threads=1,steps={STEPS}");
    // The first one tells which programs mean nothing.
    let mut names = vec![ADVERSARIAL.to_owned(), plain(32), plain(8)];
    let found = devices(&InstanceOptions::default()).devices.into_iter();
    let usable = found.filter(|device| device.kind != DeviceKind::Reference && device.missing().is_empty());
    names.extend(usable.filter_map(|device| Some(device.index?.to_string())));
    names.push("cuda".to_owned());
    names
}

/// The first difference between two devices' results.
fn first_difference(mix: Mix, first: &Outputs, other: &Outputs) -> Option<String> {
    let of = |outputs: &Outputs| -> Vec<(String, Vec<u8>)> {
        let buffers = outputs.buffers.iter().enumerate();
        let buffers = buffers.filter_map(|(number, bytes)| Some((format!("argument {number}"), bytes.clone()?)));
        let others = outputs.globals.iter().chain(&outputs.images).map(|(name, bytes)| (name.clone(), bytes.clone()));
        buffers.chain(others).collect()
    };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    of(first).into_iter().zip(of(other)).find_map(|((name, expected), (_, got))| {
        let mut words = expected.chunks(8).zip(got.chunks(8));
        let word = words.position(|(expected, got)| !same(mix, number(expected), number(got)))?;
        let [expected, got] = [&expected, &got].map(|bytes| number(bytes.chunks(8).nth(word).unwrap_or_default()));
        Some(format!("{name}, 64-bit word {word}: {got:016x} instead of {expected:016x}"))
    })
}
