//! The reference device through the same interface as Vulkan's: its reports of faults and findings, and its refusals.

use ptx2spv_runtime::{Arg, Device, Error, Finding, FindingKind, Kernel, LaunchConfig, ReferenceOptions};
use ptx2spv_translator::{Feature, Source};

use crate::{Launch, Load, basics, basics_interface};

/// * `poke(at, value)`: stores `value`.
/// * `branch(at)`: takes one of two paths by the value there, and stores which.
/// * `wait(at)`: waits until the value there isn't zero.
/// * `count(at, all)`: thread 0 stores 5 there and in shared memory, all add 1 to one of these; they wait for it if `all`.
/// * `stops(shape)`: threads of a warp stop at barriers in several ways.
/// * `heap_at(bytes, offset)`: stores there in the second of three allocations.
/// * `heap(freed)`: stores to memory that `malloc` gave, or has and was freed.
/// * `poke_at(at, offset)`: stores at that offset.
/// * `table_at(offset)`: stores to that place of a variable.
const KERNELS: &str = include_str!("ptx/reference.ptx");

const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);

fn open(options: &str) -> Device {
    let options: ReferenceOptions = options.parse().unwrap();
    Device::reference(options.config().unwrap())
}

fn line_of(text: &str) -> u32 {
    KERNELS.lines().position(|line| line.ends_with(text)).unwrap() as u32 + 1
}

fn kernel(device: &Device, name: &str) -> Kernel {
    device.load(&Source::new("kernels.ptx", KERNELS)).unwrap().kernel(name).unwrap()
}

