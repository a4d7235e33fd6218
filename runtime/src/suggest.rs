//! Suggests a known name for one that does not exist.

/// The name that is most like `wanted`, regardless of case, if one is like it: with a letter wrong in every three, or as the beginning
/// of a longer one.
///
/// ```
/// use ptx2spv_runtime::closest;
///
/// assert_eq!(closest("nvida", ["mali", "nvidia"]), Some("nvidia"));
/// assert_eq!(closest("atari", ["mali", "nvidia"]), None);
/// ```
pub fn closest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| {
        let name = name.to_lowercase();
        let is_start = wanted.chars().count() >= 3 && name.starts_with(&wanted);
        if is_start { 0 } else { strsim::damerau_levenshtein(&wanted, &name) }
    };
    let near = |(distance, _): &(usize, &str)| *distance <= wanted.chars().count().div_ceil(3);
    names
        .into_iter()
        .map(|name| (distance(name), name))
        .filter(near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `name` as a question after a message; nothing if there is none.
pub(crate) fn question(name: Option<&str>) -> String {
    name.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}
