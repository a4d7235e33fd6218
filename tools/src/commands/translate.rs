//! `ptx2spv translate`: translates PTX to SPIR-V files.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use ptx2spv::cli::{self, MathArgument, ServiceArguments, Status, UsageError};
use ptx2spv::input::Selection;
use ptx2spv::names;
use ptx2spv::progress::Progress;
use ptx2spv::target;
use ptx2spv_translator::interface::Bundle;
use ptx2spv_translator::internals::translate_watched;
use ptx2spv_translator::{Options, Program, Translation};

use super::passes::PassWatch;

/// Translate a PTX file to a SPIR-V module and a description of its interface.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv translate kernel.ptx                          shaders-out/kernel.spv and shaders-out/kernel.json
  ptx2spv translate kernel.ptx --target nvidia -o out   out/kernel.spv and out/kernel.json
  ptx2spv translate kernel.ptx --target nvidia,mali     kernel.nvidia.spv, kernel.nvidia.json, kernel.mali.spv and so on
  ptx2spv translate kernel.ptx --target nvidia,mali --bundle  both in one file, kernel.bundle.json, to choose from at load time
  ptx2spv translate kernel.ptx --emit spirv,header      kernel.spv, and its interface for C and C++ in kernel.h
  ptx2spv translate kernel.ptx --entry axpy -o axpy.spv one kernel only, to axpy.spv and axpy.json
  ptx2spv translate kernel.ptx -o kernel.spvasm         its assembly text
  ptx2spv translate program --arch sm_80                the PTX for sm_80 in an executable, to program.spv and program.json
  ptx2spv translate a.ptx --link b.ptx                  two modules that need each other
  ptx2spv translate kernel.ptx --dump-passes passes     the kernels after every pass, in passes/
  nvcc -ptx k.cu -o - | ptx2spv translate - --emit asm -o -")]
pub struct Arguments {
    /// PTX file, executable or library with PTX, or `-` for the standard input.
    file: PathBuf,
    #[command(flatten)]
    selection: Selection,
    /// Device to translate for: a preset (`ptx2spv devices --presets` lists them) or a file written by `ptx2spv devices
    /// --device X --json`. For a list of several, each is written to files of its own, with the target's name before
    /// the extension [default: the first Vulkan device of this machine, or else the preset lavapipe].
    #[arg(long, value_delimiter = ',', value_name = "NAME|FILE")]
    target: Vec<String>,
    /// Take for granted what presets of devices call likely, such as functions within the accuracy that the vendor's manual
    /// tells. The runtime refuses the module on a device that breaks it; other hosts have to make sure [default: only what is
    /// measured or documented].
    #[arg(long, value_enum, value_name = "WHAT")]
    assume: Option<target::Assume>,
    /// Output forms; may be given several times or as a list [default: the form of the output's name, or else
    /// spirv,json].
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORM")]
    emit: Vec<Emit>,
    /// Write a single file with a variant for each target. A device that loads it chooses the variant that fits.
    #[arg(long, conflicts_with = "emit")]
    bundle: bool,
    /// Translate this kernel, by its name in PTX or C++; may be given several times [default: all kernels].
    #[arg(long, value_name = "NAME")]
    entry: Vec<String>,
    /// Leave out kernels that can't be translated, with a message, instead of refusing the file.
    #[arg(long)]
    keep_going: bool,
    /// Let kernels accept blocks of N threads of any shape, even if that exceeds the device's workgroups: each
    /// invocation then runs several threads [default: the limit of .reqntid or .maxntid; other kernels use the device's
    /// limit]. With --bundle a list, for variants of several sizes; each launch uses the first variant that can hold
    /// its blocks.
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    block_threads: Vec<u32>,
    /// Translate for launches with N bytes of dynamic shared memory. If that exceeds the device's workgroups, all
    /// shared memory is in device memory, which is slower [default: 0]. With --bundle a list, for variants of several
    /// sizes.
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u32).range(0..=232_448))]
    dynamic_shared_bytes: Vec<u32>,
    /// Include the PTX line of each instruction in the module, for debuggers and messages.
    #[arg(short = 'g', long)]
    line_info: bool,
    /// Translate for launches in clusters of this size: X, X,Y or X,Y,Z [default: the kernel's own size, or 1].
    #[arg(long, value_parser = super::run::dimensions, value_name = "SIZE")]
    cluster: Option<[u32; 3]>,
    /// Translate for cooperative launches: blocks may wait for each other, as in `grid.sync()`.
    #[arg(long)]
    cooperative: bool,
    #[command(flatten)]
    services: ServiceArguments,
    /// Write the intermediate representation of each kernel after each pass to files in this directory, with a folder
    /// for each kernel.
    #[arg(long, value_name = "DIR")]
    dump_passes: Option<PathBuf>,
    /// Show the time of each pass, and the number of statements before and after.
    #[arg(long)]
    time_passes: bool,
    #[command(flatten)]
    math: MathArgument,
    /// Directory, or a file ending in .spv, .spirv, .json, .spvasm, .h or .ir, or `-` for the standard output. Other
    /// forms are written beside the file.
    #[arg(short, long, default_value = "shaders-out", value_name = "PATH")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Emit {
    /// The SPIR-V module (.spv).
    Spirv,
    /// Its assembly text (.spvasm).
    Asm,
    /// The interface: kernels, parameters, variables, features needed (.json).
    Json,
    /// The interface as C constants (.h).
    Header,
    /// The intermediate representation that the module is made from (.ir).
    Ir,
}

