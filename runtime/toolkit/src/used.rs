//! What clang writes into PTX for the linker of AMD's devices.

/// The list of what only the host uses of other files.
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

/// Where a name stands, and not a longer one.
fn occurrences<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + use<'a> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    text.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !name.is_empty() && !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::without_list_for_host;

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
