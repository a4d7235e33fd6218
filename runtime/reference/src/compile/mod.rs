//! Turns an entry point of a module into [`Code`].
//!
//! Vectors and other composites are split here: a value is a list of registers, and extracting, inserting and constructing parts costs
//! nothing at run time. In a valid module a register of an earlier value may stand for a part of a later one, since no path from a
//! definition to its uses passes the definition again without redefining the later value too.

mod arithmetic;
mod atomic;
mod body;
mod compiler;
mod composite;
mod constants;
mod dot;
mod emit;
mod facts;
mod flow;
mod glsl;
mod group;
mod layout;
mod matrix;
mod memory;
mod modes;
mod operations;
mod pack;
mod refusal;
mod value;
mod variables;

#[cfg(test)]
mod tests;

use ptx2spv_target::Target;
use rspirv::spirv::ExecutionModel;

use crate::code::Code;
use crate::module::Module;
use compiler::Compiler;
use refusal::{Result, refuse};

/// Specialises and compiles an entry point. `specialization` gives values for `SpecId`s.
///
/// # Errors
/// No such entry point, something the interpreter does not know, or sizes beyond the target's limits.
pub(crate) fn compile(module: &Module, entry: &str, specialization: &[(u32, u64)], target: &Target) -> Result<Code> {
    let compute = ExecutionModel::GLCompute as u32;
    let found = module.entry_points.iter().find(|point| point.name == entry && point.model == compute);
    let point = found.ok_or_else(|| {
        refuse("VUID-VkPipelineShaderStageCreateInfo-pName-00707", format!("no compute entry point `{entry}`"))
    })?;
    let mut compiler = Compiler::new(module, target);
    compiler.globals(specialization)?;
    compiler.modes(point)?;
    let start = compiler.functions(point.function)?;
    compiler.deferred(start)?;
    compiler.check_limits()?;
    let Compiler { emit, mut code, .. } = compiler;
    emit.finish(&mut code);
    Ok(code)
}
