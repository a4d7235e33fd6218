//! `bench kernels`: device time of the same PTX through CUDA's driver and through us, on the same chip.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use ptx2spv::cases::device::Made;
use ptx2spv::cases::prepare::{Argument, Expectation, Prepared, Subject};
use ptx2spv::cases::{Outputs, Scalar, argument_text, cuda};
use ptx2spv::cli;
use ptx2spv::cuda::{Context, Launch};
use ptx2spv_runtime::{Device, DeviceSelector, LaunchConfig, LoadOptions};
use ptx2spv_translator::{Math, Source};
use serde::Serialize;

use crate::devices::Devices;
use crate::report::{Report, median, milliseconds};
use crate::twins;
use crate::workloads::{self, Workload};

/// Time kernels on the device, through CUDA and through Vulkan, and compare their results.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only kernels whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Launches that are timed in each of the rounds.
    #[arg(long, default_value_t = 20, value_name = "N")]
    repeats: u32,
    /// Rounds: CUDA and Vulkan take turns, so that a change of the clock hits both.
    #[arg(long, default_value_t = 2, value_name = "N")]
    rounds: u32,
    /// Small sizes, to see that everything works.
    #[arg(long)]
    quick: bool,
    /// Vulkan device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
    /// Float arithmetic to measure; may be given several times.
    #[arg(long, default_values = ["exact", "fast"], value_name = "HOW")]
    math: Vec<Math>,
}

/// Launches before the clock counts: caches, clocks and lazy loading settle.
const WARM_UP: u32 = 5;

/// What is launched on Vulkan.
#[derive(Clone, Copy)]
enum Code {
    /// The kernel's translation.
    Translation(Math),
    /// The kernel's GLSL twin.
    Glsl,
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Code::Translation(math) => math.fmt(f),
            Code::Glsl => f.write_str("GLSL"),
        }
    }
}

impl Arguments {
    /// The translations in the order of the arguments, and the twin.
    fn codes(&self) -> Vec<Code> {
        self.math.iter().map(|&math| Code::Translation(math)).chain([Code::Glsl]).collect()
    }
}

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    size: String,
    cuda_seconds: Option<f64>,
    /// Compiling and loading the module by CUDA's driver.
    cuda_load_seconds: Option<f64>,
    /// One for each of [`Arguments::codes`].
    vulkan: Vec<VulkanRow>,
}

#[derive(Serialize)]
struct VulkanRow {
    code: String,
    seconds: Option<f64>,
    /// Vulkan's time by CUDA's: above 1, we are slower.
    ratio: Option<f64>,
    /// Parsing the module and translating the kernel.
    translate_seconds: Option<f64>,
    /// Making the pipeline and launching it for the first time.
    pipeline_seconds: Option<f64>,
    results: String,
}

/// What one interface gave.
#[derive(Default)]
struct Side {
    /// After the first launch.
    outputs: Option<Outputs>,
    times: Vec<Duration>,
    /// What came before the first launch, by the host's clock: loading or translating, and making a pipeline.
    load: Option<Duration>,
    pipeline: Option<Duration>,
    error: Option<String>,
}

impl Side {
    /// Keeps the first error.
    fn fail(&mut self, result: Result<()>) {
        self.error = self.error.take().or(result.err().map(|error| format!("{error:#}")));
    }
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let mut devices = Devices::open(&arguments.device)?;
    let mut report = Report::new(&["kernel", "size", "CUDA ms"]);
    let codes = arguments.codes();
    report.head.extend(codes.iter().map(|code| format!("{code} / CUDA")));
    report.head.extend(codes.iter().map(|code| format!("{code} results")));
    report.head.extend(["CUDA load ms", "translate ms", "pipeline ms"].map(str::to_owned));
    report.notes = devices.names()?;
    report
        .notes
        .push(format!("Median device time of {} launches after warm-up.", arguments.rounds * arguments.repeats));
    let mut rows = Vec::new();
    for workload in workloads::all(arguments.quick) {
        if arguments.filter.as_ref().is_none_or(|filter| workload.name.contains(filter)) {
            cli::note(format_args!("{} …", workload.name));
            let (row, failed) = measure_workload(arguments, &codes, &devices, &workload)?;
            if failed {
                // A fault leaves a CUDA context or a Vulkan device useless for what follows.
                devices = Devices::open(&arguments.device)?;
            }
            report.push(cells(&row), &row)?;
            rows.push(row);
        }
    }
    report.notes.extend(codes.iter().enumerate().filter_map(|(index, code)| summary(&rows, index, code)));
    report.notes.extend(codes.iter().enumerate().filter_map(|(index, code)| against_twins(&rows, index, code)));
    Ok(report)
}

