//! nvcc's command line, carried out by clang.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::clang::{Clang, Error};
use crate::dialect::Rewritten;
use crate::files::unique;
use crate::folder::Toolkit;
use crate::missing;
use crate::options::{self, Effect, Setting, Stage, Value};

/// The output of `nvcc --version`, in the form that build systems look for.
pub const VERSION: &str = "nvcc: NVIDIA (R) Cuda compiler driver\nptx2spv in place of nvcc, with clang\nCuda compilation tools, release 12.8, V12.8.0\n";

const HELP: &str = "Usage: nvcc [options] files...\nThe options are nvcc's; runtime/toolkit/README.md lists those that have an effect here.\n";

/// The architecture without `-arch`, which has all atomic functions.
const ARCHITECTURE: &str = "75";

/// The newest architecture that clang 19 makes PTX for.
const NEWEST_ARCHITECTURE: u32 = 90;

/// A parsed command line.
#[derive(Debug, Default)]
pub struct Nvcc {
    inputs: Vec<OsString>,
    output: Option<PathBuf>,
    stage: Option<Stage>,
    stage_option: String,
    /// For clang, in the order of the command line.
    flags: Vec<OsString>,
    /// For the linker, likewise.
    link: Vec<OsString>,
    clang: Option<PathBuf>,
    language: Option<String>,
    architectures: Vec<String>,
    code: Vec<String>,
    generated: Vec<String>,
    relocatable: bool,
    without_device_link: bool,
    /// Unknown options, and whom they are for.
    unknown: Vec<String>,
    forward_to_compiler: bool,
    forward_to_linker: bool,
    without_runtime: bool,
    per_thread: bool,
    optimization: Option<String>,
    fast_math: bool,
    fuse: Option<bool>,
    flush: Option<bool>,
    precise_division: Option<bool>,
    verbose: bool,
    dry_run: bool,
    run: bool,
    run_arguments: Vec<OsString>,
    answer: Option<&'static str>,
}

