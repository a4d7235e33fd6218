//! Compiles an entry point of a module into [`Code`].
//!
//! Vectors and other composites are split here: a value is a list of registers, and extracting, inserting and
//! constructing parts costs nothing at run time. A register of an earlier value may be part of a later one: in a valid
//! module, no path from a definition to its uses repeats the definition without also repeating the later value's.

mod arithmetic;
mod atomic;
mod body;
mod compiler;
mod composite;
mod constants;
mod emit;
mod flow;
mod group;
mod layout;
mod memory;
mod modes;
mod variables;

#[cfg(test)]
mod tests;

use ptx2spv_target::Target;
use rspirv::spirv::ExecutionModel;

use crate::code::Code;
use crate::module::{Module, Refusal};
use compiler::Compiler;

/// Specializes and compiles an entry point. `specialization` has values by `SpecId`.
///
/// # Errors
/// The entry point doesn't exist, something is not supported by the interpreter, or a size exceeds the target's limits.
pub(crate) fn compile(module: &Module, entry: &str, specialization: &[(u32, u64)], target: &Target) -> Result<Code> {
    let compute = ExecutionModel::GLCompute as u32;
    let found = module.entry_points.iter().find(|point| point.name == entry && point.model == compute);
    let point = found.ok_or_else(|| {
        Refusal::new("VUID-VkPipelineShaderStageCreateInfo-pName-00707", format!("no compute entry point `{entry}`"))
    })?;
    let mut compiler = Compiler::new(module, target);
    compiler.globals(specialization)?;
    compiler.modes(point)?;
    let start = compiler.functions(point.function)?;
    compiler.initials(start)?;
    compiler.check_limits()?;
    let Compiler { emit, mut code, .. } = compiler;
    emit.finish(&mut code);
    Ok(code)
}

type Result<T> = std::result::Result<T, Refusal>;
