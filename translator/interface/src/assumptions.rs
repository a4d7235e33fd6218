//! Assumptions of a module about its device beyond features and limits: measured arithmetic, float controls, and the
//! bugs that were worked around. They travel with the module, so that a device which differs is refused instead of
//! giving other numbers.
//!
//! They are all those of the target, used by a kernel or not: a device that breaks one might still have served.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::contents::Contents;
use ptx2spv_target::{Facts, FloatControls, Quirks, Target};

/// Assumptions of a module about its device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Assumptions {
    /// Facts that the device's arithmetic and subgroups must satisfy.
    pub facts: Facts,
    /// Float controls that modules declare.
    pub float_controls: FloatControls,
    /// Bugs that modules work around.
    pub quirks: Quirks,
}

impl Assumptions {
    /// The assumptions of modules for a target.
    pub fn of(target: &Target) -> Self {
        Self {
            facts: target.facts.clone(),
            float_controls: target.float_controls.clone(),
            quirks: target.quirks.clone(),
        }
    }

    /// The number of facts relied on.
    pub fn fact_count(&self) -> usize {
        members(&self.facts).len()
    }

    /// The names of all demands on a device: facts that hold, float controls that are declared, and bugs whose
    /// workarounds would be wrong without them.
    pub fn names(&self) -> BTreeSet<String> {
        let mut names = members(&self.facts);
        names.extend(self.declared());
        let Quirks { memory_barriers_wait, subgroup_barriers_wait, .. } = self.quirks;
        let left_out =
            [("memory_barriers_wait", memory_barriers_wait), ("subgroup_barriers_wait", subgroup_barriers_wait)];
        names.extend(left_out.into_iter().filter(|(_, is_expected)| *is_expected).map(|(name, _)| name.to_owned()));
        names
    }

    /// Why a module that contains this doesn't suit a device, each reason by itself; empty if it does. A difference of
    /// the device is no reason where the module contains nothing that the difference concerns, nor is a workaround that
    /// the device doesn't need.
    pub fn broken_by(&self, contents: &Contents, device: &Target) -> Vec<String> {
        let device = Self::of(device);
        let mut reasons = Vec::new();
        let mut facts = members(&self.facts);
        facts.retain(|fact| contents.concerns(fact));
        let seen = members(&device.facts);
        reasons.extend(facts.difference(&seen).map(|fact| format!("`{fact}` doesn't hold")));
        let (mut declared, mut offered) = (self.declared(), device.declared());
        // A module declares nothing of floats that it doesn't have.
        for controls in [&mut declared, &mut offered] {
            for (width, end) in [(16, "float16"), (64, "float64")] {
                controls.retain(|control| contents.floats.contains(&width) || !control.ends_with(end));
            }
        }
        reasons.extend(declared.difference(&offered).map(|control| format!("it has no `{control}`")));
        if facts.iter().any(|fact| fact != "subgroups_reconverge") {
            // What a device's arithmetic does was measured with all that it has declared.
            let missing = offered.difference(&declared);
            reasons.extend(missing.map(|control| format!("its arithmetic is known with `{control}` only")));
        }
        reasons.extend(unprepared(&self.quirks, contents, &device.quirks).map(|quirk| format!("quirk `{quirk}`")));
        reasons
    }

    /// Float controls that modules declare.
    fn declared(&self) -> BTreeSet<String> {
        let mut controls = members(&self.float_controls);
        if self.quirks.denorm_preserve_unadvertised {
            controls.extend(["denorm_preserve_float32".to_owned(), "denorm_preserve_float64".to_owned()]);
        }
        controls
    }
}