/// The kinds of faults that stopped kernels.
fn faults(result: Result<(), Error>) -> Vec<FindingKind> {
    match result {
        Err(Error::Fault { findings }) => findings.iter().map(|finding| finding.kind).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fault_comes_back_once_and_the_device_goes_on() {
    for options in ["subgroup=32", "check", "seed=1"] {
        let device = open(options);
        let (poke, buffer) = (kernel(&device, "poke"), device.upload(&[0_u32; 4]).unwrap());
        let launch = |address: u64, value: u32| poke.run(&ONE, &[address.into(), value.into()]);
        launch(buffer.address() + 16, 1).unwrap();
        // Nothing runs behind a fault.
        assert_eq!(faults(launch(buffer.address() + 8, 2)), [FindingKind::OutOfBounds], "{options}");
        launch(buffer.address() + 2, 2).unwrap();
        assert_eq!(faults(buffer.read(4, &mut [0; 4])), [FindingKind::Misaligned], "{options}");
        launch(buffer.address() + 4, 3).unwrap();
        device.synchronize().unwrap();
        launch(buffer.address(), 4).unwrap();
        // Only the launches after the faults ran.
        assert_eq!(buffer.download::<u32>().unwrap(), [4, 3, 0, 0]);
        assert_eq!(device.as_reference().unwrap().take_findings(), []);
    }
}

/// Large kernels, such as those of renderers, have hundreds of thousands of values.
#[test]
fn kernels_have_many_registers() {
    const ROUNDS: usize = 150_000;
    let rounds = "mad.lo.u32 %r1, %r1, %r1, 7;\n".repeat(ROUNDS);
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry rounds(.param .u64 at)\n{{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n\
         ld.param.u64 %rd1, [at];\nld.global.u32 %r1, [%rd1];\n{rounds}st.global.u32 [%rd1], %r1;\nret;\n}}\n"
    );
    let device = open("subgroup=8");
    let module = device.load(&Source::new("rounds.ptx", text)).unwrap();
    let buffer = device.upload(&[3_u32]).unwrap();
    module.kernel("rounds").unwrap().run(&ONE, &[Arg::Pointer(&buffer)]).unwrap();
    let expected = (0..ROUNDS).fold(3_u32, |x, _| x.wrapping_mul(x).wrapping_add(7));
    assert_eq!(buffer.download::<u32>().unwrap(), [expected]);
}

#[test]
fn faults_name_kernel_and_line() {
    let device = open("subgroup=8");
    let poke = kernel(&device, "poke");
    poke.run(&ONE, &[0_u64.into(), 1_u32.into()]).unwrap();
    let error = device.synchronize().unwrap_err();
    assert!(error.to_string().starts_with("kernel `poke` was stopped: out-of-bounds access: "), "{error}");
    let Error::Fault { findings } = error else { panic!("{error}") };
    assert_eq!(findings[0].site.line, Some(("kernels.ptx".to_owned(), line_of("st.global.u32 [%rd1], %r1;"))));
    assert_eq!((findings[0].site.workgroup, findings[0].site.local), (Some([0; 3]), Some([0; 3])));
}

/// The messages of the faults that stopped kernels.
fn said(result: Result<(), Error>) -> String {
    match result {
        Err(Error::Fault { findings }) => findings.into_iter().map(|finding| finding.message).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn faults_name_arguments_and_variables() {
    for options in ["subgroup=8", "check"] {
        let device = open(options);
        let (poke, table) = (kernel(&device, "poke_at"), kernel(&device, "table_at"));
        let (_other, buffer) = (device.upload(&[0_u32; 4]).unwrap(), device.upload(&[0_u32; 4]).unwrap());
        let at = buffer.address();
        let pointer = Arg::from(&buffer);
        for (pointer, offset, words) in [
            (pointer, -4, "begins 4 bytes before argument 0 (16 bytes at "),
            (pointer, 20, "begins 4 bytes past the end of argument 0 (16 bytes at "),
            (Arg::Address(at + 8), -12, "begins 4 bytes before argument 0 (16 bytes at "),
            (Arg::Address(at - 4), 0, "begins 4 bytes before allocation "),
            (Arg::Address(0), 0, "is through a null pointer"),
            (Arg::Address(0), 8, "begins 8 bytes past a null pointer"),
            (Arg::Address(0), -4, "begins 4 bytes before a null pointer"),
        ] {
            poke.run(&ONE, &[pointer, i64::into(offset)]).unwrap();
            let said = said(device.synchronize());
            assert!(said.contains(words), "{said}");
        }
        poke.run(&ONE, &[pointer, 12_i64.into()]).unwrap();
        device.synchronize().unwrap();
        table.run(&ONE, &[4_u64.wrapping_neg().into()]).unwrap();
        let said = said(device.synchronize());
        assert!(said.contains("begins 4 bytes before variable `table` (16 bytes at "), "{said}");
        table.run(&ONE, &[12_u64.into()]).unwrap();
        device.synchronize().unwrap();
    }
}

#[test]
fn freed_heap_memory_is_known() {
    for options in ["check", "check,seed=1", "check,seed=2"] {
        let device = open(options);
        let heap = kernel(&device, "heap");
        heap.run(&ONE, &[0_u32.into()]).unwrap();
        device.synchronize().unwrap();
        heap.run(&ONE, &[1_u32.into()]).unwrap();
        let Err(Error::Fault { findings }) = device.synchronize() else { panic!("nothing found") };
        assert_eq!((findings.len(), findings[0].kind), (1, FindingKind::UseAfterFree));
        assert_eq!(findings[0].site.line, Some(("kernels.ptx".to_owned(), line_of("// heap"))));
        assert_eq!(device.as_reference().unwrap().take_findings(), []);
    }
}

#[test]
fn heap_blocks_have_exact_bounds() {
    // Each allocation lies between two more of its size. Sizes around those of granules, and each arena's largest.
    for bytes in [1_u32, 4, 31, 32, 33, 100, 128, 1_024, 1_025, 30_000, 40_000] {
        for options in ["check", "check,seed=1"] {
            for offset in [0, i64::from(bytes) - 1] {
                let device = open(options);
                kernel(&device, "heap_at").run(&ONE, &[bytes.into(), offset.into()]).unwrap();
                device.synchronize().unwrap();
            }
            for offset in [-1, i64::from(bytes)] {
                let device = open(options);
                kernel(&device, "heap_at").run(&ONE, &[bytes.into(), offset.into()]).unwrap();
                let Err(Error::Fault { findings }) = device.synchronize() else {
                    panic!("{bytes} {offset}: nothing found")
                };
                let [Finding { kind, site, .. }] = &findings[..] else { panic!("{findings:?}") };
                assert!(matches!(kind, FindingKind::OutOfBounds | FindingKind::UseAfterFree), "{findings:?}");
                assert_eq!(site.line, Some(("kernels.ptx".to_owned(), line_of("// at"))));
            }
        }
    }
}

#[test]
fn warps_apart_at_barriers_are_found() {
    let block = LaunchConfig::new(ONE.grid, [64, 1, 1]);
    // A warp in an invocation, and in parts of one or several.
    let sizes = ["", ",subgroup=1", ",subgroup=8", ",subgroup=64", ",seed=1", ",seed=2,subgroup=16"];
    for options in sizes.map(|size| format!("check{size}")) {
        // Each shape with the place of the finding. Other threads needn't wait for threads that have exited, warps may
        // diverge, and `barrier.sync` without `.aligned` may be anywhere.
        let found = [
            (0_u32, None),
            (1, Some(["// high", "// low"])),
            (2, Some(["// some", "// all"])),
            (3, Some(["// round", "// after"])),
            (4, None),
            (5, None),
        ];
        for (shape, expected) in found {
            let device = open(&options);
            kernel(&device, "stops").run(&block, &[shape.into()]).unwrap();
            device.synchronize().unwrap();
            let findings = device.as_reference().unwrap().take_findings();
            let Some(expected) = expected else {
                assert_eq!(findings, [], "{options}, shape {shape}");
                continue;
            };
            assert!(!findings.is_empty(), "{options}, shape {shape}");
            let expected = expected.map(|text| Some(("kernels.ptx".to_owned(), line_of(text))));
            for Finding { kind, site, other, .. } in findings {
                assert_eq!(kind, FindingKind::DivergedWarp);
                let mut lines = [site.line, other.and_then(|other| other.line)];
                lines.sort();
                assert_eq!(lines, expected, "{options}, shape {shape}");
            }
        }
    }
}

#[test]
fn atomics_do_not_hide_the_writes_before_them() {
    let block = LaunchConfig::new(ONE.grid, [64, 1, 1]);
    let options = std::iter::once("check".to_owned()).chain((0..10).map(|seed| format!("check,seed={seed}")));
    for options in options {
        for (shared, text) in [(0_u32, "// global"), (1, "// shared")] {
            let device = open(&options);
            let (count, at) = (kernel(&device, "count"), device.upload(&[0_u32]).unwrap());
            count.run(&block, &[(&at).into(), 1_u32.into(), shared.into()]).unwrap();
            device.synchronize().unwrap();
            assert_eq!(device.as_reference().unwrap().take_findings(), [], "{options}");
            count.run(&block, &[(&at).into(), 0_u32.into(), shared.into()]).unwrap();
            device.synchronize().unwrap();
            let line = Some(("kernels.ptx".to_owned(), line_of(text)));
            let findings = device.as_reference().unwrap().take_findings();
            let is_it = |finding: &Finding| {
                finding.kind == FindingKind::Race
                    && (finding.site.line == line || finding.other.as_ref().is_some_and(|other| other.line == line))
            };
            assert!(findings.iter().any(is_it), "{options}: {findings:?}");
        }
    }
}

#[test]
fn freed_memory_is_known() {
    let device = open("subgroup=8");
    let poke = kernel(&device, "poke");
    let address = device.alloc(64).unwrap().address();
    poke.run(&ONE, &[(address + 8).into(), 1_u32.into()]).unwrap();
    assert_eq!(faults(device.synchronize()), [FindingKind::UseAfterFree]);
    // The parameters of another launch don't get the address either.
    assert_ne!(device.alloc(64).unwrap().address(), address);
}

#[test]
fn findings_that_stop_nothing_are_kept() {
    let device = open("check");
    let (branch, buffer) = (kernel(&device, "branch"), device.alloc(4).unwrap());
    branch.run(&ONE, &[(&buffer).into()]).unwrap();
    device.synchronize().unwrap();
    let kinds: Vec<FindingKind> =
        device.as_reference().unwrap().take_findings().iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Uninitialised]);
    assert_eq!(device.as_reference().unwrap().take_findings(), []);
    // Now it is initialised.
    branch.run(&ONE, &[(&buffer).into()]).unwrap();
    assert_eq!(buffer.download::<u32>().unwrap(), [1]);
    assert_eq!(device.as_reference().unwrap().take_findings(), []);
}

#[test]
fn waiting_for_ever_ends() {
    // Threads that wait let the others of their block run, which looks like progress: only the budget ends the kernel.
    let device = open("subgroup=8,steps=100000");
    let (wait, flag) = (kernel(&device, "wait"), device.upload(&[0_u32]).unwrap());
    wait.run(&ONE, &[(&flag).into()]).unwrap();
    assert_eq!(faults(device.synchronize()), [FindingKind::StepBudget]);
    flag.write(0, &[1]).unwrap();
    wait.run(&ONE, &[(&flag).into()]).unwrap();
    device.synchronize().unwrap();
    let device = open("steps=5");
    let (poke, buffer) = (kernel(&device, "poke"), device.alloc(4).unwrap());
    poke.run(&ONE, &[(&buffer).into(), 1_u32.into()]).unwrap();
    assert_eq!(faults(device.synchronize()), [FindingKind::StepBudget]);
}

#[test]
fn modules_that_the_target_can_not_run_are_refused_by_rule() {
    let device = open("without=shaderInt64");
    let mut interface = basics_interface();
    // The module doesn't declare its requirement, so the device looks for itself.
    interface.features.clear();
    interface.entries.clear();
    // The instructions begin with capabilities, to which `OpCapability Int64` is added.
    let (header, instructions) = basics().split_at(5);
    let words = [header, &[2 << 16 | 17, 11], instructions].concat();
    match device.spirv(&words, &interface).err() {
        Some(Error::Refused { rule, .. }) => assert_eq!(rule, Feature::ShaderInt64.name()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn launches_are_measured_by_the_host() {
    let device = open("subgroup=8");
    let (poke, buffer) = (kernel(&device, "poke"), device.alloc(4).unwrap());
    let times = poke.timed(&ONE, &[(&buffer).into(), 7_u32.into()], 3).unwrap();
    assert!(times.len() == 3 && times.iter().all(|time| !time.is_zero()), "{times:?}");
    assert_eq!(buffer.download::<u32>().unwrap(), [7]);
}

#[test]
fn buffers_have_limits() {
    let device = open("subgroup=8");
    assert!(matches!(device.alloc(u64::MAX), Err(Error::BufferTooLarge { .. })));
    let other = open("subgroup=8");
    let (buffer, foreign) = (device.alloc(8).unwrap(), other.alloc(8).unwrap());
    assert!(matches!(buffer.copy_from(0, &foreign, 0, 8), Err(Error::ForeignBuffer(_))));
}
