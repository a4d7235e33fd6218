//! The folders of each crate, and of the Vulkan back end, are in an order, and import only from earlier folders.

use std::fs;
use std::path::Path;

/// Folders, each with the path of its module, and the folders and files in it in order.
const HOUSES: [(&str, &str, &str); 4] = [
    (
        "src",
        "crate::",
        "clock sync profile texel error cache info backend device stream memory texture module launch graph reference open lib",
    ),
    (
        "src/backend/vulkan",
        "crate::backend::vulkan::",
        "instance raw memory submit transfer device pipeline backend mod",
    ),
    ("cuda/src", "crate::", "abi context graph stream memory texture module launch nodes legacy api cudart nvml lib"),
    (
        "reference/src",
        "crate::",
        "finding config module requirements code arithmetic memory dispatch compile run device lib",
    ),
];

/// The text without comments, and without the unit tests at its end.
fn code(text: &str) -> String {
    let end =
        text.find("\n#[cfg(test)]\nmod tests {").or_else(|| text.find("\n#[cfg(all(test, ")).unwrap_or(text.len());
    text[..end].lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The names that follow a path in the text: the folders that the text imports from.
fn imports<'c>(code: &'c str, path: &str) -> impl Iterator<Item = &'c str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(path).filter_map(move |(at, path)| {
        let is_own = !code[..at].ends_with(is_name);
        let rest = &code[at + path.len()..];
        is_own.then(|| &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())])
    })
}

/// Calls a function on each source file below a folder, apart from files of tests alone.
fn each_file(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().unwrap() != "tests" {
                each_file(&path, visit);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path);
        }
    }
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    let mut found = 0;
    for (name, own_path, rooms) in HOUSES {
        let rooms: Vec<&str> = rooms.split(' ').collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        each_file(&root, &mut |path| {
            let within = path.strip_prefix(&root).unwrap();
            let first = Path::new(within.iter().next().unwrap()).file_stem().unwrap().to_str().unwrap();
            let place = rooms.iter().position(|room| *room == first);
            let Some(place) = place else {
                wrong.push(format!("{name}/{}: `{first}` has no place in the order", within.display()));
                return;
            };
            for import in imports(&code(&fs::read_to_string(path).unwrap()), own_path) {
                found += 1;
                if !rooms[..=place].contains(&import) {
                    wrong.push(format!("{name}/{} imports from `{import}`", within.display()));
                }
            }
        });
    }
    assert!(found > 500, "only {found} imports were found");
    assert!(wrong.is_empty(), "imports against the order:\n{}", wrong.join("\n"));
}