/// Bugs of a device that a module made for others meets and doesn't expect, by their names.
fn unprepared(made: &Quirks, contents: &Contents, device: &Quirks) -> impl Iterator<Item = &'static str> {
    // Taken apart in full, so that a new one has to be thought of here.
    let Quirks {
        loop_values_lost,
        surplus_invocations_loop,
        memory_barriers_wait,
        memory_barriers_optional: _, // no bug
        subgroup_barriers_wait,
        loop_budget,
        nesting,
        denorm_preserve_unadvertised: _, // among what is declared
        byte_swaps_wrong,
        long_divisions_wrong,
        double_divisions_wrong,
        nan_signs_wrong,
        dot_nans_lost,
        condition_bits_wrong,
        joined_signs_lost,
        address_carries_lost,
        subgroups_unreliable,
        maximal_reconvergence_wrong,
        workgroup_atomic_stores_wrong,
        local_memory,
        conditions_slow: _,             // only slow
        blocks_slow: _,                 // the same
        device_memory_barriers_slow: _, // the same
        offsets_unchecked: _,           // met by wrong kernels only
        stack_small,
    } = *device;
    let within = |held: Option<u32>, most: Option<u32>| most.is_none_or(|most| held.is_some_and(|held| held <= most));
    let fits = |size: u64, most: Option<u32>| most.is_none_or(|most| size <= most.into());
    let local_fits = !contents.local_bytes_unknown && fits(contents.local_bytes, local_memory);
    let loops = contents.loops;
    // Where barriers don't wait, leaving them out is wrong if there was something to order.
    let orders = contents.atomics || contents.subgroups;
    let barriers_right = match (made.memory_barriers_wait, memory_barriers_wait) {
        (false, true) => !contents.memory_barriers,
        (true, false) => !orders,
        _ => true,
    };
    let subgroup_barriers_right = match (made.subgroup_barriers_wait, subgroup_barriers_wait) {
        (false, true) => !contents.subgroup_barriers,
        // Who expects it relies on subgroups that run in lockstep.
        (true, false) => !contents.subgroups,
        _ => true,
    };
    [
        ("loop_values_lost", !loops || made.loop_values_lost >= loop_values_lost),
        ("surplus_invocations_loop", !loops || made.surplus_invocations_loop >= surplus_invocations_loop),
        ("memory_barriers_wait", barriers_right),
        ("subgroup_barriers_wait", subgroup_barriers_right),
        ("loop_budget", !loops || within(made.loop_budget, loop_budget)),
        ("stack_small", contents.variables < Quirks::MANY_VARIABLES || made.stack_small >= stack_small),
        ("nesting", within(made.nesting, nesting) || fits(contents.nesting, nesting)),
        ("byte_swaps_wrong", !contents.short_integers || made.byte_swaps_wrong >= byte_swaps_wrong),
        ("long_divisions_wrong", !contents.long_divisions || made.long_divisions_wrong >= long_divisions_wrong),
        (
            "double_divisions_wrong",
            !contents.divides_doubles_in_loops() || made.double_divisions_wrong >= double_divisions_wrong,
        ),
        ("nan_signs_wrong", !contents.has_floats() || made.nan_signs_wrong >= nan_signs_wrong),
        ("dot_nans_lost", !contents.has_floats() || made.dot_nans_lost >= dot_nans_lost),
        ("condition_bits_wrong", !contents.has_floats() || made.condition_bits_wrong >= condition_bits_wrong),
        ("joined_signs_lost", !contents.long_words || made.joined_signs_lost >= joined_signs_lost),
        ("address_carries_lost", !contents.long_words || made.address_carries_lost >= address_carries_lost),
        ("subgroups_unreliable", !contents.subgroups || !subgroups_unreliable),
        ("maximal_reconvergence_wrong", !contents.maximal_reconvergence || !maximal_reconvergence_wrong),
        (
            "workgroup_atomic_stores_wrong",
            !contents.atomic_stores || made.workgroup_atomic_stores_wrong >= workgroup_atomic_stores_wrong,
        ),
        ("local_memory", within(made.local_memory, local_memory) || local_memory.is_none() || local_fits),
    ]
    .into_iter()
    .filter_map(|(name, prepared)| (!prepared).then_some(name))
}

