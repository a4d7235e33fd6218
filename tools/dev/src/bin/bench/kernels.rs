//! `bench kernels`: the device time of the same PTX through CUDA's driver and through ptx2spv, on the same chip.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use ptx2spv::cases::Ptx;
use ptx2spv::cases::prepare::Prepared;
use ptx2spv::cli;
use ptx2spv_runtime::DeviceSelector;
use ptx2spv_translator::Math;
use serde::Serialize;

use crate::chart::{Chart, Series};
use crate::devices::Devices;
use crate::limits::{Achieved, Limits};
use crate::report::{Report, median, milliseconds};
use crate::results::results;
use crate::selection::Selection;
use crate::sides::{Code, Side, cuda_times, prepare, spirv_bytes, vulkan_times};
use crate::workloads::work::{self, Unit};
use crate::workloads::{self, Workload};

/// Time kernels on the device, through CUDA and through Vulkan, and compare their results.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// Number of measured launches in each round.
    #[arg(long, default_value_t = 20, value_name = "N")]
    repeats: u32,
    /// Number of rounds. CUDA and Vulkan alternate, so that a change of the clock affects both.
    #[arg(long, default_value_t = 2, value_name = "N")]
    rounds: u32,
    /// Use small sizes, to test the program itself.
    #[arg(long)]
    quick: bool,
    /// Vulkan device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
    /// Accuracy of float arithmetic to measure; may be given several times.
    #[arg(long, default_values = ["exact", "fast"], value_name = "HOW")]
    math: Vec<Math>,
    /// Take each kernel from the PTX file with that kernel in this folder, made by another compiler, instead of
    /// clang's.
    #[arg(long, value_name = "DIR")]
    ptx_dir: Option<PathBuf>,
    /// Draw the ratios as a chart in this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Arguments {
    /// The translations in the order of the arguments, then the GLSL twin.
    fn codes(&self) -> Vec<Code> {
        self.math.iter().map(|&math| Code::Translation(math)).chain([Code::Glsl]).collect()
    }

    /// The units that may limit the chosen kernels.
    fn units(&self) -> Result<Vec<Unit>> {
        let mut units = vec![Unit::Byte];
        // They are the same for all sizes.
        for workload in workloads::all(true).iter().filter(|workload| self.selection.takes(workload)) {
            let work = work::operations(&prepare(workload)?);
            units.extend(work.map(|work| work.unit).filter(|unit| !units.contains(unit)));
        }
        Ok(units)
    }
}

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    size: String,
    ptx_bytes: usize,
    cuda_seconds: Option<f64>,
    /// Time of CUDA's driver to compile and load the module.
    cuda_load_seconds: Option<f64>,
    /// The results of each of [`Arguments::codes`].
    vulkan: Vec<VulkanRow>,
}

#[derive(Serialize)]
struct VulkanRow {
    code: String,
    seconds: Option<f64>,
    /// Vulkan's time divided by CUDA's: above 1, Vulkan is slower.
    ratio: Option<f64>,
    /// Time to parse the module and translate the kernel.
    translate_seconds: Option<f64>,
    /// Time of the driver to make the pipeline.
    pipeline_seconds: Option<f64>,
    /// Bytes of the SPIR-V module with only this kernel.
    spirv_bytes: Option<usize>,
    /// The rate, relative to the chip's limits.
    achieved: Option<Achieved>,
    results: String,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let mut devices = Devices::open(&arguments.device)?;
    let mut report = Report::new(&["kernel", "size", "CUDA ms"]);
    let codes = arguments.codes();
    report.head.extend(codes.iter().map(|code| format!("{code} / CUDA")));
    report.head.extend(codes.iter().map(|code| format!("{code} results")));
    let more = ["achieved", "CUDA load ms", "translate ms", "pipeline ms", "PTX KB", "SPIR-V KB"];
    report.head.extend(more.map(str::to_owned));
    report.notes = devices.names()?;
    let texts = arguments.ptx_dir.as_deref().map(texts).transpose()?;
    let limits = Limits::measure(&devices, &arguments.units()?, arguments.quick, arguments.repeats)?;
    report.notes.push(limits.note());
    report
        .notes
        .push(format!("Median device time of {} launches after warm-up.", arguments.rounds * arguments.repeats));
    let mut rows = Vec::new();
    for workload in workloads::all(arguments.quick) {
        if arguments.selection.takes(&workload) {
            cli::note(format_args!("{} …", workload.name));
            let mut case = prepare(&workload)?;
            if let Some(texts) = &texts {
                let start = format!(".entry {}(", workload.entry);
                let Some(text) = texts.iter().find(|text| text.contains(&start)) else {
                    cli::note(format_args!("{} is left out: no file has its kernel", workload.name));
                    continue;
                };
                case.ptx = Ptx::new(case.ptx.source().name(), text.as_str());
            }
            let (row, failed) = measure_workload(arguments, &codes, &devices, &limits, &workload, &case)?;
            if failed {
                // After a fault, a CUDA context or a Vulkan device is unusable.
                devices = Devices::open(&arguments.device)?;
            }
            let cells = cells(&row);
            // A long measurement that is cut off leaves what it has.
            cli::note(format_args!("{}", cells.join(" | ")));
            report.push(cells, &row)?;
            rows.push(row);
        }
    }
    if let Some(file) = &arguments.svg {
        let text = chart(&codes, &rows).to_svg();
        fs::write(file, text).with_context(|| file.display().to_string())?;
    }
    report.notes.extend(codes.iter().enumerate().filter_map(|(index, code)| summary(&rows, index, code)));
    report.notes.extend(codes.iter().enumerate().filter_map(|(index, code)| against_twins(&rows, index, code)));
    Ok(report)
}

