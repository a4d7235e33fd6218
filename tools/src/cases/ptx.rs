//! The PTX of launch cases.

use std::sync::{Arc, OnceLock};

use ptx2spv_translator::{Diagnostics, Program, Source};

/// PTX that cases run. Clones share the parsed program.
#[derive(Clone, Debug)]
pub struct Ptx {
    source: Source,
    program: Arc<OnceLock<Result<Program, Diagnostics>>>,
}

impl Ptx {
    /// PTX by the name that diagnostics show, and its text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source::new(name, text).into()
    }

    /// The text with its name.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// The program, which is parsed on first use.
    ///
    /// # Errors
    /// The text is not valid PTX.
    pub fn program(&self) -> Result<&Program, Diagnostics> {
        self.program.get_or_init(|| Program::new(&self.source)).as_ref().map_err(Diagnostics::clone)
    }
}

impl From<Source> for Ptx {
    fn from(source: Source) -> Self {
        Self { source, program: Arc::default() }
    }
}
