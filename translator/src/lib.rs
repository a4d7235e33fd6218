//! Translates NVIDIA PTX to Vulkan SPIR-V compute shaders.
//!
//! No Vulkan and no I/O in here: text and a [`Target`] go in, SPIR-V words and an [`Interface`] come out.
//! The modules follow the way of a kernel.

pub mod ast;
pub mod diagnostic;
pub mod interface;
pub mod ir;
pub mod legalise;
pub mod passes;
pub mod target;

pub use diagnostic::{Diagnostic, Diagnostics, ErrorKind, Source, Span};
pub use interface::Interface;
pub use target::{Feature, Target};

/// A PTX module, parsed and decoded: every name resolved and every instruction checked against the table.
pub struct Program<'s> {
    source: &'s Source,
}

/// What to translate, and for which device.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The device.
    pub target: &'a Target,
    /// Kernels to translate by name; `None` for all of them.
    pub entries: Option<&'a [String]>,
    /// Leave out kernels that can't be translated, and report them in [`Translation::skipped`], instead of refusing all.
    pub keep_going: bool,
}

/// A translated module.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The SPIR-V module.
    pub spirv: Vec<u32>,
    /// What a host must know to launch it.
    pub interface: Interface,
    /// Why kernels were left out, where [`Options::keep_going`] allowed it and there were any.
    pub skipped: Option<Diagnostics>,
}

impl<'s> Program<'s> {
    /// Parses and decodes a module. All errors of all its functions are reported together.
    pub fn new(source: &'s Source) -> Result<Self, Diagnostics> {
        Ok(Self { source })
    }

    /// Names of the kernels that have a body, in source order.
    pub fn entries(&self) -> Vec<&'s str> {
        Vec::new()
    }

    /// Translates kernels to one SPIR-V module.
    pub fn translate(&self, _options: &Options<'_>) -> Result<Translation, Diagnostics> {
        Err(Diagnostics::new(self.source.clone(), vec![Diagnostic::internal("not there yet", Span::default())]))
    }
}

impl Translation {
    /// The SPIR-V module in the assembly form of SPIRV-Tools.
    pub fn disassemble(&self) -> String {
        use rspirv::binary::Disassemble;
        rspirv::dr::load_words(&self.spirv).map_or_else(|error| format!("; {error:?}"), |module| module.disassemble())
    }
}
