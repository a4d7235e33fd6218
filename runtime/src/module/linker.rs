//! Links several modules into one program.

use std::fs;
use std::path::Path;

use ptx2spv_fatbin::{self as fatbin, Binary, Choice};
use ptx2spv_translator::{Program, Source};

use crate::error::{Error, Result};

/// Links modules into one program by the rules of NVIDIA's linker, like `cuLinkCreate` and related functions.
///
/// A `.visible` definition takes precedence over `.weak` ones, of which the first is used; of `.common` definitions the
/// largest is used. Each `.extern` declaration must be defined by some module or by CUDA's driver. Each module keeps
/// the meaning of its PTX version and target.
///
/// ```
/// use ptx2spv_runtime::{Linker, Source};
///
/// let header = ".version 7.0\n.target sm_70\n.address_size 64\n";
/// let mut linker = Linker::default();
/// linker.add(&Source::new("a.ptx", format!("{header}.extern .global .u32 x;\n.visible .entry k() {{ ret; }}")))?;
/// linker.add(&Source::new("b.ptx", format!("{header}.visible .global .u32 x = 1;")))?;
/// let program = linker.link("program")?;
/// assert_eq!(program.modules().len(), 2);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Linker {
    choice: Choice,
    parts: Vec<Source>,
}

impl Linker {
    /// A linker with a choice for files that have PTX for several architectures.
    pub fn new(choice: Choice) -> Self {
        Self { choice, parts: Vec::new() }
    }

    /// Adds a module, or the modules of a linked program.
    ///
    /// # Errors
    /// [`Error::Translation`] if a module is invalid by itself.
    pub fn add(&mut self, source: &Source) -> Result {
        for module in source.modules() {
            // Checked alone, so that symbols of other modules count as declared only.
            Program::new(&Source::new(module.name.clone(), source.slice(module.span)))?;
        }
        self.parts.push(source.clone());
        Ok(())
    }

    /// Adds all modules in a file: PTX, an executable, a library, an object or a fat binary. Errors call the file
    /// `name`.
    ///
    /// # Errors
    /// [`Error::Binary`] if there is no PTX, and the errors of [`Linker::add`].
    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result {
        if Binary::is_binary(bytes) {
            return read_programs(name, bytes, self.choice)?.iter().try_for_each(|program| self.add(program));
        }
        self.add(&Source::new(name, ptx2spv_fatbin::text(bytes)))
    }

    /// Adds all modules in a file: see [`Linker::add_bytes`].
    ///
    /// # Errors
    /// [`Error::File`], and the errors of [`Linker::add_bytes`].
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> Result {
        let name = path.as_ref().display().to_string();
        let bytes = fs::read(&path).map_err(|error| Error::File { path: name.clone(), error })?;
        self.add_bytes(&name, &bytes)
    }

    /// Links the added modules, in that order, into a program with the given name.
    ///
    /// # Errors
    /// [`Error::Translation`] for undefined symbols, duplicate definitions, and contradicting declarations.
    pub fn link(&self, name: &str) -> Result<Source> {
        let linked = Source::linked(name, self.parts.iter().cloned());
        Program::new(&linked)?;
        Ok(linked)
    }

    /// Whether no module was added.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// The programs in an executable, library, object or fat binary. Errors call the file `name`. Each program can be
/// loaded by itself. Separately compiled modules (`nvcc -rdc=true`) form one program. CUDA's own library for launches
/// from kernels is left out.
///
/// # Errors
/// [`Error::Binary`].
pub fn read_programs(name: &str, bytes: &[u8], choice: Choice) -> Result<Vec<Source>> {
    let stem = Path::new(name).file_name().map_or_else(|| name.into(), |file| file.to_string_lossy());
    let wrong = |error| Error::Binary { name: name.to_owned(), error };
    let programs = Binary::read(bytes).and_then(|binary| binary.programs(&stem, choice)).map_err(wrong)?;
    Ok(programs.into_iter().map(|program| source(name, program)).collect())
}

/// The source of a program in a binary, for loading.
fn source(name: &str, program: fatbin::Program) -> Source {
    let mut modules: Vec<Source> =
        program.modules.into_iter().map(|module| Source::new(module.name, module.ptx)).collect();
    match modules.pop() {
        Some(only) if modules.is_empty() && !program.relocatable => only,
        last => Source::linked(name, modules.into_iter().chain(last)),
    }
}
