//! How the reference device is described in text: in a selector, an environment variable, on the command line.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::str::FromStr;

use ptx2spv_reference::{Config, Mode};
use ptx2spv_translator::target::{Facts, FloatControls, Quirks, Subgroups};
use ptx2spv_translator::{Feature, Target};

use crate::error::Error;
use crate::suggest::{closest, question};

/// Which device the reference device is, and how it runs.
///
/// As text, these in any order, separated by commas; what is left out is as [`ReferenceOptions::default`] has it:
///
/// | | |
/// | --- | --- |
/// | `check` | report undefined values, uninitialised memory, data races and the like |
/// | `seed=N` | decide what Vulkan leaves open by this seed, badly on purpose |
/// | `subgroup=N` | a subgroup size: a power of two up to 128 |
/// | `invocations=N` | workgroups of at most so many invocations, in all and in each dimension |
/// | `target=NAME` | be the device of a preset or of a file that `ptx2spv devices --json` wrote |
/// | `without=A+B` | lack these features and float controls (Vulkan's names) |
/// | `quirks=A+B` | have modules work around these bugs, which it doesn't have (members of [`Quirks`] that are truth values) |
/// | `threads=N` | host threads that run blocks, where there is neither `check` nor a seed |
/// | `steps=N` | stop a launch after so many instructions of a dispatch |
///
/// ```
/// use ptx2spv_runtime::ReferenceOptions;
/// use ptx2spv_translator::Feature;
///
/// let options: ReferenceOptions = "check,subgroup=64,without=shaderInt16+shaderFloat64".parse()?;
/// let config = options.config()?;
/// assert!(config.mode.check);
/// assert_eq!(config.target.subgroups.size, 64);
/// assert!(!config.target.has(Feature::ShaderFloat64));
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceOptions {
    /// Report what is undefined.
    pub check: bool,
    /// Decide what Vulkan leaves open by this seed; `None`: as an exact, orderly device would.
    pub seed: Option<u64>,
    /// The subgroup size; `None` for that of the target.
    pub subgroup: Option<u32>,
    /// Most invocations of a workgroup, in all and in each dimension, if the target doesn't hold fewer anyway; `None` for what
    /// it holds.
    pub invocations: Option<NonZeroU32>,
    /// A preset (see [`Target::PRESETS`]) or a file; `None` for the preset `reference`.
    pub target: Option<String>,
    /// Features that the target has and this device hasn't.
    pub without: BTreeSet<Feature>,
    /// Float controls that the target has and this device hasn't, by [`FloatControls::names`].
    pub without_controls: BTreeSet<&'static str>,
    /// Bugs of drivers that modules work around, though this device has none: names of members of [`Quirks`].
    pub quirks: BTreeSet<String>,
    /// Host threads; `None` for as many as there are processors.
    pub threads: Option<NonZeroUsize>,
    /// Instructions of a dispatch; `None` for no limit.
    pub steps: Option<u64>,
}

pub(crate) const KEYS: &str = "check, seed=N, subgroup=N, invocations=N, target=NAME, without=FEATURE+FEATURE, quirks=QUIRK+QUIRK, threads=N, steps=N";

/// Bytes of local memory for each invocation, of which its variables may take a mebibyte in all.
const LOCAL_MEMORY: u32 = 512 << 10;

fn wrong(what: impl fmt::Display) -> Error {
    Error::BadReferenceOptions(what.to_string())
}

impl FromStr for ReferenceOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut options = Self::default();
        for part in text.split(',').map(str::trim) {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) => (key.trim(), value.trim()),
                None => (part, ""),
            };
            match key {
                "check" if value.is_empty() => options.check = true,
                "seed" => options.seed = Some(number(key, value)?),
                "invocations" => options.invocations = Some(number(key, value)?),
                "subgroup" => options.subgroup = Some(number(key, value)?),
                "target" if !value.is_empty() => options.target = Some(value.to_owned()),
                "without" => value.split('+').try_for_each(|name| options.lack(name.trim()))?,
                "quirks" => options.quirks = value.split('+').map(|name| name.trim().to_owned()).collect(),
                "threads" => options.threads = Some(number(key, value)?),
                "steps" => options.steps = Some(number(key, value)?),
                _ => return Err(wrong(format_args!("`{part}`"))),
            }
        }
        Ok(options)
    }
}

fn number<N: FromStr>(key: &str, text: &str) -> Result<N, Error> {
    text.parse().map_err(|_| wrong(format_args!("`{text}` is no number that `{key}` takes")))
}

