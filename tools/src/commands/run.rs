//! `ptx2spv run`: one kernel with arguments from the command line, or the cases of a file, with their results.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use ptx2spv::cases::prepare::{Argument, Expectation, Prepared, Subject};
use ptx2spv::cases::{Backend, Case, DeviceBackend, Failure, Outputs, Scalar, Steps, Verdict, argument_text, judge};
use ptx2spv::cli::{self, Status, UsageError};
use ptx2spv::findings;
use ptx2spv_runtime::{Config, Device, DeviceSelector, Finding, Trace};
use ptx2spv_translator::{Program, Source};

mod kinds;

/// Run a kernel and print its buffers, or run a launch case and print its verdict too.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  ptx2spv run saxpy.ptx --grid 4 --block 256 f32[1024]:iota f32[1024]:1 f32:2 u32:1024
  ptx2spv run saxpy.json
  ptx2spv run saxpy.json --device reference --check
  ptx2spv run saxpy.json --device reference --trace 0:5

{}", argument_text::HELP))]
pub struct Arguments {
    /// PTX file (`-` for the standard input), or launch cases (a file ending in .json).
    file: PathBuf,
    /// Kernel arguments in order, see below.
    #[arg(value_name = "ARG")]
    args: Vec<String>,
    /// Kernel to run [default: the only one].
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Number of blocks: X, X,Y or X,Y,Z [default: 1].
    #[arg(long, value_parser = dimensions, value_name = "SIZE")]
    grid: Option<[u32; 3]>,
    /// Threads of a block: X, X,Y or X,Y,Z [default: 1].
    #[arg(long, value_parser = dimensions, value_name = "SIZE")]
    block: Option<[u32; 3]>,
    /// Blocks of a cluster: X, X,Y or X,Y,Z [default: what the kernel says, or 1].
    #[arg(long, value_parser = dimensions, value_name = "SIZE")]
    cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes [default: 0].
    #[arg(long, value_name = "BYTES")]
    shared: Option<u32>,
    /// Print at most so many elements of each buffer.
    #[arg(long, default_value_t = 16, value_name = "N")]
    print: usize,
    /// Print how often warps executed `pmevent` (`__prof_trigger`), for each event. Counting begins anew with each case.
    #[arg(long)]
    counters: bool,
    #[command(flatten)]
    device: super::DeviceArguments,
    /// With --device reference: print the instructions of one thread with their operands and results. BLOCK and THREAD are X,
    /// X,Y or X,Y,Z.
    #[arg(long, value_parser = trace, value_name = "BLOCK:THREAD")]
    trace: Option<Trace>,
}

pub(super) fn dimensions(text: &str) -> Result<[u32; 3], String> {
    triple(text, 1, "size")
}

