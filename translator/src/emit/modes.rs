//! What a kernel's entry point declares of control flow and of floats.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, ExecutionMode, Op, Word};

use super::instruction::instruction;
use super::module::{Global, Module};
use super::result::Result;
use ptx2spv_target::{Feature, Version};

impl Module<'_> {
    /// Declares that invocations of a subgroup come together again where the structure of control flow says so, where the target
    /// can promise it. Others were seen to do it.
    pub(super) fn reconvergence(&mut self, function: Word) -> Result<()> {
        let Some(feature) = self.device.convergence else { return Ok(()) };
        let mode = match feature {
            Feature::ShaderMaximalReconvergence => ExecutionMode::MaximallyReconvergesKHR,
            _ => ExecutionMode::SubgroupUniformControlFlowKHR,
        };
        self.need(feature, "operations of a warp")?;
        let operands = vec![Operand::IdRef(function), Operand::ExecutionMode(mode)];
        self.execution_mode(instruction(Op::ExecutionMode, 0, 0, operands));
        Ok(())
    }

    /// Keeps drivers from fusing a result with another operation. Fast-math modes forbid it by default.
    pub(super) fn forbid_contraction(&mut self, id: Word) {
        if !self.device.dot_fma {
            self.decorate(id, Decoration::NoContraction, &[]);
        }
    }

    /// Declares that floats of a width allow no fast math unless an instruction says otherwise. That preserves signed zeros,
    /// infinities and NaNs too.
    fn no_fast_math(&mut self, function: Word, width: u32) -> Result<()> {
        self.need(Feature::ShaderFloatControls2, "fast-math modes")?;
        let ty = self.global(Global::Float(width))?;
        let word = self.u32()?;
        let none = self.global(Global::Constant(word, 0))?;
        let operands = vec![
            Operand::IdRef(function),
            Operand::ExecutionMode(ExecutionMode::FPFastMathDefault),
            Operand::IdRef(ty),
            Operand::IdRef(none),
        ];
        self.execution_mode(instruction(Op::ExecutionModeId, 0, 0, operands));
        Ok(())
    }

    /// Declares the float controls that the target has for floats of a width.
    pub(super) fn float_controls(&mut self, function: Word, width: u32) -> Result<()> {
        // A function still lists values of 64 bits whose operations were replaced; those of 16 bits are not among its values.
        let used = self.entry_features();
        if width == 64 && !used.contains(&Feature::ShaderFloat64)
            || width == 16 && !used.contains(&Feature::ShaderFloat16)
        {
            return Ok(());
        }
        let by_modes = self.device.dot_fma;
        if by_modes {
            self.no_fast_math(function, width)?;
        }
        let controls = &self.device.float_controls;
        let unadvertised = self.device.workarounds.denorm_preserve_unadvertised;
        let [preserve, denormals, rounding] = match width {
            64 => [
                controls.signed_zero_inf_nan_preserve_float64,
                controls.denorm_preserve_float64,
                controls.rounding_mode_rte_float64,
            ],
            16 => [
                controls.signed_zero_inf_nan_preserve_float16,
                controls.denorm_preserve_float16,
                controls.rounding_mode_rte_float16,
            ],
            _ => [
                controls.signed_zero_inf_nan_preserve_float32,
                controls.denorm_preserve_float32,
                controls.rounding_mode_rte_float32,
            ],
        };
        for (present, mode, capability) in [
            (preserve && !by_modes, ExecutionMode::SignedZeroInfNanPreserve, Capability::SignedZeroInfNanPreserve),
            (denormals || unadvertised && width != 16, ExecutionMode::DenormPreserve, Capability::DenormPreserve),
            (rounding, ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE),
        ] {
            if present {
                self.capability(capability);
                self.extension("SPV_KHR_float_controls", Some(Version(1, 4)));
                let operands =
                    vec![Operand::IdRef(function), Operand::ExecutionMode(mode), Operand::LiteralBit32(width)];
                self.execution_mode(instruction(Op::ExecutionMode, 0, 0, operands));
            }
        }
        Ok(())
    }
}
