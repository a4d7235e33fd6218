//! Generates the library's exported functions from the lines of `api.in` and `cudart.in`, and from `api.in` the table
//! for looking them up.

use std::env;
use std::fmt::Write;
use std::path::Path;

/// A line of a table.
struct Function<'a> {
    name: &'a str,
    /// For the driver API, the CUDA version that added the function; for the runtime API, what the function needs
    /// before its body.
    second: &'a str,
    /// Suffix of the variant for per-thread default streams.
    twin: Option<&'a str>,
    body: Option<Body<'a>>,
}

/// The implementation of a function.
struct Body<'a> {
    path: &'a str,
    arguments: Vec<Argument<'a>>,
    /// The result type, if it is not a result code.
    result: Option<&'a str>,
}

/// A parameter of a function.
struct Argument<'a> {
    name: &'a str,
    ty: &'a str,
    /// The wider type that the implementation takes, for numbers of old functions: `bytes: u32 as usize`.
    wide: Option<&'a str>,
}

impl<'a> Argument<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (name, ty) = text.split_once(": ")?;
        let (ty, wide) = ty.split_once(" as ").map_or((ty, None), |(ty, wide)| (ty, Some(wide)));
        Some(Self { name, ty, wide })
    }

    /// The expression that is passed on.
    fn passed(&self) -> String {
        let Self { name, wide, .. } = self;
        wide.map_or_else(|| (*name).to_owned(), |wide| format!("{name} as {wide}"))
    }
}

/// The two APIs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Api {
    Driver,
    Runtime,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The soname is the one that programs look for. `nodelete`: programs may call the library until they exit.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let folder = env::var("OUT_DIR")?;
    for (name, api) in [("api", Api::Driver), ("cudart", Api::Runtime)] {
        println!("cargo::rerun-if-changed={name}.in");
        let text = std::fs::read_to_string(format!("{name}.in"))?;
        let mut code = String::new();
        let mut table = "/// All functions.\npub(crate) static FUNCTIONS: &[Function] = &[\n".to_owned();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let function = parse(line).ok_or_else(|| format!("{name}.in:{}: {line}", number + 1))?;
            define(&mut code, api, &function)?;
            row(&mut table, &function)?;
        }
        if api == Api::Driver {
            code += &table;
            code.push_str("];\n");
        }
        std::fs::write(Path::new(&folder).join(format!("{name}.rs")), code)?;
    }
    Ok(())
}

fn parse(line: &str) -> Option<Function<'_>> {
    let mut fields = line.splitn(4, ' ');
    let (name, second) = (fields.next()?, fields.next()?);
    let twin = Some(fields.next()?).filter(|&twin| twin != "-");
    let body = match fields.next()? {
        "missing" => None,
        body => {
            let (call, result) = body.split_once(" -> ").map_or((body, None), |(call, result)| (call, Some(result)));
            let (path, arguments) = call.strip_suffix(')')?.split_once('(')?;
            let arguments = arguments.split(", ").filter(|argument| !argument.is_empty());
            let arguments = arguments.map(Argument::parse).collect::<Option<_>>()?;
            Some(Body { path, arguments, result })
        }
    };
    Some(Function { name, second, twin, body })
}

fn define(code: &mut String, api: Api, function: &Function<'_>) -> std::fmt::Result {
    let twin = function.twin.map(|twin| (format!("{}_{twin}", function.name), true));
    for (name, per_thread) in [(function.name.to_owned(), false)].into_iter().chain(twin) {
        let Some(Body { path, arguments, result }) = &function.body else {
            writeln!(
                code,
                "#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() -> u32 {{\n    call::missing({name:?})\n}}\n"
            )?;
            continue;
        };
        let list: Vec<_> = arguments.iter().map(|Argument { name, ty, .. }| format!("{name}: {ty}")).collect();
        let names: Vec<_> = arguments.iter().map(|argument| argument.name).collect();
        let passed: Vec<_> = arguments.iter().map(Argument::passed).collect();
        let shown: Vec<_> = names.iter().map(|name| format!("(\"{name}\", &{name})")).collect();
        let body = if names.is_empty() { path.to_string() } else { format!("|| {path}({})", passed.join(", ")) };
        let run = match (api, result) {
            (Api::Driver, _) => format!("call.run({body})"),
            (Api::Runtime, None) => format!("call::run(&call, Needs::{}, {body})", function.second),
            (Api::Runtime, Some(_)) => format!("call::answer(&call, {body})"),
        };
        writeln!(
            code,
            "#[unsafe(no_mangle)]\npub extern \"C\" fn {name}({}) -> {} {{\n    let call = Call {{ name: {name:?}, arguments: \
             &[{}], per_thread: {per_thread} }};\n    {run}\n}}\n",
            list.join(", "),
            result.unwrap_or("u32"),
            shown.join(", "),
        )?;
    }
    Ok(())
}

fn row(table: &mut String, function: &Function<'_>) -> std::fmt::Result {
    let Function { name, second: since, twin, .. } = function;
    let per_thread = match twin {
        Some(twin) => format!("Some({name}_{twin} as *const c_void)"),
        None => "None".to_owned(),
    };
    writeln!(
        table,
        "    Function {{ name: {name:?}, since: {since}, legacy: {name} as *const c_void, per_thread: {per_thread} }},"
    )
}
