//! Every kind of fault has a module that provokes it. The device reports its kind, line, instruction and invocation.
//! Each module also has a near miss, without findings in any mode.
//!
//! `faults/NAME.comp` becomes `NAME.spv` with the fault and `NAME.miss.spv` without it. `here` marks the line of the
//! fault, or each possible line.

mod support;

use std::fs;

use ptx2spv_reference::FindingKind::{
    Deadlock, DivergentBarrier, Misaligned, OutOfBounds, Race, StepBudget, Undefined, Uninitialised, Unreachable,
    UseAfterFree,
};
use ptx2spv_reference::{Device, Dispatch, Finding, FindingKind, Mode, Site};
use support::{CHECKED, PLAIN, adversarial, device, directory, words};

/// An expected fault.
struct Fault {
    name: &'static str,
    kind: FindingKind,
    /// Part of the instruction.
    instruction: &'static str,
    /// The invocation's workgroup, and its number there, if they are certain.
    invocation: Option<(u32, u32)>,
    /// Expected text of the message.
    says: &'static [&'static str],
}

/// Bytes of each buffer.
const BYTES: u64 = 256;
/// Maximum instructions of a dispatch.
const STEPS: u64 = 5_000_000;

const fn fault(
    name: &'static str,
    kind: FindingKind,
    instruction: &'static str,
    invocation: Option<(u32, u32)>,
    says: &'static [&'static str],
) -> Fault {
    Fault { name, kind, instruction, invocation, says }
}

const FAULTS: &[Fault] = &[
    fault("out_of_bounds_device", OutOfBounds, "OpStore", Some((1, 5)), &["256"]),
    fault("out_of_bounds_below", OutOfBounds, "OpStore", None, &[]),
    fault("out_of_bounds_workgroup", OutOfBounds, "OpLoad", None, &["cells"]),
    fault("out_of_bounds_private", OutOfBounds, "OpLoad", None, &["cells"]),
    fault("use_after_free", UseAfterFree, "OpLoad", None, &["256"]),
    fault("misaligned", Misaligned, "OpLoad", None, &["4"]),
    fault("uninitialised_branch", Uninitialised, "OpBranchConditional", None, &[]),
    fault("uninitialised_address", Uninitialised, "OpStore", None, &[]),
    fault("uninitialised_atomic", Uninitialised, "OpAtomicIAdd", None, &[]),
    fault("uninitialised_result", Undefined, "OpStore", None, &[]),
    fault("uninitialised_buffer", Uninitialised, "OpStore", None, &[]),
    fault("undefined_shift", Undefined, "OpBranchConditional", Some((0, 31)), &[]),
    fault("undefined_lane", Undefined, "OpBranchConditional", None, &[]),
    fault("race_workgroup", Race, "OpLoad", None, &[]),
    fault("race_after_read", Race, "OpStore", None, &[]),
    fault("race_global", Race, "OpStore", None, &[]),
    fault("race_plain_atomic", Race, "OpStore", None, &[]),
    fault("race_scope", Race, "OpAtomicIAdd", None, &[]),
    fault("race_semantics", Race, "OpLoad", None, &[]),
    fault("race_not_coherent", Race, "OpLoad", None, &["Coherent"]),
    fault("divergent_barrier", DivergentBarrier, "OpControlBarrier", None, &[]),
    fault("barrier_after_end", DivergentBarrier, "OpControlBarrier", None, &[]),
    fault("deadlock_barrier", Deadlock, "", None, &[]),
    fault("deadlock_lock", Deadlock, "", None, &[]),
    fault("deadlock_flag", Deadlock, "", Some((0, 0)), &[]),
    fault("step_budget", StepBudget, "", None, &["5000000"]),
    fault("unreachable", Unreachable, "OpUnreachable", Some((0, 3)), &[]),
];

/// Runs a module on two workgroups, with two buffers of zeroes. Returns all findings.
fn run(name: &str, miss: bool, mode: Mode) -> Vec<Finding> {
    let device = device(32, mode, STEPS);
    let file = format!("{name}{}.spv", if miss { ".miss" } else { "" });
    let module = device.shader(&words(&fs::read(directory("faults").join(&file)).unwrap())).expect(&file);
    let pipeline = device.pipeline(&module, "main", &[], None).expect(&file);
    let buffer = |zeroed: bool| {
        let address = device.allocate(BYTES).unwrap();
        if zeroed {
            device.fill(address, BYTES, 0).unwrap();
        }
        address
    };
    let (a, b) = (buffer(true), buffer(name != "uninitialised_buffer"));
    if name == "use_after_free" && !miss {
        device.free(b);
    }
    let push_constants: Vec<u8> = [a, b].iter().flat_map(|address| address.to_le_bytes()).collect();
    let dispatch = Dispatch { groups: [2, 1, 1], push_constants: &push_constants };
    let mut found: Vec<Finding> = device.dispatch(&pipeline, &dispatch).err().into_iter().collect();
    found.extend(read(&device, a));
    found.extend(device.take_findings());
    found
}

