//! Devices as if they were poorer: an older Vulkan version, without features and extensions that they have. It shows how a
//! program fares elsewhere, and does without what a driver does wrong. Nothing in here calls Vulkan.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::str::FromStr;

use ptx2spv_translator::Feature;
use ptx2spv_translator::target::{FloatControls, Version};

use crate::error::Error;

/// The environment variable with the restrictions of instances for which the program names none.
pub const RESTRICTIONS_VARIABLE: &str = "PTX2SPV_RESTRICT";

/// Vulkan's name of the only feature that is of use for the host alone.
pub(crate) const TIMELINE_SEMAPHORE: &str = "timelineSemaphore";

/// What is not to be used of devices that have it.
///
/// As text, these in any order, separated by commas:
///
/// | | |
/// | --- | --- |
/// | `vulkan=1.N` | this Vulkan version (1.1 or later), with its extensions, also on devices that are newer |
/// | `without=A+B` | none of these features, float controls and device extensions, by Vulkan's names |
///
/// Of a newer version's core, an extension by its old name takes nothing away, but its features do.
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
}

impl Restrictions {
    /// What the environment variable `PTX2SPV_RESTRICT` says; nothing if it isn't set.
    ///
    /// # Errors
    /// [`Error::Environment`].
    pub(crate) fn of_environment() -> Result<Self, Error> {
        match std::env::var_os(RESTRICTIONS_VARIABLE).filter(|value| !value.is_empty()) {
            Some(value) => value.to_string_lossy().parse().map_err(Error::of_variable(RESTRICTIONS_VARIABLE, &value)),
            None => Ok(Self::default()),
        }
    }

    /// The version to use, which is `newest` at most.
    pub(crate) fn version(&self, newest: Version) -> Version {
        self.vulkan.map_or(newest, |version| version.min(newest))
    }

    /// Whether a feature or float control is to be left alone.
    pub(crate) fn forbids(&self, name: &str) -> bool {
        self.without.contains(name)
    }

    /// Whether an extension is to be left alone.
    pub(crate) fn forbids_extension(&self, name: &CStr) -> bool {
        name.to_str().is_ok_and(|name| self.forbids(name))
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    Feature::ALL.iter().map(|feature| feature.name()).chain(FloatControls::names()).chain([TIMELINE_SEMAPHORE])
}

impl FromStr for Restrictions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut restrictions = Self::default();
        for part in text.split(',').map(str::trim) {
            match part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some(("vulkan", value)) => restrictions.vulkan = Some(version(value)?),
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

fn version(text: &str) -> Result<Version, Error> {
    let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok()).filter(|&minor| minor >= 1);
    minor
        .map(|minor| Version(1, minor))
        .ok_or_else(|| Error::BadRestrictions(format!("no Vulkan {text}, but 1.1 or later")))
}

/// The name as Vulkan writes it. Extensions may be any: most are of no use to kernels.
fn known(name: &str) -> Result<String, Error> {
    if name.starts_with("VK_") {
        return Ok(name.to_owned());
    }
    match names().find(|known| known.eq_ignore_ascii_case(name)) {
        Some(known) => Ok(known.to_owned()),
        None => {
            let names: Vec<&str> = names().collect();
            Err(Error::BadRestrictions(format!("`{name}` is no extension, and none of {}", names.join(", "))))
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
        for wrong in
            ["", "vulkan", "vulkan=1.0", "vulkan=2", "vulkan=1.x", "without=", "without=more", "with=shaderInt64"]
        {
            assert!(matches!(wrong.parse::<Restrictions>(), Err(Error::BadRestrictions(_))), "{wrong}");
        }
        assert_eq!(Restrictions::default().version(Version(1, 3)), Version(1, 3));
    }
}
