//! JSON that documents show is what the program writes: `<!-- json of: ptx2spv … -->` before a block of ```` ```json ```` is the command.
//!
//! A block may leave things out: `{…}` is any object, `, …` any further members or elements, and a text that ends in `…` begins so.
//! One that isn't a whole document, `"key": …`, stands for that member, wherever it is.

use serde_json::{Map, Value};

use crate::{documents, folder, output};

const MARK: &str = "<!-- json of: ";
/// A member or an element in place of members or elements that are left out.
const MORE: &str = "…";

#[test]
fn json_is_what_the_program_writes() {
    let folder = folder();
    let mut count = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for part in text.split(MARK).skip(1) {
            let (command, rest) = part.split_once(" -->\n```json\n").expect("a command, and a block of JSON");
            let shown = rest.split("```").next().unwrap();
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            let made = output(&words, folder.path());
            let made = serde_json::from_str(&made).unwrap_or_else(|error| panic!("{command}: {error}\n{made}"));
            let difference = compare_shown(shown, &made);
            assert!(difference.is_none(), "{}: {command}: {}", document.display(), difference.unwrap());
            count += 1;
        }
    }
    assert!(count >= 3, "{count} blocks are too few to be all");
}

/// The differences between a block and a value.
fn compare_shown(shown: &str, made: &Value) -> Option<String> {
    let is_whole = shown.trim_start().starts_with(['{', '[']);
    let shown = if is_whole { shown.to_owned() } else { format!("{{{shown}}}") };
    let shown = shown.replace("{…}", &format!("{{\"{MORE}\": 0}}"));
    let shown = shown.replace(", …}", &format!(", \"{MORE}\": 0}}")).replace(", …]", &format!(", \"{MORE}\"]"));
    let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}\n{shown}"));
    if is_whole {
        return compare("", &shown, made);
    }
    let members = shown.as_object().unwrap();
    members.iter().find_map(|(key, shown)| {
        let mut found = Vec::new();
        find(made, key, &mut found);
        let differences: Vec<_> = found.iter().map(|made| compare(key, shown, made)).collect();
        let fits = differences.iter().any(Option::is_none);
        (!fits).then(|| match differences.is_empty() {
            true => format!("no `{key}`"),
            false => differences.into_iter().flatten().collect::<Vec<_>>().join("; "),
        })
    })
}

/// The members of a name in a value and in its parts.
fn find<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get(key));
            members.values().for_each(|value| find(value, key, found));
        }
        Value::Array(elements) => elements.iter().for_each(|value| find(value, key, found)),
        _ => {}
    }
}

fn compare(path: &str, shown: &Value, made: &Value) -> Option<String> {
    match (shown, made) {
        (Value::Object(shown), Value::Object(made)) => compare_members(path, shown, made),
        (Value::Array(shown), Value::Array(made)) => {
            let is_cut = shown.last().is_some_and(|last| last == MORE);
            let shown = &shown[..shown.len() - usize::from(is_cut)];
            if shown.len() > made.len() || (shown.len() < made.len() && !is_cut) {
                return Some(format!("{path} has {} elements", made.len()));
            }
            shown
                .iter()
                .zip(made)
                .enumerate()
                .find_map(|(at, (shown, made))| compare(&format!("{path}/{at}"), shown, made))
        }
        (Value::String(shown), Value::String(made)) if shown.ends_with(MORE) => {
            (!made.starts_with(shown.trim_end_matches(MORE))).then(|| format!("{path} is {made:.40}"))
        }
        _ => (shown != made).then(|| format!("{path} is {made}")),
    }
}

fn compare_members(path: &str, shown: &Map<String, Value>, made: &Map<String, Value>) -> Option<String> {
    let of = |key: &str| format!("{path}/{key}");
    let more = made.keys().find(|key| !shown.contains_key(*key) && !shown.contains_key(MORE));
    let more = more.map(|key| format!("{} is there too", of(key)));
    let known = shown.iter().filter(|(key, _)| *key != MORE);
    more.or_else(|| {
        known.into_iter().find_map(|(key, shown)| match made.get(key) {
            Some(made) => compare(&of(key), shown, made),
            None => Some(format!("{} is not there", of(key))),
        })
    })
}

#[test]
fn differences() {
    let made = serde_json::json!({"a": [1, 2], "b": {"c": "long text"}});
    for shown in [
        r#"{"a": [1, 2], "b": {"c": "long text"}}"#,
        r#"{"a": [1, …], "b": {…}}"#,
        r#"{"b": {"c": "long…"}, …}"#,
        r#""c": "long text""#,
    ] {
        assert_eq!(compare_shown(shown, &made), None, "{shown}");
    }
    for shown in [
        r#"{"a": [1, 2]}"#,
        r#"{"a": [1, 3], …}"#,
        r#"{"a": [1], …}"#,
        r#"{"a": [1, 2, 3], …}"#,
        r#"{"b": {"c": "text…"}, …}"#,
        r#"{"d": 1, …}"#,
        r#""d": 1"#,
    ] {
        assert!(compare_shown(shown, &made).is_some(), "{shown}");
    }
}
