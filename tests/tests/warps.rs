//! Warp operations of threads that don't converge, and the mapping of warps to devices: tests that can't be launch
//! cases.

use ptx2spv_runtime::{Device, Error, LaunchConfig, ReferenceOptions};
use ptx2spv_translator::target::Packing;
use ptx2spv_translator::{Diagnostics, Feature, Options, Program, Source, Target};

/// * `diverged(out)`: both branches of a condition wait for the whole warp, with operations of different kinds.
/// * `unlike(out)`: both branches wait at operations of one kind, but with different masks.
/// * `across(out)`: both branches wait for the whole warp, at operations of one kind with the same mask.
/// * `left(out)`: threads leave a loop one by one, and the others wait for them in the loop.
/// * `gone(out)`: the same, but those that leave the loop end.
/// * `plain(out)`: no warp operation.
const KERNELS: &str = include_str!("ptx/warps.ptx");

fn launch(subgroup: u32, kernel: &str) -> Result<Vec<u32>, Error> {
    let options = ReferenceOptions::default().subgroup(Some(subgroup));
    let device = Device::reference(options.config()?);
    let module = device.load(&Source::new("warps.ptx", KERNELS))?;
    let out = device.alloc(128)?;
    // SAFETY: the device is the reference device, which checks every access.
    unsafe { module.kernel(kernel)?.launch(&LaunchConfig::linear(32, 32), &[(&out).into()]) }?;
    out.download()
}

#[test]
fn threads_that_do_not_come_fail_the_launch_with_the_line() {
    for subgroup in [1, 8, 32, 64] {
        for (kernel, instruction) in [("diverged", "    "), ("unlike", "    vote"), ("left", "    vote")] {
            let error = launch(subgroup, kernel).unwrap_err().to_string();
            let from = KERNELS.find(&format!("entry {kernel}(")).unwrap();
            let first = KERNELS[..from].lines().count();
            let lines: Vec<usize> = KERNELS
                .lines()
                .enumerate()
                .skip(first)
                .take(15)
                .filter(|(_, line)| line.starts_with(instruction) && line.contains(".sync"))
                .map(|(number, _)| number + 1)
                .collect();
            let named = lines.iter().any(|line| error.contains(&format!("line {line} ")));
            assert!(named && error.contains("members"), "{subgroup} {kernel}: {error}");
        }
    }
}

/// A device without full subgroups and subgroup size control, so its subgroups can't be used.
#[test]
fn no_subgroup_feature_is_needed() {
    let without = [Feature::ComputeFullSubgroups, Feature::SubgroupSizeControl];
    let options = ReferenceOptions::default().subgroup(Some(8)).without(without.into());
    let device = Device::reference(options.config().unwrap());
    let module = device.load(&Source::new("warps.ptx", KERNELS)).unwrap();
    let out = device.alloc(128).unwrap();
    // SAFETY: the device is the reference device, which checks every access.
    unsafe { module.kernel("gone").unwrap().launch(&LaunchConfig::linear(32, 32), &[(&out).into()]) }.unwrap();
    assert_eq!(out.download::<u32>().unwrap(), (0..32).map(|thread| u32::MAX << thread).collect::<Vec<_>>());
}

#[test]
fn threads_that_have_exited_are_not_waited_for() {
    let expected: Vec<u32> = (0..32).map(|thread| u32::MAX << thread).collect();
    for subgroup in [1, 2, 4, 8, 16, 32, 64, 128] {
        assert_eq!(launch(subgroup, "gone").unwrap(), expected, "{subgroup}");
    }
}

#[test]
fn threads_converge_at_operations_in_both_arms_of_a_condition() {
    let expected: Vec<u32> = (0..32).map(|thread| if thread < 5 { 131 } else { 31 }).collect();
    for subgroup in [1, 2, 4, 8, 16, 32, 64, 128] {
        assert_eq!(launch(subgroup, "across").unwrap(), expected, "{subgroup}");
    }
}

/// The mapping of a kernel's threads to a target's subgroups, if it matters.
fn packing(target: &Target, kernel: &str) -> Result<Option<Packing>, Diagnostics> {
    let source = Source::new("warps.ptx", KERNELS);
    let only = [kernel.to_owned()];
    let options = Options::new(target).entries(Some(&only));
    let translation = Program::new(&source)?.translate(&options)?;
    Ok(translation.interface.entries.first().and_then(|entry| entry.packing))
}

#[test]
fn only_kernels_with_operations_of_warps_are_packed() {
    let mut target = Target::preset("lavapipe").unwrap();
    assert_eq!(packing(&target, "gone").unwrap(), Some(Packing { subgroup_size: 8, lanes: 4 }));
    assert_eq!(packing(&target, "plain").unwrap(), None);
    // Without ballots, a warp is in one invocation.
    target.subgroups.ballot = false;
    assert_eq!(packing(&target, "gone").unwrap(), Some(Packing { subgroup_size: 1, lanes: 32 }));
    assert_eq!(packing(&target, "plain").unwrap(), None);
}
