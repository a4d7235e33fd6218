//! A program: its source, and the result of its compilation.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_void};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ptx2spv_toolkit::nvcc::Nvcc;
use ptx2spv_toolkit::{Error, Toolkit, with_linkage};

use crate::{
    COMPILATION, Code, INTERNAL_ERROR, INVALID_OPTION, NAME_EXPRESSION_NOT_VALID, NO_LOWERED_NAMES_BEFORE_COMPILATION,
    NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
};

/// The name of a program without one, as the manual says.
const DEFAULT_NAME: &str = "default_program";

#[derive(Clone)]
pub(crate) struct Program {
    pub source: String,
    pub name: String,
    /// Headers in memory: the name after `#include`, and the text.
    pub headers: Vec<(String, String)>,
    pub expressions: Vec<String>,
    /// The names of the expressions in the PTX, in the same order.
    names: Vec<CString>,
    ptx: Option<String>,
    log: Option<String>,
}

impl Program {
    pub fn new(source: String, name: Option<String>, headers: Vec<(String, String)>) -> Self {
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT_NAME.to_owned());
        Self { source, name, headers, expressions: Vec::new(), names: Vec::new(), ptx: None, log: None }
    }

    pub fn add_expression(&mut self, expression: String) -> Result<(), Code> {
        if self.log.is_some() {
            return Err(NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
        }
        self.expressions.push(expression);
        Ok(())
    }

    pub fn compile(&mut self, options: &[String]) -> Result<(), Code> {
        let Compiled { result, log } = compile(self, options);
        self.log = Some(log);
        self.ptx = None;
        let (ptx, names) = result?;
        self.ptx = Some(ptx);
        self.names = names.into_iter().filter_map(|name| CString::new(name).ok()).collect();
        Ok(())
    }

    pub fn ptx(&self) -> Result<&str, Code> {
        self.ptx.as_deref().ok_or(COMPILATION)
    }

    /// The log, empty before the program is compiled.
    pub fn log(&self) -> Result<&str, Code> {
        Ok(self.log.as_deref().unwrap_or_default())
    }

    /// The name of an expression's function or variable in the PTX. The program keeps it.
    pub fn lowered(&self, expression: &str) -> Result<*const c_char, Code> {
        if self.ptx.is_none() {
            return Err(NO_LOWERED_NAMES_BEFORE_COMPILATION);
        }
        let found = self.expressions.iter().position(|known| known == expression);
        let name = found.and_then(|index| self.names.get(index));
        name.map(|name| name.as_ptr()).ok_or(NAME_EXPRESSION_NOT_VALID)
    }
}

/// The result of a compilation: PTX with the names of the expressions, or an error. There is a log in any case.
pub(crate) struct Compiled {
    pub result: Result<(String, Vec<String>), Code>,
    pub log: String,
}

/// Options that nvcc doesn't have, and that have no effect here.
const OWN_OPTIONS: [&str; 14] = [
    "builtin-initializer-list",
    "builtin-move-forward",
    "brief-diagnostics",
    "device-syntax-only",
    "disable-warnings",
    "fdevice-time-trace",
    "minimal",
    "modify-stack-limit",
    "no-cache",
    NO_FOLDER,
    "pch",
    "pch-messages",
    "time",
    "version-ident",
];

/// By this option, headers are not sought in the folder of the program's source.
const NO_FOLDER: &str = "no-source-include";

/// By these options, functions without `__host__` and `__device__` are the device's.
const DEVICE_BY_DEFAULT: [&str; 2] = ["default-device", "device-as-default-execution-space"];

/// The name of the variable that keeps an expression's address.
const VARIABLE: &str = "ptx2spv_name_expression_";

pub(crate) fn compile(program: &Program, options: &[String]) -> Compiled {
    let mut log = String::new();
    let result = run(program, options, &mut log).map_err(|error| {
        if let Failure::Because(error) = &error {
            let _ = writeln!(log, "{error}");
        }
        match error {
            Failure::Because(Error::Option { .. }) => INVALID_OPTION,
            Failure::Because(_) => INTERNAL_ERROR,
            Failure::Refused => COMPILATION,
        }
    });
    Compiled { result, log }
}

enum Failure {
    Because(Error),
    /// clang's errors are in the log.
    Refused,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Because(error)
    }
}

