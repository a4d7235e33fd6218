//! nvcc's options: a table of their meanings for clang.

/// The effect of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// These options of clang.
    Clang(&'static [&'static str]),
    /// An option of clang with the value in the same argument.
    Joined(&'static str),
    /// An option of clang for each part of a list with commas.
    JoinedEach(&'static str),
    /// An option of clang with the value in the next argument.
    Separate(&'static str),
    /// The parts of the value are the host compiler's options.
    Host,
    /// The parts of the value are the linker's options.
    Linker,
    /// The kind of output.
    Output(Stage),
    /// Something that the driver itself does.
    Driver(Setting),
    /// Nothing: it is about machine code, or about nvcc's own parts.
    Nothing,
    /// The option can't be honoured, for this reason.
    Refused(&'static str),
}

/// The output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// An executable or a shared library.
    Link,
    /// An object for each source.
    Compile,
    /// PTX.
    Ptx,
    /// PTX in the place of machine code.
    MachineCode,
    /// A fat binary.
    FatBinary,
    /// Preprocessed text.
    Preprocess,
    /// Dependencies for make.
    Depend,
    /// An archive of objects.
    Library,
    /// An object with the program that is linked of the device code of objects.
    DeviceLink,
}

/// A setting of the driver itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    Version,
    Help,
    DryRun,
    Run,
    RunArguments,
    OutputFile,
    Clang,
    Language,
    Architecture,
    Code,
    Generate,
    RelocatableDeviceCode,
    RelocatableObject,
    NoDeviceLink,
    Verbose,
    ForwardToCompiler,
    ForwardToLinker,
    RuntimeLibrary,
    DefaultStream,
    Optimization,
    FastMath,
    Fuse,
    FlushDenormals,
    PreciseDivision,
    Library,
    OptionsFile,
}

use Effect::{Clang, Driver, Host, Joined, JoinedEach, Linker, Nothing, Output, Refused, Separate};

/// The form of an option's value, beside `NAME VALUE` and `NAME=VALUE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// No value.
    No,
    /// A value.
    Yes,
    /// A value, which may follow without a space.
    Glued,
}

use Value::{Glued, No, Yes};

/// A row: the names, the value and the effect.
pub(crate) type Row = (&'static [&'static str], Value, Effect);

