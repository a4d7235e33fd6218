//! The reference device through the same interface as Vulkan's: how faults and findings come back, and what it refuses.

use ptx2spv_runtime::{Device, Error, FindingKind, Kernel, LaunchConfig, ReferenceOptions};
use ptx2spv_translator::{Feature, Source};

use crate::{Launch, Load, basics, basics_interface};

/// * `poke(at, value)`: stores `value`.
/// * `branch(at)`: goes one way or the other by what lies there, and stores which.
/// * `wait(at)`: until something else than zero lies there.
const KERNELS: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry poke(.param .u64 at, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry branch(.param .u64 at)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra zero;
    st.global.u32 [%rd1], 1;
    ret;
zero:
    st.global.u32 [%rd1], 2;
    ret;
}
.visible .entry wait(.param .u64 at)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra again;
    ret;
}
";

const ONE: LaunchConfig = LaunchConfig { grid: [1; 3], block: [1; 3], dynamic_shared_bytes: 0 };

fn open(options: &str) -> Device {
    let options: ReferenceOptions = options.parse().unwrap();
    Device::reference(options.config().unwrap())
}

fn kernel(device: &Device, name: &str) -> Kernel {
    device.load(&Source::new("kernels.ptx", KERNELS)).unwrap().kernel(name).unwrap()
}

/// The kinds of what stopped kernels.
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
        let launch = |address: u64, value: u32| poke.run(&ONE, &[address.into(), value.into()]).unwrap();
        launch(buffer.address() + 16, 1);
        launch(buffer.address() + 2, 2);
        launch(buffer.address() + 4, 3);
        let mut bytes = [0; 4];
        let result = buffer.read(4, &mut bytes);
        assert_eq!(faults(result), [FindingKind::OutOfBounds, FindingKind::Misaligned], "{options}");
        device.synchronize().unwrap();
        launch(buffer.address(), 4);
        // What was launched behind the faults was done, and nothing else.
        assert_eq!(buffer.download::<u32>().unwrap(), [4, 3, 0, 0]);
        assert_eq!(device.take_findings(), []);
    }
}

#[test]
fn faults_name_kernel_and_line() {
    let device = open("subgroup=8");
    let poke = kernel(&device, "poke");
    poke.run(&ONE, &[0_u64.into(), 1_u32.into()]).unwrap();
    let error = device.synchronize().unwrap_err();
    assert!(error.to_string().starts_with("kernel `poke` was stopped: out-of-bounds access: "), "{error}");
    let Error::Fault { findings } = error else { panic!("{error}") };
    let line = KERNELS.lines().position(|line| line.contains("st.global")).unwrap() as u32 + 1;
    assert_eq!(findings[0].site.line, Some(("kernels.ptx".to_owned(), line)));
    assert_eq!((findings[0].site.workgroup, findings[0].site.local), (Some([0; 3]), Some([0; 3])));
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
    let kinds: Vec<FindingKind> = device.take_findings().iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Uninitialised]);
    assert_eq!(device.take_findings(), []);
    // Now it is initialised.
    branch.run(&ONE, &[(&buffer).into()]).unwrap();
    assert_eq!(buffer.download::<u32>().unwrap(), [1]);
    assert_eq!(device.take_findings(), []);
}

#[test]
fn waiting_for_ever_ends() {
    // Threads that wait let the others of their block run on, which looks like progress: only the budget ends it.
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
    // It does not say what it needs, but the device looks for itself.
    interface.features.clear();
    interface.entries.clear();
    match device.spirv(basics(), &interface).err() {
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
