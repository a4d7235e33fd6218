//! Choosing a device by index, name, type or environment variable. Nothing in here calls Vulkan.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::info::{DeviceInfo, DeviceKind};

/// The environment variable that [`DeviceSelector::Default`] reads.
pub const DEVICE_VARIABLE: &str = "PTX2SPV_DEVICE";

/// Which device to open.
///
/// As text: an index (`0`), a type (`cpu`, `discrete`, `integrated`, `virtual`), a part of the name (`name:radeon` or
/// just `radeon`, in any case), or `best`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSelector {
    /// What the environment variable `PTX2SPV_DEVICE` says if it is set and not empty, else [`DeviceSelector::Best`].
    #[default]
    Default,
    /// The first device that can run kernels, by type: discrete, integrated, virtual, CPU, other.
    Best,
    /// By [`DeviceInfo::index`].
    Index(usize),
    /// The first device whose name contains this, regardless of case.
    Name(String),
    /// The first device of a type.
    Kind(DeviceKind),
}

impl FromStr for DeviceSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if let Some(name) = text.strip_prefix("name:").filter(|name| !name.is_empty()) {
            return Ok(Self::Name(name.to_owned()));
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Self::Index).map_err(|_| Error::BadSelector(text.to_owned()));
        }
        match text.to_ascii_lowercase().as_str() {
            "" | "name:" => Err(Error::BadSelector(text.to_owned())),
            "default" => Ok(Self::Default),
            "best" => Ok(Self::Best),
            "cpu" => Ok(Self::Kind(DeviceKind::Cpu)),
            "discrete" => Ok(Self::Kind(DeviceKind::Discrete)),
            "integrated" => Ok(Self::Kind(DeviceKind::Integrated)),
            "virtual" => Ok(Self::Kind(DeviceKind::Virtual)),
            _ => Ok(Self::Name(text.to_owned())),
        }
    }
}

impl fmt::Display for DeviceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Best => f.write_str("best"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "name:{name}"),
            Self::Kind(kind) => write!(f, "{kind}"),
        }
    }
}

impl DeviceSelector {
    /// Picks from a list of devices.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the list is empty, [`Error::NoMatchingDevice`] if none fits, [`Error::BadSelector`] if the
    /// environment variable can't be read as a selector.
    pub fn choose<'d>(&self, devices: &'d [DeviceInfo]) -> Result<&'d DeviceInfo, Error> {
        if devices.is_empty() {
            return Err(Error::NoDevice { reason: "the loader lists none".to_owned() });
        }
        let found = match self {
            Self::Default => match std::env::var_os(DEVICE_VARIABLE).filter(|value| !value.is_empty()) {
                Some(value) => {
                    let selector: Self = value.to_string_lossy().parse()?;
                    // `default` in the variable itself must not lead back to the variable.
                    return if selector == Self::Default { Self::Best } else { selector }.choose(devices);
                }
                None => return Self::Best.choose(devices),
            },
            Self::Best => devices.iter().min_by_key(|device| (!device.missing().is_empty(), device.kind, device.index)),
            Self::Index(index) => devices.iter().find(|device| device.index == *index),
            Self::Name(name) => {
                let name = name.to_lowercase();
                devices.iter().find(|device| device.name.to_lowercase().contains(&name))
            }
            Self::Kind(kind) => devices.iter().find(|device| device.kind == *kind),
        };
        found.ok_or_else(|| Error::NoMatchingDevice {
            selector: self.to_string(),
            available: devices
                .iter()
                .map(|d| format!("{}: {} ({})", d.index, d.name, d.kind))
                .collect::<Vec<_>>()
                .join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        let cases = [
            ("0", DeviceSelector::Index(0)),
            ("12", DeviceSelector::Index(12)),
            ("cpu", DeviceSelector::Kind(DeviceKind::Cpu)),
            ("Discrete", DeviceSelector::Kind(DeviceKind::Discrete)),
            ("name:cpu", DeviceSelector::Name("cpu".into())),
            ("name:0", DeviceSelector::Name("0".into())),
            ("llvmpipe", DeviceSelector::Name("llvmpipe".into())),
            ("best", DeviceSelector::Best),
        ];
        for (text, expected) in cases {
            let selector: DeviceSelector = text.parse().unwrap();
            assert_eq!(selector, expected);
            assert_eq!(selector.to_string().parse::<DeviceSelector>().unwrap(), selector);
        }
        for text in ["", " ", "name:", "99999999999999999999999"] {
            assert!(matches!(text.parse::<DeviceSelector>(), Err(Error::BadSelector(_))), "{text:?}");
        }
    }

    #[test]
    fn choosing() {
        let devices = [
            DeviceInfo::example(0, "llvmpipe", DeviceKind::Cpu, &[]),
            DeviceInfo::example(1, "Old Card", DeviceKind::Discrete, &["bufferDeviceAddress"]),
            DeviceInfo::example(2, "Radeon iGPU", DeviceKind::Integrated, &[]),
            DeviceInfo::example(3, "Radeon Pro", DeviceKind::Discrete, &[]),
        ];
        let index = |text: &str| text.parse::<DeviceSelector>().unwrap().choose(&devices).map(|device| device.index);
        assert_eq!(index("best").unwrap(), 3);
        assert_eq!(index("radeon").unwrap(), 2);
        assert_eq!(index("name:RADEON P").unwrap(), 3);
        assert_eq!(index("discrete").unwrap(), 1);
        assert_eq!(index("cpu").unwrap(), 0);
        let error = index("virtual").unwrap_err().to_string();
        assert!(error.contains("virtual") && error.contains("3: Radeon Pro (discrete)"), "{error}");
        assert!(matches!(index("4"), Err(Error::NoMatchingDevice { .. })));
        assert!(matches!(DeviceSelector::Best.choose(&[]), Err(Error::NoDevice { .. })));
    }
}