/// All options. Options about machine code have no effect: Vulkan's drivers make the code.
#[rustfmt::skip]
pub(crate) const OPTIONS: &[Row] = &[
    (&["-o", "--output-file"], Glued, Driver(Setting::OutputFile)),
    (&["-c", "--compile"], No, Output(Stage::Compile)),
    (&["-dc", "--device-c"], No, Driver(Setting::RelocatableObject)),
    (&["-ptx", "--ptx"], No, Output(Stage::Ptx)),
    (&["-cubin", "--cubin"], No, Output(Stage::MachineCode)),
    (&["-fatbin", "--fatbin"], No, Output(Stage::FatBinary)),
    (&["-E", "--preprocess"], No, Output(Stage::Preprocess)),
    (&["-M", "--generate-dependencies"], No, Output(Stage::Depend)),
    (&["-MM", "--generate-nonsystem-dependencies"], No, Output(Stage::Depend)),
    (&["-MD", "--generate-dependencies-with-compile"], No, Clang(&["-MD"])),
    (&["-MMD", "--generate-nonsystem-dependencies-with-compile"], No, Clang(&["-MMD"])),
    (&["-MP", "--generate-dependency-targets"], No, Clang(&["-MP"])),
    (&["-MF", "--dependency-output"], Yes, Separate("-MF")),
    (&["-MT", "--dependency-target-name"], Yes, Separate("-MT")),
    (&["-lib", "--lib"], No, Output(Stage::Library)),
    (&["-link", "--link"], No, Output(Stage::Link)),
    (&["-run", "--run"], No, Driver(Setting::Run)),
    (&["-run-args", "--run-args"], Yes, Driver(Setting::RunArguments)),
    (&["-shared", "--shared"], No, Clang(&["-shared"])),
    (&["-x", "--x"], Yes, Driver(Setting::Language)),
    (&["-std", "--std"], Yes, Joined("-std=")),
    (&["-I", "--include-path"], Glued, JoinedEach("-I")),
    (&["-isystem", "--system-include"], Yes, JoinedEach("-isystem")),
    (&["-include", "--pre-include"], Yes, Separate("-include")),
    (&["-D", "--define-macro"], Glued, Joined("-D")),
    (&["-U", "--undefine-macro"], Glued, Joined("-U")),
    (&["-L", "--library-path"], Glued, JoinedEach("-L")),
    (&["-l", "--library"], Glued, Driver(Setting::Library)),
    (&["-O", "--optimize"], Glued, Driver(Setting::Optimization)),
    (&["-Ofc", "--Ofast-compile", "-dopt", "--dopt"], Yes, Nothing),
    (&["-g", "--debug"], No, Clang(&["-g"])),
    (&["-G", "--device-debug"], No, Clang(&["-g", "--cuda-noopt-device-debug"])),
    (&["-lineinfo", "--generate-line-info"], No, Clang(&["-gline-tables-only"])),
    (&["-pg", "--profile"], No, Clang(&["-Xarch_host", "-pg"])),
    (&["-w", "--disable-warnings"], No, Clang(&["-w"])),
    (&["-v", "--verbose"], No, Driver(Setting::Verbose)),
    (&["-arch", "--gpu-architecture"], Yes, Driver(Setting::Architecture)),
    (&["-code", "--gpu-code"], Yes, Driver(Setting::Code)),
    (&["-gencode", "--generate-code"], Yes, Driver(Setting::Generate)),
    (&["-rdc", "--relocatable-device-code"], Yes, Driver(Setting::RelocatableDeviceCode)),
    (&["-dw", "--device-w"], No, Output(Stage::Compile)),
    (&["-dlink", "--device-link"], No, Output(Stage::DeviceLink)),
    (&["-nodlink", "--no-device-link"], No, Driver(Setting::NoDeviceLink)),
    (&["-dlto", "--dlink-time-opt"], No, Nothing),
    (&["-cudart", "--cudart"], Yes, Driver(Setting::RuntimeLibrary)),
    (&["-default-stream", "--default-stream"], Yes, Driver(Setting::DefaultStream)),
    (&["-Xcompiler", "--compiler-options"], Yes, Host),
    (&["-Xlinker", "--linker-options"], Yes, Linker),
    (&["-Xptxas", "--ptxas-options", "-Xnvlink", "--nvlink-options", "-Xcudafe", "--cudafe-options"], Yes, Nothing),
    (&["-Xarchive", "--archive-options"], Yes, Nothing),
    (&["-ccbin", "--compiler-bindir"], Yes, Nothing),
    (&["-clang", "--clang"], Yes, Driver(Setting::Clang)),
    (&["-use_fast_math", "--use_fast_math"], No, Driver(Setting::FastMath)),
    (&["-fmad", "--fmad"], Yes, Driver(Setting::Fuse)),
    (&["-ftz", "--ftz"], Yes, Driver(Setting::FlushDenormals)),
    (&["-prec-div", "--prec-div"], Yes, Driver(Setting::PreciseDivision)),
    (&["-prec-sqrt", "--prec-sqrt"], Yes, Nothing),
    (&["-maxrregcount", "--maxrregcount"], Yes, Nothing),
    (&["-expt-relaxed-constexpr", "--expt-relaxed-constexpr"], No, Nothing),
    (&["-extended-lambda", "--extended-lambda", "-expt-extended-lambda", "--expt-extended-lambda"], No, Nothing),
    (&["-extra-device-vectorization", "--extra-device-vectorization", "-restrict", "--restrict"], No, Nothing),
    (&["-m64", "-64", "--64"], No, Nothing),
    (&["-m", "--machine"], Yes, Nothing),
    (&["-m32"], No, Refused("programs have 64 bits")),
    (&["-t", "--threads", "-split-compile", "--split-compile"], Yes, Nothing),
    (&["-res-usage", "--resource-usage", "-src-in-ptx", "--source-in-ptx", "-keep", "--keep", "-save-temps", "--save-temps"], No, Nothing),
    (&["-keep-dir", "--keep-dir", "-odir", "--output-directory"], Yes, Nothing),
    (&["-clean", "--clean-targets", "-noprof", "--no-profile"], No, Nothing),
    (&["-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler"], No, Driver(Setting::ForwardToCompiler)),
    (&["-forward-unknown-to-host-linker", "--forward-unknown-to-host-linker"], No, Driver(Setting::ForwardToLinker)),
    (&["-allow-unsupported-compiler", "--allow-unsupported-compiler"], No, Nothing),
    (&["-Wno-deprecated-gpu-targets", "-Wno-deprecated-declarations", "-Wreorder", "-Wdefault-stream-launch"], No, Nothing),
    (&["-Werror", "--Werror", "-diag-suppress", "--diag-suppress", "-diag-error", "--diag-error", "-diag-warn", "--diag-warn"], Yes, Nothing),
    (&["-err-no", "--display-error-number", "-no-err-no", "--no-display-error-number"], No, Nothing),
    (&["-dryrun", "--dryrun", "-n"], No, Driver(Setting::DryRun)),
    (&["-optf", "--options-file"], Yes, Driver(Setting::OptionsFile)),
    (&["-V", "--version"], No, Driver(Setting::Version)),
    (&["-h", "--help"], No, Driver(Setting::Help)),
];

/// The option that an argument names, and the value that is in it. The longest name wins: `-lineinfo` is no library.
pub(crate) fn find(argument: &str) -> Option<(&'static Row, Option<&str>)> {
    let mut best: Option<(usize, &'static Row, Option<&str>)> = None;
    for row in OPTIONS {
        for name in row.0 {
            let Some(rest) = argument.strip_prefix(name) else { continue };
            let value = match row.1 {
                _ if rest.is_empty() => None,
                Value::No => continue,
                Value::Yes | Value::Glued if rest.starts_with('=') => Some(&rest[1..]),
                Value::Glued => Some(rest),
                Value::Yes => continue,
            };
            // A definition may begin with anything.
            let value = if matches!(row.2, Joined("-D")) && !rest.is_empty() && !name.starts_with("--") {
                Some(rest)
            } else {
                value
            };
            if best.is_none_or(|(length, ..)| name.len() > length) {
                best = Some((name.len(), row, value));
            }
        }
    }
    best.map(|(_, row, value)| (row, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_name_and_value() {
        let found = |argument| find(argument).map(|(row, value)| (row.0[0], value));
        assert_eq!(found("-lineinfo"), Some(("-lineinfo", None)));
        assert_eq!(found("-lm"), Some(("-l", Some("m"))));
        assert_eq!(found("-O3"), Some(("-O", Some("3"))));
        assert_eq!(found("-arch=sm_80"), Some(("-arch", Some("sm_80"))));
        assert_eq!(found("--gpu-architecture"), Some(("-arch", None)));
        assert_eq!(found("-DX=1"), Some(("-D", Some("X=1"))));
        assert_eq!(found("-o"), Some(("-o", None)));
        assert_eq!(found("-optf"), Some(("-optf", None)));
        assert_eq!(found("-frobnicate"), None);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = OPTIONS.iter().flat_map(|row| row.0).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
