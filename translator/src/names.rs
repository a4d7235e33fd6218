//! Demangling of C++ names in messages.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// Maximum length of a demangled name. Names of templates can have thousands of characters, and a hostile name can
/// expand until memory is full.
const MOST: usize = 10_000;
/// Maximum length of a demangled name in a text.
const MOST_IN_TEXT: usize = 200;

/// The C++ name with parameters, such as `axpy(float, float*)`. Other names are returned unchanged.
pub fn demangled(name: &str) -> String {
    plain(name, &DemangleOptions::new()).unwrap_or_else(|| name.to_owned())
}

/// The C++ name without parameters and return type, such as `blas::axpy<float>`.
pub fn without_parameters(name: &str) -> String {
    plain(name, &DemangleOptions::new().no_params().no_return_type()).unwrap_or_else(|| name.to_owned())
}

fn plain(name: &str, options: &DemangleOptions) -> Option<String> {
    // Only names of the Itanium ABI are mangled by the compilers in question.
    let symbol = name.starts_with("_Z").then(|| Symbol::new(name).ok()).flatten()?;
    let mut text = Bounded { text: String::new(), room: MOST };
    match symbol.structured_demangle(&mut text, options) {
        Ok(()) => Some(text.text),
        Err(_) if text.room == 0 => Some(text.text + "…"),
        Err(_) => None,
    }
}

/// A string of limited length.
struct Bounded {
    text: String,
    room: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for c in part.chars() {
            self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}

/// Demangles all C++ names in a text, except in lines that quote a source, where columns matter, or name its file.
pub fn readable(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some(start) = rest.find("_Z").filter(|_| !line.contains(['│', '┌'])) {
            let (before, symbol) = rest.split_at(start);
            let end = symbol.find(|c: char| !is_part(c)).unwrap_or(symbol.len());
            let (symbol, after) = symbol.split_at(end);
            out += before;
            // Not a name if it is in the middle of a word.
            out += &if before.ends_with(is_part) { symbol.to_owned() } else { shortened(demangled(symbol)) };
            rest = after;
        }
        out += rest;
    }
    out
}

/// The name of a kernel's parameter without the mangled name of the kernel, which compilers put in front.
pub fn parameter<'p>(kernel: &str, param: &'p str) -> &'p str {
    let own = param.strip_prefix(kernel).and_then(|own| own.strip_prefix('_'));
    own.filter(|own| kernel.starts_with("_Z") && !own.is_empty()).unwrap_or(param)
}

fn shortened(mut name: String) -> String {
    if let Some((end, _)) = name.char_indices().nth(MOST_IN_TEXT) {
        name.truncate(end);
        name.push('…');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    // Mangled by g++ and nvcc: axpy(int, float*), void blas::axpy<double>(int, double*), blas::norm(float*).
    const KERNELS: [&str; 4] = ["_Z4axpyiPf", "_ZN4blas4axpyIdEEviPT_", "_ZN4blas4normEPf", "plain"];

    #[test]
    fn names_of_cpp() {
        assert_eq!(
            KERNELS.map(demangled),
            ["axpy(int, float*)", "void blas::axpy<double>(int, double*)", "blas::norm(float*)", "plain"]
        );
        assert_eq!(KERNELS.map(without_parameters), ["axpy", "blas::axpy<double>", "blas::norm", "plain"]);
        for name in ["_Z", "_Zzzz", "_Z999999999999999999999x", "x_Z4axpyiPf", ""] {
            assert_eq!(demangled(name), name);
        }
    }

    #[test]
    fn texts() {
        let text =
            "in function `_Z4axpyiPf`\n 5 │ call _Z4axpyiPf;\n ┌─ _Z4axpyiPf:5\nx_Z4axpyiPf _Zzz `_ZN4blas4normEPf`";
        let expected = "in function `axpy(int, float*)`\n 5 │ call _Z4axpyiPf;\n ┌─ _Z4axpyiPf:5\nx_Z4axpyiPf _Zzz `blas::norm(float*)`";
        assert_eq!(readable(text), expected);
        // `f` of a tuple of very many ints, as `_Z1f5tupleIJiii…EE`.
        let long = readable(&format!("`_Z1f5tupleIJ{}EE`", "i".repeat(1000)));
        assert!(long.starts_with("`f(tuple<int, int, ") && long.ends_with("…`"), "{long}");
        assert_eq!(long.chars().count(), 203);
    }

    #[test]
    fn parameters() {
        assert_eq!(parameter("_Z4axpyiPf", "_Z4axpyiPf_param_1"), "param_1");
        for (kernel, param) in [("axpy", "axpy_param_1"), ("_Z4axpyiPf", "n"), ("_Z4axpyiPf", "_Z4axpyiPf_")] {
            assert_eq!(parameter(kernel, param), param);
        }
    }

    /// Each `pair` contains the one before twice: the last contains 2^30 times `p`.
    #[test]
    fn names_that_explode() {
        let digit = |n: u32| char::from_digit(n, 36).unwrap().to_ascii_uppercase();
        let mut name = "_Z1f1p".to_owned();
        // S_ is `p`, S0_ is `pair`, S1_ is `pair<p, p>`, and so on.
        name += "4pairIS_S_E";
        for level in 1..30 {
            name += &format!("S0_IS{0}_S{0}_E", digit(level));
        }
        let text = demangled(&name);
        assert!(text.starts_with("f(p, pair<p, p>, pair<pair<p, p>, pair<p, p> >, "), "{text:.100}");
        assert!(text.ends_with('…') && text.chars().count() == MOST + 1, "{}", text.len());
    }
}