/// The PTX files of a folder.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            texts.push(fs::read_to_string(&path).with_context(|| path.display().to_string())?);
        }
    }
    Ok(texts)
}

/// The ratios of all kernels; CUDA is 1.
fn chart(codes: &[Code], rows: &[Row]) -> Chart {
    let series = codes.iter().enumerate().map(|(index, code)| Series {
        name: code.to_string(),
        values: rows.iter().map(|row| row.vulkan.get(index).and_then(|vulkan| vulkan.ratio)).collect(),
    });
    Chart {
        title: "Time by CUDA's time".to_owned(),
        labels: rows.iter().map(|row| row.kernel.to_owned()).collect(),
        series: series.collect(),
    }
}

fn cells(row: &Row) -> Vec<String> {
    let time = |seconds: Option<f64>| milliseconds(seconds.map(Duration::from_secs_f64));
    let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
    let mut cells = vec![row.kernel.to_owned(), row.size.clone(), time(row.cuda_seconds)];
    cells.extend(row.vulkan.iter().map(|vulkan| ratio(vulkan.ratio)));
    cells.extend(row.vulkan.iter().map(|vulkan| vulkan.results.clone()));
    let first = row.vulkan.first();
    let achieved = first.and_then(|vulkan| vulkan.achieved);
    cells.push(achieved.map_or_else(|| "–".to_owned(), |achieved| achieved.to_string()));
    cells.push(time(row.cuda_load_seconds));
    cells.push(time(first.and_then(|vulkan| vulkan.translate_seconds)));
    cells.push(time(first.and_then(|vulkan| vulkan.pipeline_seconds)));
    let kilobytes = |bytes: usize| format!("{:.1}", bytes as f64 / 1e3);
    cells.push(kilobytes(row.ptx_bytes));
    cells.push(first.and_then(|vulkan| vulkan.spirv_bytes).map_or_else(|| "–".to_owned(), kilobytes));
    cells
}

/// The geometric mean of the ratios, and the total times before launches.
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

/// The geometric mean of a translation's times divided by the times of the GLSL twins.
fn against_twins(rows: &[Row], index: usize, code: &Code) -> Option<String> {
    let Code::Translation(math) = code else { return None };
    let ratio = |row: &Row| Some(row.vulkan.get(index)?.seconds? / row.vulkan.last()?.seconds?);
    let ratios: Vec<f64> = rows.iter().filter_map(ratio).collect();
    let mean = geometric_mean(&ratios)?;
    Some(format!("{math} against GLSL: geometric mean {mean:.3} of {} kernels.", ratios.len()))
}

/// `None` for no ratios.
fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

fn measure_workload(
    arguments: &Arguments,
    codes: &[Code],
    devices: &Devices,
    limits: &Limits,
    workload: &Workload,
    case: &Prepared,
) -> Result<(Row, bool)> {
    let mut cuda = Side::default();
    let mut sides: Vec<Side> = codes.iter().map(|_| Side::default()).collect();
    for _ in 0..arguments.rounds {
        if let Some(context) = &devices.cuda {
            let result = cuda_times(context, case, arguments.repeats, &mut cuda);
            cuda.fail(result);
        }
        if let Some(device) = &devices.vulkan {
            for (&code, side) in codes.iter().zip(&mut sides) {
                let result = vulkan_times(device, case, code, arguments.repeats, side);
                side.fail(result);
            }
        }
    }
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    let failed = cuda.error.is_some() || sides.iter().any(|side| side.error.is_some());
    let cuda_seconds = seconds(median(cuda.times.clone()));
    let vulkan = codes.iter().zip(sides).map(|(code, side)| {
        let own = seconds(median(side.times.clone()));
        let works = || work::operations(case).into_iter().chain([work::bytes(case)]);
        VulkanRow {
            code: code.to_string(),
            seconds: own,
            ratio: own.zip(cuda_seconds).map(|(vulkan, cuda)| vulkan / cuda),
            translate_seconds: seconds(side.load),
            pipeline_seconds: seconds(side.pipeline),
            spirv_bytes: devices.vulkan.as_ref().and_then(|device| spirv_bytes(device, case, *code).ok()),
            achieved: own.and_then(|seconds| limits.achieved(works(), seconds)),
            results: results(case, &cuda, &side),
        }
    });
    let row = Row {
        kernel: workload.name,
        size: workload.size.clone(),
        ptx_bytes: case.ptx.text().len(),
        cuda_seconds,
        cuda_load_seconds: seconds(cuda.load),
        vulkan: vulkan.collect(),
    };
    Ok((row, failed))
}
