//! Modules: names, variables, and modules that are refused.

use ptx2spv_runtime::{Arg, Error, LaunchConfig, LoadOptions};
use ptx2spv_translator::interface::{ServiceSizes, heap};
use ptx2spv_translator::{Feature, Math, Source};

use crate::{Context, Launch, Load, basics, basics_interface};

const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);

#[test]
fn variables_with_addresses_in_them() {
    for context in Context::several() {
        let module = context.basics();
        assert_eq!(module.variable_names(), ["pointer", "array", "value", "high"]);
        let (pointer, value) = (module.variable("pointer").unwrap(), module.variable("value").unwrap());
        assert_eq!((value.address - pointer.address, value.size), (200_008, 4));
        assert_eq!(module.variable("nothing"), None);

        let read = |name: &str, len| {
            let mut bytes = vec![0xaa; len];
            module.read_variable(name, 0, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(read("pointer", 8), value.address.to_le_bytes());
        assert_eq!(read("high", 1), [value.address.to_le_bytes()[1]]);
        assert_eq!(read("array", 200_000), vec![0; 200_000]);

        // The kernel follows the pointer.
        let out = context.device.upload(&[0_u32]).unwrap();
        let follow = module.kernel("follow").unwrap();
        follow.run(&ONE, &[(&out).into()]).unwrap();
        assert_eq!(out.download::<u32>().unwrap(), [0x1122_3344]);
        assert_eq!(read("value", 4), 0x1122_3345_u32.to_le_bytes());
        module.write_variable("value", 2, &[0, 0]).unwrap();
        follow.run(&ONE, &[(&out).into()]).unwrap();
        assert_eq!(out.download::<u32>().unwrap(), [0x3345]);
        // A kernel keeps its module's variables, and they can point anywhere.
        let elsewhere = context.device.upload(&[7_u32, 8]).unwrap();
        module.write_variable("pointer", 0, &(elsewhere.address() + 4).to_le_bytes()).unwrap();
        let wrong = [
            module.write_variable("nothing", 0, &[]),
            module.write_variable("value", 3, &[0; 2]),
            module.read_variable("value", u64::MAX, &mut [0; 2]),
        ];
        assert!(matches!(wrong[0], Err(Error::NoVariable(_))));
        assert!(matches!(wrong[1], Err(Error::OutOfRange { offset: 3, len: 2, size: 4 })));
        assert!(matches!(wrong[2], Err(Error::OutOfRange { .. })));
        drop(module);
        follow.run(&ONE, &[(&out).into()]).unwrap();
        assert_eq!(elsewhere.download::<u32>().unwrap(), [7, 9]);
    }
}

#[test]
fn kernels_by_name() {
    let context = Context::new();
    let module = context.basics();
    assert_eq!(module.kernel_names(), ["vector_add", "count_blocks", "step", "follow", "sizes"]);
    let kernel = module.kernel("step").unwrap();
    assert_eq!(kernel.name(), "step");
    assert_eq!(kernel.params().iter().map(|param| param.name.as_str()).collect::<Vec<_>>(), ["p", "by"]);
    match module.kernel("Step").err() {
        Some(Error::NoKernel { name, available }) => assert_eq!((name.as_str(), available.len()), ("Step", 5)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn modules_that_do_not_fit() {
    let context = Context::new();
    let mut missing = context.device.target().features.iter().copied().collect::<Vec<Feature>>();
    missing = Feature::ALL.iter().copied().filter(|feature| !missing.contains(feature)).collect();
    let mut interface = basics_interface();
    interface.features.extend(&missing);
    match context.device.spirv(basics(), &interface).err() {
        Some(Error::MissingFeatures { missing: named, .. }) => assert_eq!(named, missing),
        None => assert!(missing.is_empty()),
        Some(other) => panic!("{other}"),
    }
    let mut interface = basics_interface();
    interface.entries[0].name = "elsewhere".into();
    assert!(matches!(context.device.spirv(basics(), &interface), Err(Error::Interface(_))));
    assert!(matches!(context.device.spirv(&[1, 2, 3], &basics_interface()), Err(Error::Interface(_))));
}

#[test]
fn text_that_is_no_ptx() {
    let context = Context::new();
    let source = Source::new("wrong.ptx", "this is no PTX at all");
    assert!(matches!(context.device.load(&source), Err(Error::Translation(_))));
}

/// Kernels of different modules don't affect each other.
#[test]
fn two_modules() {
    let context = Context::new();
    let (first, second) = (context.basics(), context.basics());
    assert_ne!(first.variable("value"), second.variable("value"));
    let out = context.device.upload(&[0_u32; 2]).unwrap();
    let (a, b) = (first.kernel("follow").unwrap(), second.kernel("follow").unwrap());
    a.run(&ONE, &[(&out).into()]).unwrap();
    a.run(&ONE, &[(&out).into()]).unwrap();
    b.run(&ONE, &[Arg::Address(out.address() + 4)]).unwrap();
    assert_eq!(out.download::<u32>().unwrap(), [0x1122_3345, 0x1122_3344]);
}

/// Threads that allocate and keep memory, each of which checks the values that it wrote to both ends; and threads that
/// print a line.
const KERNELS: &str = include_str!("ptx/service_sizes.ptx");

fn source() -> Source {
    let numbers: Vec<String> = b"0123456789abcdef0123456789abcde\n\0".iter().map(u8::to_string).collect();
    let list = format!("{{{}}}", numbers.join(", "));
    Source::new("sizes.ptx", KERNELS.replace("\"0123456789abcdef0123456789abcde\\n\"", &list))
}

#[test]
fn heaps_and_buffers_of_other_sizes() {
    let context = Context::new();
    let device = &context.device;
    let several = [(8_u64 << 20, 1_u64 << 20), (64 << 20, 1 << 16)];
    for (heap, output) in several {
        let sizes = ServiceSizes::default().heap(heap).output(output);
        let module = device.load_with(&source(), LoadOptions::uncached(Math::EXACT).sizes(sizes)).unwrap();
        let kernel = module.kernel("allocate").unwrap();
        let out = device.alloc_slice::<u32>(16).unwrap();
        // The smaller heap has room for two allocations of this size.
        kernel.run(&LaunchConfig::new([1; 3], [16, 1, 1]), &[(&out).into(), (3_u64 << 20).into()]).unwrap();
        let given = out.to_vec().unwrap().into_iter().enumerate().filter(|(_, sum)| *sum != 0);
        let given: Vec<(usize, u32)> = given.collect();
        assert_eq!(given.len(), if heap > 8 << 20 { 16 } else { 2 });
        assert!(given.iter().all(|(thread, sum)| *sum == 2 * *thread as u32 + 1), "{given:?}");
        // A record has 16 bytes and at least 8 for arguments.
        let print = module.kernel("print").unwrap();
        print.run(&LaunchConfig::new([10, 1, 1], [64, 1, 1]), &[8_u32.into()]).unwrap();
        device.synchronize().unwrap();
        let printed = String::from_utf8(device.take_output()).unwrap();
        let lines = printed.lines().filter(|line| *line == "0123456789abcdef0123456789abcde").count();
        let room = usize::try_from(output).unwrap() / 16;
        assert!(lines == 5_120 || lines < 5_120 && lines <= room, "{lines}");
        assert_eq!(lines == 5_120, output > 1 << 16, "{lines}");
        drop((module, kernel, print, out));
    }
}

/// Bitmaps, tables and granules don't overlap, for all sizes.
#[test]
fn arenas_do_not_overlap() {
    for size in (23..=30).map(|shift| heap::region_bytes(1 << shift)) {
        assert!(heap::is_region(size));
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for arena in heap::arenas(size) {
            let granules = 32 * u64::from(arena.words);
            parts.push((arena.bitmap, 4 * u64::from(arena.words)));
            parts.push((arena.sizes, 4 * granules));
            parts.push((arena.granules, granules << arena.shift));
            assert!(arena.granules.is_multiple_of(1 << 15));
        }
        parts.sort_unstable();
        assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{size}: {parts:?}");
        assert!(parts.last().is_some_and(|(start, bytes)| start + bytes <= size));
    }
}
