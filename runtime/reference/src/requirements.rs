//! Refuses modules that use what the target lacks, each with the rule that says so.

use ptx2spv_translator::Target;

use crate::finding::Refusal;
use crate::module::Module;

/// Looks at capabilities, extensions, version, execution modes and float controls.
pub(crate) fn check(module: &Module, target: &Target) -> Result<(), Refusal> {
    todo!()
}
