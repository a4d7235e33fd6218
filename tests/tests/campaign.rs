//! A slice of the campaign: random programs of each kind, and launch cases that were changed without changing what they mean, on reference
//! devices and the default Vulkan device. `scripts/campaign` runs others for hours.

use std::process::Command;

use anyhow::{Result, ensure};

/// Programs of kinds, on a device besides the reference devices.
fn campaign(seeds: u64, kinds: &[&str], device: Option<&str>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_campaign"));
    command.args(["0", &seeds.to_string(), "--reduce", "0", "--out"]).arg(folder.path());
    command.args(kinds.iter().flat_map(|kind| ["--kind", kind]));
    let devices = ["adversarial", "reference:subgroup=32,threads=1", "reference:subgroup=8,threads=1"];
    command.args(devices.into_iter().chain(device).flat_map(|device| ["--device", device]));
    let output = command.output()?;
    ensure!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    // Most mutated programs mean nothing, but not all.
    let journal = std::fs::read_to_string(folder.path().join("journal"))?;
    for kind in kinds {
        let same = journal.lines().filter(|line| line.starts_with(kind) && line.ends_with(" same")).count();
        ensure!(same as u64 >= seeds.div_ceil(5), "only {same} of {seeds} programs of kind {kind} ran:\n{journal}");
    }
    Ok(())
}

#[test]
fn programs_of_each_kind_give_the_same_on_all_devices() -> Result<()> {
    campaign(
        3,
        &["integers", "simd", "floats", "contraction", "loops", "short", "programs", "divergent"],
        Some("default"),
    )
}

#[test]
fn changed_launch_cases_give_their_results() -> Result<()> {
    campaign(60, &["changed"], Some("default"))
}

/// Not on a Vulkan device, whose driver may end the process for a program that no compiler writes.
#[test]
fn mutated_launch_cases_give_the_same_on_reference_devices() -> Result<()> {
    campaign(60, &["mutated"], None)
}
