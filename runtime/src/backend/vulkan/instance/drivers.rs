//! Finds out why installed drivers can't be used. The loader silently ignores a driver whose libraries can't be loaded.
//! The driver's manifest names the library, and the error of loading it says what is missing.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A driver's manifest, as described in the loader's documentation ("LoaderDriverInterface").
#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "ICD")]
    icd: Icd,
}

#[derive(Deserialize)]
struct Icd {
    library_path: PathBuf,
}

/// For each driver that has a manifest but can't be loaded, the reason.
fn unloadable() -> Vec<String> {
    manifests().iter().filter_map(|manifest| Some(format!("{}: {}", manifest.display(), problem(manifest)?))).collect()
}

/// The reason for the lack of devices: drivers that can't be loaded, or else `reason`.
pub(crate) fn explain(reason: &str) -> String {
    match &unloadable()[..] {
        [] => reason.to_owned(),
        [only] => format!("a driver can't be loaded: {only}"),
        several => format!("drivers can't be loaded: {}", several.join("; ")),
    }
}

/// The reason why a manifest's driver can't be loaded.
fn problem(manifest: &Path) -> Option<String> {
    let text = match fs::read(manifest) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    let library = match serde_json::from_slice::<Manifest>(&text) {
        Ok(Manifest { icd }) => icd.library_path,
        Err(error) => return Some(error.to_string()),
    };
    // A bare file name is searched for by the system.
    let is_bare = library.components().count() == 1;
    let library = if is_bare { library } else { manifest.parent().unwrap_or(Path::new("")).join(library) };
    // SAFETY: a driver's initializers are trusted. The loader trusts them too, and has just tried to load the same
    // library.
    unsafe { libloading::Library::new(library) }.err().map(|error| error.to_string())
}

/// The manifests that the loader reads, on systems where they are files in known folders.
fn manifests() -> Vec<PathBuf> {
    let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let list = |name: &str| -> Vec<PathBuf> {
        env::var_os(name)
            .map(|value| env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect())
            .unwrap_or_default()
    };
    let files = |path: PathBuf| if path.is_dir() { files_in(&path) } else { vec![path] };
    if let Some(name) = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().find(|name| is_set(name)) {
        return list(name).into_iter().flat_map(files).collect();
    }
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let home = |name: &str, below: &str| -> Option<PathBuf> {
        let set = env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(below)))
    };
    let or = |list: Vec<PathBuf>, default: &[&str]| {
        if list.is_empty() { default.iter().map(PathBuf::from).collect() } else { list }
    };
    let mut folders: Vec<PathBuf> = home("XDG_CONFIG_HOME", ".config").into_iter().collect();
    folders.extend(or(list("XDG_CONFIG_DIRS"), &["/etc/xdg"]));
    folders.extend(["/usr/local/etc", "/etc"].map(PathBuf::from));
    folders.extend(home("XDG_DATA_HOME", ".local/share"));
    folders.extend(or(list("XDG_DATA_DIRS"), &["/usr/local/share", "/usr/share"]));
    let added = list("VK_ADD_DRIVER_FILES").into_iter().flat_map(files);
    added.chain(folders.iter().flat_map(|folder| files_in(&folder.join("vulkan/icd.d")))).collect()
}

/// The manifests in a folder, by name; none if the folder doesn't exist.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension() == Some(OsStr::new("json"))).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_driver_from_being_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("icd.json");
        let says = |text: &str, part: &str| {
            fs::write(&manifest, text).unwrap();
            let problem = problem(&manifest).unwrap();
            assert!(problem.contains(part), "{problem}");
        };
        says(r#"{"ICD": {"library_path": "libno_such_driver.so.7"}}"#, "libno_such_driver.so.7");
        says(r#"{"ICD": {"library_path": "./no/such.so"}}"#, "no/such.so");
        says(r#"{"ICD": {}}"#, "library_path");
        says("no JSON", "line 1");
        assert!(problem(&folder.path().join("none.json")).is_some());
        assert_eq!(files_in(folder.path()), [manifest]);
    }
}
