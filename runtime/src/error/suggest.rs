//! Suggests a known name for an unknown one.

/// The name that is most similar to `wanted`, ignoring case, if any is similar: at most one letter in three is wrong,
/// or `wanted` is the beginning of the name.
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

/// `name` as a question to append to a message; empty for `None`.
pub(crate) fn question(name: Option<&str>) -> String {
    name.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}
