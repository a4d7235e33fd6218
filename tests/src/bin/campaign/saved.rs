//! Saves a kernel as a launch case, which `ptx2spv test` and `record` run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ptx2spv::cases::prepare::Argument;
use ptx2spv::cases::{Outputs, Prepared};
use serde_json::{Value, json};

/// Saves a case under a name: the kernel, which begins with a comment, its buffers, and the results that it should give, if there are any.
/// Returns the path of the kernel.
pub fn save(
    directory: &Path,
    name: &str,
    comment: &str,
    case: &Prepared,
    expected: Option<&Outputs>,
) -> Result<PathBuf> {
    fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    let write = |file: String, bytes: &[u8]| {
        let path = directory.join(&file);
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        Ok::<_, anyhow::Error>((file, path))
    };
    let (ptx, path) =
        write(format!("{name}.ptx"), format!("// {}\n{}", comment.replace('\n', " "), case.ptx.text()).as_bytes())?;
    let mut args = Vec::new();
    let mut expect = Vec::new();
    for (number, argument) in case.args.iter().enumerate() {
        args.push(match argument {
            Argument::Buffer(array) => {
                let (file, _) = write(format!("{name}_{number}.bin"), &array.bytes)?;
                json!({ "type": array.ty, "file": file })
            }
            Argument::Value(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "type": "bytes", "value": digits })
            }
            Argument::Null => json!({ "null": true }),
            other => anyhow::bail!("a random kernel with the argument {other:?}"),
        });
        let result = expected.and_then(|outputs| outputs.buffers.get(number)?.as_ref());
        if let (Argument::Buffer(_), Some(bytes)) = (argument, result) {
            let (file, _) = write(format!("{name}_{number}_out.bin"), bytes)?;
            expect.push(json!({ "arg": number, "file": file }));
        }
    }
    let mut description: Value =
        json!({ "name": name, "ptx": ptx, "entry": case.entry, "grid": case.grid, "block": case.block, "args": args });
    if !expect.is_empty() {
        description["expect"] = Value::Array(expect);
    }
    write(format!("{name}.json"), serde_json::to_string_pretty(&description)?.as_bytes())?;
    Ok(path)
}
