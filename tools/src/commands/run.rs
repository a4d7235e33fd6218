//! `ptx2spv run`: runs one kernel with arguments from the command line, or the cases of a file, and shows the results.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use ptx2spv::cases::images::Textures;
use ptx2spv::cases::prepare::{Argument, Prepared};
use ptx2spv::cases::{Backend, Case, DeviceBackend, Failure, Outputs, Ptx, Steps, Verdict, argument_text, judge};
use ptx2spv::cli::{ServiceArguments, Status, UsageError};
use ptx2spv::findings;
use ptx2spv::input::Selection;
use ptx2spv::progress::Progress;
use ptx2spv::{names, style};
use ptx2spv_runtime::{Config, Device, DeviceSelector, Error, Finding, Module, ReferenceDevice, Trace};
use ptx2spv_translator::Interface;
use ptx2spv_translator::interface::Bundle;
use ptx2spv_translator::names::demangled;

use super::device_arguments::{DeviceArguments, reference_only};

mod kinds;
mod show;

/// Run a kernel and print its buffers, or run a launch case and print its verdict too.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  ptx2spv run saxpy.ptx --grid 4 --block 256 f32[1024]:iota f32[1024]:1 f32:2 u32:1024
  ptx2spv run ./program --entry saxpy --block 256 f32[256]:iota f32[256]:1 f32:2 u32:256
  ptx2spv run saxpy.json
  ptx2spv run saxpy.json --device reference --check
  ptx2spv run cases.json --case small --save 2=sums.bin
  ptx2spv run saxpy.json --device reference --trace 0:5
  ptx2spv run blur.ptx --grid 40,30 --block 16,16 texture:@in.png,clamp surface:u8x4[640x480] --save 1=out.png
  ptx2spv run old.ptx --block 64 --bind table=texture:f32[64]@table.raw f32[64]
  ptx2spv run saxpy.spv --block 32 f32:2 f32[32]:iota f32[32] u32:32 --save 2=sums.bin

{}", argument_text::HELP))]
pub struct Arguments {
    /// PTX file (`-` for the standard input), executable or library with PTX, launch cases (a file ending in .json), or
    /// a file written by `ptx2spv translate`: a .spv with its .json beside it, or a bundle.
    file: PathBuf,
    /// Kernel arguments in order, see below.
    #[arg(value_name = "ARG")]
    args: Vec<String>,
    /// Kernel to run, by its name in PTX or C++ [default: the only one].
    #[arg(long, visible_alias = "kernel", value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    selection: Selection,
    /// Run only the launch case with this name.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// Bind a texture or surface reference of the module; may be given several times. The image has the reference's name.
    #[arg(long, value_name = "NAME=TEXTURE")]
    bind: Vec<String>,
    /// Number of blocks: X, X,Y or X,Y,Z [default: 1].
    #[arg(long, value_parser = dimensions, value_name = "SIZE")]
    grid: Option<[u32; 3]>,
    /// Threads of a block: X, X,Y or X,Y,Z [default: 1].
    #[arg(long, value_parser = dimensions, value_name = "SIZE")]
    block: Option<[u32; 3]>,
    /// Blocks of a cluster: X, X,Y or X,Y,Z [default: the kernel's own size, or 1].
    #[arg(long, value_parser = dimensions, value_name = "SIZE")]
    cluster: Option<[u32; 3]>,
    /// Launch cooperatively: blocks may wait for each other, as in `grid.sync()`.
    #[arg(long)]
    cooperative: bool,
    /// Dynamic shared memory in bytes [default: 0].
    #[arg(long, value_name = "BYTES")]
    shared: Option<u32>,
    /// Write results as JSON, with all elements.
    #[arg(long)]
    json: bool,
    /// After the launch, write the bytes of the buffer or image that is argument N (from 0) to a file, little-endian;
    /// an image to a file ending in .png as a picture. N may be the name of a launch case's image. May be given several
    /// times. Requires that only one launch case runs.
    #[arg(long, value_parser = show::save, value_name = "N=FILE")]
    save: Vec<show::Save>,
    /// Maximum number of elements to print of each buffer.
    #[arg(long, default_value_t = 16, value_name = "N")]
    print: usize,
    /// Print how often warps executed `pmevent` (`__prof_trigger`), for each event. The counters are reset for each
    /// case.
    #[arg(long)]
    counters: bool,
    #[command(flatten)]
    services: ServiceArguments,
    #[command(flatten)]
    device: DeviceArguments,
    /// With --device reference: print the instructions of one thread with their operands and results. BLOCK and THREAD
    /// are X, X,Y or X,Y,Z.
    #[arg(long, value_parser = trace, value_name = "BLOCK:THREAD")]
    trace: Option<Trace>,
}