fn cells(row: &Row) -> Vec<String> {
    let time = |seconds: Option<f64>| milliseconds(seconds.map(Duration::from_secs_f64));
    let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
    let mut cells = vec![row.kernel.to_owned(), row.size.clone(), time(row.cuda_seconds)];
    cells.extend(row.vulkan.iter().map(|vulkan| ratio(vulkan.ratio)));
    cells.extend(row.vulkan.iter().map(|vulkan| vulkan.results.clone()));
    let first = row.vulkan.first();
    cells.push(time(row.cuda_load_seconds));
    cells.push(time(first.and_then(|vulkan| vulkan.translate_seconds)));
    cells.push(time(first.and_then(|vulkan| vulkan.pipeline_seconds)));
    cells
}

/// The geometric mean of the ratios, and sums of what comes before launches.
fn summary(rows: &[Row], index: usize, code: &Code) -> Option<String> {
    let vulkan: Vec<&VulkanRow> = rows.iter().filter_map(|row| row.vulkan.get(index)).collect();
    let ratios: Vec<f64> = vulkan.iter().filter_map(|row| row.ratio).collect();
    let mean = geometric_mean(&ratios)?;
    let sum = |times: &mut dyn Iterator<Item = Option<f64>>| 1e3 * times.flatten().sum::<f64>();
    let load = sum(&mut rows.iter().map(|row| row.cuda_load_seconds));
    let translate = sum(&mut vulkan.iter().map(|row| row.translate_seconds));
    let pipeline = sum(&mut vulkan.iter().map(|row| row.pipeline_seconds));
    Some(format!(
        "{code}: geometric mean {mean:.3} of {} kernels; in sum CUDA loads in {load:.0} ms, translation takes {translate:.0} ms \
         and pipelines {pipeline:.0} ms.",
        ratios.len()
    ))
}

/// The geometric mean of a translation's times by those of the GLSL twins.
fn against_twins(rows: &[Row], index: usize, code: &Code) -> Option<String> {
    let Code::Translation(math) = code else { return None };
    let ratio = |row: &Row| Some(row.vulkan.get(index)?.seconds? / row.vulkan.last()?.seconds?);
    let ratios: Vec<f64> = rows.iter().filter_map(ratio).collect();
    let mean = geometric_mean(&ratios)?;
    Some(format!("{math} against GLSL: geometric mean {mean:.3} of {} kernels.", ratios.len()))
}

/// `None` of nothing.
fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

fn measure_workload(
    arguments: &Arguments,
    codes: &[Code],
    devices: &Devices,
    workload: &Workload,
) -> Result<(Row, bool)> {
    let case = prepare(workload)?;
    let mut cuda = Side::default();
    let mut sides: Vec<Side> = codes.iter().map(|_| Side::default()).collect();
    for _ in 0..arguments.rounds {
        if let Some(context) = &devices.cuda {
            let result = cuda_times(context, &case, arguments.repeats, &mut cuda);
            cuda.fail(result);
        }
        if let Some(device) = &devices.vulkan {
            for (&code, side) in codes.iter().zip(&mut sides) {
                let result = vulkan_times(device, &case, code, arguments.repeats, side);
                side.fail(result);
            }
        }
    }
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    let failed = cuda.error.is_some() || sides.iter().any(|side| side.error.is_some());
    let cuda_seconds = seconds(median(cuda.times.clone()));
    let vulkan = codes.iter().zip(sides).map(|(code, side)| {
        let own = seconds(median(side.times.clone()));
        VulkanRow {
            code: code.to_string(),
            seconds: own,
            ratio: own.zip(cuda_seconds).map(|(vulkan, cuda)| vulkan / cuda),
            translate_seconds: seconds(side.load),
            pipeline_seconds: seconds(side.pipeline),
            results: results(&case, &cuda, &side),
        }
    });
    let row = Row {
        kernel: workload.name,
        size: workload.size.clone(),
        cuda_seconds,
        cuda_load_seconds: seconds(cuda.load),
        vulkan: vulkan.collect(),
    };
    Ok((row, failed))
}

pub fn prepare(workload: &Workload) -> Result<Prepared> {
    let (args, textures) = argument_text::parse_all(&workload.args)?;
    Ok(Prepared {
        name: workload.name.to_owned(),
        ptx_name: format!("{}.ptx", workload.entry),
        ptx: workload.ptx.into(),
        entry: workload.entry.to_owned(),
        grid: workload.grid,
        block: workload.block,
        cluster: None,
        cooperative: false,
        dynamic_shared_bytes: workload.shared,
        globals: BTreeMap::new(),
        textures,
        args,
        read_globals: BTreeMap::new(),
        expectation: Expectation::Results(Vec::new()),
    })
}

