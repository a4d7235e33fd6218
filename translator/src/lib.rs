//! Translates NVIDIA PTX to Vulkan SPIR-V compute shaders.
//!
//! This crate uses neither Vulkan nor I/O: a [`Source`] is read as a [`Program`], which is translated for a [`Target`]
//! with [`Options`]. A [`Translation`] holds the SPIR-V words and the [`Interface`] with which a host launches them.
//! Errors are [`Diagnostics`].

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
mod parse;
mod pipeline;
mod policy;
mod side_by_side;
mod soft;
mod source;
mod stopwatch;
mod structurize;
mod sync;
mod warp;

use std::num::NonZeroUsize;
use std::time::Duration;

use rustc_hash::FxHashSet;

use decode::program::{FuncId, Function};
use emit::Emitter;
use legalize::Lengths;
use lower::calls::services::Service;
use policy::Policy;
use stopwatch::Stopwatch;

pub use diagnostic::{Diagnostic, Diagnostics, ErrorKind};
pub use interface::{Assumptions, Contents, Interface};
pub use options::Options;
pub use ptx2spv_interface as interface;
pub use ptx2spv_target as target;
pub use source::{Source, SourceModule, SourcePosition, Span};
pub use target::{Feature, Math, MathError, Target, Topic};

/// A hash of the translator's code: what versions with equal ones translate is the same.
pub const CODE_VERSION: &str = env!("PTX2SPV_CODE");

/// A PTX module, or several that are linked, parsed and decoded: every name resolved and every instruction checked against the table.
#[derive(Debug)]
pub struct Program<'s> {
    source: &'s Source,
    headers: Vec<Header>,
    decoded: decode::program::Program,
}

/// What a module says of itself.
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
    /// What a host must know to launch it.
    pub interface: Interface,
    /// Why kernels were left out, where [`Options::keep_going`] allowed it and there were any.
    pub skipped: Option<Diagnostics>,
}

impl<'s> Program<'s> {
    /// Parses and decodes a module, or several, which are linked then: see [`Source::linked`].
    ///
    /// # Errors
    /// Everything that makes the text invalid PTX, for all its functions together, or that keeps modules from being linked. What is
    /// valid but not translated is an error of [`Program::translate`].
    pub fn new(source: &'s Source) -> Result<Self, Diagnostics> {
        Self::with_threads(source, None)
    }

