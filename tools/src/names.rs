//! Names of kernels as users write them: C++ names beside mangled ones, and suggestions for misspelled ones.

use anyhow::{Result, bail};
use ptx2spv_runtime::closest;
use ptx2spv_translator::names::{demangled, without_parameters};

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
        let base = without_parameters(name);
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
