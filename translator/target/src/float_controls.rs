//! Float controls.

use serde::{Deserialize, Serialize};

/// Float controls that a shader may declare (`VkPhysicalDeviceFloatControlsProperties`, by the same names). A device
/// whose independence properties forbid a combination leaves out the controls that it can't have together with the
/// rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FloatControls {
    /// `shaderSignedZeroInfNanPreserveFloat16`.
    pub signed_zero_inf_nan_preserve_float16: bool,
    /// `shaderSignedZeroInfNanPreserveFloat32`.
    pub signed_zero_inf_nan_preserve_float32: bool,
    /// `shaderSignedZeroInfNanPreserveFloat64`.
    pub signed_zero_inf_nan_preserve_float64: bool,
    /// `shaderDenormPreserveFloat16`.
    pub denorm_preserve_float16: bool,
    /// `shaderDenormPreserveFloat32`.
    pub denorm_preserve_float32: bool,
    /// `shaderDenormPreserveFloat64`.
    pub denorm_preserve_float64: bool,
    /// `shaderRoundingModeRTEFloat16`.
    pub rounding_mode_rte_float16: bool,
    /// `shaderRoundingModeRTEFloat32`.
    pub rounding_mode_rte_float32: bool,
    /// `shaderRoundingModeRTEFloat64`.
    pub rounding_mode_rte_float64: bool,
}

type Control = fn(&mut FloatControls) -> &mut bool;

impl FloatControls {
    /// All float controls by Vulkan's names.
    const NAMED: [(&'static str, Control); 9] = [
        ("shaderSignedZeroInfNanPreserveFloat16", |controls| &mut controls.signed_zero_inf_nan_preserve_float16),
        ("shaderSignedZeroInfNanPreserveFloat32", |controls| &mut controls.signed_zero_inf_nan_preserve_float32),
        ("shaderSignedZeroInfNanPreserveFloat64", |controls| &mut controls.signed_zero_inf_nan_preserve_float64),
        ("shaderDenormPreserveFloat16", |controls| &mut controls.denorm_preserve_float16),
        ("shaderDenormPreserveFloat32", |controls| &mut controls.denorm_preserve_float32),
        ("shaderDenormPreserveFloat64", |controls| &mut controls.denorm_preserve_float64),
        ("shaderRoundingModeRTEFloat16", |controls| &mut controls.rounding_mode_rte_float16),
        ("shaderRoundingModeRTEFloat32", |controls| &mut controls.rounding_mode_rte_float32),
        ("shaderRoundingModeRTEFloat64", |controls| &mut controls.rounding_mode_rte_float64),
    ];

    /// Their names, as Vulkan has them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().map(|(name, _)| name)
    }

    /// Whether the device has a float control, by its name.
    pub fn has(&self, name: &str) -> bool {
        Self::NAMED.into_iter().any(|(known, control)| known == name && *control(&mut self.clone()))
    }

    /// Takes one away by its name; nothing happens if there is none.
    pub fn remove(&mut self, name: &str) {
        if let Some((_, control)) = Self::NAMED.into_iter().find(|(known, _)| *known == name) {
            *control(self) = false;
        }
    }
}
