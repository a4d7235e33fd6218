//! Cooperative launches: refused ones, and the progress of blocks for all kinds of dispatches. The launch cases check
//! the results.

use std::time::Duration;

use ptx2spv_runtime::{Error, LaunchConfig};
use ptx2spv_translator::{Options, Program, Source};

use crate::{Context, Launch};

/// Every block waits for the next one, the last for none: in the order of their numbers, no block would end.
const CHAIN: &str = include_str!("ptx/cooperative.ptx");

fn source() -> Source {
    Source::new("chain.ptx", CHAIN)
}

#[test]
fn blocks_that_wait_for_later_ones() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let kernel = module.cooperative_kernel("chain", None).unwrap();
    assert!(kernel.is_cooperative());
    let expected: Vec<u32> = (1..=50).rev().collect();
    // Also if grids are submitted in parts.
    for most in [None, Some(Duration::from_micros(1))] {
        device.set_max_dispatch_time(most);
        let flags = device.alloc_slice::<u32>(50).unwrap();
        flags.fill(0).unwrap();
        kernel.run(&LaunchConfig::new([50, 1, 1], [1; 3]), &[(&flags).into()]).unwrap();
        assert_eq!(flags.to_vec().unwrap(), expected);
    }
    drop((module, kernel));
    context.finish();
}

#[test]
fn other_launches_have_no_workspace() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let out = device.alloc_slice::<u32>(1).unwrap();
    for (kernel, expected) in
        [(module.kernel("valid").unwrap(), 0), (module.cooperative_kernel("valid", None).unwrap(), 1)]
    {
        kernel.run(&LaunchConfig::new([1; 3], [1; 3]), &[(&out).into()]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected]);
    }
    drop((module, out));
    context.finish();
}

#[test]
fn waiting_without_end_is_told() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let flag = device.alloc_slice::<u32>(1).unwrap();
    flag.fill(0).unwrap();
    let kernel = module.cooperative_kernel("forever", None).unwrap();
    let launched = kernel.run(&LaunchConfig::new([3, 1, 1], [1; 3]), &[(&flag).into()]);
    assert!(matches!(&launched, Err(Error::Aborted { reason, .. }) if reason.contains("3 of them")), "{launched:?}");
    // A time limit ends it sooner.
    device.set_wait_limit(Some(Duration::from_millis(50)));
    let launched = kernel.run(&LaunchConfig::new([3, 1, 1], [1; 3]), &[(&flag).into()]);
    assert!(matches!(launched, Err(Error::Timeout)), "{launched:?}");
    device.set_wait_limit(None);
    drop((module, kernel, flag));
    context.finish();
}

#[test]
fn translations_are_for_one_kind_of_launch() {
    let context = Context::new();
    let device = &context.device;
    let source = source();
    let program = Program::new(&source).unwrap();
    let load = |cooperative| {
        let made = program.translate(&Options::new(device.target()).cooperative(cooperative)).unwrap();
        // SAFETY: the translation is as the translator made it.
        unsafe { device.load_translated(&made) }.unwrap()
    };
    assert!(load(true).cooperative_kernel("chain", None).unwrap().is_cooperative());
    assert!(matches!(load(false).cooperative_kernel("chain", None), Err(Error::Interface(_))));
    context.finish();
}
