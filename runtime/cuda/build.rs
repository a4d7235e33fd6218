//! Makes the library's exported functions, and the table for looking them up, of the lines in `api.in`.

use std::env;
use std::fmt::Write;
use std::path::Path;

/// A line of `api.in`.
struct Function<'a> {
    name: &'a str,
    since: u32,
    /// The ending of the name's twin for per-thread default streams.
    twin: Option<&'a str>,
    /// What implements the function, and the arguments.
    body: Option<(&'a str, Vec<(&'a str, &'a str)>)>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=api.in");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Programs look for this name, and may call the library until their very end.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let text = std::fs::read_to_string("api.in")?;
    let mut code = String::new();
    let mut table = "/// All functions.\npub(crate) static FUNCTIONS: &[Function] = &[\n".to_owned();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let function = parse(line).ok_or_else(|| format!("api.in:{}: {line}", number + 1))?;
        define(&mut code, &function)?;
        row(&mut table, &function)?;
    }
    table.push_str("];\n");
    std::fs::write(Path::new(&env::var("OUT_DIR")?).join("api.rs"), code + &table)?;
    Ok(())
}

fn parse(line: &str) -> Option<Function<'_>> {
    let mut fields = line.splitn(4, ' ');
    let (name, since) = (fields.next()?, fields.next()?.parse().ok()?);
    let twin = Some(fields.next()?).filter(|&twin| twin != "-");
    let body = match fields.next()? {
        "missing" => None,
        body => {
            let (path, arguments) = body.strip_suffix(')')?.split_once('(')?;
            let arguments = arguments.split(", ").filter(|argument| !argument.is_empty());
            let arguments = arguments.map(|argument| argument.split_once(": ")).collect::<Option<_>>()?;
            Some((path, arguments))
        }
    };
    Some(Function { name, since, twin, body })
}

fn define(code: &mut String, function: &Function<'_>) -> std::fmt::Result {
    let twin = function.twin.map(|twin| (format!("{}_{twin}", function.name), true));
    for (name, per_thread) in [(function.name.to_owned(), false)].into_iter().chain(twin) {
        let Some((path, arguments)) = &function.body else {
            writeln!(
                code,
                "#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() -> u32 {{\n    call::missing({name:?})\n}}\n"
            )?;
            continue;
        };
        let list: Vec<_> = arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let names: Vec<_> = arguments.iter().map(|(name, _)| *name).collect();
        let shown: Vec<_> = names.iter().map(|name| format!("(\"{name}\", &{name})")).collect();
        let body = if names.is_empty() { path.to_string() } else { format!("|| {path}({})", names.join(", ")) };
        writeln!(
            code,
            "#[unsafe(no_mangle)]\npub extern \"C\" fn {name}({}) -> u32 {{\n    let call = Call {{ name: {name:?}, \
             arguments: &[{}], per_thread: {per_thread} }};\n    call.run({body})\n}}\n",
            list.join(", "),
            shown.join(", "),
        )?;
    }
    Ok(())
}

fn row(table: &mut String, function: &Function<'_>) -> std::fmt::Result {
    let Function { name, since, twin, .. } = function;
    let per_thread = match twin {
        Some(twin) => format!("Some({name}_{twin} as *const c_void)"),
        None => "None".to_owned(),
    };
    writeln!(
        table,
        "    Function {{ name: {name:?}, since: {since}, legacy: {name} as *const c_void, per_thread: {per_thread} }},"
    )
}
