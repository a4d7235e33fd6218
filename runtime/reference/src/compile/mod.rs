//! Turns an entry point of a module into [`Code`].

use ptx2spv_translator::Target;

use crate::code::Code;
use crate::finding::Refusal;
use crate::module::Module;

/// Specialises and compiles an entry point. `specialization` gives values for `SpecId`s.
///
/// # Errors
/// No such entry point, something the interpreter does not know, or sizes beyond the target's limits.
pub(crate) fn compile(
    module: &Module,
    entry: &str,
    specialization: &[(u32, u64)],
    target: &Target,
) -> Result<Code, Refusal> {
    todo!()
}