/// Names of the members that are true.
pub(crate) fn members(flags: &impl Serialize) -> BTreeSet<String> {
    match serde_json::to_value(flags) {
        Ok(serde_json::Value::Object(object)) => {
            object.into_iter().filter(|(_, value)| *value == true).map(|(name, _)| name).collect()
        }
        // Structures of truth values are objects.
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with everything that any device does in a way of its own.
    fn everything() -> Contents {
        Contents::everything()
    }

    #[test]
    fn every_fact_is_about_something() {
        for fact in members(&Facts::TRUSTED) {
            assert!(!Contents::default().concerns(&fact), "{fact}");
        }
    }

    #[test]
    fn a_target_keeps_its_own_promises() {
        for name in Target::PRESETS {
            let target = Target::preset(name).unwrap();
            let subgroups = !target.quirks.subgroups_unreliable;
            let shallow =
                Contents { subgroups, maximal_reconvergence: false, nesting: 1, local_bytes: 1, ..everything() };
            assert_eq!(Assumptions::of(&target).broken_by(&shallow, &target), [""; 0], "{name}");
        }
    }

    /// Modules for the least, which have no operations of subgroups, suit every device.
    #[test]
    fn the_least_suits_all() {
        let least = Assumptions::of(&Target::preset("vulkan1.1-minimum").unwrap());
        let contents = Contents {
            subgroups: false,
            maximal_reconvergence: false,
            subgroup_barriers: false,
            // The host decides about these.
            memory_barriers: false,
            local_bytes: 4096,
            ..everything()
        };
        for name in Target::PRESETS {
            assert_eq!(least.broken_by(&contents, &Target::preset(name).unwrap()), [""; 0], "{name}");
        }
    }

    /// Assumptions about operations that a module doesn't contain can't be broken.
    #[test]
    fn a_plain_module_suits_all() {
        for made in Target::PRESETS {
            let mut made = Assumptions::of(&Target::preset(made).unwrap());
            // Declared whatever the module contains.
            made.float_controls = FloatControls::default();
            made.quirks.denorm_preserve_unadvertised = false;
            for device in Target::PRESETS {
                let device = Target::preset(device).unwrap();
                assert_eq!(made.broken_by(&Contents::default(), &device), [""; 0], "{}", device.name);
            }
        }
    }

    #[test]
    fn the_least_relies_on_nothing() {
        let names = |preset| Assumptions::of(&Target::preset(preset).unwrap()).names();
        assert_eq!(names("vulkan1.1-minimum"), BTreeSet::new());
        for (preset, name) in [
            ("nvidia", "fma_f32_fused"),
            ("nvidia", "denorm_preserve_float32"),
            ("mali", "rounding_mode_rte_float32"),
            ("lavapipe", "memory_barriers_wait"),
            ("swiftshader", "subgroups_reconverge"),
        ] {
            assert!(names(preset).contains(name), "{preset}: {name}");
        }
    }

    #[test]
    fn what_a_device_lacks_is_named() {
        type Change = fn(&mut Target);
        let cases: [(&str, Change); 21] = [
            ("`div_f32_rounded` doesn't hold", |t| t.facts.div_f32_rounded = false),
            ("`denormals_f64_kept` doesn't hold", |t| t.facts.denormals_f64_kept = false),
            ("`subgroups_reconverge` doesn't hold", |t| t.facts.subgroups_reconverge = false),
            ("it has no `rounding_mode_rte_float32`", |t| t.float_controls.rounding_mode_rte_float32 = false),
            ("quirk `memory_barriers_wait`", |t| t.quirks.memory_barriers_wait = true),
            ("quirk `subgroup_barriers_wait`", |t| t.quirks.subgroup_barriers_wait = true),
            ("quirk `loop_values_lost`", |t| t.quirks.loop_values_lost = true),
            ("quirk `surplus_invocations_loop`", |t| t.quirks.surplus_invocations_loop = true),
            ("quirk `loop_budget`", |t| t.quirks.loop_budget = Some(9)),
            ("quirk `stack_small`", |t| t.quirks.stack_small = true),
            ("quirk `local_memory`", |t| t.quirks.local_memory = Some(9)),
            ("quirk `byte_swaps_wrong`", |t| t.quirks.byte_swaps_wrong = true),
            ("quirk `long_divisions_wrong`", |t| t.quirks.long_divisions_wrong = true),
            ("quirk `double_divisions_wrong`", |t| t.quirks.double_divisions_wrong = true),
            ("quirk `nan_signs_wrong`", |t| t.quirks.nan_signs_wrong = true),
            ("quirk `dot_nans_lost`", |t| t.quirks.dot_nans_lost = true),
            ("quirk `condition_bits_wrong`", |t| t.quirks.condition_bits_wrong = true),
            ("quirk `joined_signs_lost`", |t| t.quirks.joined_signs_lost = true),
            ("quirk `address_carries_lost`", |t| t.quirks.address_carries_lost = true),
            ("quirk `subgroups_unreliable`", |t| t.quirks.subgroups_unreliable = true),
            ("quirk `workgroup_atomic_stores_wrong`", |t| t.quirks.workgroup_atomic_stores_wrong = true),
        ];
        let made = Assumptions::of(&Target::reference());
        for (expected, change) in cases {
            let mut device = Target::reference();
            change(&mut device);
            let contents = everything();
            assert_eq!(made.broken_by(&contents, &device), [expected]);
            // Made for the poorer device, it runs on both, but for one that leaves barriers out.
            let poorer = Assumptions::of(&device).broken_by(&contents, &Target::reference());
            let fewer_controls = expected.contains("rounding_mode") || expected.contains("barriers_wait");
            assert_eq!(poorer.is_empty(), !fewer_controls, "{expected}: {poorer:?}");
        }
    }

    /// Facts are measured with the device's float controls. A module that relies on no fact needs no controls.
    #[test]
    fn facts_hold_with_the_controls_they_were_measured_with() {
        let device = Target::reference();
        let bare = Assumptions::default();
        assert_eq!(bare.broken_by(&everything(), &device), [""; 0]);
        let trusting = Assumptions { facts: device.facts.clone(), ..bare };
        assert_eq!(trusting.broken_by(&everything(), &device).len(), 9);
        assert_eq!(trusting.fact_count(), Assumptions::of(&device).fact_count());
        // Controls of floats that a module doesn't have are no reason.
        let single = Contents { floats: [32].into(), ..everything() };
        assert_eq!(trusting.broken_by(&single, &device).len(), 3);
    }
}
