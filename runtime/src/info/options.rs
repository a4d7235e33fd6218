//! The text form of options for the reference device: in a selector, an environment variable, or on the command line.

use std::collections::BTreeSet;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

use ptx2spv_translator::Feature;
use ptx2spv_translator::target::FloatControls;

use crate::error::{Error, Result};

ptx2spv_translator::target::options! {
    /// Options for the reference device: the device that it imitates, and how it runs.
    ///
    /// The text form is a list of these, separated by commas. Missing ones are as in [`ReferenceOptions::default`]:
    ///
    /// | | |
    /// | --- | --- |
    /// | `check` | report undefined values, uninitialised memory, data races and the like |
    /// | `seed=N` | choose randomly, by this seed, where Vulkan allows several behaviors, preferring inconvenient ones |
    /// | `subgroup=N` | a subgroup size: a power of two up to 128 |
    /// | `invocations=N` | workgroups of at most N invocations, in all and in each dimension |
    /// | `target=NAME` | imitate the device of a preset, or of a file written by `ptx2spv devices --json` |
    /// | `without=A+B` | lack these features and float controls (Vulkan's names) |
    /// | `quirks=A+B` | make modules work around these driver bugs, which this device doesn't have (Boolean members of [`Quirks`](ptx2spv_translator::target::Quirks)) |
    /// | `loops=N` | make modules expect that loops end after N rounds ([`Quirks::loop_budget`](ptx2spv_translator::target::Quirks)), which they don't |
    /// | `threads=N` | host threads that run blocks, without `check` and `seed` |
    /// | `steps=N` | stop a launch after N instructions of a dispatch |
    ///
    /// ```
    /// use ptx2spv_runtime::ReferenceOptions;
    /// use ptx2spv_translator::Feature;
    ///
    /// let options: ReferenceOptions = "check,subgroup=64,without=shaderInt16+shaderFloat64".parse()?;
    /// assert!(options.check && options.without.contains(&Feature::ShaderFloat64));
    /// assert_eq!(options.subgroup, Some(64));
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    ReferenceOptions {
        /// Report undefined behavior.
        check: bool = false,
        /// The seed for random choices where Vulkan allows several behaviors; `None` for an exact device with a fixed
        /// order.
        seed: Option<u64> = None,
        /// The subgroup size; `None` for the target's.
        subgroup: Option<u32> = None,
        /// Maximum invocations of a workgroup, in total and in each dimension, in addition to the target's own limits.
        invocations: Option<NonZeroU32> = None,
        /// A preset (see [`Target::PRESETS`](ptx2spv_translator::Target::PRESETS)) or a file; `None` for the preset `reference`.
        target: Option<String> = None,
        /// Features to remove from the target.
        without: BTreeSet<Feature> = BTreeSet::new(),
        /// Float controls to remove from the target, by [`FloatControls::names`].
        without_controls: BTreeSet<&'static str> = BTreeSet::new(),
        /// Driver bugs that modules work around, although this device has none: names of members of
        /// [`Quirks`](ptx2spv_translator::target::Quirks).
        quirks: BTreeSet<String> = BTreeSet::new(),
        /// Rounds after which modules expect loops to end, although they don't; `None` for no limit.
        loops: Option<NonZeroU32> = None,
        /// Host threads; `None` for one for each processor.
        threads: Option<NonZeroUsize> = None,
        /// Maximum instructions of a dispatch; `None` for no limit.
        steps: Option<u64> = None,
    }
}

/// The possible options.
const KEYS: &str = "check, seed=N, subgroup=N, invocations=N, target=NAME, without=FEATURE+FEATURE, quirks=QUIRK+QUIRK, loops=N, threads=N, steps=N";

/// The error of invalid options.
pub(crate) fn wrong(what: impl fmt::Display) -> Error {
    Error::BadReferenceOptions(format!("{what}; there are: {KEYS}"))
}

impl FromStr for ReferenceOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
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
                "loops" => options.loops = Some(number(key, value)?),
                "threads" => options.threads = Some(number(key, value)?),
                "steps" => options.steps = Some(number(key, value)?),
                _ => return Err(wrong(format_args!("`{part}`"))),
            }
        }
        Ok(options)
    }
}

fn number<N: FromStr>(key: &str, text: &str) -> Result<N> {
    text.parse().map_err(|_| wrong(format_args!("`{text}` is not a valid number for `{key}`")))
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
        parts.extend(self.loops.map(|rounds| format!("loops={rounds}")));
        parts.extend(self.check.then(|| "check".to_owned()));
        parts.extend(self.seed.map(|seed| format!("seed={seed}")));
        parts.extend(self.threads.map(|threads| format!("threads={threads}")));
        parts.extend(self.steps.map(|steps| format!("steps={steps}")));
        f.write_str(&parts.join(","))
    }
}

impl ReferenceOptions {
    /// Removes a feature or a float control.
    fn lack(&mut self, name: &str) -> Result {
        if let Some(feature) = Feature::ALL.iter().find(|feature| feature.name().eq_ignore_ascii_case(name)) {
            self.without.insert(*feature);
        } else if let Some(control) = FloatControls::names().find(|control| control.eq_ignore_ascii_case(name)) {
            self.without_controls.insert(control);
        } else {
            let names: Vec<&str> =
                Feature::ALL.iter().map(|feature| feature.name()).chain(FloatControls::names()).collect();
            return Err(wrong(format_args!("`{name}` is not one of the features {}", names.join(", "))));
        }
        Ok(())
    }
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
            loops: NonZeroU32::new(40),
            threads: NonZeroUsize::new(2),
            steps: Some(1_000_000_000),
        };
        let text = "target=nvidia,subgroup=64,invocations=128,\
                    without=shaderInt64+shaderFloat64+shaderDenormPreserveFloat32,\
                    quirks=byte_swaps_wrong+subgroups_unreliable,loops=40,check,seed=18446744073709551615,threads=2,steps=1000000000";
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
            ("seed", "not a valid number for `seed`"),
            ("seed=-1", "`-1` is not a valid number"),
            ("subgroup=4294967296", "not a valid number for `subgroup`"),
            ("invocations=0", "`0` is not a valid number for `invocations`"),
            ("threads=0", "`0` is not a valid number for `threads`"),
            ("without=shaderInt63", "`shaderInt63` is not one of the features bufferDeviceAddress, "),
            ("target=", "`target=`"),
        ];
        for (text, part) in cases {
            let error = text.parse::<ReferenceOptions>().unwrap_err();
            assert!(matches!(error, Error::BadReferenceOptions(_)), "{text}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