/// Parts of a list with commas. Parts in quotes or brackets stay together.
fn parts(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in list.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '"' | '\'' => {}
            ',' if depth == 0 => parts.push(String::new()),
            c => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

impl Nvcc {
    /// Reads a command line.
    ///
    /// # Errors
    /// An option that nvcc doesn't have or that can't be honoured, or a value that is missing or wrong.
    pub fn parse(arguments: &[OsString]) -> Result<Self, Error> {
        let mut nvcc = Self::default();
        nvcc.read(arguments)?;
        for option in std::mem::take(&mut nvcc.unknown) {
            match (nvcc.forward_to_compiler, nvcc.forward_to_linker) {
                (false, false) => return Err(Error::Option { option, reason: "nvcc has no such option".to_owned() }),
                (true, _) => nvcc.host_options(&option),
                (false, true) => nvcc.link.push(option.into()),
            }
        }
        Ok(nvcc)
    }

    fn read(&mut self, arguments: &[OsString]) -> Result<(), Error> {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if !text.starts_with('-') || text == "-" {
                self.inputs.push(argument.clone());
                continue;
            }
            let Some((&(names, takes, effect), value)) = options::find(&text) else {
                self.unknown.push(text.into_owned());
                continue;
            };
            let value = match (takes, value) {
                (Value::No, _) => String::new(),
                (_, Some(value)) => value.to_owned(),
                (_, None) => {
                    let missing =
                        || Error::Option { option: names[0].to_owned(), reason: "a value must follow".to_owned() };
                    rest.next().ok_or_else(missing)?.to_string_lossy().into_owned()
                }
            };
            self.apply(names[0], effect, value)?;
        }
        Ok(())
    }

    fn apply(&mut self, name: &'static str, effect: Effect, value: String) -> Result<(), Error> {
        let joined = |prefix: &str, value: &str| OsString::from(format!("{prefix}{value}"));
        match effect {
            Effect::Clang(flags) => self.flags.extend(flags.iter().map(OsString::from)),
            Effect::Joined(prefix) => self.flags.push(joined(prefix, &value)),
            Effect::JoinedEach("-L") => self.link.extend(parts(&value).iter().map(|part| joined("-L", part))),
            Effect::JoinedEach(prefix) => self.flags.extend(parts(&value).iter().map(|part| joined(prefix, part))),
            Effect::Separate(option) => self.flags.extend([option.into(), value.into()]),
            Effect::Host => self.host_options(&value),
            Effect::Linker => {
                for part in parts(&value) {
                    self.link.extend(["-Xlinker".into(), part.into()]);
                }
            }
            Effect::Output(stage) => {
                self.stage = Some(stage);
                name.clone_into(&mut self.stage_option);
            }
            Effect::Driver(setting) => self.set(name, setting, value)?,
            Effect::Nothing => {}
            Effect::Refused(reason) => {
                return Err(Error::Option { option: name.to_owned(), reason: reason.to_owned() });
            }
        }
        Ok(())
    }

    /// The host compiler's options. Options that also matter where files are linked go there.
    fn host_options(&mut self, value: &str) {
        for part in parts(value) {
            if part.starts_with("-Wl,") || part.starts_with("-l") || part.starts_with("-L") {
                self.link.push(part.into());
                continue;
            }
            if let Some(level) = part.strip_prefix("-O") {
                self.optimization = Some(level.to_owned());
                continue;
            }
            // Programs have 64 bits, and clang takes this option for the device's code as well or not at all.
            if part == "-m64" {
                continue;
            }
            if part == "-fopenmp" || part == "-pthread" {
                self.link.push(part.clone().into());
            }
            self.flags.extend(["-Xarch_host".into(), part.into()]);
        }
    }

    fn set(&mut self, name: &str, setting: Setting, value: String) -> Result<(), Error> {
        let option = |reason: String| Error::Option { option: format!("{name} {value}"), reason };
        let truth = || match &*value {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(option("neither true nor false".to_owned())),
        };
        match setting {
            Setting::Version => self.answer = Some(VERSION),
            Setting::Help => self.answer = Some(HELP),
            Setting::DryRun => self.dry_run = true,
            Setting::Run => self.run = true,
            Setting::RunArguments => self.run_arguments.extend(parts(&value).into_iter().map(OsString::from)),
            Setting::OutputFile => self.output = Some(value.into()),
            Setting::Clang => self.clang = Some(value.into()),
            Setting::Language => match &*value {
                "cu" | "cuda" => self.language = Some("cuda".to_owned()),
                "c" | "c++" => self.language = Some(value),
                _ => return Err(option("languages are c, c++ and cu".to_owned())),
            },
            Setting::Architecture => self.architectures = parts(&value),
            Setting::Code => self.code = parts(&value.replace(['[', ']'], "")),
            Setting::Generate => {
                let field = |name: &str| {
                    parts(&value)
                        .into_iter()
                        .find_map(|part| part.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
                };
                let architecture = field("arch").or_else(|| field("code"));
                self.generated.push(architecture.ok_or_else(|| option("`arch=` is missing".to_owned()))?);
            }
            Setting::RelocatableDeviceCode => self.relocatable = truth()?,
            Setting::RelocatableObject => {
                self.relocatable = true;
                self.stage = Some(Stage::Compile);
            }
            Setting::NoDeviceLink => self.without_device_link = true,
            Setting::ForwardToCompiler => self.forward_to_compiler = true,
            Setting::ForwardToLinker => self.forward_to_linker = true,
            Setting::Verbose => self.verbose = true,
            Setting::RuntimeLibrary => match &*value {
                "none" => self.without_runtime = true,
                "shared" | "static" => {}
                _ => return Err(option("the runtime library is none, shared or static".to_owned())),
            },
            Setting::DefaultStream => match &*value {
                "per-thread" => self.per_thread = true,
                "legacy" | "null" => {}
                _ => return Err(option("streams are legacy, null or per-thread".to_owned())),
            },
            Setting::Optimization => self.optimization = Some(value),
            Setting::FastMath => self.fast_math = true,
            Setting::Fuse => self.fuse = Some(truth()?),
            Setting::FlushDenormals => self.flush = Some(truth()?),
            Setting::PreciseDivision => self.precise_division = Some(truth()?),
            Setting::Library => {
                if let Some(missing) = missing::library(&value) {
                    let reason = format!("ptx2spv has no such library; instead there is: {}", missing.instead);
                    return Err(Error::Option { option: format!("-l{value}"), reason });
                }
                self.link.push(format!("-l{value}").into());
            }
            Setting::OptionsFile => {
                for path in parts(&value) {
                    let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
                    let words: Vec<_> =
                        text.split_whitespace().map(|word| word.replace(['"', '\\'], "").into()).collect();
                    self.read(&words)?;
                }
            }
        }
        Ok(())
    }

    /// The architectures to make PTX for, as clang writes them. nvcc makes PTX for the virtual architecture; machine code for others is left to
    /// Vulkan's drivers.
    fn architectures(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let named = self.generated.iter().chain(&self.architectures);
        let named: Vec<_> =
            if self.architectures.is_empty() { named.chain(&self.code).collect() } else { named.collect() };
        for name in named {
            let numbers = match &**name {
                "native" => vec!["86"],
                "all" | "all-major" => vec!["60", "70", "80", "90"],
                name => {
                    let number = name.split_once('_').filter(|(kind, _)| matches!(*kind, "sm" | "compute" | "lto"));
                    let wrong = || Error::Option {
                        option: name.to_owned(),
                        reason: "no architecture, such as sm_80".to_owned(),
                    };
                    vec![number.map(|(_, number)| number).ok_or_else(wrong)?]
                }
            };
            for number in numbers {
                let digits: u32 = number.trim_end_matches(char::is_alphabetic).parse().unwrap_or(0);
                // Architectures before the oldest that clang knows, and after the newest.
                let number = match digits {
                    0..=51 => "52",
                    52..=NEWEST_ARCHITECTURE => number,
                    _ => "90",
                };
                if !found.iter().any(|known| known == number) {
                    found.push(number.to_owned());
                }
            }
        }
        if found.is_empty() {
            found.push(ARCHITECTURE.to_owned());
        }
        Ok(found)
    }

    /// Options of clang for how numbers are computed in kernels.
    fn arithmetic(&self) -> Vec<OsString> {
        let mut flags = Vec::new();
        if self.fuse == Some(false) && !self.fast_math {
            flags.push("-Xarch_device".into());
            flags.push("-ffp-contract=off".into());
        }
        if self.fast_math || self.flush == Some(true) {
            flags.push("-fgpu-flush-denormals-to-zero".into());
        }
        if self.fast_math {
            flags.push("-fgpu-approx-transcendentals".into());
        }
        // Approximate, exact to two units, rounded.
        let division = if self.fast_math && self.precise_division != Some(true) { "0" } else { "1" };
        if self.fast_math || self.precise_division == Some(false) {
            flags.extend(["-mllvm".into(), format!("-nvptx-prec-divf32={division}").into()]);
        }
        flags
    }

    /// Options that all runs of clang have.
    fn common(&self, toolkit: &Toolkit, for_kernels: bool) -> Result<Vec<OsString>, Error> {
        let mut flags: Vec<OsString> = vec!["--driver-mode=gcc".into()];
        if for_kernels {
            flags.push(format!("--cuda-path={}", toolkit.folder().display()).into());
            let architectures = self.architectures()?;
            flags.extend(architectures.iter().map(|number| format!("--cuda-gpu-arch=sm_{number}").into()));
            // The values of `__CUDA_ARCH__`, for programs that choose on the host.
            let digits = |number: &String| number.trim_end_matches(char::is_alphabetic).parse::<u32>().ok();
            let values: BTreeSet<_> = architectures.iter().filter_map(digits).map(|number| 10 * number).collect();
            let list: Vec<_> = values.iter().map(u32::to_string).collect();
            flags.push(format!("-D__CUDA_ARCH_LIST__={}", list.join(",")).into());
            flags.extend(["-DPTX2SPV_NVCC", "-Xarch_device", "-O3"].map(OsString::from));
            flags.extend(self.arithmetic());
            if self.per_thread {
                // clang 19 doesn't pass the option of its own on for CUDA.
                flags.extend(["-Xclang", "-fgpu-default-stream=per-thread"].map(OsString::from));
            }
            if self.relocatable {
                flags.push("-fgpu-rdc".into());
            }
        }
        // Errors of clang's that are warnings of gcc's, and warnings about the version.
        flags.extend(
            [
                "-Wno-unknown-cuda-version",
                "-fno-crash-diagnostics",
                "-Wno-c++11-narrowing",
                "-Wno-register",
                "-Wno-reserved-user-defined-literal",
                "-Wno-unused-command-line-argument",
            ]
            .map(OsString::from),
        );
        if self.per_thread {
            flags.push("-DCUDA_API_PER_THREAD_DEFAULT_STREAM".into());
        }
        // Kernels have a level of their own.
        if let Some(level) = &self.optimization {
            flags.push(format!("-O{level}").into());
        }
        flags.extend(self.flags.iter().cloned());
        flags.extend(["-isystem".into(), toolkit.folder().join("include").into()]);
        Ok(flags)
    }

    /// Whether a file is a source in C.
    fn is_c(&self, input: &OsStr) -> bool {
        match &self.language {
            Some(language) => language == "c" && kind(input) != Kind::Object,
            None => kind(input) == Kind::C,
        }
    }

    /// A command with its sources. For those in C it has no standard of C++, about which nvcc's host compiler only warns.
    fn with_sources<'a>(&self, command: &[OsString], files: impl IntoIterator<Item = &'a OsString>) -> Vec<OsString> {
        let files: Vec<_> = files.into_iter().collect();
        let only_c = files.iter().all(|file| self.is_c(file));
        let is_standard = |option: &OsString| {
            let option = option.to_string_lossy();
            option.strip_prefix("-std=").is_some_and(|standard| standard.contains("++"))
        };
        let options = command.iter().filter(|option| !only_c || !is_standard(option)).cloned();
        options.chain(self.with_language(files)).collect()
    }

    /// Files, with their language where the name doesn't tell.
    fn with_language<'a>(&self, files: impl IntoIterator<Item = &'a OsString>) -> Vec<OsString> {
        let mut list = Vec::new();
        let mut current = "none";
        for input in files {
            let wanted = match (kind(input), &self.language) {
                (Kind::Object, _) | (_, None) => "none",
                (_, Some(language)) => language,
            };
            if wanted != current {
                list.extend(["-x".into(), wanted.into()]);
                current = wanted;
            }
            list.push(input.clone());
        }
        if current != "none" {
            list.extend(["-x".into(), "none".into()]);
        }
        list
    }

    /// The commands that do the work. Files between them are in the folder.
    fn commands(&self, clang: &Clang, toolkit: &Toolkit, folder: &Path) -> Result<Vec<Vec<OsString>>, Error> {
        if self.inputs.is_empty() {
            return Err(Error::Usage("no input files".to_owned()));
        }
        let has_kernels =
            self.language.as_deref() == Some("cuda") || self.inputs.iter().any(|input| kind(input) == Kind::Cuda);
        let mut command = vec![clang.program().as_os_str().to_owned()];
        command.extend(self.common(toolkit, has_kernels)?);
        let flags = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
        let mut output = self.output.clone();
        match self.stage.unwrap_or(Stage::Link) {
            Stage::Link => return Ok(self.link(clang, command, toolkit, folder)),
            Stage::DeviceLink => {
                let objects = self.inputs.iter().cloned().chain(self.static_libraries()).collect();
                let output = output.unwrap_or_else(|| "a_dlink.o".into());
                return Ok(Self::device_link(clang, objects, toolkit, folder, &output));
            }
            Stage::Library => return self.archive(command),
            Stage::Compile => command.push("-c".into()),
            stage @ (Stage::Ptx | Stage::MachineCode) => {
                command.extend(flags(&["--cuda-device-only", "-S"]));
                let extension = if stage == Stage::Ptx { "ptx" } else { "cubin" };
                output = output.or_else(|| self.inputs.first().map(|input| named_after(input, extension)));
            }
            Stage::FatBinary => {
                command.push("--cuda-device-only".into());
                output = output.or_else(|| self.inputs.first().map(|input| named_after(input, "fatbin")));
            }
            Stage::Preprocess => command.extend(flags(&["-E", "--cuda-host-only"])),
            Stage::Depend => command.extend([OsString::from(&self.stage_option), "--cuda-host-only".into()]),
        }
        let Some(output) = output else {
            // One command for each, since options differ.
            return Ok(self.inputs.iter().map(|input| self.with_sources(&command, [input])).collect());
        };
        let mut command = self.with_sources(&command, &self.inputs);
        command.extend(["-o".into(), output.into()]);
        Ok(vec![command])
    }

    /// A program or a shared library. If objects may have device code for the linker, or only some sources are in C, all sources become
    /// objects first.
    fn link(&self, clang: &Clang, command: Vec<OsString>, toolkit: &Toolkit, folder: &Path) -> Vec<Vec<OsString>> {
        let static_libraries = self.static_libraries();
        let has_objects = self.inputs.iter().any(|input| kind(input) == Kind::Object) || !static_libraries.is_empty();
        let has_c = self.inputs.iter().any(|input| self.is_c(input));
        let mut commands = Vec::new();
        let mut inputs = self.inputs.clone();
        if !self.without_device_link && (self.relocatable || has_objects || has_c) {
            for (number, input) in inputs.iter_mut().enumerate().filter(|(_, input)| kind(input) != Kind::Object) {
                let object = folder.join(format!("{number}.o"));
                let mut command = self.with_sources(&command, [&*input]);
                command.extend(["-c".into(), "-o".into(), object.clone().into()]);
                commands.push(command);
                *input = object.into();
            }
            let linked = folder.join("linked.o");
            let objects = inputs.iter().cloned().chain(static_libraries).collect();
            commands.extend(Self::device_link(clang, objects, toolkit, folder, &linked));
            inputs.push(linked.into());
        }
        let mut command = [command, self.with_language(&inputs)].concat();
        if let Some(output) = &self.output {
            command.extend(["-o".into(), output.into()]);
        }
        command.extend(self.link.iter().cloned());
        let libraries = toolkit.libraries().display();
        command.push(format!("-L{libraries}").into());
        if !self.without_runtime {
            command.extend(["-lcudart".into(), format!("-Wl,-rpath,{libraries}").into()]);
        }
        command.extend(["-lstdc++", "-lm", "-lpthread", "-ldl", "-lrt"].map(OsString::from));
        commands.push(command);
        commands
    }

    /// Links the device code of objects into one that registers the program. It has nothing where the objects have no such code.
    fn device_link(
        clang: &Clang,
        objects: Vec<OsString>,
        toolkit: &Toolkit,
        folder: &Path,
        output: &Path,
    ) -> Vec<Vec<OsString>> {
        let source = folder.join("linked.c");
        let linker: Vec<OsString> =
            vec![toolkit.folder().join("bin/nvlink").into(), "-o".into(), source.clone().into()];
        let compile = vec![
            clang.program().into(),
            "-fPIC".into(),
            "-c".into(),
            "-x".into(),
            "c".into(),
            source.into(),
            "-o".into(),
            output.into(),
        ];
        vec![[linker, objects].concat(), compile]
    }

    /// The static libraries among those to link with. The compiler's and the system's own have no device code.
    fn static_libraries(&self) -> Vec<OsString> {
        let options: Vec<_> = self.link.iter().map(|option| option.to_string_lossy()).collect();
        let folders: Vec<_> = options.iter().filter_map(|option| option.strip_prefix("-L")).map(Path::new).collect();
        let find = |name: &str| {
            let file = format!("lib{name}.a");
            folders.iter().map(|folder| folder.join(&file)).find(|path| path.exists()).map(OsString::from)
        };
        options.iter().filter_map(|option| option.strip_prefix("-l").and_then(find)).collect()
    }

    /// An object for each source, and an archive of them.
    fn archive(&self, command: Vec<OsString>) -> Result<Vec<Vec<OsString>>, Error> {
        let output = self.output.clone().ok_or_else(|| Error::Usage("-lib needs -o".to_owned()))?;
        let mut commands = Vec::new();
        let mut archive: Vec<OsString> = vec!["ar".into(), "rcs".into(), output.into()];
        for input in &self.inputs {
            if kind(input) == Kind::Object {
                archive.push(input.clone());
                continue;
            }
            let object = named_after(input, "o");
            let mut command = self.with_sources(&command, [input]);
            command.extend(["-c".into(), "-o".into(), object.clone().into()]);
            commands.push(command);
            archive.push(object.into());
        }
        commands.push(archive);
        Ok(commands)
    }

    /// The text for the standard output, if that is all that is asked for.
    pub fn answer(&self) -> Option<&'static str> {
        self.answer
    }

    /// The commands that do the work, with a folder for files between them. The device's mathematics is compiled before, if it wasn't.
    ///
    /// # Errors
    /// There is no clang, or something that was asked for is missing.
    pub fn prepare(&self, toolkit: &Toolkit, folder: &Path) -> Result<Vec<Command>, Error> {
        let clang = Clang::find(self.clang.as_deref())?;
        let mut commands = self.commands(&clang, toolkit, folder)?;
        if self.run {
            let program = self.output.clone().unwrap_or_else(|| "a.out".into());
            let program = if program.is_absolute() { program } else { Path::new(".").join(program) };
            commands.push([vec![program.into()], self.run_arguments.clone()].concat());
        }
        if !self.dry_run {
            toolkit.compile_library(&clang)?;
        }
        let command = |words: Vec<OsString>| {
            let (program, arguments) = words.split_first()?;
            let mut command = Command::new(program);
            command.args(arguments);
            Some(command)
        };
        Ok(commands.into_iter().filter_map(command).collect())
    }

    /// nvcc's lines about its folders with `-v`, in nvcc's form. CMake reads them, for which another line must come last.
    fn describe(&self, toolkit: &Toolkit) -> Result<String, Error> {
        let folder = toolkit.folder().display();
        let architectures: Vec<_> =
            self.architectures()?.iter().map(|number| format!("-arch compute_{number}")).collect();
        Ok(format!(
            "#$ PATH={}\n#$ TOP={folder}\n#$ NVVMIR_LIBRARY_DIR={folder}/nvvm/libdevice\n#$ INCLUDES=\"-I{folder}/include\"\n\
             #$ LIBRARIES=-L{}\n#$ ARCHITECTURES={}\n\
             {}",
            std::env::var("PATH").unwrap_or_default(),
            toolkit.libraries().display(),
            architectures.join(" "),
            VERSION.lines().last().unwrap_or_default().to_owned() + "\n",
        ))
    }

    /// Does the work, and returns the exit status of clang, which has written its own errors.
    ///
    /// # Errors
    /// There is no clang, something that was asked for is missing, or a program can't be run.
    pub fn run(&self, toolkit: &Toolkit) -> Result<u8, Error> {
        let folder = unique(&std::env::temp_dir().join("nvcc"));
        let shows = self.verbose || self.dry_run;
        if shows {
            eprint!("{}", self.describe(toolkit)?);
        }
        let commands = self.prepare(toolkit, &folder)?;
        if self.dry_run {
            commands.iter().for_each(show);
            return Ok(0);
        }
        std::fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let mut statuses = commands.into_iter().map(|command| self.run_one(command, &folder));
        let status = statuses.find(|status| !matches!(status, Ok(0)));
        // What is left in the folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&folder);
        status.unwrap_or(Ok(0))
    }

    fn run_one(&self, mut command: Command, folder: &Path) -> Result<u8, Error> {
        if self.verbose {
            show(&command);
        }
        let program = PathBuf::from(command.get_program());
        let failed = |error| Error::Run { program: program.clone(), error };
        let status = if compiles_kernels(&command) {
            compile(&mut command, folder, failed)?
        } else {
            command.status().map_err(failed)?
        };
        let code = if status.success() { Some(0) } else { status.code().and_then(|code| u8::try_from(code).ok()) };
        Ok(code.unwrap_or(255))
    }
}