/// Up to three numbers of at least `least`, which is also what those are that are left out.
fn triple(text: &str, least: u32, what: &str) -> Result<[u32; 3], String> {
    let mut numbers = [least; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > numbers.len() {
        return Err(format!("at most three {what}s"));
    }
    for (number, part) in numbers.iter_mut().zip(parts) {
        let parsed = part.trim().parse().ok().filter(|&number| number >= least);
        *number = parsed.ok_or_else(|| format!("`{part}` is no {what}"))?;
    }
    Ok(numbers)
}

fn trace(text: &str) -> Result<Trace, String> {
    let (block, thread) = text.split_once(':').ok_or("a block and a thread belong here, such as 0:5 or 1,0:0,3")?;
    Ok(Trace { workgroup: triple(block, 0, "index")?, local: triple(thread, 0, "index")? })
}

impl Arguments {
    pub(super) fn device(&self) -> &super::DeviceArguments {
        &self.device
    }

    /// Whether the standard input is the PTX.
    pub(super) fn reads_stdin(&self) -> bool {
        self.file == Path::new("-")
    }
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    if arguments.file.extension().is_some_and(|extension| extension == "json") {
        run_cases(arguments, out)
    } else {
        run_kernel(arguments, out)
    }
}

fn run_kernel(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let args = arguments.args.iter().map(|text| argument_text::parse(text)).collect::<Result<Vec<_>>>();
    let args = args.map_err(|error| UsageError(format!("{error:#}")))?;
    let source = cli::read_source(&arguments.file)?;
    let entry = match &arguments.entry {
        Some(entry) => entry.clone(),
        None => match Program::new(&source)?.entries()[..] {
            [only] => only.to_owned(),
            [] => bail!("{} has no kernel", source.name()),
            ref names => {
                let message =
                    format!("{} has several kernels, name one with --entry: {}", source.name(), names.join(", "));
                return Err(UsageError(message).into());
            }
        },
    };
    let case = Prepared {
        name: entry.clone(),
        ptx_name: source.name().to_owned(),
        ptx: source.text().into(),
        entry,
        grid: arguments.grid.unwrap_or([1; 3]),
        block: arguments.block.unwrap_or([1; 3]),
        cluster: arguments.cluster,
        dynamic_shared_bytes: arguments.shared.unwrap_or(0),
        globals: BTreeMap::new(),
        args,
        read_globals: BTreeMap::new(),
        expectation: Expectation::Results(Vec::new()),
    };
    let mut backend = open(arguments)?;
    let options = backend.options();
    let steps = Steps {
        load: &|device| device.load_with(&source, options),
        check: &|kernel| kinds::check(kernel.params(), &arguments.args, &case.args),
    };
    let outcome = backend.run_by(&case, &steps);
    print_trace(&backend, out)?;
    let found = match outcome {
        Ok(outputs) => {
            print(&case, &outputs, arguments, out)?;
            outputs.findings
        }
        Err(Failure::Fault(found)) => found,
        Err(failure) => return Err(anyhow!("{failure}")),
    };
    report(arguments, &found, &case, out)
}

fn run_cases(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let sizes = [arguments.grid, arguments.block, arguments.cluster];
    let launch_options = sizes.iter().any(Option::is_some) || arguments.shared.is_some();
    if launch_options || arguments.entry.is_some() || !arguments.args.is_empty() {
        return Err(UsageError("a launch case has its own kernel, sizes and arguments".to_owned()).into());
    }
    let mut status = Status::Success;
    let mut backend = open(arguments)?;
    for case in Case::load(&arguments.file)? {
        writeln!(out, "{}", case.label())?;
        // The kernel may end this process.
        out.flush()?;
        let prepared = case.prepare()?;
        let outcome = backend.run(&prepared);
        print_trace(&backend, out)?;
        let found: &[Finding] = match &outcome {
            Ok(outputs) => {
                print(&prepared, outputs, arguments, out)?;
                &outputs.findings
            }
            Err(Failure::Fault(found)) => found,
            Err(_) => &[],
        };
        report(arguments, found, &prepared, out)?;
        match judge(&prepared.expectation, &outcome) {
            Verdict::Passed => writeln!(out, "  passed")?,
            Verdict::Failed(message) | Verdict::LeftOut(message) => {
                writeln!(out, "  FAILED: {message}")?;
                status = Status::Failure;
            }
        }
    }
    Ok(status)
}

fn open(arguments: &Arguments) -> Result<DeviceBackend> {
    let device = &arguments.device;
    match (arguments.trace, device.selector()?) {
        (None, selector) => device.open(&selector),
        (Some(trace), DeviceSelector::Reference(options)) => {
            let config = Config { trace: Some(trace), ..options.config()? };
            Ok(device.configure(DeviceBackend::reference(config)?))
        }
        (Some(_), _) => Err(super::reference_only("--trace")),
    }
}

/// Prints what was traced, and what the kernel printed.
fn print_trace(backend: &DeviceBackend, out: &mut dyn Write) -> Result<()> {
    for line in backend.device().map(Device::take_trace).unwrap_or_default() {
        writeln!(out, "{line}")?;
    }
    out.write_all(&backend.device().map(Device::take_output).unwrap_or_default())?;
    Ok(())
}

/// Prints what was found, and if nothing was although it was looked for, that.
fn report(arguments: &Arguments, found: &[Finding], case: &Prepared, out: &mut dyn Write) -> Result<Status> {
    if !found.is_empty() || arguments.device.is_checking()? {
        findings::write(out, found, &Source::new(case.ptx_name.clone(), case.ptx.clone()))?;
    }
    Ok(if found.is_empty() { Status::Success } else { Status::Failure })
}

fn print(case: &Prepared, outputs: &Outputs, arguments: &Arguments, out: &mut dyn Write) -> Result<()> {
    let limit = arguments.print;
    for (index, arg) in case.args.iter().enumerate() {
        if let Argument::Buffer(array) = arg {
            print_elements(&Subject::Arg(index), array.ty, outputs, limit, out)?;
        }
    }
    if arguments.counters {
        for (event, count) in outputs.counters.iter().enumerate().filter(|(_, count)| **count != 0) {
            writeln!(out, "  event {event}: {count}")?;
        }
    }
    let Expectation::Results(checks) = &case.expectation else { return Ok(()) };
    for check in checks {
        if let Subject::Global(_) = check.subject {
            print_elements(&check.subject, check.expected.ty, outputs, limit, out)?;
        }
    }
    Ok(())
}

fn print_elements(subject: &Subject, ty: Scalar, outputs: &Outputs, limit: usize, out: &mut dyn Write) -> Result<()> {
    let elements = ty.elements(outputs.bytes(subject));
    let len = elements.len();
    let shown: Vec<String> = elements.take(limit).map(|bits| ty.show(bits)).collect();
    let more = if len > limit { ", …" } else { "" };
    writeln!(out, "  {subject}, {ty}[{len}]: {}{more}", shown.join(", "))?;
    Ok(())
}
