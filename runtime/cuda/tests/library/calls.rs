//! Exported functions by name, called with any arguments.

use libloading::Library;

/// A line of a table: names including the twin's, types of the parameters, and whether a code is returned.
pub struct Function<'a> {
    pub names: Vec<String>,
    pub arguments: Vec<&'a str>,
    pub has_code: bool,
}

/// Stands for the type of an argument that is a pointer for programs of some versions of CUDA.
pub const EITHER: &str = "pointer or number";

/// The functions of `api.in`, or of another table.
pub fn functions(text: &str) -> Vec<Function<'_>> {
    // A function that returns a structure takes a pointer to the result as its first argument.
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.ends_with("-> ChannelFormat"));
    let function = |line| {
        let fields: Vec<&str> = str::splitn(line, 4, ' ').collect();
        let [name, _, twin, body] = fields[..] else { panic!("{line}") };
        let mut names = vec![name.to_owned()];
        if twin != "-" {
            names.push(format!("{name}_{twin}"));
        }
        let (call, has_code) = body.split_once(" -> ").map_or((body, true), |(call, _)| (call, false));
        let list = call.split_once('(').map_or("", |(_, list)| list.trim_end_matches(')'));
        let type_of = |(name, ty): (&str, _)| if name.contains("_or_") && ty == "usize" { EITHER } else { ty };
        let types = list.split(", ").filter_map(|argument| argument.split_once(": ").map(type_of));
        Function { names, arguments: types.collect(), has_code }
    };
    lines.map(function).collect()
}

/// More parameters than any function has.
pub const ARGUMENTS: usize = 16;

#[rustfmt::skip]
type Raw = unsafe extern "C" fn(
    usize, usize, usize, usize, usize, usize, usize, usize,
    usize, usize, usize, usize, usize, usize, usize, usize,
) -> u32;

/// Calls a function with sixteen arguments. Functions with fewer parameters ignore the rest.
pub fn call(
    library: &Library,
    name: &str,
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [usize; ARGUMENTS],
) -> u32 {
    // SAFETY: the function has this name, and C's calling convention permits more arguments than the function has
    // parameters. Pointers among them are NULL or point to memory.
    unsafe {
        let function = library.get::<Raw>(name.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    }
}