pub(super) fn dimensions(text: &str) -> Result<[u32; 3], String> {
    triple(text, 1, "size")
}

/// Up to three numbers of at least `least`. Missing ones are `least`.
fn triple(text: &str, least: u32, what: &str) -> Result<[u32; 3], String> {
    let mut numbers = [least; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > numbers.len() {
        return Err(format!("at most three {what}s"));
    }
    for (number, part) in numbers.iter_mut().zip(parts) {
        let parsed = part.trim().parse().ok().filter(|&number| number >= least);
        *number = parsed.ok_or_else(|| format!("`{part}` is not a valid {what}"))?;
    }
    Ok(numbers)
}

fn trace(text: &str) -> Result<Trace, String> {
    let (block, thread) = text.split_once(':').ok_or("expected a block and a thread, such as 0:5 or 1,0:0,3")?;
    Ok(Trace { workgroup: triple(block, 0, "index")?, local: triple(thread, 0, "index")? })
}

impl Arguments {
    pub(super) fn device(&self) -> &DeviceArguments {
        &self.device
    }

    /// Whether the PTX comes from the standard input.
    pub(super) fn reads_stdin(&self) -> bool {
        self.file == Path::new("-")
    }
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    match arguments.file.extension().and_then(|extension| extension.to_str()) {
        Some("spv") => run_translated(arguments, out),
        Some("json") if is_translated(&arguments.file) => run_translated(arguments, out),
        Some("json") => run_cases(arguments, out),
        _ => run_ptx(arguments, out),
    }
}

fn run_ptx(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    refuse_case(arguments)?;
    let args = parse_args(arguments)?;
    let reading = Progress::new(1, &format!("reading {}", arguments.file.display()));
    let ptx = Ptx::from(arguments.selection.read(&arguments.file, arguments.entry.as_deref())?);
    let kernels = ptx.program()?.entries();
    drop(reading);
    run_kernel(arguments, args, &ptx, &kernels, None, out)
}

/// Refuses `--case` for a file without launch cases.
fn refuse_case(arguments: &Arguments) -> Result<()> {
    match &arguments.case {
        Some(_) => Err(UsageError(format!("--case: {} holds no launch cases", arguments.file.display())).into()),
        None => Ok(()),
    }
}

/// The kernel's arguments.
fn parse_args(arguments: &Arguments) -> Result<(Vec<Argument>, Textures)> {
    let usage = |error: anyhow::Error| UsageError(format!("{error:#}"));
    let (args, mut textures) = argument_text::parse_all(&arguments.args).map_err(usage)?;
    for text in &arguments.bind {
        argument_text::bind(text, &mut textures).map_err(usage)?;
    }
    show::check_saves(&arguments.save, &args, &textures)?;
    Ok((args, textures))
}

/// Whether a JSON file was written by `ptx2spv translate`, and so has no launch cases.
fn is_translated(file: &Path) -> bool {
    let value = fs::read(file).ok().and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    value.is_some_and(|value| value["variants"].is_array() || value["entries"].is_array())
}

fn run_translated(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    refuse_case(arguments)?;
    arguments.device.refuse_checks_of_translated()?;
    let args = parse_args(arguments)?;
    let file = arguments.file.with_extension("json");
    let name = || file.display().to_string();
    let bytes = fs::read(&file).with_context(name)?;
    let is_bundle = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok_and(|value| value["variants"].is_array());
    let interface = if is_bundle {
        // All variants have the same kernels.
        let bundle: Bundle = serde_json::from_slice(&bytes).with_context(name)?;
        bundle.variants.into_iter().next().map(|variant| variant.interface)
    } else {
        Some(serde_json::from_slice::<Interface>(&bytes).with_context(name)?)
    };
    let interface = interface.with_context(|| format!("{} has no variants", file.display()))?;
    let names: Vec<&str> = interface.entries.iter().map(|entry| entry.name.as_str()).collect();
    // There is no source for findings to quote.
    let ptx = Ptx::new(arguments.file.display().to_string(), "");
    let load = |device: &Device| {
        // SAFETY: the user is responsible for the file. This process runs nothing else, and another process watches it.
        unsafe { device.load_file(&arguments.file) }
    };
    run_kernel(arguments, args, &ptx, &names, Some(&load), out)
}

/// Loads a module that isn't PTX.
type Load<'l> = &'l dyn Fn(&Device) -> Result<Module, Error>;

fn run_kernel(
    arguments: &Arguments,
    (args, textures): (Vec<Argument>, Textures),
    ptx: &Ptx,
    kernels: &[&str],
    load: Option<Load<'_>>,
    out: &mut dyn Write,
) -> Result<Status> {
    let case = Prepared {
        grid: arguments.grid.unwrap_or([1; 3]),
        block: arguments.block.unwrap_or([1; 3]),
        cluster: arguments.cluster,
        cooperative: arguments.cooperative,
        dynamic_shared_bytes: arguments.shared.unwrap_or(0),
        textures,
        args,
        ..Prepared::new(ptx.clone(), entry(arguments, kernels)?)
    };
    let mut backend = open(arguments)?.with_cache().with_sizes(arguments.services.get());
    let options = backend.options();
    let from_ptx = |device: &Device| device.load_program(ptx.program()?, options);
    let steps = Steps {
        load: load.unwrap_or(&from_ptx),
        check: &|kernel| kinds::check(kernel.params(), &arguments.args, &case.args),
    };
    let outcome = Progress::during(&running(&backend, &case), || backend.run_by(&case, &steps));
    let mut report = report(&backend, &case);
    let found = match outcome {
        Ok(outputs) => {
            show::save_all(&arguments.save, &case, &outputs)?;
            take(arguments, &backend, &case, Some(&outputs), &mut report, out)?;
            outputs.findings
        }
        Err(Failure::Fault(found)) => {
            take(arguments, &backend, &case, None, &mut report, out)?;
            found
        }
        Err(failure) => {
            take(arguments, &backend, &case, None, &mut report, out)?;
            return Err(anyhow!("{failure}"));
        }
    };
    report.find(&found);
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        print_findings(arguments, &found, &case, out)?;
    }
    Ok(if found.is_empty() { Status::Success } else { Status::Failure })
}

