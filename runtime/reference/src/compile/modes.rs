//! Declarations of an entry point: workgroup size, float controls, reconvergence.

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, FPFastMathMode};

use super::Result;
use super::compiler::Compiler;
use super::layout::Scalar;
use crate::code::FloatControl;
use crate::module::{EntryPoint, Mode, Refusal, rule};

impl Compiler<'_> {
    /// Applies the execution modes of an entry point.
    pub(super) fn modes(&mut self, entry: &EntryPoint) -> Result<()> {
        let mut size = None;
        for mode in &entry.modes {
            match ExecutionMode::from_u32(mode.mode) {
                Some(ExecutionMode::LocalSize) => size = Some(local_size(mode)?),
                Some(ExecutionMode::MaximallyReconvergesKHR) => self.code.convergence.maximal = true,
                Some(ExecutionMode::SubgroupUniformControlFlowKHR) => self.code.convergence.subgroup_uniform = true,
                Some(ExecutionMode::DenormPreserve) => self.float_control(mode)?.denormals_kept = true,
                Some(ExecutionMode::SignedZeroInfNanPreserve) => self.float_control(mode)?.signed_zero_inf_nan = true,
                Some(ExecutionMode::RoundingModeRTE) => self.float_control(mode)?.nearest_even = true,
                Some(ExecutionMode::FPFastMathDefault) => self.fast_math(mode)?,
                _ => {
                    let message = format!("execution mode {} at word {}", mode.mode, mode.word);
                    return Err(Refusal::new(rule::UNSUPPORTED, message));
                }
            }
        }
        let size = self.size_constant()?.or(size);
        let Some(size) = size else {
            let message = format!("`{}` does not declare its workgroup size", entry.name);
            return Err(Refusal::new("VUID-StandaloneSpirv-LocalSize-06426", message));
        };
        self.code.workgroup_size = size;
        Ok(())
    }

    /// Refuses a workgroup that exceeds the target's limits.
    pub(super) fn check_limits(&self) -> Result<()> {
        let size = self.code.workgroup_size;
        let limits = &self.target.limits;
        if size.contains(&0) {
            return Err(Refusal::new(rule::UNIVERSAL, format!("a workgroup of {size:?} has no invocations")));
        }
        if size.iter().zip(&limits.max_compute_work_group_size).any(|(size, limit)| size > limit) {
            let limit = limits.max_compute_work_group_size;
            return Err(Refusal::new(
                "maxComputeWorkGroupSize",
                format!("a workgroup of {size:?}, the limit is {limit:?}"),
            ));
        }
        let limit = limits.max_compute_work_group_invocations;
        let all = size.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
        if all.is_none_or(|all| all > limit) {
            let message = format!("a workgroup of {size:?}, the limit is {limit} invocations");
            return Err(Refusal::new("maxComputeWorkGroupInvocations", message));
        }
        Ok(())
    }

    /// The constant that is decorated as the workgroup size. It overrides execution modes.
    fn size_constant(&mut self) -> Result<Option<[u32; 3]>> {
        let module = self.module;
        let decorated = |id| module.decoration(id, Decoration::BuiltIn) == Some(BuiltIn::WorkgroupSize as u32);
        let mut globals = module.globals.iter().map(|&index| module.instructions.get(index));
        let Some(inst) = globals.find(|inst| inst.op != rspirv::spirv::Op::Variable && decorated(inst.id)) else {
            return Ok(None);
        };
        let cells = self.cells(inst.id)?;
        let size = |&slot| self.emit.constant_bits(slot).and_then(|bits| u32::try_from(bits).ok());
        let sizes = <[u32; 3]>::try_from(Vec::from_iter(cells.iter().filter_map(size)));
        sizes.map(Some).map_err(|_| inst.refuse("VUID-WorkgroupSize-WorkgroupSize-04427", "is not three 32-bit sizes"))
    }

    /// `FPFastMathDefault`: everything that it doesn't permit is preserved. Freedoms of single instructions are not
    /// used.
    fn fast_math(&mut self, mode: &Mode) -> Result<()> {
        let wrong = || {
            Refusal::new(
                rule::INSTRUCTION,
                format!("FPFastMathDefault at word {}: no float, or no constant", mode.word),
            )
        };
        let &[ty, flags] = mode.operands.as_slice() else { return Err(wrong()) };
        let (Ok((Scalar::Float(width), 1)), true) = (self.layouts.vector(ty), mode.ids) else { return Err(wrong()) };
        let slot = self.scalar(flags)?;
        let flags = self.emit.constant_bits(slot).ok_or_else(wrong)?;
        let allowed = FPFastMathMode::NOT_NAN | FPFastMathMode::NOT_INF | FPFastMathMode::NSZ;
        let control = self.control(mode, width.into())?;
        control.signed_zero_inf_nan |= flags & u64::from(allowed.bits()) == 0;
        Ok(())
    }

    fn control(&mut self, mode: &Mode, width: u32) -> Result<&mut FloatControl> {
        let index = match width {
            16 => 0,
            32 => 1,
            64 => 2,
            _ => {
                return Err(Refusal::new(
                    rule::INSTRUCTION,
                    format!("the float control at word {}: no width", mode.word),
                ));
            }
        };
        Ok(&mut self.code.floats.0[index])
    }

    fn float_control(&mut self, mode: &Mode) -> Result<&mut FloatControl> {
        self.control(mode, mode.operands.first().copied().unwrap_or(0))
    }
}

fn local_size(mode: &Mode) -> Result<[u32; 3]> {
    let size = <[u32; 3]>::try_from(mode.operands.as_slice());
    size.map_err(|_| Refusal::new(rule::INSTRUCTION, format!("the local size at word {} has not 3 sizes", mode.word)))
}
