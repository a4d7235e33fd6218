//! `docs/machine-code.md`: the code that Mesa's compilers make of this repository's kernels for devices that aren't there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv_translator::target::Target;
use serde::de::DeserializeOwned;

use crate::corpus::{self, Numbers, Row};
use crate::pipelines::Vulkan;
use crate::worker;

/// A device without hardware.
struct Device {
    name: &'static str,
    preset: &'static str,
    /// Part of its name in Vulkan.
    text: &'static str,
    /// Environment variables that have the driver imitate the device. Mesa's shims, which stand for the kernel's drivers, are found where
    /// the system's libraries are.
    environment: &'static [(&'static str, &'static str)],
}

/// Processor time of a pipeline that is worth a word, in seconds.
const SLOW: f64 = 5.0;

const DEVICES: [Device; 5] = [
    Device { name: "navi21", preset: "amd-rdna", text: "NAVI21", environment: &[("RADV_FORCE_FAMILY", "navi21")] },
    Device { name: "navi31", preset: "amd-rdna", text: "NAVI31", environment: &[("RADV_FORCE_FAMILY", "navi31")] },
    Device {
        name: "polaris10",
        preset: "amd-gcn",
        text: "POLARIS10",
        environment: &[("RADV_FORCE_FAMILY", "polaris10")],
    },
    Device {
        name: "tigerlake",
        preset: "intel-xe",
        text: "TGL",
        environment: &[("INTEL_STUB_GPU_PLATFORM", "tgl"), ("LD_PRELOAD", "libintel_noop_drm_shim.so")],
    },
    Device {
        name: "adreno740",
        preset: "adreno",
        text: "Adreno",
        environment: &[("FD_GPU_ID", "740"), ("LD_PRELOAD", "libfreedreno_noop_drm_shim.so")],
    },
];

#[derive(Debug, Args)]
pub struct Arguments {
    /// Compare with the document instead of writing it: fail if a module doesn't compile, if registers spill that didn't, or if
    /// instructions or cycles rise by more than 2 %, where the driver's version is the document's.
    #[arg(long)]
    check: bool,
    /// Only devices whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    device: String,
    /// Only files whose path contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Only kernels with a GLSL twin.
    #[arg(long)]
    twins: bool,
    /// Processor time for the kernels of one file, translation included, in seconds.
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// A file to compile here: what the processes are asked for.
    #[arg(long, hide = true)]
    file: Option<PathBuf>,
}

/// Compiles one file in this process. Without one, the device is opened, and its driver's version is written.
pub fn compile_here(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let device = DEVICES.iter().find(|device| device.name == arguments.device).context("no such device")?;
    let vulkan = Vulkan::new(device.text)?;
    match &arguments.file {
        Some(file) => {
            let target = Target::preset(device.preset).context("no such preset")?;
            serde_json::to_writer(out, &corpus::compile(file, &target, &vulkan)?)?;
        }
        None => serde_json::to_writer(out, &vulkan.driver)?,
    }
    Ok(Status::Success)
}

