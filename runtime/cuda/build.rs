//! Generates the library's exported functions from the lines of `api.in`, `cudart.in` and `nvml.in`, and from `api.in` the table
//! for looking them up.

use std::env;
use std::fmt::Write;
use std::path::Path;

/// A line of a table.
struct Function<'a> {
    name: &'a str,
    /// For the driver API, the CUDA version that added the function; for the runtime API, the requirements of the function before its body.
    second: &'a str,
    /// Suffix of the variant for per-thread default streams.
    twin: Option<&'a str>,
    body: Option<Body<'a>>,
}

/// The implementation of a function.
struct Body<'a> {
    parameters: Vec<Parameter<'a>>,
    /// The expression that runs it: a call, or the path of a function without arguments.
    expression: String,
    /// The result type, if it is not a result code.
    result: Option<&'a str>,
}

/// A parameter of a function.
struct Parameter<'a> {
    name: &'a str,
    ty: &'a str,
}

impl<'a> Body<'a> {
    /// Reads a call whose arguments are parameters with their types, calls or arrays of such arguments, or expressions without parameters.
    /// The words before the call are conditions. An argument with `=` takes the result, and one with `_` isn't passed on:
    /// `open f(a: u32 as u64, _b: usize, =d: Out<u32>, g(c: Memory)?, 0)`. See `api.in`.
    fn parse(api: Api, mut call: &'a str, result: Option<&'a str>) -> Option<Self> {
        let mut conditions = Vec::new();
        while let Some((word, rest)) = call.split_once(' ').filter(|(word, _)| !word.contains('(')) {
            conditions.push(word);
            call = rest;
        }
        if api == Api::Driver && conditions.is_empty() {
            conditions.push("open");
        }
        let conditions: String = conditions.into_iter().map(condition).collect();
        let (path, arguments) = call.strip_suffix(')')?.split_once('(')?;
        if arguments.is_empty() && conditions.is_empty() {
            return Some(Self { parameters: Vec::new(), expression: path.to_owned(), result });
        }
        let mut parameters = Vec::new();
        let mut answers = Vec::new();
        let mut passed = Vec::new();
        for argument in arguments.split(", ") {
            let Some((start, ty)) = argument.split_once(": ") else {
                passed.push(argument.to_owned());
                continue;
            };
            let (inner, name) = start.split_at(start.rfind(['(', '[']).map_or(0, |at| at + 1));
            let (value, end) = ty.split_at(end_of_type(ty));
            let (ty, cast) = value.split_once(" as ").map_or((value, ""), |(ty, _)| (ty, &value[ty.len()..]));
            if let Some(name) = name.strip_prefix('_') {
                parameters.push(Parameter { name, ty });
            } else if let Some(name) = name.strip_prefix('=') {
                parameters.push(Parameter { name, ty });
                answers.push(name);
            } else {
                parameters.push(Parameter { name, ty });
                passed.push(format!("{inner}{name}{cast}{end}"));
            }
        }
        let passed = passed.join(", ");
        let call = if passed.is_empty() { path.to_owned() } else { format!("|| {path}({passed})") };
        let run = match answers[..] {
            [] => format!("{path}({passed})"),
            [one] => format!("{one}.answer({call})"),
            [first, second] => format!("raw::answer_pair({first}, {second}, {call})"),
            _ => return None,
        };
        let expression = match (conditions.as_str(), answers.is_empty()) {
            ("", true) => call,
            ("", false) => format!("|| {run}"),
            _ => format!("|| {{ {conditions}{run} }}"),
        };
        Some(Self { parameters, expression, result })
    }
}

/// The statement that fails unless a condition holds. `api.in` lists the conditions.
fn condition(word: &str) -> String {
    match word {
        "always" => String::new(),
        "open" => "state::check()?; ".to_owned(),
        "in" => "context::current()?; ".to_owned(),
        "old" => "context::old()?; ".to_owned(),
        _ => match (word.strip_suffix('!'), word.strip_suffix('?'), word.split_once('<'), word.split_once(':')) {
            (Some(name), ..) => format!("raw::handle_needed({name})?; "),
            (_, Some(name), ..) => format!("{name}.check()?; "),
            (_, _, Some((name, end)), _) => format!("raw::below({name}, {end})?; "),
            (.., Some((name, path))) => format!("{path}({name})?; "),
            _ => format!("raw::needed({word})?; "),
        },
    }
}

/// The index at which a type ends: that of the first bracket that begins before the type.
fn end_of_type(text: &str) -> usize {
    let mut depth = 0;
    let closes = |c: char| {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        depth < 0
    };
    text.find(closes).unwrap_or(text.len())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Api {
    Driver,
    Runtime,
    Management,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The soname is the one that programs look for. `nodelete`: programs may call the library until they exit.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let folder = env::var("OUT_DIR")?;
    for (name, api) in [("api", Api::Driver), ("cudart", Api::Runtime), ("nvml", Api::Management)] {
        println!("cargo::rerun-if-changed={name}.in");
        let text = std::fs::read_to_string(format!("{name}.in"))?;
        let mut code = String::new();
        let mut table = "/// All functions.\npub(crate) static FUNCTIONS: &[Function] = &[\n".to_owned();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let function = parse(api, line).ok_or_else(|| format!("{name}.in:{}: {line}", number + 1))?;
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

fn parse(api: Api, line: &str) -> Option<Function<'_>> {
    let mut fields = line.splitn(4, ' ');
    let (name, second) = (fields.next()?, fields.next()?);
    let twin = Some(fields.next()?).filter(|&twin| twin != "-");
    let body = match fields.next()? {
        "missing" => None,
        body => {
            let (call, result) = body.split_once(" -> ").map_or((body, None), |(call, result)| (call, Some(result)));
            Some(Body::parse(api, call, result)?)
        }
    };
    Some(Function { name, second, twin, body })
}

fn define(code: &mut String, api: Api, function: &Function<'_>) -> std::fmt::Result {
    let twin = function.twin.map(|twin| (format!("{}_{twin}", function.name), true));
    for (name, per_thread) in [(function.name.to_owned(), false)].into_iter().chain(twin) {
        let Some(Body { parameters, expression, result }) = &function.body else {
            writeln!(
                code,
                "#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() -> u32 {{\n    call::missing({name:?})\n}}\n"
            )?;
            continue;
        };
        let list: Vec<_> = parameters.iter().map(|Parameter { name, ty }| format!("{name}: {ty}")).collect();
        let shown: Vec<_> = parameters.iter().map(|Parameter { name, .. }| format!("(\"{name}\", &{name})")).collect();
        let run = match (api, result) {
            (Api::Driver, _) => format!("call.run({expression})"),
            (Api::Management, _) => format!("call::run(&call, {expression})"),
            (Api::Runtime, None) => format!("call::run(&call, Needs::{}, {expression})", function.second),
            (Api::Runtime, Some(_)) => format!("call::answer(&call, {expression})"),
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