/// The kernel to run, from the available ones.
fn entry<'n>(arguments: &Arguments, there: &[&'n str]) -> Result<&'n str> {
    match (&arguments.entry, there) {
        (Some(name), _) => names::find(name, there),
        (None, [only]) => Ok(only),
        (None, []) => bail!("{} has no kernel", arguments.file.display()),
        (None, several) => {
            let list = names::list(several.iter().copied());
            let file = arguments.file.display();
            Err(UsageError(format!("{file} has several kernels, name one with --entry: {list}")).into())
        }
    }
}

fn run_cases(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let sizes = [arguments.grid, arguments.block, arguments.cluster];
    let launch_options = sizes.iter().any(Option::is_some) || arguments.shared.is_some() || arguments.cooperative;
    let has_arguments = !arguments.args.is_empty() || !arguments.bind.is_empty();
    if launch_options || arguments.entry.is_some() || has_arguments {
        return Err(UsageError("a launch case has its own kernel, sizes and arguments".to_owned()).into());
    }
    let cases = cases(arguments)?;
    let mut status = Status::Success;
    let mut backend = open(arguments)?;
    let mut reports = Vec::new();
    for case in cases {
        if !arguments.json {
            writeln!(out, "{}", case.label())?;
            // The kernel may end this process.
            out.flush()?;
        }
        let prepared = case.prepare()?;
        show::check_saves(&arguments.save, &prepared.args, &prepared.textures)?;
        let outcome = Progress::during(&running(&backend, &prepared), || backend.run(&prepared));
        if let Ok(outputs) = &outcome {
            show::save_all(&arguments.save, &prepared, outputs)?;
        }
        let mut report = report(&backend, &prepared);
        take(arguments, &backend, &prepared, outcome.as_ref().ok(), &mut report, out)?;
        let found: &[Finding] = match &outcome {
            Ok(outputs) => &outputs.findings,
            Err(Failure::Fault(found)) => found,
            Err(_) => &[],
        };
        report.find(found);
        let failure = match judge(&prepared.expectation, &outcome) {
            Verdict::Passed => None,
            Verdict::Failed(message) | Verdict::LeftOut(message) => Some(message),
        };
        if failure.is_some() {
            status = Status::Failure;
        }
        if arguments.json {
            report.case = Some(prepared.name.clone());
            report.passed = Some(failure.is_none());
            report.message = failure;
            reports.push(report);
            continue;
        }
        print_findings(arguments, found, &prepared, out)?;
        match failure {
            None => writeln!(out, "  {}", style::out(style::GOOD, "passed"))?,
            Some(message) => writeln!(out, "  {}: {message}", style::out(style::BAD, "FAILED"))?,
        }
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reports)?)?;
    }
    Ok(status)
}

