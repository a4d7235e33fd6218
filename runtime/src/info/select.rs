//! Choosing a device by index, name, type or environment variable. Nothing in here calls Vulkan.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result, closest};
use crate::info::options::ReferenceOptions;
use crate::info::{DeviceInfo, DeviceKind};

/// The environment variable that [`DeviceSelector::Default`] reads.
pub const DEVICE_VARIABLE: &str = "PTX2SPV_DEVICE";

/// Selects the device to open.
///
/// The text form is an index (`0`), a type (`cpu`, `discrete`, `integrated`, `virtual`), a part of the name
/// (`name:radeon` or just `radeon`, in upper or lower case), `best`, `vulkan`, or the reference device: `reference`, or
/// with options `reference:subgroup=64,check` (see [`ReferenceOptions`]).
///
/// ```
/// use ptx2spv_runtime::{DeviceKind, DeviceSelector, ReferenceOptions};
///
/// let selector: DeviceSelector = "cpu".parse()?;
/// assert_eq!(selector, DeviceSelector::Kind(DeviceKind::Cpu));
/// let selector: DeviceSelector = "reference:subgroup=64,seed=7".parse()?;
/// let options = ReferenceOptions::default().subgroup(Some(64)).seed(Some(7));
/// assert_eq!(selector, DeviceSelector::Reference(options));
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceSelector {
    /// The first selector in the environment variable `PTX2SPV_DEVICE` if it is set and not empty, else
    /// [`DeviceSelector::Best`].
    #[default]
    Default,
    /// The first device that can run kernels, by type: discrete, integrated, virtual, CPU, other, and the reference
    /// device if there is no other.
    Best,
    /// Like [`DeviceSelector::Best`], but never the reference device: opening fails without a Vulkan device that can run
    /// kernels.
    Vulkan,
    /// By [`DeviceInfo::index`].
    Index(usize),
    /// The first device whose name contains this text, ignoring case.
    Name(String),
    /// The first device of a type.
    Kind(DeviceKind),
    /// The reference device with these options.
    Reference(ReferenceOptions),
}

impl FromStr for DeviceSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some(name) = text.strip_prefix("name:").filter(|name| !name.is_empty()) {
            return Ok(Self::Name(name.to_owned()));
        }
        if let Some(options) = text.strip_prefix("reference:") {
            return options.parse().map(Self::Reference);
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Self::Index).map_err(|_| Error::BadSelector(text.to_owned()));
        }
        match text.to_ascii_lowercase().as_str() {
            "" | "name:" => Err(Error::BadSelector(text.to_owned())),
            "default" => Ok(Self::Default),
            "best" => Ok(Self::Best),
            "vulkan" => Ok(Self::Vulkan),
            "cpu" => Ok(Self::Kind(DeviceKind::Cpu)),
            "discrete" => Ok(Self::Kind(DeviceKind::Discrete)),
            "integrated" => Ok(Self::Kind(DeviceKind::Integrated)),
            "virtual" => Ok(Self::Kind(DeviceKind::Virtual)),
            "reference" => Ok(Self::Reference(ReferenceOptions::default())),
            _ => Ok(Self::Name(text.to_owned())),
        }
    }
}

impl fmt::Display for DeviceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Best => f.write_str("best"),
            Self::Vulkan => f.write_str("vulkan"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "name:{name}"),
            Self::Kind(kind) => write!(f, "{kind}"),
            Self::Reference(options) if *options == ReferenceOptions::default() => f.write_str("reference"),
            Self::Reference(options) => write!(f, "reference:{options}"),
        }
    }
}

impl DeviceSelector {
    /// The selectors in the environment variable `PTX2SPV_DEVICE`, separated by commas; none if it isn't set, or empty.
    ///
    /// # Errors
    /// The value is not a list of selectors.
    pub fn of_environment() -> Result<Vec<Self>> {
        match std::env::var_os(DEVICE_VARIABLE).filter(|value| !value.is_empty()) {
            Some(value) => {
                Self::parse_list(&value.to_string_lossy()).map_err(Error::of_variable(DEVICE_VARIABLE, &value))
            }
            None => Ok(Vec::new()),
        }
    }