/// Whether clang is asked to compile CUDA C++.
fn compiles_kernels(command: &Command) -> bool {
    command.get_args().any(|argument| argument.to_string_lossy().starts_with("--cuda-gpu-arch"))
}

/// Runs clang, again while there are further files to rewrite for it, and writes its last messages.
fn compile(
    command: &mut Command,
    folder: &Path,
    failed: impl Fn(std::io::Error) -> Error,
) -> Result<ExitStatus, Error> {
    command.stderr(Stdio::piped());
    if std::io::stderr().is_terminal() {
        command.arg("-fcolor-diagnostics");
    }
    let mut rewritten = Rewritten::new(folder);
    loop {
        let output = command.spawn().and_then(Child::wait_with_output).map_err(&failed)?;
        let messages = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || !rewritten.add(&messages)? {
            eprint!("{messages}");
            return Ok(output.status);
        }
        command.arg("-ivfsoverlay").arg(rewritten.list());
    }
}

/// Writes a command like nvcc.
fn show(command: &Command) {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    eprintln!("#$ {}", line.join(" "));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Cuda,
    C,
    Object,
    Other,
}

/// The kind of an input, by its extension.
fn kind(input: &OsStr) -> Kind {
    match Path::new(input).extension().and_then(OsStr::to_str) {
        Some("cu") => Kind::Cuda,
        Some("c") => Kind::C,
        Some("o" | "obj" | "a" | "so") => Kind::Object,
        _ => Kind::Other,
    }
}

/// A file in the current folder with the input's name and another extension.
fn named_after(input: &OsStr, extension: &str) -> PathBuf {
    Path::new(Path::new(input).file_name().unwrap_or(input)).with_extension(extension)
}
