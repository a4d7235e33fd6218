//! Links decoded modules to one program, by the rules of NVIDIA's linker.
//!
//! [`resolve`] finds the declarations that mean the same; [`merge`] makes one program of the remaining ones. Each
//! function keeps the consequences of its own module's version and target: decoding has seen to the version, and
//! [`Function::architecture`] has the target.
//!
//! [`Function::architecture`]: crate::decode::program::Function::architecture

mod merge;
mod resolve;

use rustc_hash::FxHashSet;

use crate::ast::FunctionKind;
use crate::decode::program::{Function, InitPiece, Program, VarId};
use crate::diagnostic::{Diagnostic, Source};

/// Links modules, in the order in which a linker gets them. Functions that the translator has itself count as declared,
/// although a module (of CUDA's library for launches from kernels) may define them: the library's code is for NVIDIA's
/// driver.
///
/// # Errors
/// Names that no module defines, names that several define, and declarations that contradict each other, all together.
pub fn link(
    source: &Source,
    mut modules: Vec<Program>,
    is_own: impl Fn(&Function) -> bool,
) -> Result<Program, Vec<Diagnostic>> {
    for function in modules.iter_mut().flat_map(|module| &mut module.functions) {
        if function.linkage.is_some() && function.kind == FunctionKind::Func && is_own(function) {
            function.body = None;
        }
    }
    let resolved = resolve::resolve(&modules)?;
    let program = merge::merge(source, modules, &resolved);
    let errors = unknown_addresses(&program);
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}

/// Refuses variables visible to other modules whose initial content holds addresses that are unknown when the program
/// is loaded, or the addresses of such variables. Decoding refuses only their uses in their own module.
fn unknown_addresses(program: &Program) -> Vec<Diagnostic> {
    let all = || (0..).map(VarId).zip(&program.variables);
    let mut unknown: FxHashSet<VarId> =
        all().filter(|(_, variable)| !variable.has_known_address()).map(|(id, _)| id).collect();
    let mut errors = Vec::new();
    // This ends: each round but the last one finds another variable.
    loop {
        let before = unknown.len();
        for (id, variable) in all() {
            let target = variable.init.iter().filter_map(InitPiece::target).find(|target| unknown.contains(target));
            let Some(target) = target.filter(|_| unknown.insert(id)) else { continue };
            if variable.linkage.is_some() {
                let name = program.variables.at(target).map_or("", |target| &target.name);
                let message = format!("the address of `{name}` as an initial value");
                errors.push(Diagnostic::unsupported(message, variable.span));
            }
        }
        if unknown.len() == before {
            return errors;
        }
    }
}
