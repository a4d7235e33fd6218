//! Compute shaders from glslang produce the results of real devices, at their subgroup sizes: Mesa's llvmpipe with 8
//! and an NVIDIA H200 with 32. If Vulkan determines the results, an adversarial device produces them too.

#[path = "shaders/description.rs"]
#[allow(dead_code, reason = "the program that records the results uses the rest")]
mod description;
mod support;

use description::{Recorded, Shader};
use ptx2spv_reference::{Dispatch, Mode};
use support::{CHECKED, PLAIN, adversarial, bytes, device, directory, words};

const STEPS: u64 = 50_000_000;

/// The words of a shader's results, and the findings.
fn run(shader: &Shader, subgroup_size: u32, mode: Mode) -> Result<Vec<Vec<u32>>, String> {
    let device = device(subgroup_size, mode, STEPS);
    let description = &shader.description;
    let module = device.shader(&shader.spirv).map_err(|refusal| refusal.to_string())?;
    let specialization: Vec<(u32, u64)> = description.specialize.iter().map(|(&id, &value)| (id, value)).collect();
    let pipeline = device.pipeline(&module, "main", &specialization, None).map_err(|refusal| refusal.to_string())?;
    let mut places = Vec::new();
    for buffer in &description.buffers {
        let data = bytes(&buffer.words());
        let address = device.allocate(data.len() as u64).ok_or("no memory")?;
        device.write(address, &data).map_err(|finding| finding.to_string())?;
        places.push((address, data.len()));
    }
    let addresses: Vec<u64> = places.iter().map(|(address, _)| *address).collect();
    let push_constants = bytes(&description.push_constants(&addresses));
    let dispatch = Dispatch { groups: description.groups, push_constants: &push_constants };
    device.dispatch(&pipeline, &dispatch).map_err(|finding| finding.to_string())?;
    let mut results = Vec::new();
    for looked in &description.results {
        let (address, size) = places[looked.buffer];
        let mut data = vec![0; size];
        device.read(address, &mut data).map_err(|finding| finding.to_string())?;
        results.push(words(&data));
    }
    match device.take_findings().first() {
        Some(finding) => Err(finding.to_string()),
        None => Ok(results),
    }
}

/// Runs the shaders that `choose` accepts in some modes, at each subgroup size for which a device's results were recorded.
fn check(modes: impl IntoIterator<Item = Mode>, choose: impl Fn(&Shader) -> bool) {
    let shaders = description::read(&directory("shaders")).unwrap();
    let mut wrong = Vec::new();
    let mut runs = 0;
    for mode in modes {
        for shader in shaders.iter().filter(|shader| choose(shader)) {
            for Recorded { devices, results } in &shader.recorded {
                for (&size, device) in devices {
                    runs += 1;
                    let found = run(shader, size, mode);
                    let difference = found.map_or_else(Some, |found| shader.description.difference(&found, results));
                    wrong.extend(difference.map(|it| format!("{} as on {device} in {mode:?}: {it}", shader.name)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {runs}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(runs > 10, "{runs}");
}

#[test]
fn results_are_those_of_real_devices() {
    check([PLAIN], |_| true);
}

#[test]
fn checks_find_nothing_and_change_nothing() {
    check([CHECKED], |_| true);
}

#[test]
fn determined_results_do_not_depend_on_what_vulkan_leaves_open() {
    check((0..50).map(adversarial), |shader| shader.description.determined);
}

#[test]
fn other_subgroup_sizes_run_too() {
    let mut wrong = Vec::new();
    for shader in description::read(&directory("shaders")).unwrap() {
        // The lanes that these shaders name must exist in a subgroup: at least 8, and at most 64.
        let fixed = ["vote_ballot", "shuffle"].contains(&shader.name.as_str());
        // Results that all devices agree on don't depend on subgroups.
        let agreed = shader.recorded.iter().find(|recorded| recorded.devices.len() > 1);
        for size in [1, 2, 4, 16, 64, 128] {
            if fixed && !(8..=64).contains(&size) {
                continue;
            }
            let difference = match (run(&shader, size, CHECKED), agreed) {
                (Ok(found), Some(agreed)) => shader.description.difference(&found, &agreed.results),
                (result, _) => result.err(),
            };
            wrong.extend(difference.map(|it| format!("{} at {size}: {it}", shader.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn seeds_decide_and_repeat() {
    let shaders = description::read(&directory("shaders")).unwrap();
    let divergent = shaders.iter().find(|shader| shader.name == "divergent").unwrap();
    let results = |seed| run(divergent, 8, Mode { check: false, seed: Some(seed) }).unwrap();
    for seed in 0..4 {
        assert!(results(seed) == results(seed), "{seed}");
        assert!(results(seed) != results(seed + 1), "{seed}");
    }
}
