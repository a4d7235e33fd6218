//! The interpreter's configuration, made from options.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};

use ptx2spv_reference::{Config, Mode};
use ptx2spv_translator::Target;
use ptx2spv_translator::target::{Facts, Quirks, Subgroups};

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::info::options::{ReferenceOptions, wrong};
use crate::info::target_by_name;

/// Bytes of local memory for each invocation. Its variables may take one mebibyte in total.
const LOCAL_MEMORY: u32 = 512 << 10;

impl ReferenceOptions {
    /// The configuration for [`Device::reference`](crate::Device::reference). Reads the target's file if the options
    /// name one.
    ///
    /// # Errors
    /// [`Error::BadReferenceOptions`] for an impossible subgroup size, [`Error::Target`] for an unknown target.
    pub fn config(&self) -> Result<Config> {
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
        // The interpreter has its own arithmetic, and none of the driver's bugs except for those that the options name.
        target.facts = match (self.seed, self.check) {
            (Some(_), _) => Facts::default(),
            (None, true) => Facts::CHECKED,
            (None, false) => Facts::REFERENCE,
        };
        // The amount of local memory is a limit of the target, not a driver bug, and the interpreter has its own limit
        // too.
        let local_memory = target.quirks.local_memory.map_or(LOCAL_MEMORY, |bytes| bytes.min(LOCAL_MEMORY));
        let loop_budget = self.loops.map(NonZeroU32::get);
        target.quirks = Quirks { local_memory: Some(local_memory), loop_budget, ..quirks(&self.quirks)? };
        target = target.with_promises();
        let name = Self { threads: None, steps: None, ..self.clone() }.to_string();
        target.name = if name.is_empty() { "reference".to_owned() } else { format!("reference ({name})") };
        let mut config = Config { target, step_budget: self.steps, ..Config::default() };
        config.mode = Mode { check: self.check, seed: self.seed };
        config.threads = self.threads.map_or(config.threads, NonZeroUsize::get);
        Ok(config)
    }
}

/// The quirks with these names.
fn quirks(names: &BTreeSet<String>) -> Result<Quirks> {
    let unreadable = |error: serde_json::Error| wrong(format_args!("quirks: {error}"));
    let mut all = serde_json::to_value(Quirks::default()).map_err(unreadable)?;
    for name in names {
        match all.get_mut(name).filter(|value| value.is_boolean()) {
            Some(value) => *value = true.into(),
            None => {
                let members = all.as_object().into_iter().flatten().filter(|(_, value)| value.is_boolean());
                let known: Vec<&str> = members.map(|(name, _)| name.as_str()).collect();
                return Err(wrong(format_args!("`{name}` is not one of the quirks {}", known.join(", "))));
            }
        }
    }
    serde_json::from_value(all).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv_translator::Feature;

    #[test]
    fn the_device_is_what_was_asked_for() {
        let config = |text: &str| text.parse::<ReferenceOptions>().unwrap().config();
        let target = config("target=lavapipe").unwrap().target;
        assert_eq!(target.name, "reference (target=lavapipe)");
        let lavapipe = Target::preset("lavapipe").unwrap();
        assert_eq!((&target.features, &target.limits), (&lavapipe.features, &lavapipe.limits));
        // The facts and quirks of the interpreter, with the lower of its own limit of local memory and the target's.
        let local_memory = |bytes| Quirks { local_memory: Some(bytes), ..Quirks::default() };
        assert_eq!((target.facts, target.quirks), (Facts::REFERENCE, local_memory(32 << 10)));
        assert_eq!(config("target=mali").unwrap().target.quirks, local_memory(512 << 10));
        assert_eq!(config("check").unwrap().target.facts, Facts::CHECKED);
        // The facts that the float controls and features promise.
        let promised = Facts {
            fma_khr_f32_right: true,
            fma_khr_f64_right: true,
            denormals_f32_kept: true,
            denormals_f64_kept: true,
            convert_f32_exact: true,
            normal_f32_exact: true,
            ..Facts::default()
        };
        assert_eq!(config("check,seed=1").unwrap().target.facts, promised);
        let flushing = Facts { denormals_f64_kept: false, fma_khr_f64_right: false, ..promised };
        assert_eq!(config("seed=1,without=shaderDenormPreserveFloat64").unwrap().target.facts, flushing);
        let sizes = config("subgroup=128").unwrap().target.subgroups;
        assert_eq!((sizes.size, sizes.min_size, sizes.max_size), (128, 128, 128));
        let limits = config("invocations=128").unwrap().target.limits;
        assert_eq!(limits.max_compute_work_group_invocations, 128);
        assert_eq!(limits.max_compute_work_group_size, [128, 128, 64]);
        assert!(!config("without=ShaderInt8").unwrap().target.has(Feature::ShaderInt8));
        for (text, part) in [
            ("quirks=nesting", "`nesting` is not one of the quirks address_carries_lost, blocks_slow, "),
            ("subgroup=48", "a subgroup of 48"),
            ("subgroup=0", "power of two"),
            ("subgroup=256", "up to 128"),
            ("target=atari", "no target `atari`: it is neither a preset (amd-rdna, amd-gcn, "),
        ] {
            assert!(config(text).unwrap_err().to_string().contains(part), "{text}");
        }
    }
}