/// The finding of the host's read of a buffer.
fn read(device: &Device, address: u64) -> Option<Finding> {
    device.read(address, &mut [0; BYTES as usize]).err()
}

/// The file and lines of the fault.
fn places(name: &str) -> Vec<(String, u32)> {
    for extension in ["comp", "spvasm"] {
        if let Ok(text) = fs::read_to_string(directory("faults").join(format!("{name}.{extension}"))) {
            let here = |line: &str| line.ends_with("// here") || line.ends_with("; here");
            let numbers = (1..).zip(text.lines()).filter(|(_, line)| here(line));
            return numbers.map(|(number, _)| (format!("{name}.{extension}"), number)).collect();
        }
    }
    panic!("no source of {name}");
}

impl Fault {
    /// The difference between a finding and the expected one, if there is one.
    fn mismatch(&self, finding: &Finding) -> Option<String> {
        let here = places(self.name);
        let is_here = |line: &Option<_>| line.as_ref().is_some_and(|line| here.contains(line));
        let sites = [Some(&finding.site), finding.other.as_ref()];
        let is_this = |site: &&Site| {
            is_here(&site.line) && site.instruction.as_ref().is_some_and(|found| found.text.contains(self.instruction))
        };
        let site = sites.into_iter().flatten().find(is_this);
        let Some(site) = site.filter(|_| finding.kind == self.kind) else {
            return Some(format!("not a {} by {} at {here:?}", self.kind.name(), self.instruction));
        };
        let invocation = site.workgroup.zip(site.local).map(|(workgroup, local)| (workgroup[0], local[0]));
        if self.invocation.is_some() && invocation != self.invocation {
            return Some(format!("invocation {invocation:?}, not {:?}", self.invocation));
        }
        let missing = self.says.iter().find(|words| !finding.message.contains(**words));
        missing.map(|words| format!("no word of `{words}`"))
    }
}

#[test]
fn faults_are_found_where_they_are() {
    let mut wrong = Vec::new();
    for fault in FAULTS {
        let found = run(fault.name, false, CHECKED);
        let right = found.iter().any(|finding| fault.mismatch(finding).is_none());
        // The value of a racing read is undefined.
        let follows = |kind| fault.kind == Race && kind == Undefined;
        let others = found.iter().find(|finding| finding.kind != fault.kind && !follows(finding.kind));
        if !right || others.is_some() {
            let why = |finding: &Finding| format!("  {finding}\n  {:?}", fault.mismatch(finding));
            wrong.push(format!("{}:\n{}", fault.name, found.iter().map(why).collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FAULTS.len(), wrong.join("\n"));
}

#[test]
fn near_misses_are_silent() {
    let mut wrong = Vec::new();
    let modes = [PLAIN, CHECKED].into_iter().chain((0..20).map(adversarial));
    for mode in modes {
        for fault in FAULTS {
            let found = run(fault.name, true, mode);
            wrong.extend(found.first().map(|finding| format!("{} in {mode:?}: {finding}", fault.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn adversaries_find_the_same_kinds() {
    for fault in FAULTS {
        let kinds: Vec<Vec<FindingKind>> = (0..8)
            .map(|seed| run(fault.name, false, adversarial(seed)).iter().map(|finding| finding.kind).collect())
            .collect();
        assert!(kinds.iter().any(|kinds| kinds.contains(&fault.kind)), "{}: {kinds:?}", fault.name);
    }
}

/// Faults that could harm the host or prevent the end of a run stop it in plain mode too.
#[test]
fn plain_devices_stop_what_cannot_go_on() {
    for fault in FAULTS {
        let found = run(fault.name, false, PLAIN);
        let must = matches!(fault.kind, OutOfBounds | UseAfterFree | DivergentBarrier | StepBudget | Unreachable);
        let stopped = found.first().is_some_and(|finding| finding.kind.is_fatal());
        assert!(stopped || !must, "{}: {found:?}", fault.name);
    }
}

/// A kernel translated with line information: the fault has the line of its PTX.
#[test]
fn faults_of_kernels_have_their_ptx_line() {
    let text = include_str!("faults/line.ptx");
    let source = ptx2spv_translator::Source::new("kernel.ptx", text);
    let device = device(8, CHECKED, 100_000);
    let options = ptx2spv_translator::Options::new(&device.config().target).line_info(true);
    let spirv = ptx2spv_translator::Program::new(&source).unwrap().translate(&options).unwrap().spirv;
    let pipeline = device.pipeline(&device.shader(&spirv).unwrap(), "kernel", &[], None).unwrap();
    let dispatch = Dispatch { groups: [1, 1, 1], push_constants: &[0; 128] };
    let finding = device.dispatch(&pipeline, &dispatch).unwrap_err();
    let line = 1 + text.lines().position(|line| line.ends_with("// here")).unwrap() as u32;
    assert_eq!((finding.kind, &finding.site.line), (OutOfBounds, &Some(("kernel.ptx".to_owned(), line))), "{finding}");
    assert_eq!(finding.site.local, Some([4, 0, 0]), "{finding}");
}
