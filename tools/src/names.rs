//! Names of kernels: C++ names beside mangled ones, and suggestions for misspelled ones.

use anyhow::{Result, bail};
use cpp_demangle::{DemangleOptions, Symbol};
use ptx2spv_runtime::closest;

/// The C++ name with parameters, such as `axpy(float, float*)`. Other names are returned unchanged.
pub fn demangled(name: &str) -> String {
    plain(name, &DemangleOptions::new()).unwrap_or_else(|| name.to_owned())
}

fn plain(name: &str, options: &DemangleOptions) -> Option<String> {
    // Only names of the Itanium ABI are mangled by the compilers in question.
    name.starts_with("_Z").then(|| Symbol::new(name).ok()?.demangle_with_options(options).ok()).flatten()
}

/// Demangles all C++ names in a text, except in lines that quote a source, where columns matter.
pub fn readable(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some(start) = rest.find("_Z").filter(|_| !line.contains('│')) {
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

/// Shortens a name. Names of templates can have thousands of characters.
fn shortened(mut name: String) -> String {
    const MOST: usize = 200;
    if let Some((end, _)) = name.char_indices().nth(MOST) {
        name.truncate(end);
        name.push('…');
    }
    name
}

/// Finds a kernel by its name in PTX, or by its C++ name, with or without parameters, template arguments and
/// namespaces, if that is unambiguous.
///
/// # Errors
/// No kernel has this name, or several have.
pub fn find<'n>(wanted: &str, kernels: &[&'n str]) -> Result<&'n str> {
    if let Some(found) = kernels.iter().find(|name| **name == wanted) {
        return Ok(found);
    }
    let without_blanks = |text: &str| text.replace(' ', "");
    let wanted_form = without_blanks(wanted);
    let forms = |name: &str| -> Vec<String> {
        let base = plain(name, &DemangleOptions::new().no_params().no_return_type());
        let base = base.unwrap_or_else(|| name.to_owned());
        let untyped = base.split('<').next().unwrap_or(&base).to_owned();
        let last = |text: &str| text.rsplit("::").next().unwrap_or(text).to_owned();
        let short = last(&untyped);
        [demangled(name), base, untyped, short].map(|form| without_blanks(&form)).to_vec()
    };
    // The most exact form comes first.
    for exactness in 0..4 {
        let meant = |name: &&&str| forms(name).get(exactness).is_some_and(|form| *form == wanted_form);
        match kernels.iter().filter(meant).collect::<Vec<_>>()[..] {
            [] => {}
            [only] => return Ok(only),
            ref several => {
                bail!("several kernels are called `{wanted}`: {}", list(several.iter().map(|name| **name)));
            }
        }
    }
    if kernels.is_empty() {
        bail!("there is no kernel `{wanted}`: the file has none");
    }
    let names: Vec<String> = kernels.iter().flat_map(|name| [demangled(name), forms(name).swap_remove(3)]).collect();
    let hint = closest(wanted, names.iter().map(String::as_str));
    let hint = hint.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    bail!("there is no kernel `{wanted}`{hint}: the file has {}", list(kernels.iter().copied()))
}

/// Names as a list. Of many names, only the first are included.
pub fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    const MOST: usize = 20;
    let names: Vec<String> = names.into_iter().map(demangled).collect();
    let more = names.len().saturating_sub(MOST);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
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
        for name in ["_Z", "_Zzzz", "_Z999999999999999999999x", "x_Z4axpyiPf", ""] {
            assert_eq!(demangled(name), name);
        }
    }

    #[test]
    fn texts() {
        let text = "in function `_Z4axpyiPf`\n 5 │ call _Z4axpyiPf;\nx_Z4axpyiPf _Zzz `_ZN4blas4normEPf`";
        let expected = "in function `axpy(int, float*)`\n 5 │ call _Z4axpyiPf;\nx_Z4axpyiPf _Zzz `blas::norm(float*)`";
        assert_eq!(readable(text), expected);
        // `f` of a tuple of very many ints, as `_Z1f5tupleIJiii…EE`.
        let long = readable(&format!("`_Z1f5tupleIJ{}EE`", "i".repeat(1000)));
        assert!(long.starts_with("`f(tuple<int, int, ") && long.ends_with("…`"), "{long}");
        assert_eq!(long.chars().count(), 203);
    }

    #[test]
    fn finding() {
        let found = |wanted: &str| find(wanted, &KERNELS).map_err(|error| error.to_string());
        assert_eq!(found("_ZN4blas4normEPf").unwrap(), KERNELS[2]);
        assert_eq!(found("blas::norm(float *)").unwrap(), KERNELS[2]);
        assert_eq!(found("norm").unwrap(), KERNELS[2]);
        assert_eq!(found("blas::axpy<double>").unwrap(), KERNELS[1]);
        assert_eq!(found("blas::axpy").unwrap(), KERNELS[1]);
        // The exact name takes precedence over a short form.
        assert_eq!(found("axpy").unwrap(), KERNELS[0]);
        assert_eq!(
            find("axpy", &["_ZN1a4axpyEv", "_ZN1b4axpyEv"]).unwrap_err().to_string(),
            "several kernels are called `axpy`: a::axpy(), b::axpy()"
        );
        assert_eq!(
            found("plian").unwrap_err(),
            "there is no kernel `plian` (did you mean `plain`?): the file has axpy(int, float*), \
            void blas::axpy<double>(int, double*), blas::norm(float*), plain"
        );
        assert!(find("x", &[]).unwrap_err().to_string().ends_with("the file has none"));
    }
}