/// Quirks by name.
fn quirks(names: &BTreeSet<String>) -> Result<Quirks, Error> {
    let unreadable = |error: serde_json::Error| wrong(format_args!("quirks: {error}"));
    let mut all = serde_json::to_value(Quirks::default()).map_err(unreadable)?;
    for name in names {
        match all.get_mut(name).filter(|value| value.is_boolean()) {
            Some(value) => *value = true.into(),
            None => {
                let members = all.as_object().into_iter().flatten().filter(|(_, value)| value.is_boolean());
                let known: Vec<&str> = members.map(|(name, _)| name.as_str()).collect();
                return Err(wrong(format_args!("`{name}` is none of the quirks {}", known.join(", "))));
            }
        }
    }
    serde_json::from_value(all).map_err(unreadable)
}

impl fmt::Display for ReferenceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.target.as_ref().map(|target| format!("target={target}")));
        parts.extend(self.subgroup.map(|size| format!("subgroup={size}")));
        parts.extend(self.invocations.map(|most| format!("invocations={most}")));
        let features = self.without.iter().map(|feature| feature.name());
        let names: Vec<&str> = features.chain(self.without_controls.iter().copied()).collect();
        if !names.is_empty() {
            parts.push(format!("without={}", names.join("+")));
        }
        if !self.quirks.is_empty() {
            parts.push(format!("quirks={}", self.quirks.iter().map(String::as_str).collect::<Vec<_>>().join("+")));
        }
        parts.extend(self.check.then(|| "check".to_owned()));
        parts.extend(self.seed.map(|seed| format!("seed={seed}")));
        parts.extend(self.threads.map(|threads| format!("threads={threads}")));
        parts.extend(self.steps.map(|steps| format!("steps={steps}")));
        f.write_str(&parts.join(","))
    }
}

impl ReferenceOptions {
    /// Takes a feature or a float control away.
    fn lack(&mut self, name: &str) -> Result<(), Error> {
        if let Some(feature) = Feature::ALL.iter().find(|feature| feature.name().eq_ignore_ascii_case(name)) {
            self.without.insert(*feature);
        } else if let Some(control) = FloatControls::names().find(|control| control.eq_ignore_ascii_case(name)) {
            self.without_controls.insert(control);
        } else {
            let names: Vec<&str> =
                Feature::ALL.iter().map(|feature| feature.name()).chain(FloatControls::names()).collect();
            return Err(wrong(format_args!("`{name}` is none of the features {}", names.join(", "))));
        }
        Ok(())
    }

    /// What [`Device::reference`](crate::Device::reference) takes. Reads the target's file if one is named.
    ///
    /// # Errors
    /// [`Error::BadReferenceOptions`] for a subgroup size that no device has, [`Error::Target`] if there is no such target.
    pub fn config(&self) -> Result<Config, Error> {
        let mut target = match &self.target {
            Some(name) => target_by_name(name)?,
            None => Target::reference(),
        };
        if let Some(size) = self.subgroup {
            if !size.is_power_of_two() || size > 128 {
                return Err(wrong(format_args!("a subgroup of {size}: it must be a power of two up to 128")));
            }
            target.subgroups = Subgroups { size, min_size: size, max_size: size, ..target.subgroups };
        }
        if let Some(most) = self.invocations.map(NonZeroU32::get) {
            let limits = &mut target.limits;
            limits.max_compute_work_group_invocations = limits.max_compute_work_group_invocations.min(most);
            limits.max_compute_work_group_size = limits.max_compute_work_group_size.map(|size| size.min(most));
        }
        target.features.retain(|feature| !self.without.contains(feature));
        self.without_controls.iter().for_each(|control| target.float_controls.remove(control));
        // Its arithmetic is its own, and it has no driver that could be wrong but for what is asked for.
        target.facts = match (self.seed, self.check) {
            (Some(_), _) => Facts::default(),
            (None, true) => Facts::CHECKED,
            (None, false) => Facts::REFERENCE,
        };
        // How much local memory there is is no bug of a driver's, and it has a limit of its own.
        let local_memory = target.quirks.local_memory.map_or(LOCAL_MEMORY, |bytes| bytes.min(LOCAL_MEMORY));
        target.quirks = Quirks { local_memory: Some(local_memory), ..quirks(&self.quirks)? };
        target = target.with_promises();
        let name = Self { threads: None, steps: None, ..self.clone() }.to_string();
        target.name = if name.is_empty() { "reference".to_owned() } else { format!("reference ({name})") };
        let mut config = Config { target, step_budget: self.steps, ..Config::default() };
        config.mode = Mode { check: self.check, seed: self.seed };
        config.threads = self.threads.map_or(config.threads, NonZeroUsize::get);
        Ok(config)
    }
}

