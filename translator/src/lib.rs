//! Translates NVIDIA PTX to Vulkan SPIR-V compute shaders.
//!
//! This crate uses neither Vulkan nor I/O: a [`Source`] is read as a [`Program`], which is translated for a [`Target`]
//! with [`Options`]. A [`Translation`] holds the SPIR-V words and the [`Interface`] with which a host launches them.
//! Errors are [`Diagnostics`].

#![forbid(unsafe_code)]
// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

mod ast;
mod cfg;
mod decode;
mod diagnostic;
mod emit;
mod index;
#[doc(hidden)]
pub mod internals;
mod ir;
mod isa;
mod legalize;
mod link;
mod lower;
pub mod names;
mod opt;
mod options;
mod parallel;
mod parse;
mod pipeline;
mod policy;
mod soft;
mod source;
mod spelling;
mod stopwatch;
mod structurize;
mod sync;
mod warp;

use std::num::NonZeroUsize;
use std::sync::Arc;

use decode::program::{FuncId, Function};
use lower::calls::services::Service;
use policy::Policy;

pub use diagnostic::{Diagnostic, Diagnostics, ErrorKind};
pub use interface::{Assumptions, Contents, Interface};
pub use options::Options;
pub use ptx2spv_interface as interface;
pub use ptx2spv_target as target;
pub use source::{Source, SourceModule, SourcePosition, Span};
pub use target::{Feature, Generation, Math, MathError, Target, Topic};

/// A hash of the translator's code: versions with equal hashes translate alike.
pub const CODE_VERSION: &str = env!("PTX2SPV_CODE");

/// A PTX module, or several that are linked, parsed and decoded: every name resolved and every instruction checked
/// against the table. Clones share the parsed program.
#[derive(Clone, Debug)]
pub struct Program {
    source: Source,
    headers: Arc<[Header]>,
    decoded: Arc<decode::program::Program>,
}

/// The directives at the start of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The module's name.
    pub module: String,
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// `.target`: the architecture and its options.
    pub target: Vec<String>,
    /// Width of addresses in bits.
    pub address_bits: u32,
}

/// A translated module.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Translation {
    /// The SPIR-V module.
    pub spirv: Vec<u32>,
    /// The interface that a host needs to launch the kernels.
    pub interface: Interface,
    /// Why kernels were left out, where [`Options::keep_going`] allowed it and there were any.
    pub skipped: Option<Diagnostics>,
}

impl Program {
    /// Parses and decodes a module, or several, which are linked then: see [`Source::linked`].
    ///
    /// # Errors
    /// Everything that makes the text invalid PTX, for all its functions together, or that keeps modules from being
    /// linked. Code that is valid but not translated is an error of [`Program::translate`].
    pub fn new(source: &Source) -> Result<Self, Diagnostics> {
        Self::with_threads(source, None)
    }

    /// Parses and decodes as [`Self::new`] does, with so many threads that work side by side; `None` for as many as the
    /// machine runs at once.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn with_threads(source: &Source, threads: Option<NonZeroUsize>) -> Result<Self, Diagnostics> {
        let refuse = |errors| Diagnostics::new(source.clone(), errors);
        let (mut modules, mut errors) = (Vec::new(), Vec::new());
        for ast in parse::parse_headers(source)? {
            match decode::decode(source, ast, threads) {
                Ok(module) => modules.push(module),
                Err(found) => errors.extend(found),
            }
        }
        if !errors.is_empty() {
            // Where the syntax is wrong, there are no other errors: what they say could follow from that.
            parse::parse_modules(source)?;
            return Err(refuse(errors));
        }
        let headers = source.modules().iter().zip(&modules).map(|(module, program)| Header {
            module: module.name.to_string(),
            version: program.version,
            target: program.target.clone(),
            address_bits: program.address_bits,
        });
        let headers = headers.collect();
        let decoded = match modules.pop() {
            Some(only) if modules.is_empty() && !source.is_linked() => only,
            last => {
                let is_own = |function: &_| matches!(Service::find(function), Some(Service::Runtime(_)));
                link::link(source, modules.into_iter().chain(last).collect(), is_own).map_err(refuse)?
            }
        };
        Ok(Self { source: source.clone(), headers, decoded: decoded.into() })
    }

    /// The text that it was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Names of the kernels that have a body, in source order.
    pub fn entries(&self) -> Vec<&str> {
        self.decoded.kernels().map(|(_, function)| function.name.as_str()).collect()
    }

    /// The headers of the program's modules; there is one module, unless several are linked.
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// The place in the source, according to `.loc`, of the code on a line of the named module, with lines counted from
    /// 1: file and line of the text that the PTX was compiled from, such as `kernel.cu:12`, or `vector.h:3, inlined at
    /// kernel.cu:12`.
    pub fn origin(&self, module: &str, line: u32) -> Option<String> {
        lower::layout::reports::line_origin(&self.decoded, &self.source, module, line)
    }

    /// The declarations of the kernels, in source order; finding them takes little time. Kernels are left out whose
    /// text shows that they can't be translated; of the others, a translation may still find that.
    pub fn declarations(&self, options: &Options<'_>) -> Vec<interface::Declaration> {
        let policy = Policy::new(options.target, options.math);
        let kernels: Vec<_> = self.decoded.kernels().collect();
        let declare = |(id, ptx): &(FuncId, &Function)| pipeline::declare(&self.decoded, *id, ptx, &policy);
        parallel::map(&kernels, options.threads, declare).into_iter().flatten().collect()
    }

    /// Translates kernels to one SPIR-V module.
    ///
    /// # Errors
    /// Names in [`Options::entries`] that the module doesn't have, and reasons why kernels can't be translated; with
    /// [`Options::keep_going`] only if no kernel is left. A module without kernels, unless [`Options::entries`] asks
    /// for none: its interface describes the variables then, and its SPIR-V is of no use.
    pub fn translate(&self, options: &Options<'_>) -> Result<Translation, Diagnostics> {
        self.translate_watched(options, None)
    }

    /// The same, watched by an observer.
    pub(crate) fn translate_watched(
        &self,
        options: &Options<'_>,
        observer: Option<&mut dyn pipeline::Observer>,
    ) -> Result<Translation, Diagnostics> {
        pipeline::translate(&self.source, &self.decoded, options, observer)
    }
}

impl From<Translation> for interface::Variant {
    fn from(made: Translation) -> Self {
        Self { interface: made.interface, spirv: made.spirv }
    }
}

impl Translation {
    /// The SPIR-V module in the assembly form of SPIRV-Tools.
    pub fn disassemble(&self) -> String {
        emit::disassemble(&self.spirv).unwrap_or_else(|error| format!("; {error}"))
    }
}
