//! Loaded modules, as used by their kernels, variables and references.

use std::sync::Arc;

use ptx2spv_runtime::{Device, Error, LoadOptions, MemoryRange, Module};
use ptx2spv_translator::Source;
use ptx2spv_translator::interface::ServiceSizes;

use crate::abi::trace::{self, Dumped};
use crate::abi::{Code, Handle, NOT_FOUND, NOT_SUPPORTED, Names, Result, objects};
use crate::context::{self, Context, state};
use crate::memory::{self, variables};
use crate::module::jit;

/// Makes kernels check their memory accesses, unless it is 0.
const CHECK_VARIABLE: &str = "PTX2SPV_CUDA_CHECK";

/// CUDA's variable that says when kernels are loaded.
const LOADING_VARIABLE: &str = "CUDA_MODULE_LOADING";

/// The attribute of managed variables in PTX.
const MANAGED: &str = ".managed";

/// Whether kernels are translated with their module, in parallel, and not at their first launch.
pub(crate) fn is_eager() -> bool {
    std::env::var_os(LOADING_VARIABLE).is_some_and(|value| value == "EAGER")
}

/// A loaded module, of a context or of a library.
pub(crate) struct Loaded {
    /// The context that the module is destroyed with. Modules of libraries have none.
    context: Option<Arc<Context>>,
    pub device: Device,
    /// Forgotten before the memory is freed.
    _variables: variables::Known,
    pub module: Module,
    /// Whether the host can access the variables.
    pub has_managed: bool,
    dumped: Option<Dumped>,
    /// Kernels and references that the program has handles of.
    pub names: Names,
}

pub(crate) type ModuleHandle = Handle<Loaded>;

objects!(MODULES: Loaded = 5);

impl Loaded {
    /// Loads PTX. If it has managed variables, by its text or the caller's word, the host can access the module's variables.
    pub fn new(
        context: Option<Arc<Context>>,
        device: &Device,
        source: &Source,
        options: &jit::Options,
        has_managed: bool,
    ) -> Result<Self> {
        options.begin()?;
        device.keep_apart(memory::is_used_elsewhere);
        // A library's module uses the limits of the current context.
        let limits = context.clone().or_else(|| context::current().ok());
        let sizes = limits.map_or_else(ServiceSizes::default, |context| context.service_sizes());
        let check_accesses = std::env::var_os(CHECK_VARIABLE).is_some_and(|value| value != "0");
        let has_managed = has_managed || source.text().contains(MANAGED);
        let load = LoadOptions::default().sizes(sizes).managed_variables(has_managed).check_accesses(check_accesses);
        let dumped = trace::dump("ptx", source.text().as_bytes());
        match device.load_with(source, load) {
            Ok(module) => {
                let current = context.clone().or_else(|| context::current().ok());
                if module.has_short_pointers() && current.is_some_and(|current| memory::has_out_of_reach(&current)) {
                    trace::say("module not loaded: it has 32-bit addresses, and memory beyond their reach is in use");
                    return Err(NOT_SUPPORTED);
                }
                if is_eager() {
                    // Kernels that can't be translated are refused on request.
                    module.kernels();
                }
                let ordinal = state::ordinal(device)?;
                let variables = variables::Known::new(context.clone(), device, ordinal, &module);
                let (device, names) = (device.clone(), Names::default());
                Ok(Self { context, device, _variables: variables, module, has_managed, dumped, names })
            }
            Err(error) => {
                options.fail(&error.to_string())?;
                Err(refuse("module not loaded", error, dumped.as_ref()))
            }
        }
    }

    /// Reports why a kernel can't be translated.
    pub fn refuse(&self, error: Error) -> Code {
        refuse("kernel not translated", error, self.dumped.as_ref())
    }

    pub fn is_of(&self, context: &Context) -> bool {
        self.context.as_ref().is_some_and(|own| own.is(context))
    }

    pub fn variable(&self, name: &str) -> Result<MemoryRange> {
        self.module.variable(name).ok_or(NOT_FOUND)
    }
}

/// Writes one line to the standard error about refused PTX, because clients rarely show the error they get.
fn refuse(what: &str, error: Error, dumped: Option<&Dumped>) -> Code {
    if let Error::Translation(diagnostics) = &error {
        let first = diagnostics.list.first().map(|first| {
            let source = &diagnostics.source;
            let place = source.place(first.place().start);
            let line = u32::try_from(place.line).ok().and_then(|line| source.line(&place.file, line));
            let text = line.map_or("", |line| source.slice(line).trim());
            format!("{place}: {}: {text}", first.kind)
        });
        trace::say(&format!("{what}: {}", first.unwrap_or_default()));
    }
    if let Some(dumped) = dumped {
        dumped.add(&error.to_string());
    }
    error.into()
}

/// Unloads the modules of a context.
pub(crate) fn end_context(context: &Context) {
    MODULES.remove_all(|module| module.is_of(context));
}
