//! The driver: from a decoded program to a SPIR-V module with its interface.

use std::time::Duration;

use rustc_hash::FxHashSet;

use super::{Kernel, Module, Observer, check_supported, compile, describe, emit};
use crate::Translation;
use crate::decode::program::{FuncId, Function, Program};
use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::emit::Emitter;
use crate::legalize::Lengths;
use crate::lower::launches;
use crate::lower::layout::module_variables;
use crate::lower::layout::{runtime_calls, services};
use crate::options::Options;
use crate::parallel;
use crate::policy::{Policy, Samplers};
use crate::stopwatch::Stopwatch;
use ptx2spv_interface::Entry;

/// Kernels that are compiled before they are emitted, so that several threads have work. A kernel takes much memory until then, so a
/// single thread emits each at once.
const AT_ONCE: usize = 64;

/// A kernel with its number among the kernels of its module.
type Numbered<'p> = (u32, FuncId, &'p Function);

/// Translates the kernels that the options name. An observer sees each kernel after each pass.
pub fn translate<'p>(
    source: &'p Source,
    program: &'p Program,
    options: &Options<'p>,
    mut observer: Option<&mut dyn Observer>,
) -> Result<Translation, Diagnostics> {
    let refused = |errors| Diagnostics::new(source.clone(), errors);
    let mut policy = Policy::new(options.target, options.math);
    if options.check_accesses {
        // A kernel can make up a texture whose image doesn't exist; its memory is checked.
        policy.samplers = Samplers::Unused;
    }
    let (mut variables, places) = module_variables(program);
    let provided = variables.size;
    let services = services::services(program, &mut variables, &policy, options.sizes, options.check_accesses);
    if let Some(region) = services.launches {
        launches::add_table(program, region, &places, services, &policy, &mut variables);
    }
    let kernels = requested(program, options).map_err(refused)?;
    let lengths = Lengths::default();
    let module = Module {
        program,
        source,
        variables: &places,
        variables_size: variables.size,
        provided,
        services,
        policy: &policy,
        lengths: &lengths,
    };
    if !options.keep_going {
        let errors = check_supported(&module, &kernels, options);
        if !errors.is_empty() {
            return Err(refused(errors));
        }
    }
    let Unfinished { emitter, entries, skipped, time } =
        compile_and_emit(&module, kernels, options, &mut observer).map_err(refused)?;
    let start = Stopwatch::start();
    let emitted = emitter.finish().map_err(|error| refused(skipped.iter().cloned().chain([error]).collect()))?;
    if let Some(observer) = observer {
        observer.emitted(time + start.elapsed());
    }
    let interface = describe(entries, &emitted, program, variables, services, options);
    let skipped = (!skipped.is_empty()).then(|| refused(skipped));
    Ok(Translation { spirv: emitted.spirv, interface, skipped })
}

/// The kernels to translate. Fails for names that no kernel has, and for a module without kernels.
fn requested<'p>(program: &'p Program, options: &Options<'_>) -> Result<Vec<Numbered<'p>>, Vec<Diagnostic>> {
    let has = |name: &String| program.kernels().any(|(_, kernel)| kernel.name == *name);
    let missing = options.entries.into_iter().flatten().filter(|name| !has(name));
    let mut errors: Vec<_> =
        missing.map(|name| Diagnostic::invalid(format!("the module has no kernel `{name}`"), None)).collect();
    if options.entries.is_none() && program.kernels().next().is_none() {
        errors.push(Diagnostic::invalid("the file has no kernel (`.entry` with a body)", None).with_help(
            "functions are translated with the kernels that call them: link the file with one that has kernels, or check it \
             by `ptx2spv check`",
        ));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let is_named = |name: &String| options.entries.is_none_or(|entries| entries.contains(name));
    let mut wanted: FxHashSet<_> =
        program.kernels().filter(|(_, kernel)| is_named(&kernel.name)).map(|(id, _)| id).collect();
    if options.launched && wanted.iter().any(|id| runtime_calls::may_launch(program, *id)) {
        wanted.extend(&program.address_taken);
    }
    let numbered = (0..).zip(program.kernels()).filter(|(_, (id, _))| wanted.contains(id));
    Ok(numbered.map(|(number, (id, function))| (number, id, function)).collect())
}

/// The kernels in a module that isn't finished yet.
struct Unfinished<'t> {
    emitter: Emitter<'t>,
    entries: Vec<Entry>,
    /// Why kernels were left out.
    skipped: Vec<Diagnostic>,
    /// The time that emission took.
    time: Duration,
}

/// Compiles and emits kernels. Those that fail are left out if the options allow that and a kernel is left.
fn compile_and_emit<'p: 't, 't>(
    module: &'t Module<'p>,
    mut kernels: Vec<Numbered<'p>>,
    options: &Options<'p>,
    observer: &mut Option<&mut dyn Observer>,
) -> Result<Unfinished<'t>, Vec<Diagnostic>> {
    let named = options.line_info.then_some(module.source);
    let at_once = if parallel::threads(options.threads) == 1 { 1 } else { AT_ONCE };
    let mut skipped = Vec::new();
    let mut time = Duration::ZERO;
    loop {
        let mut emitter = Emitter::new(&module.policy.emission, named).map_err(|error| vec![error])?;
        let (mut entries, mut emitted, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for some in kernels.chunks(at_once) {
            for (kernel, compiled) in some.iter().zip(compile_all(module, some, options, observer)) {
                let compiled = match compiled {
                    Ok(compiled) => compiled,
                    Err(found) => {
                        skipped.extend(found);
                        continue;
                    }
                };
                if !skipped.is_empty() && !options.keep_going {
                    continue;
                }
                let start = Stopwatch::start();
                match emit(&mut emitter, &compiled) {
                    Ok(entry) => {
                        entries.push(entry);
                        emitted.push(*kernel);
                    }
                    Err(error) => failed.push(error),
                }
                time += start.elapsed();
            }
        }
        let compiles = skipped.is_empty() || options.keep_going && entries.len() + failed.len() > 0;
        if compiles && failed.is_empty() {
            return Ok(Unfinished { emitter, entries, skipped, time });
        }
        if compiles {
            skipped.append(&mut failed);
        }
        if !options.keep_going || entries.is_empty() {
            return Err(skipped);
        }
        // Once more without those that failed.
        kernels = emitted;
    }
}

/// Compiles kernels side by side, unless somebody watches.
fn compile_all<'p>(
    module: &Module<'p>,
    kernels: &[Numbered<'p>],
    options: &Options<'p>,
    observer: &mut Option<&mut dyn Observer>,
) -> Vec<Result<Kernel<'p>, Vec<Diagnostic>>> {
    match observer {
        Some(_) => {
            let compile = |&(number, id, function)| compile(module, number, id, function, options, observer);
            kernels.iter().map(compile).collect()
        }
        None => parallel::map(kernels, options.threads, |&(number, id, function)| {
            compile(module, number, id, function, options, &mut None)
        }),
    }
}