    /// The same, with so many threads that work side by side; `None` for as many as the machine runs at once.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_threads(source: &'s Source, threads: Option<NonZeroUsize>) -> Result<Self, Diagnostics> {
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
        Ok(Self { source, headers, decoded })
    }

    /// Names of the kernels that have a body, in source order.
    pub fn entries(&self) -> Vec<&str> {
        self.decoded.kernels().map(|(_, function)| function.name.as_str()).collect()
    }

    /// What its modules say of themselves; there is one, unless several are linked.
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// What `.loc` says of the code on a line, counted from 1, of the module of a name: file and line of what that was compiled
    /// from, such as `kernel.cu:12`, or `vector.h:3, inlined at kernel.cu:12`.
    pub fn origin(&self, module: &str, line: u32) -> Option<String> {
        lower::reports::line_origin(&self.decoded, self.source, module, line)
    }

    /// What the text says of its kernels, in source order, which takes little time. Those are left out of which it shows that they can't be
    /// translated; of the others, a translation may still find that.
    pub fn declarations(&self, options: &Options<'_>) -> Vec<interface::Declaration> {
        let policy = Policy::new(options.target, options.math);
        let kernels: Vec<_> = self.decoded.kernels().collect();
        let declare = |(id, ptx): &(FuncId, &Function)| pipeline::declare(&self.decoded, *id, ptx, &policy);
        side_by_side::map(&kernels, options.threads, declare).into_iter().flatten().collect()
    }

    /// Translates kernels to one SPIR-V module.
    ///
    /// # Errors
    /// Names in [`Options::entries`] that the module doesn't have, and what keeps kernels from being translated; with
    /// [`Options::keep_going`] only if no kernel is left. A module without kernels, unless [`Options::entries`] asks for none: its
    /// interface describes the variables then, and its SPIR-V is of no use.
    pub fn translate(&self, options: &Options<'_>) -> Result<Translation, Diagnostics> {
        self.translate_watched(options, None)
    }

    /// The same, watched by an observer.
    pub(crate) fn translate_watched(
        &self,
        options: &Options<'_>,
        mut observer: Option<&mut dyn pipeline::Observer>,
    ) -> Result<Translation, Diagnostics> {
        let refused = |errors| Diagnostics::new(self.source.clone(), errors);
        let refuse = |errors| Err(refused(errors));
        let policy = Policy::new(options.target, options.math);
        let (mut variables, places) = lower::memory::layout::module_variables(&self.decoded);
        let provided = variables.size;
        let services =
            lower::resources::services(&self.decoded, &mut variables, &policy, options.sizes, options.check_accesses);
        if let Some(region) = services.launches {
            lower::launches::add_table(&self.decoded, region, &places, services, &policy, &mut variables);
        }
        let mut errors = self.missing_entries(options.entries);
        if options.entries.is_none() && self.decoded.kernels().next().is_none() {
            errors.push(Diagnostic::invalid("the file has no kernel (`.entry` with a body)", None).with_help(
                "functions are translated with the kernels that call them: link the file with one that has kernels, or check it \
                 by `ptx2spv check`",
            ));
        }
        if !errors.is_empty() {
            return refuse(errors);
        }
        let wanted: FxHashSet<_> = self.wanted(options).into_iter().collect();
        let lengths = Lengths::default();
        let module = pipeline::Module {
            program: &self.decoded,
            source: self.source,
            variables: &places,
            variables_size: variables.size,
            provided,
            services,
            policy: &policy,
            lengths: &lengths,
        };
        let numbered = (0..).zip(self.decoded.kernels()).filter(|(_, (id, _))| wanted.contains(id));
        let mut numbered: Vec<_> = numbered.map(|(number, (id, function))| (number, id, function)).collect();
        if !options.keep_going {
            let errors = pipeline::check_supported(&module, &numbered, options);
            if !errors.is_empty() {
                return refuse(errors);
            }
        }
        let named = options.line_info.then_some(self.source);
        let mut emission = Duration::ZERO;
        let (emitter, entries) = loop {
            let mut emitter = Emitter::new(&policy.emission, named).map_err(|error| refused(vec![error]))?;
            let (mut entries, mut emitted, mut failed) = (Vec::new(), Vec::new(), Vec::new());
            let at_once = if side_by_side::threads(options.threads) == 1 { 1 } else { AT_ONCE };
            for some in numbered.chunks(at_once) {
                for (kernel, compiled) in some.iter().zip(compile(&module, some, options, &mut observer)) {
                    let compiled = match compiled {
                        Ok(compiled) => compiled,
                        Err(found) => {
                            errors.extend(found);
                            continue;
                        }
                    };
                    if !errors.is_empty() && !options.keep_going {
                        continue;
                    }
                    let start = Stopwatch::start();
                    match pipeline::emit(&mut emitter, &compiled) {
                        Ok(entry) => {
                            entries.push(entry);
                            emitted.push(*kernel);
                        }
                        Err(error) => failed.push(error),
                    }
                    emission += start.elapsed();
                }
            }
            let compiles = errors.is_empty() || options.keep_going && entries.len() + failed.len() > 0;
            if compiles && failed.is_empty() {
                break (emitter, entries);
            }
            if compiles {
                errors.append(&mut failed);
            }
            if !options.keep_going || entries.is_empty() {
                return refuse(errors);
            }
            // Once more without those that failed.
            numbered = emitted;
        };
        let start = Stopwatch::start();
        let emitted = match emitter.finish() {
            Ok(emitted) => emitted,
            Err(error) => {
                errors.push(error);
                return refuse(errors);
            }
        };
        if let Some(observer) = observer {
            observer.emitted(emission + start.elapsed());
        }
        let interface = pipeline::describe(entries, &emitted, &self.decoded, variables, services, options);
        let skipped = (!errors.is_empty()).then(|| Diagnostics::new(self.source.clone(), errors));
        Ok(Translation { spirv: emitted.spirv, interface, skipped })
    }

    /// The kernels to translate.
    fn wanted(&self, options: &Options<'_>) -> Vec<FuncId> {
        let named = |name: &String| options.entries.is_none_or(|entries| entries.contains(name));
        let kernels = self.decoded.kernels().filter(|(_, kernel)| named(&kernel.name)).map(|(id, _)| id);
        let mut wanted: Vec<_> = kernels.collect();
        let launches = |id: &FuncId| lower::launches::may_launch(&self.decoded, *id);
        if options.launched && wanted.iter().any(launches) {
            wanted.extend(&self.decoded.address_taken);
        }
        wanted
    }

    fn missing_entries(&self, names: Option<&[String]>) -> Vec<Diagnostic> {
        let entries = self.entries();
        let missing = names.into_iter().flatten().filter(|name| !entries.contains(&name.as_str()));
        missing.map(|name| Diagnostic::invalid(format!("the module has no kernel `{name}`"), None)).collect()
    }
}

/// Kernels that are compiled before they are emitted, so that several threads have work. A kernel takes much memory until then, so a
/// single thread emits each at once.
const AT_ONCE: usize = 64;

/// Compiles kernels side by side, unless somebody watches.
fn compile<'p>(
    module: &pipeline::Module<'p>,
    kernels: &[(u32, FuncId, &'p Function)],
    options: &Options<'p>,
    observer: &mut Option<&mut dyn pipeline::Observer>,
) -> Vec<Result<pipeline::Kernel<'p>, Vec<Diagnostic>>> {
    match observer {
        Some(_) => {
            let compile = |&(number, id, function)| pipeline::compile(module, number, id, function, options, observer);
            kernels.iter().map(compile).collect()
        }
        None => side_by_side::map(kernels, options.threads, |&(number, id, function)| {
            pipeline::compile(module, number, id, function, options, &mut None)
        }),
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
