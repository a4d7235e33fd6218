//! The stages of a translation, for this project's own tests and tools. They are no part of the API and may change at any time.

use crate::diagnostic::Diagnostics;
use crate::options::Options;
use crate::{Program, Translation};

/// [`Program::translate`], watched by an observer.
///
/// # Errors
/// As for [`Program::translate`].
pub fn translate_watched(
    program: &Program,
    options: &Options<'_>,
    observer: Option<&mut dyn pipeline::Observer>,
) -> Result<Translation, Diagnostics> {
    program.translate_watched(options, observer)
}

/// The syntax tree.
pub mod ast {
    pub use crate::ast::*;
}

/// Syntax tree to program.
pub mod decode {
    pub use crate::decode::*;
}

/// Functions to SPIR-V.
pub mod emit {
    pub use crate::emit::*;
}

/// The intermediate representation.
pub mod ir {
    pub use crate::ir::*;
}

/// The instruction table.
pub mod isa {
    pub use crate::isa::*;
}

/// Passes for what a device lacks.
pub mod legalize {
    pub use crate::legalize::*;
}

/// Passes that hold on every device.
pub mod opt {
    pub use crate::opt::*;
}

/// Text to syntax tree.
pub mod parse {
    pub use crate::parse::*;
}

/// The table of passes.
pub mod pipeline {
    pub use crate::pipeline::*;
}

/// Decisions about a device.
pub mod policy {
    pub use crate::policy::*;
}

/// Work for several threads.
pub mod parallel {
    pub use crate::parallel::*;
}

/// Arithmetic in integers.
pub mod soft {
    pub use crate::soft::*;
}

/// Control-flow graph to tree.
pub mod structurize {
    pub use crate::structurize::*;
}