fn run(program: &Program, options: &[String], log: &mut String) -> Result<(String, Vec<String>), Failure> {
    let file = |path: &Path| {
        let path = path.to_owned();
        move |error| Error::File { path, error }
    };
    let folder = tempfile::tempdir().map_err(file(&std::env::temp_dir()))?;
    let write = |name: &str, text: &str| -> Result<PathBuf, Error> {
        // Names with folders are kept; those that lead out of the folder are not.
        let path: PathBuf =
            Path::new(name).components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect();
        let path = folder.path().join(path);
        let parent = path.parent().unwrap_or(folder.path());
        std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text)).map_err(file(&path))?;
        Ok(path)
    };
    for (name, text) in &program.headers {
        write(name, &with_linkage(text))?;
    }
    let own = |option: &str, list: &[&str]| {
        let name = option.trim_start_matches('-');
        let name = name.split_once('=').map_or(name, |(name, _)| name);
        option.starts_with('-') && list.contains(&name)
    };
    let for_device = options.iter().any(|option| own(option, &DEVICE_BY_DEFAULT));
    let mut source = String::new();
    if for_device {
        source.push_str("#pragma clang force_cuda_host_device begin\n");
    }
    let _ = write!(source, "#line 1 {:?}\n{}\n", program.name, with_linkage(&program.source));
    if for_device {
        source.push_str("#pragma clang force_cuda_host_device end\n");
    }
    for (number, expression) in program.expressions.iter().enumerate() {
        let _ = write!(
            source,
            "#line 1 \"name expression\"\nextern \"C\" __attribute__((device, used)) void *{VARIABLE}{number} = (void *)({expression});\n"
        );
    }
    let input = write(&format!("{}.cu", program.name.trim_end_matches(".cu")), &source)?;
    let output = folder.path().join("ptx2spv_output.ptx");

    let mut arguments: Vec<OsString> = Vec::new();
    let ignored = |option: &String| own(option, &OWN_OPTIONS) || own(option, &DEVICE_BY_DEFAULT);
    arguments.extend(options.iter().filter(|option| !ignored(option)).map(OsString::from));
    arguments.extend(["-ptx", "-x", "cu", "-D__CUDACC_RTC__", "-I"].map(OsString::from));
    arguments.extend([folder.path().into(), "-o".into(), output.clone().into(), input.into()]);
    let nvcc = Nvcc::parse(&arguments)?;
    // Headers in quotes are also sought where the program's name says that its source is.
    let beside = Path::new(&program.name).parent().filter(|_| !options.iter().any(|option| own(option, &[NO_FOLDER])));
    let beside = beside.and_then(|parent| Some(std::env::current_dir().ok()?.join(parent)));
    for mut command in nvcc.prepare(&toolkit()?, folder.path())? {
        if let Some(beside) = &beside {
            command.arg("-iquote").arg(beside);
        }
        let shown = PathBuf::from(command.get_program());
        let run = command.output().map_err(|error| Error::Run { program: shown, error })?;
        let here = format!("{}/", folder.path().display());
        log.push_str(&String::from_utf8_lossy(&run.stderr).replace(&here, ""));
        if !run.status.success() {
            return Err(Failure::Refused);
        }
    }
    let ptx = std::fs::read_to_string(&output).map_err(file(&output))?;
    Ok(take_names(&ptx, program.expressions.len()))
}

/// Takes the variables of name expressions out of PTX, and returns the names that they had as values.
fn take_names(ptx: &str, count: usize) -> (String, Vec<String>) {
    let mut names = vec![String::new(); count];
    let mut rest = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let found = line.split_once(VARIABLE).filter(|(start, _)| start.contains(".global"));
        let Some((_, after)) = found else {
            // Comments name the variables too.
            if !line.contains(VARIABLE) {
                rest.push_str(line);
                rest.push('\n');
            }
            continue;
        };
        if let Some((number, value)) = after.split_once(" = ") {
            let value = value.trim_end_matches(';');
            let value = value.strip_prefix("generic(").and_then(|value| value.strip_suffix(')')).unwrap_or(value);
            if let Some(name) = number.parse().ok().and_then(|number: usize| names.get_mut(number)) {
                value.clone_into(name);
            }
        }
    }
    (rest, names)
}

/// The toolkit's folder beside this library.
fn toolkit() -> Result<Toolkit, Error> {
    let path = own_path().and_then(|path| std::fs::canonicalize(path).ok()).unwrap_or_default();
    let program = path.with_file_name("ptx2spv");
    Toolkit::write(&path.with_file_name("cuda"), program.exists().then_some(&*program))
}

/// This library's file.
fn own_path() -> Option<PathBuf> {
    // Safety: all fields may be zero.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // Safety: the address is that of a function of this library, and the place for the answer is `info`.
    let found = unsafe { libc::dladdr(own_path as fn() -> Option<PathBuf> as *const c_void, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // Safety: dladdr gave a text that ends with a zero, and that stays as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(OsStr::from_bytes(name.to_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::take_names;

    #[test]
    fn names_are_taken_out() {
        let ptx = "\t// .globl ptx2spv_name_expression_0\n.visible .global .align 8 .u64 ptx2spv_name_expression_0 = _Z1kIiEvv;\n\
             .visible .global .align 8 .u64 ptx2spv_name_expression_1 = generic(_ZN1a1vE);\n.visible .entry k() { ret; }\n";
        let (rest, names) = take_names(ptx, 2);
        assert_eq!(rest, ".visible .entry k() { ret; }\n");
        assert_eq!(names, ["_Z1kIiEvv", "_ZN1a1vE"]);
    }
}
