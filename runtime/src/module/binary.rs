//! Reads PTX from executables, libraries and fat binaries.

use std::path::Path;

use ptx2spv_fatbin::{Binary, Choice, Program};
use ptx2spv_translator::Source;

use crate::error::Error;

/// The programs in an executable, library, object or fat binary. Errors call the file `name`. Each program can be
/// loaded by itself. Separately compiled modules (`nvcc -rdc=true`) form one program. CUDA's own library for launches
/// from kernels is left out.
///
/// # Errors
/// [`Error::Binary`].
pub fn read_programs(name: &str, bytes: &[u8], choice: Choice) -> Result<Vec<Source>, Error> {
    let stem = Path::new(name).file_name().map_or_else(|| name.into(), |file| file.to_string_lossy());
    let wrong = |error| Error::Binary { name: name.to_owned(), error };
    let programs = Binary::read(bytes).and_then(|binary| binary.programs(&stem, choice)).map_err(wrong)?;
    Ok(programs.into_iter().map(|program| source(name, program)).collect())
}

/// A program as it is loaded.
fn source(name: &str, program: Program) -> Source {
    let mut modules: Vec<Source> =
        program.modules.into_iter().map(|module| Source::new(module.name, module.ptx)).collect();
    match modules.pop() {
        Some(only) if modules.is_empty() && !program.relocatable => only,
        last => Source::linked(name, modules.into_iter().chain(last)),
    }
}
