//! Lists the files of `include/` and `libdevice/`, which the library carries in it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let mut code = String::new();
    for folder in ["include", "libdevice"] {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        list(&root.join(folder), &mut files)?;
        files.sort();
        writeln!(code, "static {}: &[(&str, &str)] = &[", folder.to_uppercase())?;
        for file in files {
            let name = file.strip_prefix(root.join(folder))?;
            writeln!(code, "    ({name:?}, include_str!({file:?})),")?;
        }
        code.push_str("];\n");
    }
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("files.rs"), code)?;
    Ok(())
}
