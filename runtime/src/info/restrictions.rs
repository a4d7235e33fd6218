//! Restrictions of devices: an older Vulkan version, fewer features and extensions, and shorter loops. They show how a program runs on
//! other devices, and avoid features that a driver gets wrong. Nothing here calls Vulkan.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::num::NonZeroU32;
use std::str::FromStr;

use ptx2spv_translator::Feature;
use ptx2spv_translator::target::{Facts, FloatControls, Version};

use crate::error::{Error, Result};

/// The environment variable with the restrictions of instances whose program sets none.
pub const RESTRICTIONS_VARIABLE: &str = "PTX2SPV_RESTRICT";

/// Vulkan's name of the only feature that only the host uses.
pub(crate) const TIMELINE_SEMAPHORE: &str = "timelineSemaphore";

/// Features of devices that must not be used.
///
/// The text form is a list of these, in any order, separated by commas:
///
/// | | |
/// | --- | --- |
/// | `vulkan=1.N` | use this Vulkan version (1.1 or later) and extensions, even if the device is newer |
/// | `without=A+B` | don't use these features, float controls and device extensions (Vulkan's names), nor these facts of the self-test ([`Facts`]) |
/// | `loops=N` | translate as if the driver ended loops after this many rounds, at least 1 ([`ptx2spv_translator::target::Quirks::loop_budget`]) |
///
/// The name of an extension that is part of the core version has no effect, but names of its features do.
///
/// ```
/// use ptx2spv_runtime::Restrictions;
///
/// "vulkan=1.1,without=timelineSemaphore+VK_KHR_spirv_1_4".parse::<Restrictions>()?;
/// assert!("without=everything".parse::<Restrictions>().is_err());
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    vulkan: Option<Version>,
    without: BTreeSet<String>,
    loops: Option<NonZeroU32>,
}

impl Restrictions {
    /// The restrictions of the environment variable `PTX2SPV_RESTRICT`, or none if it isn't set.
    ///
    /// # Errors
    /// [`Error::Environment`].
    pub(crate) fn of_environment() -> Result<Self> {
        match std::env::var_os(RESTRICTIONS_VARIABLE).filter(|value| !value.is_empty()) {
            Some(value) => value.to_string_lossy().parse().map_err(Error::of_variable(RESTRICTIONS_VARIABLE, &value)),
            None => Ok(Self::default()),
        }
    }

    /// The version to use, `newest` or an older one.
    pub(crate) fn version(&self, newest: Version) -> Version {
        self.vulkan.map_or(newest, |version| version.min(newest))
    }

    /// Whether a feature or float control must not be used.
    pub(crate) fn forbids(&self, name: &str) -> bool {
        self.without.contains(name)
    }

    /// The number of rounds after which loops end, if that is less than the driver's limit.
    pub(crate) fn loop_budget(&self, driver: Option<u32>) -> Option<u32> {
        self.loops.map(NonZeroU32::get).into_iter().chain(driver).min()
    }

    /// Takes away the facts that must not be used.
    pub(crate) fn restrict(&self, facts: &mut Facts) {
        self.without.iter().for_each(|name| facts.set(name, false));
    }

    /// Whether an extension must not be used.
    pub(crate) fn forbids_extension(&self, name: &CStr) -> bool {
        name.to_str().is_ok_and(|name| self.forbids(name))
    }
}

fn names() -> impl Iterator<Item = String> {
    let features = Feature::ALL.iter().map(|feature| feature.name());
    let named = features.chain(FloatControls::names()).chain([TIMELINE_SEMAPHORE]).map(str::to_owned);
    named.chain(Facts::default().named().map(|(name, _)| name))
}

impl FromStr for Restrictions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut restrictions = Self::default();
        for part in text.split(',').map(str::trim) {
            match part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some(("vulkan", value)) => restrictions.vulkan = Some(version(value)?),
                Some(("loops", value)) => restrictions.loops = Some(rounds(value)?),
                Some(("without", value)) => {
                    for name in value.split('+').map(str::trim) {
                        restrictions.without.insert(known(name)?);
                    }
                }
                _ => return Err(Error::BadRestrictions(format!("`{part}`"))),
            }
        }
        Ok(restrictions)
    }
}

fn rounds(text: &str) -> Result<NonZeroU32> {
    text.parse().map_err(|_| Error::BadRestrictions(format!("`{text}` is not a number of rounds from 1 on")))
}

fn version(text: &str) -> Result<Version> {
    let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok()).filter(|&minor| minor >= 1);
    minor
        .map(|minor| Version(1, minor))
        .ok_or_else(|| Error::BadRestrictions(format!("`{text}` is not a Vulkan version from 1.1 on")))
}

/// The name in Vulkan's spelling. Any extension is accepted, since most have no relation to kernels.
fn known(name: &str) -> Result<String> {
    if name.starts_with("VK_") {
        return Ok(name.to_owned());
    }
    match names().find(|known| known.eq_ignore_ascii_case(name)) {
        Some(known) => Ok(known),
        None => {
            let names: Vec<_> = names().collect();
            Err(Error::BadRestrictions(format!("`{name}` is neither an extension nor one of {}", names.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        let some: Restrictions = "without=shaderint64 + VK_KHR_shader_clock, vulkan=1.2".parse().unwrap();
        assert_eq!(some.version(Version(1, 3)), Version(1, 2));
        assert_eq!(some.version(Version(1, 1)), Version(1, 1));
        assert!(some.forbids("shaderInt64") && !some.forbids("shaderInt16"));
        assert!(some.forbids_extension(c"VK_KHR_shader_clock") && !some.forbids_extension(c"VK_KHR_spirv_1_4"));
        assert!("without=timelineSemaphore".parse::<Restrictions>().unwrap().forbids(TIMELINE_SEMAPHORE));
        assert!("without=shaderDenormPreserveFloat32".parse::<Restrictions>().is_ok());
        let mut facts = Facts::ALL;
        "without=fma_f64_fused".parse::<Restrictions>().unwrap().restrict(&mut facts);
        assert_eq!(facts, Facts { fma_f64_fused: false, ..Facts::ALL });
        let short: Restrictions = "loops=9".parse().unwrap();
        assert_eq!([None, Some(5), Some(20)].map(|driver| short.loop_budget(driver)), [Some(9), Some(5), Some(9)]);
        assert_eq!([None, Some(5)].map(|driver| some.loop_budget(driver)), [None, Some(5)]);
        for wrong in [
            "",
            "vulkan",
            "vulkan=1.0",
            "vulkan=2",
            "vulkan=1.x",
            "without=",
            "without=more",
            "with=shaderInt64",
            "loops=0",
            "loops",
        ] {
            assert!(matches!(wrong.parse::<Restrictions>(), Err(Error::BadRestrictions(_))), "{wrong}");
        }
        assert_eq!(Restrictions::default().version(Version(1, 3)), Version(1, 3));
    }
}