/// The target of that name: a preset, else a file that `ptx2spv devices --device X --json` wrote.
///
/// # Errors
/// [`Error::Target`] if it is neither.
pub fn target_by_name(name: &str) -> Result<Target, Error> {
    if let Some(target) = Target::preset(name) {
        return Ok(target);
    }
    if !Path::new(name).exists() {
        let meant = question(closest(name, Target::PRESETS.iter().copied()));
        let presets = Target::PRESETS.join(", ");
        return Err(Error::Target(format!("no target `{name}`{meant}: it is neither a preset ({presets}) nor a file")));
    }
    let text = fs::read_to_string(name).map_err(|error| Error::Target(format!("{name}: {error}")))?;
    if text.trim_start().starts_with('[') {
        let hint = "write one with `ptx2spv devices --device X --json`";
        return Err(Error::Target(format!("{name} describes several devices: {hint}")));
    }
    serde_json::from_str(&text).map_err(|error| Error::Target(format!("{name} is no target description: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        let all = ReferenceOptions {
            check: true,
            seed: Some(u64::MAX),
            subgroup: Some(64),
            invocations: NonZeroU32::new(128),
            target: Some("nvidia".to_owned()),
            without: [Feature::ShaderInt64, Feature::ShaderFloat64].into(),
            without_controls: ["shaderDenormPreserveFloat32"].into(),
            quirks: ["byte_swaps_wrong".to_owned(), "subgroups_unreliable".to_owned()].into(),
            threads: NonZeroUsize::new(2),
            steps: Some(1_000_000_000),
        };
        let text = "target=nvidia,subgroup=64,invocations=128,\
                    without=shaderInt64+shaderFloat64+shaderDenormPreserveFloat32,\
                    quirks=byte_swaps_wrong+subgroups_unreliable,check,seed=18446744073709551615,threads=2,steps=1000000000";
        assert_eq!(all.to_string(), text);
        assert_eq!(text.parse::<ReferenceOptions>().unwrap(), all);
        assert_eq!(" seed = 3 , check".parse::<ReferenceOptions>().unwrap().to_string(), "check,seed=3");
    }

    #[test]
    fn wrong_texts_are_refused_with_what_there_is() {
        let cases = [
            ("", "there are: check, seed=N"),
            ("sed=1", "`sed=1`"),
            ("check=1", "`check=1`"),
            ("seed", "no number that `seed` takes"),
            ("seed=-1", "`-1` is no number"),
            ("subgroup=4294967296", "no number that `subgroup` takes"),
            ("invocations=0", "`0` is no number that `invocations` takes"),
            ("threads=0", "`0` is no number that `threads` takes"),
            ("without=shaderInt63", "`shaderInt63` is none of the features bufferDeviceAddress, "),
            ("target=", "`target=`"),
        ];
        for (text, part) in cases {
            let error = text.parse::<ReferenceOptions>().unwrap_err();
            assert!(matches!(error, Error::BadReferenceOptions(_)), "{text}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_device_is_what_was_asked_for() {
        let config = |text: &str| text.parse::<ReferenceOptions>().unwrap().config();
        let target = config("target=lavapipe").unwrap().target;
        assert_eq!(target.name, "reference (target=lavapipe)");
        let lavapipe = Target::preset("lavapipe").unwrap();
        assert_eq!((&target.features, &target.limits), (&lavapipe.features, &lavapipe.limits));
        // Its own arithmetic, and no bugs; as much local memory as the target has, if that isn't more than its own.
        let local_memory = |bytes| Quirks { local_memory: Some(bytes), ..Quirks::default() };
        assert_eq!((target.facts, target.quirks), (Facts::REFERENCE, local_memory(32 << 10)));
        assert_eq!(config("target=mali").unwrap().target.quirks, local_memory(512 << 10));
        assert_eq!(config("check").unwrap().target.facts, Facts::CHECKED);
        // What its float controls promise.
        let promised = Facts {
            denormals_f32_kept: true,
            denormals_f64_kept: true,
            convert_f32_exact: true,
            normal_f32_exact: true,
            ..Facts::default()
        };
        assert_eq!(config("check,seed=1").unwrap().target.facts, promised);
        let flushing = Facts { denormals_f64_kept: false, ..promised };
        assert_eq!(config("seed=1,without=shaderDenormPreserveFloat64").unwrap().target.facts, flushing);
        let sizes = config("subgroup=128").unwrap().target.subgroups;
        assert_eq!((sizes.size, sizes.min_size, sizes.max_size), (128, 128, 128));
        let limits = config("invocations=128").unwrap().target.limits;
        assert_eq!(limits.max_compute_work_group_invocations, 128);
        assert_eq!(limits.max_compute_work_group_size, [128, 128, 64]);
        assert!(!config("without=ShaderInt8").unwrap().target.has(Feature::ShaderInt8));
        for (text, part) in [
            ("quirks=nesting", "`nesting` is none of the quirks byte_swaps_wrong, "),
            ("subgroup=48", "a subgroup of 48"),
            ("subgroup=0", "power of two"),
            ("subgroup=256", "up to 128"),
            ("target=atari", "no target `atari`: it is neither a preset (amd-rdna, amd-gcn, "),
        ] {
            assert!(config(text).unwrap_err().to_string().contains(part), "{text}");
        }
    }
}