impl Emit {
    fn extension(self) -> &'static str {
        match self {
            Emit::Spirv => "spv",
            Emit::Asm => "spvasm",
            Emit::Json => "json",
            Emit::Header => "h",
            Emit::Ir => "ir",
        }
    }

    /// The form with this file extension.
    fn of(extension: &OsStr) -> Option<Self> {
        match extension.to_str()? {
            "spv" | "spirv" => Some(Emit::Spirv),
            "spvasm" => Some(Emit::Asm),
            "json" => Some(Emit::Json),
            "h" => Some(Emit::Header),
            "ir" => Some(Emit::Ir),
            _ => None,
        }
    }

    /// `name` is the module's name in a header, `ir` the kernels' text before emission.
    fn bytes(self, translation: &Translation, name: &str, ir: &str) -> Result<Vec<u8>> {
        Ok(match self {
            // SPIR-V modules may have either byte order; little-endian is the usual one.
            Emit::Spirv => translation.spirv.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Emit::Asm => format!("{}\n", translation.disassemble().trim_end()).into_bytes(),
            Emit::Json => format!("{}\n", serde_json::to_string_pretty(&translation.interface)?).into_bytes(),
            Emit::Header => translation.interface.c_header(name).into_bytes(),
            Emit::Ir => ir.as_bytes().to_vec(),
        })
    }
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let output = Output::new(arguments);
    let forms = forms(arguments, &output)?;
    let to_stdout = arguments.output == Path::new("-");
    if to_stdout && forms.len() != 1 && !arguments.bundle {
        return Err(UsageError("`-o -` takes exactly one form: name it with --emit".to_owned()).into());
    }
    if to_stdout && arguments.target.len() > 1 && !arguments.bundle {
        return Err(UsageError("`-o -` takes one target".to_owned()).into());
    }
    if arguments.block_threads.len() > 1 && !arguments.bundle {
        return Err(UsageError("several sizes of blocks go into one file: add --bundle".to_owned()).into());
    }
    if arguments.dynamic_shared_bytes.len() > 1 && !arguments.bundle {
        return Err(UsageError("several sizes of shared memory go into one file: add --bundle".to_owned()).into());
    }
    let targets = target::choose_all(&arguments.target, arguments.assume)?;
    if let ([], [(_, found)]) = (&arguments.target[..], &targets[..]) {
        cli::note(format_args!("note: translating for {found}"));
    }
    let source = arguments.selection.read(&arguments.file, arguments.entry.first().map(String::as_str))?;
    let start = Instant::now();
    let program = Program::new(&source)?;
    let parsing = start.elapsed();
    let there = program.entries();
    let entries = arguments.entry.iter().map(|name| names::find(name, &there).map(str::to_owned));
    let entries = entries.collect::<Result<Vec<_>>>()?;
    let blocks: Vec<Option<u32>> = match &arguments.block_threads[..] {
        [] => vec![None],
        blocks => blocks.iter().copied().map(Some).collect(),
    };
    let shared = match &arguments.dynamic_shared_bytes[..] {
        [] => &[0],
        shared => shared,
    };
    let sizes: Vec<(Option<u32>, u32)> =
        blocks.iter().flat_map(|block| shared.iter().map(move |shared| (*block, *shared))).collect();
    let mut variants: Vec<Translation> = Vec::new();
    let progress = Progress::new(targets.len() * sizes.len(), &format!("translating {}", source.name()));
    for ((target, name), (block_threads, dynamic_shared_bytes)) in
        targets.iter().flat_map(|target| sizes.iter().map(move |size| (target, *size)))
    {
        let options = Options::new(target)
            .entries((!entries.is_empty()).then_some(&entries))
            .keep_going(arguments.keep_going)
            .math(arguments.math.get())
            .block_threads(block_threads)
            .cluster(arguments.cluster)
            .cooperative(arguments.cooperative)
            // What a header describes is launched by programs that know nothing of this.
            .suspend_in_loops(!forms.contains(&Emit::Header))
            .dynamic_shared_bytes(dynamic_shared_bytes)
            .sizes(arguments.services.get())
            .line_info(arguments.line_info);
        let dump = arguments.dump_passes.as_ref().map(|folder| {
            let folder = if targets.len() > 1 { folder.join(name) } else { folder.clone() };
            if sizes.len() == 1 {
                return folder;
            }
            let block = block_threads.map_or("blocks".to_owned(), |threads| format!("blocks-{threads}"));
            folder.join(format!("{block}-shared-{dynamic_shared_bytes}"))
        });
        let mut watch = PassWatch::new(dump);
        let is_watched = arguments.dump_passes.is_some() || arguments.time_passes || forms.contains(&Emit::Ir);
        let translated = translate_watched(&program, &options, if is_watched { Some(&mut watch) } else { None });
        watch.finish()?;
        if arguments.time_passes {
            watch.show_times(parsing)?;
        }
        progress.step();
        let translation = match translated {
            Ok(translation) => translation,
            Err(errors) if arguments.bundle && arguments.keep_going && targets.len() > 1 => {
                cli::warn(format_args!("{errors}\nnote: there will be no variant for {name}"));
                continue;
            }
            Err(errors) if targets.len() > 1 => {
                return Err(errors).with_context(|| format!("it can't be translated for {name}"));
            }
            Err(errors) => return Err(errors.into()),
        };
        if let Some(skipped) = &translation.skipped {
            cli::warn(format_args!("{skipped}\nnote: the kernels named above were left out for {}", target.name));
        }
        if arguments.bundle {
            // If the device's workgroups hold the larger blocks anyway, the translations are equal.
            let same = |made: &Translation| made.spirv == translation.spirv && made.interface == translation.interface;
            if !variants.iter().any(same) {
                variants.push(translation);
            }
            continue;
        }
        let label = (targets.len() > 1).then_some(name.as_str());
        for &form in &forms {
            write(
                &form.bytes(&translation, &output.module(label), &watch.ir)?,
                &output.path(form, label),
                to_stdout,
                out,
            )?;
        }
    }
    if arguments.bundle {
        if variants.is_empty() {
            anyhow::bail!("it can't be translated for any of the targets");
        }
        let text = format!("{}\n", serde_json::to_string(&Bundle::new(variants))?);
        write(text.as_bytes(), &output.bundle(), to_stdout, out)?;
    }
    Ok(Status::Success)
}