/// The results for a device.
struct Made {
    device: &'static Device,
    /// Version of the driver in words.
    driver: String,
    rows: Vec<Row>,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let mut files = corpus::files()?;
    files.retain(|file| corpus::name(file).contains(&arguments.filter));
    if arguments.twins {
        let have_twins = files.iter().map(|file| corpus::has_twin(file)).collect::<Result<Vec<_>>>()?;
        files = files.into_iter().zip(have_twins).filter_map(|(file, has)| has.then_some(file)).collect();
    }
    // Side by side, since compilers keep to one thread.
    let devices = DEVICES.iter().filter(|device| device.name.contains(&arguments.device));
    let found: Vec<_> = thread::scope(|scope| {
        let files = &files;
        let threads: Vec<_> = devices.map(|device| scope.spawn(move || make(arguments, device, files))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for made in found {
        match made {
            Ok((made, failed)) => {
                all.push(made);
                faults.extend(failed);
            }
            Err(error) => writeln!(out, "{error:#}")?,
        }
    }
    for (device, slowest) in all.iter().flat_map(|made| made.rows.iter().map(|row| (made.device.name, &row.slowest))) {
        let (seconds, kernel) = slowest;
        if *seconds > SLOW {
            writeln!(out, "{device}: the pipeline of {kernel} takes {seconds:.1} s")?;
        }
    }
    ensure!(!all.is_empty(), "there is none of the devices without hardware");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/machine-code.md");
    if arguments.check {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for made in &all {
            compare(&text, made, &mut faults, out)?;
        }
    } else {
        ensure!(arguments.filter.is_empty(), "the document has all files");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        fs::write(&path, with_sections(&text, &all)?)?;
    }
    faults.iter().try_for_each(|fault| writeln!(out, "{fault}"))?;
    Ok(if faults.is_empty() { Status::Success } else { Status::Failure })
}

/// Compiles all files for a device, and tells of files that don't compile. Fails if there is no such device.
fn make(arguments: &Arguments, device: &'static Device, files: &[PathBuf]) -> Result<(Made, Vec<String>)> {
    let driver = compile_apart(arguments, device, None).with_context(|| format!("{} is skipped", device.name))?;
    let (mut made, mut failed) = (Made { device, driver, rows: Vec::new() }, Vec::new());
    for file in files {
        match compile_apart::<Vec<Row>>(arguments, device, Some(file)) {
            Ok(rows) => made.rows.extend(rows.into_iter().filter(|row| !arguments.twins || row.twin.is_some())),
            Err(error) => failed.push(format!("{}, {}: {error:#}", device.name, corpus::name(file))),
        }
    }
    Ok((made, failed))
}

/// Does a device's work in a process of its own, where the driver imitates the device and compiles everything anew.
fn compile_apart<T: DeserializeOwned>(arguments: &Arguments, device: &Device, file: Option<&Path>) -> Result<T> {
    let mut words: Vec<&OsStr> = ["document", "--device", device.name].map(OsStr::new).to_vec();
    words.extend(file.into_iter().flat_map(|file| [OsStr::new("--file"), file.as_os_str()]));
    let environment = [device.environment, &[("MESA_SHADER_CACHE_DISABLE", "true")]].concat();
    worker::run(arguments.seconds, &words, &environment)
}

/// The document with new sections of these devices; the sections of others stay.
fn with_sections(document: &str, made: &[Made]) -> Result<String> {
    let (head, mut rest) = document.split_once("\n## ").context("the text before the tables")?;
    let mut sections = BTreeMap::new();
    while !rest.is_empty() {
        let (section, others) = rest.split_once("\n## ").unwrap_or((rest, ""));
        sections.insert(section.lines().next().unwrap_or_default(), format!("\n## {}\n", section.trim_end()));
        rest = others;
    }
    sections.extend(made.iter().map(|made| (made.device.name, section(made))));
    let sections = DEVICES.iter().filter_map(|device| sections.remove(device.name));
    Ok(format!("{}\n{}", head.trim_end(), sections.collect::<String>()))
}

/// A device's part of the document.
fn section(made: &Made) -> String {
    let Made { device, driver, rows } = made;
    let mut text = format!("\n## {}\n\nPreset `{}`, {driver}. {}\n\n", device.name, device.preset, means(rows));
    let columns = ["instructions", "registers", "spills", "cycles", "by GLSL"];
    let fast = columns.map(|column| format!("fast: {column}"));
    let _ = writeln!(text, "| kernel | {} | {} |\n|{}", columns.join(" | "), fast.join(" | "), " --- |".repeat(11));
    for row in rows {
        let [exact, fast] = [row.exact, row.fast].map(|numbers| cells(numbers, row.twin));
        let _ = writeln!(text, "| `{}` | {exact} | {fast} |", row.name);
    }
    text
}

fn cells(numbers: Numbers, twin: Option<Numbers>) -> String {
    let Numbers { instructions, registers, spills, cycles, .. } = numbers;
    let ratio = match twin {
        Some(twin) if is_comparable(numbers, twin) => format!("{:.2}", ratio(numbers, twin)),
        Some(_) => "loops".to_owned(),
        None => "–".to_owned(),
    };
    format!("{instructions} | {registers} | {spills} | {cycles} | {ratio}")
}

/// Whether loops nest as deep as in the twin. Otherwise one compiler has unrolled a loop, or merged two, and the model's ten rounds for
/// each loop say nothing.
fn is_comparable(numbers: Numbers, twin: Numbers) -> bool {
    numbers.loops == twin.loops
}

fn ratio(numbers: Numbers, twin: Numbers) -> f64 {
    numbers.cycles as f64 / twin.cycles as f64
}

/// The geometric means of the ratios.
fn means(rows: &[Row]) -> String {
    let mean = |of: fn(&Row) -> Numbers| {
        let logarithms = rows.iter().filter_map(|row| {
            let (numbers, twin) = (of(row), row.twin?);
            is_comparable(numbers, twin).then(|| ratio(numbers, twin).ln())
        });
        let logarithms: Vec<f64> = logarithms.collect();
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        format!("{mean:.2} for {}", logarithms.len())
    };
    format!("Geometric means by GLSL: exact {}, fast {} kernels.", mean(|row| row.exact), mean(|row| row.fast))
}

/// Compares the results with the document, and names worse ones.
fn compare(document: &str, made: &Made, faults: &mut Vec<String>, out: &mut dyn Write) -> Result<()> {
    let device = made.device.name;
    let start = format!("\n## {device}\n");
    let Some((_, section)) = document.split_once(&start) else {
        writeln!(out, "{device} is compiled, and not compared: the document was made without it")?;
        return Ok(());
    };
    let section = section.split("\n## ").next().unwrap_or_default();
    let is_same_driver = section.contains(&format!(", {}. ", made.driver));
    if !is_same_driver {
        writeln!(
            out,
            "{device}: instructions and cycles are not compared, which are of another Mesa than {}",
            made.driver
        )?;
    }
    let documented: BTreeMap<&str, [Numbers; 2]> = section.lines().filter_map(read).collect();
    for row in &made.rows {
        let Some(earlier) = documented.get(row.name.as_str()) else { continue };
        for (how, now, before) in [("exact", row.exact, earlier[0]), ("fast", row.fast, earlier[1])] {
            if now.spills > 0 && before.spills == 0 {
                faults.push(format!("{device}, {}, {how}: {} registers spill", row.name, now.spills));
            }
            let values =
                [("instructions", now.instructions, before.instructions), ("cycles", now.cycles, before.cycles)];
            for (what, now, before) in values {
                if is_same_driver && now as f64 > before as f64 * 1.02 {
                    faults.push(format!("{device}, {}, {how}: {now} {what}, and {before} before", row.name));
                }
            }
        }
    }
    Ok(())
}

/// The name and the numbers in a line of a table.
fn read(line: &str) -> Option<(&str, [Numbers; 2])> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let numbers = |at: usize| {
        let value = |index: usize| cells.get(at + index)?.parse().ok();
        Some(Numbers { instructions: value(0)?, registers: value(1)?, spills: value(2)?, cycles: value(3)?, loops: 0 })
    };
    Some((cells.get(1)?.trim_matches('`'), [numbers(2)?, numbers(7)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(spills: u64, cycles: u64) -> Made {
        let numbers = Numbers { instructions: 50, registers: 8, spills, cycles, loops: 1 };
        let twin = Some(Numbers { cycles: 500, ..numbers });
        let slowest = (0.1, "kernel".to_owned());
        let rows = vec![Row { name: "kernel".to_owned(), exact: numbers, fast: numbers, twin, slowest }];
        Made { device: &DEVICES[0], driver: "Mesa 22.3.6".to_owned(), rows }
    }

    fn faults(document: &Made, made: &Made) -> (Vec<String>, String) {
        let (mut faults, mut out) = (Vec::new(), Vec::new());
        compare(&format!("head\n{}", section(document)), made, &mut faults, &mut out).unwrap();
        (faults, String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_rises_is_named() {
        assert_eq!(faults(&made(0, 1000), &made(0, 1020)), (Vec::new(), String::new()));
        let (found, said) = faults(&made(0, 1000), &made(3, 1021));
        let fault = |how| {
            let start = format!("navi21, kernel, {how}:");
            [format!("{start} 3 registers spill"), format!("{start} 1021 cycles, and 1000 before")]
        };
        assert_eq!((found, said.as_str()), ([fault("exact"), fault("fast")].concat(), ""));
    }

    #[test]
    fn other_drivers_only_spill() {
        let other = Made { driver: "Mesa 25.0.7".to_owned(), ..made(3, 2000) };
        let (found, said) = faults(&made(0, 1000), &other);
        assert_eq!(found.len(), 2);
        assert!(said.contains("another Mesa than Mesa 25.0.7"), "{said}");
    }

    #[test]
    fn sections_of_other_devices_stay() {
        let [navi21, navi31] = [&DEVICES[0], &DEVICES[1]].map(|device| Made { device, ..made(0, 1000) });
        let before = with_sections(&format!("head\n{}", section(&navi31)), &[navi21]).unwrap();
        let after = with_sections(&before, &[Made { device: &DEVICES[1], ..made(0, 700) }]).unwrap();
        assert_eq!(after.matches("\n## ").count(), 2);
        assert!(after.find("| 1000 |") < after.find("| 700 |"), "{after}");
    }

    #[test]
    fn ratios_need_the_same_loops() {
        let mut made = made(0, 1000);
        assert!(section(&made).contains("| 1000 | 2.00 |"));
        assert!(section(&made).contains("exact 2.00 for 1, fast 2.00 for 1 kernels"));
        made.rows[0].exact.loops = 2;
        assert!(section(&made).contains("| 1000 | loops |"));
    }
}