fn cuda_times(context: &Context, case: &Prepared, repeats: u32, side: &mut Side) -> Result<()> {
    let start = Instant::now();
    let module = context.load(&case.ptx)?;
    side.load.get_or_insert(start.elapsed());
    let made = cuda::Made::new(context, case)?;
    made.bind(&module, case)?;
    let kernel = module.function(&case.entry)?.bind(Launch::from(case), made.bytes.clone())?;
    kernel.launch()?;
    context.synchronize()?;
    if side.outputs.is_none() {
        side.outputs = Some(made.read()?);
    }
    for index in 0..WARM_UP + repeats {
        let milliseconds = context.time(|| kernel.launch())?;
        if index >= WARM_UP {
            side.times.push(Duration::from_secs_f64(f64::from(milliseconds) / 1e3));
        }
    }
    Ok(())
}

/// Leaves the side as it is if the kernel has no such code.
fn vulkan_times(device: &Device, case: &Prepared, code: Code, repeats: u32, side: &mut Side) -> Result<()> {
    let source = Source::new(case.ptx_name.clone(), case.ptx.clone());
    let start = Instant::now();
    let (module, entry) = match code {
        Code::Translation(math) => (device.load_with(&source, LoadOptions::uncached(math))?, case.entry.as_str()),
        Code::Glsl => match twins::of(&case.entry) {
            Some(spirv) => (twins::load(device, &source, spirv)?, twins::ENTRY),
            None => return Ok(()),
        },
    };
    let kernel = module.kernel(entry)?;
    side.load.get_or_insert(start.elapsed());
    let made = Made::new(device, case)?;
    made.bind(&module, case)?;
    let args = made.arguments(case);
    let config = LaunchConfig::from(case);
    device.synchronize()?;
    let start = Instant::now();
    // SAFETY: the workloads and the launch cases that a developer names give their kernels what these were written for.
    unsafe { kernel.launch(&config, &args) }?;
    side.pipeline.get_or_insert(start.elapsed());
    device.synchronize()?;
    if side.outputs.is_none() {
        side.outputs = Some(made.read()?);
    }
    // SAFETY: as above.
    let time = |repeats| unsafe { kernel.time(&config, &args, repeats) };
    time(WARM_UP)?;
    side.times.extend(time(repeats).context("timing")?);
    Ok(())
}

/// Compares what both gave for every buffer, or says what is missing.
fn results(case: &Prepared, cuda: &Side, vulkan: &Side) -> String {
    let errors = [("CUDA", cuda), ("Vulkan", vulkan)];
    let errors =
        errors.iter().filter_map(|(name, side)| Some(format!("{name}: {}", side.error.as_ref()?.lines().next()?)));
    let errors: Vec<String> = errors.collect();
    if !errors.is_empty() {
        return errors.join("; ").replace('|', "/");
    }
    let (Some(cuda), Some(vulkan)) = (&cuda.outputs, &vulkan.outputs) else { return "not compared".to_owned() };
    let mut total = Distance::default();
    for (index, arg) in case.args.iter().enumerate() {
        if let Argument::Buffer(array) = arg {
            let subject = Subject::Arg(index);
            total.add(array.ty, cuda.bytes(&subject), vulkan.bytes(&subject));
        }
    }
    total.to_string()
}

/// How far two results are apart.
#[derive(Default)]
struct Distance {
    differing: usize,
    /// Of floats that are numbers in both.
    max_ulp: u64,
    /// Whether an integer, an infinity or a NaN differs.
    other: bool,
}

impl Distance {
    fn add(&mut self, ty: Scalar, expected: &[u8], got: &[u8]) {
        for (expected, got) in ty.elements(expected).zip(ty.elements(got)) {
            if expected != got && !(ty.is_nan(expected) && ty.is_nan(got)) {
                self.differing += 1;
                if ty.is_float() && ty.is_finite(expected) && ty.is_finite(got) {
                    self.max_ulp = self.max_ulp.max(ty.ordinal(expected).abs_diff(ty.ordinal(got)));
                } else {
                    self.other = true;
                }
            }
        }
    }
}

impl std::fmt::Display for Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distance { differing: 0, .. } => write!(f, "equal"),
            Distance { differing, other: true, .. } => write!(f, "**{differing} differ**"),
            Distance { differing, max_ulp, .. } => write!(f, "{differing} differ, by at most {max_ulp} ulp"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let text = |ty, expected: &[u8], got: &[u8]| {
            let mut distance = Distance::default();
            distance.add(ty, expected, got);
            distance.to_string()
        };
        let one = floats(&[1.0, f32::NAN]);
        assert_eq!(text(Scalar::F32, &one, &floats(&[1.0, -f32::NAN])), "equal");
        assert_eq!(text(Scalar::F32, &one, &floats(&[1.0 + f32::EPSILON, f32::NAN])), "1 differ, by at most 1 ulp");
        assert_eq!(text(Scalar::F32, &one, &floats(&[f32::INFINITY, f32::NAN])), "**1 differ**");
        assert_eq!(text(Scalar::U8, &[1, 2], &[2, 1]), "**2 differ**");
    }
}