/// Writes a file and prints its name, or writes the contents to the standard output.
fn write(bytes: &[u8], path: &Path, to_stdout: bool, out: &mut dyn Write) -> Result<()> {
    if to_stdout {
        return Ok(out.write_all(bytes)?);
    }
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    }
    fs::write(path, bytes).with_context(|| path.display().to_string())?;
    writeln!(out, "{}", path.display())?;
    Ok(())
}

/// The forms to write.
fn forms(arguments: &Arguments, output: &Output) -> Result<Vec<Emit>> {
    let named = output.file.as_ref().map(|(form, _)| *form);
    let mut forms = match (&arguments.emit[..], named) {
        ([], Some(form @ (Emit::Asm | Emit::Header))) => vec![form],
        ([], _) => vec![Emit::Spirv, Emit::Json],
        (forms, _) => forms.to_vec(),
    };
    forms.sort();
    forms.dedup();
    if let Some(form) = named.filter(|form| !arguments.bundle && !forms.contains(form)) {
        let file = arguments.output.display();
        let value = form.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        return Err(UsageError(format!("`{file}` is a name for {value}, which --emit doesn't list")).into());
    }
    Ok(forms)
}

/// The destination of files.
struct Output {
    /// Without extension.
    base: PathBuf,
    /// The form of the output file's name, and its extension; `None` for a directory.
    file: Option<(Emit, OsString)>,
}

impl Output {
    fn new(arguments: &Arguments) -> Self {
        let path = &arguments.output;
        let file = path
            .extension()
            .filter(|_| !path.is_dir())
            .and_then(|extension| Some((Emit::of(extension)?, extension.to_owned())));
        let base = match file {
            Some(_) => path.clone(),
            None => {
                let stem = if arguments.file == Path::new("-") { "stdin".as_ref() } else { arguments.file.as_path() };
                path.join(stem.file_name().unwrap_or("module".as_ref()))
            }
        };
        // Only the last extension is removed: `a.sm_80.ptx` becomes `a.sm_80.spv`.
        Self { base: base.with_extension(""), file }
    }

    /// The module's name in headers. `label` distinguishes targets.
    fn module(&self, label: Option<&str>) -> String {
        let name = self.base.file_name().unwrap_or_default().to_string_lossy();
        label.map_or_else(|| name.clone().into_owned(), |label| format!("{name}.{label}"))
    }

    fn path(&self, form: Emit, label: Option<&str>) -> PathBuf {
        let extension = match &self.file {
            Some((named, extension)) if *named == form => extension.to_string_lossy(),
            _ => form.extension().into(),
        };
        self.base.with_file_name(format!("{}.{extension}", self.module(label)))
    }

    fn bundle(&self) -> PathBuf {
        match &self.file {
            Some((Emit::Json, extension)) => {
                self.base.with_file_name(format!("{}.{}", self.module(None), extension.display()))
            }
            _ => self.base.with_file_name(format!("{}.bundle.json", self.module(None))),
        }
    }
}
