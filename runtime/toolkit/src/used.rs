//! clang's additions to PTX for its own linkers, which NVIDIA's rules don't allow.

/// clang's list of the kernels and variables of other files that only the host uses.
const LIST: &str = "__clang_gpu_used_external";

/// PTX without clang's list of the kernels and variables of other files that the host uses. clang declares these kernels as functions, which
/// the rules of NVIDIA's linker forbid.
pub(crate) fn without_list_for_host(ptx: &str) -> String {
    let line = ptx.lines().find(|line| line.starts_with(".global ") && line.contains(LIST));
    let Some((line, names)) = line.and_then(|line| Some((line, line.split_once('{')?.1.split_once('}')?.0))) else {
        return ptx.to_owned();
    };
    let mut text = ptx.replacen(line, "", 1);
    for name in names.split(',').map(str::trim) {
        let mut places = occurrences(&text, name);
        let (Some(declared), None) = (places.next(), places.next()) else { continue };
        drop(places);
        // From the statement before to the end of this one.
        let start = text.get(..declared).and_then(|before| before.rfind(".extern .func"));
        let end = text.get(declared..).and_then(|after| after.find(';')).map(|length| declared + length + 1);
        if let (Some(start), Some(end)) = (start, end)
            && text.get(start..declared).is_some_and(|before| !before.contains(';'))
        {
            text.replace_range(start..end, "");
        }
    }
    text
}

/// clang's addition to the names of static variables that the host uses, in front of a number of the file.
const STATIC: &str = "__static__";

/// PTX in which static variables that the host uses have one name. clang declares a variable without the addition, and uses that name,
/// where a kernel stands before the host's use.
pub(crate) fn with_one_name_of_statics(ptx: &str) -> String {
    let mut text = ptx.to_owned();
    for line in ptx.lines().filter(|line| line.starts_with(".visible ") && line.contains(STATIC)) {
        let word = line.split(|c| !is_part(c)).find(|word| word.contains(STATIC)).unwrap_or_default();
        let Some((name, _)) = word.rsplit_once(STATIC) else { continue };
        let declares = |line: &&str| line.starts_with(".extern ") && occurrences(line, name).next().is_some();
        let Some(declaration) = ptx.lines().find(declares) else { continue };
        text = text.replacen(declaration, "", 1);
        let places: Vec<_> = occurrences(&text, name).collect();
        for place in places.into_iter().rev() {
            text.replace_range(place..place + name.len(), word);
        }
    }
    text
}

/// Whether a character can be part of a name.
fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// The positions of a name in a text, apart from longer names that contain it.
fn occurrences<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + use<'a> {
    text.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !name.is_empty() && !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::{with_one_name_of_statics, without_list_for_host};

    #[test]
    fn statics_of_the_host() {
        let text = ".extern .const .b8 _ZL1x[16];\n.extern .global .u32 _ZL1xy;\n.visible .const .b8 _ZL1x__static__12ab[16];\nld.const.u32 %r1, [_ZL1x+4];\n";
        let right = "\n.extern .global .u32 _ZL1xy;\n.visible .const .b8 _ZL1x__static__12ab[16];\nld.const.u32 %r1, [_ZL1x__static__12ab+4];\n";
        assert_eq!(with_one_name_of_statics(text), right);
        assert_eq!(with_one_name_of_statics(right), right);
    }

    #[test]
    fn kernels_of_other_files() {
        let rest = ".extern .func called\n(\n\t.param .b32 called_param_0\n)\n;\n.extern .global .u32 x;\n";
        let kernel = ".extern .func kernel\n(\n\t.param .b64 kernel_param_0\n)\n;";
        let list = ".global .align 8 .u64 __clang_gpu_used_external[3] = {kernel, generic(x), called};";
        let code = ".visible .entry k() { call.uni called, (p); ret; }\n";
        let text = format!("{kernel}\n{rest}{list}\n{code}");
        assert_eq!(without_list_for_host(&text), format!("\n{rest}\n{code}"));
        assert_eq!(without_list_for_host(code), code);
    }
}