    /// Reads selectors separated by commas outside of parentheses, as the options of the reference device are too.
    ///
    /// ```
    /// use ptx2spv_runtime::DeviceSelector;
    ///
    /// let list = DeviceSelector::parse_list("discrete,reference:check,seed=7,1")?;
    /// assert_eq!(list.len(), 3);
    /// assert_eq!(list[2], DeviceSelector::Index(1));
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadSelector`], [`Error::BadReferenceOptions`].
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        let mut parts: Vec<String> = Vec::new();
        // Names of devices have commas in parentheses.
        let mut depth = 0_u32;
        let separates = |character: char| {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            character == ',' && depth == 0
        };
        for part in text.split(separates) {
            let is_option = part.contains('=') || part.trim() == "check";
            match parts.last_mut().filter(|last| is_option && last.trim_start().starts_with("reference:")) {
                Some(last) => *last = format!("{last},{part}"),
                None => parts.push(part.to_owned()),
            }
        }
        let known = |part: &String| {
            part.parse().map(|selector| match selector {
                // `default` in the variable itself must not refer to the variable again.
                Self::Default => Self::Best,
                selector => selector,
            })
        };
        parts.iter().map(known).collect()
    }

    /// Replaces [`DeviceSelector::Default`] by its meaning here; returns other selectors unchanged.
    ///
    /// # Errors
    /// The value of the environment variable is not a list of selectors.
    pub fn resolve(&self) -> Result<Self> {
        match self {
            Self::Default => Ok(Self::of_environment()?.into_iter().next().unwrap_or(Self::Best)),
            selector => Ok(selector.clone()),
        }
    }

    /// Picks from a list of devices.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the list is empty, [`Error::NoMatchingDevice`] if no device matches,
    /// [`Error::BadSelector`] if the value of the environment variable is not a selector.
    pub fn choose<'d>(&self, devices: &'d [DeviceInfo]) -> Result<&'d DeviceInfo> {
        let pairs: Vec<_> = devices.iter().map(|device| (device, ())).collect();
        self.choose_from(&pairs).map(|(device, ())| device)
    }

    /// Picks from a list of devices, each with a value of its own.
    pub(crate) fn choose_from<'d, T: Copy>(&self, devices: &[(&'d DeviceInfo, T)]) -> Result<(&'d DeviceInfo, T)> {
        if devices.is_empty() {
            return Err(Error::NoDevice { reason: "the loader lists none".to_owned() });
        }
        let selector = self.resolve()?;
        let first = |fits: &dyn Fn(&DeviceInfo) -> bool| devices.iter().find(|(device, _)| fits(device));
        let found = match &selector {
            Self::Default | Self::Best | Self::Vulkan => {
                devices.iter().min_by_key(|(device, _)| (!device.missing().is_empty(), device.kind, device.index))
            }
            Self::Index(index) => first(&|device| device.index == Some(*index)),
            Self::Name(name) => {
                let name = name.to_lowercase();
                first(&|device| device.name.to_lowercase().contains(&name))
            }
            Self::Kind(kind) => first(&|device| device.kind == *kind),
            Self::Reference(_) => first(&|device| device.kind == DeviceKind::Reference),
        };
        found.copied().ok_or_else(|| {
            self.blame(Error::NoMatchingDevice {
                selector: selector.to_string(),
                meant: selector.meant(devices.iter().map(|(device, _)| *device)),
                available: devices.iter().map(|(device, _)| listed(device)).collect::<Vec<_>>().join(", "),
            })
        })
    }

    /// Adds the environment variable's name to an error, if the selector comes from there.
    pub(crate) fn blame(&self, error: Error) -> Error {
        match std::env::var_os(DEVICE_VARIABLE) {
            Some(value) if *self == Self::Default && matches!(error, Error::NoMatchingDevice { .. }) => {
                Error::of_variable(DEVICE_VARIABLE, &value)(error)
            }
            _ => error,
        }
    }
}

impl DeviceSelector {
    /// A kind of device, or a word of a device's name, that is similar to the selector.
    fn meant<'d>(&self, devices: impl Iterator<Item = &'d DeviceInfo>) -> Option<String> {
        const WORDS: [&str; 7] = ["best", "vulkan", "cpu", "discrete", "integrated", "virtual", "reference"];
        let Self::Name(name) = self else { return None };
        let names = devices.flat_map(|device| device.name.split_whitespace()).chain(WORDS);
        closest(name, names).map(str::to_owned)
    }
}

fn listed(device: &DeviceInfo) -> String {
    let index = device.index.map(|index| format!("{index}: ")).unwrap_or_default();
    format!("{index}{} ({})", device.name, device.kind)
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
            ("vulkan", DeviceSelector::Vulkan),
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
    fn lists() {
        let list = |text| DeviceSelector::parse_list(text).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(list("cpu"), ["cpu"]);
        assert_eq!(list("cpu, name:radeon,1,default"), ["cpu", "name:radeon", "1", "best"]);
        let named = list("llvmpipe (LLVM 15.0.6, 256 bits),cpu,0");
        assert_eq!(named, ["name:llvmpipe (LLVM 15.0.6, 256 bits)", "cpu", "0"]);
        let many = list("reference:check,seed=7,cpu,reference:subgroup=64,check,reference");
        assert_eq!(many, ["reference:check,seed=7", "cpu", "reference:subgroup=64,check", "reference"]);
        for text in ["cpu,", ",", "cpu,,1"] {
            assert!(matches!(DeviceSelector::parse_list(text), Err(Error::BadSelector(_))), "{text:?}");
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
        let index =
            |text: &str| text.parse::<DeviceSelector>().unwrap().choose(&devices).map(|device| device.index.unwrap());
        assert_eq!(index("best").unwrap(), 3);
        assert_eq!(index("radeon").unwrap(), 2);
        assert_eq!(index("name:RADEON P").unwrap(), 3);
        assert_eq!(index("discrete").unwrap(), 1);
        assert_eq!(index("cpu").unwrap(), 0);
        let error = index("virtual").unwrap_err().to_string();
        assert!(error.contains("virtual") && error.contains("3: Radeon Pro (discrete)"), "{error}");
        let error = index("radoen").unwrap_err().to_string();
        assert!(error.contains("no device matches `name:radoen` (did you mean `Radeon`?)"), "{error}");
        let error = index("reference").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
        assert!(matches!(index("4"), Err(Error::NoMatchingDevice { .. })));
        assert!(matches!(DeviceSelector::Best.choose(&[]), Err(Error::NoDevice { .. })));
    }
}