/// The launch cases to run.
fn cases(arguments: &Arguments) -> Result<Vec<Case>> {
    let mut cases = Case::load(&arguments.file)?;
    if let Some(name) = &arguments.case {
        let list = names::list(cases.iter().map(|case| case.spec.name.as_str()));
        cases.retain(|case| case.spec.name == *name);
        if cases.is_empty() {
            let file = arguments.file.display();
            return Err(UsageError(format!("{file} has no case `{name}`; there are {list}")).into());
        }
    }
    if !arguments.save.is_empty() && cases.len() > 1 {
        let list = names::list(cases.iter().map(|case| case.spec.name.as_str()));
        let file = arguments.file.display();
        return Err(UsageError(format!("{file} has several cases, name one with --case: {list}")).into());
    }
    Ok(cases)
}

fn open(arguments: &Arguments) -> Result<DeviceBackend> {
    let device = &arguments.device;
    match (arguments.trace, device.selector()?) {
        (None, selector) => device.open(&selector),
        (Some(trace), DeviceSelector::Reference(options)) => {
            let config = Config { trace: Some(trace), ..options.config()? };
            Ok(device.configure(DeviceBackend::reference(config)?))
        }
        (Some(_), _) => Err(reference_only("--trace")),
    }
}

/// The message for runs that take a while: translation, and the driver's compilation, may take longer than the kernel.
fn running(backend: &DeviceBackend, case: &Prepared) -> String {
    format!("translating and running {} on {}", demangled(&case.entry), backend.name())
}

fn report(backend: &DeviceBackend, case: &Prepared) -> show::Report {
    show::Report { device: backend.name(), kernel: case.entry.clone(), ..Default::default() }
}

/// Prints, or adds to the report, the trace, the kernel's output and the results.
fn take(
    arguments: &Arguments,
    backend: &DeviceBackend,
    case: &Prepared,
    outputs: Option<&Outputs>,
    report: &mut show::Report,
    out: &mut dyn Write,
) -> Result<()> {
    let reference = backend.device().and_then(Device::as_reference);
    let trace = reference.map(ReferenceDevice::take_trace).unwrap_or_default();
    let printed = backend.device().map(Device::take_output).unwrap_or_default();
    if arguments.json {
        report.trace = trace;
        report.output = String::from_utf8_lossy(&printed).into_owned();
        if let Some(outputs) = outputs {
            report.add(case, outputs);
        }
        return Ok(());
    }
    for line in trace {
        writeln!(out, "{line}")?;
    }
    out.write_all(&printed)?;
    if let Some(outputs) = outputs {
        show::print(case, outputs, arguments.print, arguments.counters, out)?;
    }
    Ok(())
}

/// Prints the findings. With checks, also reports that there are none.
fn print_findings(arguments: &Arguments, found: &[Finding], case: &Prepared, out: &mut dyn Write) -> Result<()> {
    if !found.is_empty() || arguments.device.is_checking()? {
        findings::write(out, found, case.ptx.source())?;
    }
    Ok(())
}
