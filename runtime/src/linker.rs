//! Puts programs together of several modules.

use std::fs;
use std::path::Path;

use ptx2spv_fatbin::{Binary, Choice};
use ptx2spv_translator::{Program, Source};

use crate::binary::read_programs;
use crate::error::Error;

/// Links modules to one program, by the rules of NVIDIA's linker, as `cuLinkCreate` and its kin do.
///
/// Of `.weak` definitions the first counts, unless there is a `.visible` one, and of `.common` ones the largest. What is declared
/// `.extern` must be defined by some module, unless CUDA's driver has it. Each module keeps what its version of PTX and its target
/// mean.
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
    /// One that chooses so of PTX for several architectures.
    pub fn new(choice: Choice) -> Self {
        Self { choice, parts: Vec::new() }
    }

    /// Adds a module, or those of a program that was linked before.
    ///
    /// # Errors
    /// [`Error::Translation`] if a module is wrong in itself.
    pub fn add(&mut self, source: &Source) -> Result<(), Error> {
        for module in source.modules() {
            // Alone, so that what the others have is not missed.
            Program::new(&Source::new(module.name.clone(), source.slice(module.span)))?;
        }
        self.parts.push(source.clone());
        Ok(())
    }

    /// Adds all modules in the bytes of a file that errors call `name`: PTX, or an executable, a library, an object or a fat binary.
    ///
    /// # Errors
    /// [`Error::Binary`] if there is no PTX, and those of [`Linker::add`].
    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        if Binary::is_binary(bytes) {
            return read_programs(name, bytes, self.choice)?.iter().try_for_each(|program| self.add(program));
        }
        // The driver's callers end text with a zero.
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        let no_text = |_| Error::Binary { name: name.to_owned(), error: ptx2spv_fatbin::Error::NotText };
        let text = bytes.get(..end).map_or(Ok(""), std::str::from_utf8).map_err(no_text)?;
        self.add(&Source::new(name, text))
    }

    /// Adds all modules in a file: see [`Linker::add_bytes`].
    ///
    /// # Errors
    /// [`Error::File`], and those of [`Linker::add_bytes`].
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        let name = path.as_ref().display().to_string();
        let bytes = fs::read(&path).map_err(|error| Error::File { path: name.clone(), reason: error.to_string() })?;
        self.add_bytes(&name, &bytes)
    }

    /// Links what was added, in that order, to a program of that name.
    ///
    /// # Errors
    /// [`Error::Translation`]: what no module defines, what several do, and declarations that contradict each other.
    pub fn link(&self, name: &str) -> Result<Source, Error> {
        let linked = Source::linked(name, self.parts.iter().cloned());
        Program::new(&linked)?;
        Ok(linked)
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}
