//! Checks an interface for consistency with itself, its SPIR-V and the device, so that launches can rely on it. Nothing
//! here calls Vulkan.

use ptx2spv_translator::interface::{
    Counters, Entry, Launches, ParamLocation, Status, Variables, heap, launches, output, push_constant,
};

use ptx2spv_translator::target::{Packing, Version};
use ptx2spv_translator::{Contents, Feature, Interface, Target};

use crate::error::{Error, Result};
use crate::info::limits::MAX_PARAM_BLOCK;

/// Maximum number of blocks of a cluster.
const MAX_CLUSTER: u32 = 16;

/// Checks everything that loading and launching rely on.
pub(crate) fn interface(target: &Target, spirv: &[u32], interface: &Interface) -> Result {
    if interface.format != Interface::FORMAT {
        return Err(wrong(Interface::other_format(interface.format)));
    }
    let missing: Vec<Feature> = interface.features.difference(&target.features).copied().collect();
    if !missing.is_empty() {
        return Err(Error::MissingFeatures { device: target.name.clone(), missing });
    }
    let version = spirv_version(spirv)?;
    if version > target.spirv {
        return Err(Error::SpirvVersion { device: target.name.clone(), needed: version, available: target.spirv });
    }
    if let Some(relies_on) = &interface.relies_on {
        let reasons = relies_on.broken_by(&Contents::of(spirv), target);
        if !reasons.is_empty() {
            let (device, target) = (target.name.clone(), interface.target.clone());
            return Err(Error::MadeForOthers { device, target, reasons });
        }
    }
    let names = kernel_names(spirv);
    for entry in &interface.entries {
        if !names.iter().any(|name| name == entry.name.as_bytes()) {
            return Err(wrong(format!("the SPIR-V has no kernel `{}`", entry.name)));
        }
        check_entry(target, entry)?;
        check_packing(target, &interface.target, entry)?;
        check_cluster(entry)?;
        check_scratch(entry)?;
        if entry.workspace().is_some() && entry.params_location != ParamLocation::Buffer {
            return Err(wrong(format!("`{}` has no room for the address of a workspace", entry.name)));
        }
    }
    check_variables(&interface.variables)?;
    check_counters(interface)?;
    check_launches(interface)?;
    check_status(interface)
}

fn wrong(what: String) -> Error {
    Error::Interface(what)
}

fn check_entry(target: &Target, entry: &Entry) -> Result {
    let name = &entry.name;
    if entry.params_size > MAX_PARAM_BLOCK {
        return Err(wrong(format!(
            "`{name}`: {} bytes of parameters, {MAX_PARAM_BLOCK} are allowed",
            entry.params_size
        )));
    }
    for param in &entry.params {
        let end = param.offset.checked_add(param.size).filter(|&end| end <= entry.params_size);
        end.ok_or_else(|| wrong(format!("`{name}`: parameter `{}` lies outside of the parameter block", param.name)))?;
    }
    let size = entry.push_constant_size;
    let available = match entry.params_location {
        // The sum is small, see `MAX_PARAM_BLOCK`.
        ParamLocation::PushConstant => push_constant::PARAMS + entry.params_size.next_multiple_of(4),
        ParamLocation::Buffer if entry.workspace().is_some() => push_constant::WORKSPACE_ADDRESS + 8,
        ParamLocation::Buffer => push_constant::PARAMS + entry.scratch.map_or(0, |_| 8),
    };
    let available = match entry.allocations {
        Some(address) if address != entry.params_location.allocations_address(entry.params_size) => {
            return Err(wrong(format!("`{name}` can't have the table of allocations there")));
        }
        Some(address) => available.max(address + 8),
        None => available,
    };
    if !size.is_multiple_of(4) || size > available {
        return Err(wrong(format!("`{name}` reads {size} bytes of push constants, which does not fit its parameters")));
    }
    if size > target.limits.max_push_constants_size {
        let most = target.limits.max_push_constants_size;
        return Err(wrong(format!("`{name}` needs {size} bytes of push constants, the device has {most}")));
    }
    Ok(())
}

/// Fails if the kernel was translated for a subgroup size that the device doesn't have.
fn check_packing(target: &Target, made_for: &str, entry: &Entry) -> Result {
    let Some(Packing { subgroup_size, lanes }) = entry.packing else { return Ok(()) };
    let name = &entry.name;
    let possible = subgroup_size.is_power_of_two() && subgroup_size <= 128 && lanes.is_power_of_two() && lanes <= 1024;
    let whole = subgroup_size == 1 || u64::from(subgroup_size) * u64::from(lanes) >= 32;
    if !possible || !whole {
        return Err(wrong(format!(
            "`{name}` has an impossible packing: {lanes} threads on each of {subgroup_size} invocations"
        )));
    }
    if subgroup_size == 1 {
        return Ok(());
    }
    let others = |reason: String| Error::MadeForOthers {
        device: target.name.clone(),
        target: made_for.to_owned(),
        reasons: vec![format!("`{name}` was made for subgroups of {subgroup_size}, {reason}")],
    };
    let sizes = &target.subgroups;
    if !target.has(Feature::ComputeFullSubgroups) || !sizes.ballot || !sizes.shuffle {
        return Err(others("the device lacks full subgroups with ballots and shuffles".to_owned()));
    }
    let range = if sizes.has_choice() { sizes.min_size..=sizes.max_size } else { sizes.size..=sizes.size };
    if !range.contains(&subgroup_size) {
        return Err(others(format!("the device has {} to {}", range.start(), range.end())));
    }
    Ok(())
}

/// A cluster has to have several blocks, whose shared memory is aligned.
fn check_cluster(entry: &Entry) -> Result {
    let Some(cluster) = entry.cluster else { return Ok(()) };
    let whole = cluster.own_shared_bytes.is_multiple_of(16) && cluster.shared_align.is_power_of_two();
    if !(2..=MAX_CLUSTER).contains(&cluster.blocks()) || !whole || cluster.shared_align < 16 {
        return Err(wrong(format!("the cluster of `{}` is invalid", entry.name)));
    }
    Ok(())
}

/// The address of scratch memory must not overlap the parameters.
fn check_scratch(entry: &Entry) -> Result {
    let Some(scratch) = entry.scratch else { return Ok(()) };
    if scratch.address != entry.params_location.scratch_address() || !scratch.local_bytes.is_multiple_of(16) {
        return Err(wrong(format!("the scratch memory of `{}` is invalid", entry.name)));
    }
    Ok(())
}

fn check_variables(variables: &Variables) -> Result {
    if variables.near && variables.size == 0 {
        return Err(wrong("32-bit pointers are relative to the variables, but there are no variables".to_owned()));
    }
    let fits = |offset: u64, size: u64| offset.checked_add(size).is_some_and(|end| end <= variables.size);
    for variable in &variables.list {
        if !fits(variable.offset, variable.size) {
            return Err(wrong(format!("variable `{}` lies outside of the variables' memory", variable.name)));
        }
    }
    if !variables.image.iter().all(|run| fits(run.offset, run.bytes.len() as u64)) {
        return Err(wrong("initial bytes lie outside of the variables".to_owned()));
    }
    if !variables.relocations.iter().all(|r| (1..=8).contains(&r.size) && fits(r.offset, u64::from(r.size))) {
        return Err(wrong("a relocation lies outside of the variables, or its size is not 1 to 8 bytes".to_owned()));
    }
    Ok(())
}

fn check_counters(interface: &Interface) -> Result {
    let Some(Counters { offset }) = interface.counters else { return Ok(()) };
    let end = offset.checked_add(Counters::SIZE).filter(|&end| end <= interface.variables.size);
    if end.is_none() || !offset.is_multiple_of(8) {
        return Err(wrong("the counters are misaligned or lie outside of the variables".to_owned()));
    }
    Ok(())
}

fn check_launches(interface: &Interface) -> Result {
    let Some(region) = &interface.launches else {
        return match interface.entries.iter().find(|entry| entry.launches) {
            Some(entry) => Err(wrong(format!("`{}` has no region for launches", entry.name))),
            None => Ok(()),
        };
    };
    let Launches { offset, size, records, capacity, record_bytes, attributes, .. } = *region;
    let end = offset.checked_add(size).filter(|&end| end <= interface.variables.size);
    let records_end = records.checked_add(u64::from(capacity) * u64::from(record_bytes)).filter(|&end| end <= size);
    let attributes = attributes.is_none_or(|attributes| {
        attributes.is_multiple_of(4)
            && attributes.checked_add(launches::ATTRIBUTES_BYTES).is_some_and(|end| end <= size)
    });
    let last = region.kernels.iter().map(|kernel| kernel.function).max().unwrap_or(0);
    let table_end = launches::HEADER + launches::FUNCTION_BYTES * (u64::from(last) + 1);
    let room = attributes
        && table_end <= size
        && records >= launches::HEADER
        && u64::from(record_bytes) >= launches::record::LEAST;
    if end.is_none() || records_end.is_none() || !room || !offset.is_multiple_of(4) || !records.is_multiple_of(4) {
        return Err(wrong(
            "the region for launches is misaligned, too small, or lies outside of the variables".to_owned(),
        ));
    }
    Ok(())
}

fn check_status(interface: &Interface) -> Result {
    let Some(status) = interface.status else {
        return match interface.entries.iter().find(|entry| !entry.reports.is_empty() || entry.prints) {
            Some(entry) => Err(wrong(format!("`{}` has no status record", entry.name))),
            None => Ok(()),
        };
    };
    let fits = status.offset.checked_add(Status::SIZE).is_some_and(|end| end <= interface.variables.size);
    if !fits || !status.offset.is_multiple_of(4) {
        return Err(wrong("the status record is misaligned or lies outside of the variables".to_owned()));
    }
    for region in interface.output.iter().chain(&interface.heap) {
        let fits = region.offset.checked_add(region.size).is_some_and(|end| end <= interface.variables.size);
        let whole = region.offset.is_multiple_of(16) && region.size.is_multiple_of(16);
        if !fits || !whole || region.size < output::RECORDS {
            return Err(wrong("a region is misaligned, too small, or lies outside of the variables".to_owned()));
        }
    }
    if interface.heap.is_some_and(|heap| !heap::is_region(heap.size)) {
        return Err(wrong("the heap's size is invalid".to_owned()));
    }
    if interface.output.is_none() && interface.entries.iter().any(|entry| entry.prints) {
        return Err(wrong("kernels print, but there is no region to print to".to_owned()));
    }
    Ok(())
}

/// The version in a SPIR-V module's header.
fn spirv_version(spirv: &[u32]) -> Result<Version> {
    match spirv {
        [0x0723_0203, version, _, _, _, ..] => Ok(Version(version >> 16 & 0xff, version >> 8 & 0xff)),
        _ => Err(wrong("the words are no SPIR-V module".to_owned())),
    }
}

/// Names of the module's compute entry points.
fn kernel_names(spirv: &[u32]) -> Vec<Vec<u8>> {
    const OP_ENTRY_POINT: u32 = 15;
    const GL_COMPUTE: u32 = 5;
    let mut names = Vec::new();
    let mut rest = spirv.get(5..).unwrap_or_default();
    while let [first, ..] = *rest {
        let len = (first >> 16) as usize;
        let Some((instruction, after)) = rest.split_at_checked(len).filter(|_| len > 0) else { break };
        if let [_, GL_COMPUTE, _, text @ ..] = instruction
            && first & 0xffff == OP_ENTRY_POINT
        {
            names.push(text.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect());
        }
        rest = after;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv_translator::interface::{
        BlockSize, ImageRun, MemoryRegion, Param, Relocation, Shared, SourceLocation, Variable,
    };
    use ptx2spv_translator::target::{Cluster, Scratch};
    use ptx2spv_translator::{Assumptions, Math};

    /// A header and `OpEntryPoint GLCompute %1 "k"`.
    const SPIRV: [u32; 9] = [0x0723_0203, 0x0001_0500, 0, 2, 0, 4 << 16 | 15, 5, 1, b'k' as u32];

    fn good() -> Interface {
        let param = |name: &str, offset| Param {
            name: name.into(),
            ty: "u64".into(),
            offset,
            size: 8,
            align: 8,
            array: false,
            pointer: true,
        };
        Interface {
            format: Interface::FORMAT,
            target: "test".into(),
            math: Math::EXACT,
            spirv: Version(1, 5),
            entries: vec![Entry {
                name: "k".into(),
                params: vec![param("a", 0), param("b", 8)],
                params_size: 16,
                params_location: ParamLocation::PushConstant,
                push_constant_size: 56,
                shared: Shared::default(),
                block: BlockSize::default(),
                architecture: None,
                number: 0,
                reports: vec![SourceLocation::default()],
                prints: true,
                launches: false,
                waits: false,
                cooperative: None,
                waits_for_launches: None,
                suspends_in_loops: None,
                packing: None,
                cluster: None,
                scratch: None,
                allocations: None,
                texture_bits: false,
                features: [Feature::BufferDeviceAddress].into(),
            }],
            variables: Variables {
                size: 80,
                align: 8,
                list: vec![Variable { name: "v".into(), space: "global".into(), ty: "u64".into(), offset: 8, size: 8 }],
                image: vec![ImageRun { offset: 12, bytes: vec![1; 4] }],
                relocations: vec![Relocation { offset: 8, size: 8, target: 16, shift: 0 }],
                near: false,
            },
            status: Some(Status { offset: 4 }),
            output: Some(MemoryRegion { offset: 32, size: 32 }),
            heap: None,
            counters: None,
            launches: None,
            features: [Feature::BufferDeviceAddress].into(),
            relies_on: None,
        }
    }

    fn target() -> Target {
        Target::preset("lavapipe").unwrap()
    }

    #[test]
    fn accepts_a_consistent_interface() {
        interface(&target(), &SPIRV, &good()).unwrap();
    }

    /// Other formats are named though their other fields can't be read either.
    #[test]
    fn files_of_other_formats_are_named() {
        let text = serde_json::to_string(&good()).unwrap();
        assert_eq!(serde_json::from_str::<Interface>(&text).unwrap(), good());
        for (format, age) in [(Interface::FORMAT - 1, "an older"), (Interface::FORMAT + 1, "a newer")] {
            let text = format!("{{\"format\": {format}, \"spirv\": false}}");
            let error = serde_json::from_str::<Interface>(&text).unwrap_err().to_string();
            assert!(error.contains(&format!("format {format} is that of {age} version")), "{error}");
        }
    }

    #[test]
    fn refuses_contradictions() {
        type Change = fn(&mut Interface);
        let cases: [(&str, Change); 25] = [
            ("a newer version", |i| i.format = 7),
            ("an older version", |i| i.format = 1),
            ("no kernel `other`", |i| i.entries[0].name = "other".into()),
            ("parameter `b`", |i| i.entries[0].params_size = 15),
            ("parameter `a`", |i| i.entries[0].params[0].offset = u32::MAX),
            ("push constants", |i| i.entries[0].push_constant_size = 58),
            ("push constants", |i| i.entries[0].push_constant_size = 60),
            ("push constants", |i| i.entries[0].params_location = ParamLocation::Buffer),
            ("bytes of parameters", |i| i.entries[0].params_size = u32::MAX),
            ("variable `v`", |i| i.variables.list[0].offset = u64::MAX),
            ("initial bytes", |i| i.variables.image[0].offset = 77),
            ("relocation", |i| i.variables.relocations[0].offset = 73),
            ("relocation", |i| i.variables.relocations[0].size = 9),
            ("status record", |i| i.status = Some(Status { offset: 20 })),
            ("status record", |i| i.status = Some(Status { offset: 6 })),
            ("status record", |i| i.status = Some(Status { offset: u64::MAX - 3 })),
            ("status record", |i| i.status = None),
            ("no region to print to", |i| i.output = None),
            ("a region is", |i| i.output = Some(MemoryRegion { offset: 8, size: 32 })),
            ("a region is", |i| i.output = Some(MemoryRegion { offset: 0, size: 96 })),
            ("the cluster of", |i| {
                let cluster = Cluster { size: [1, 0, 2], shared_align: 16, own_shared_bytes: 0 };
                i.entries[0].cluster = Some(cluster);
            }),
            ("the scratch memory of", |i| {
                i.entries[0].scratch = Some(Scratch { address: 40, local_bytes: 16, shared: false });
            }),
            ("the scratch memory of", |i| {
                i.entries[0].scratch = Some(Scratch { address: 8, local_bytes: 20, shared: true });
            }),
            ("a region is", |i| i.heap = Some(MemoryRegion { offset: 0, size: 0 })),
            ("32-bit pointers", |i| i.variables = Variables { near: true, ..Variables::default() }),
        ];
        for (expected, change) in cases {
            let mut changed = good();
            change(&mut changed);
            let error = interface(&target(), &SPIRV, &changed).unwrap_err();
            assert!(matches!(error, Error::Interface(_)), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let mut small = target();
        small.limits.max_push_constants_size = 52;
        assert!(matches!(interface(&small, &SPIRV, &good()), Err(Error::Interface(_))));
    }

    #[test]
    fn names_what_the_device_lacks() {
        let mut demanding = good();
        demanding.features.extend([Feature::ShaderFloat64, Feature::ShaderMaximalReconvergence]);
        let error = interface(&target(), &SPIRV, &demanding).unwrap_err().to_string();
        assert_eq!(error, "lavapipe lacks what the module needs: shaderMaximalReconvergence");
        let mut newer = SPIRV;
        newer[1] = 0x0001_0600;
        let error = interface(&target(), &newer, &good()).unwrap_err().to_string();
        assert_eq!(error, "lavapipe takes SPIR-V 1.5 at most, the module is SPIR-V 1.6");
    }

    #[test]
    fn refuses_what_the_device_was_seen_to_do_otherwise() {
        let relying = Interface { relies_on: Some(Assumptions::of(&target())), ..good() };
        interface(&target(), &SPIRV, &relying).unwrap();
        let mut inexact = target();
        inexact.facts.div_f32_rounded = false;
        // There is no division in it.
        interface(&inexact, &SPIRV, &relying).unwrap();
        // `OpTypeFloat` and `OpFDiv`.
        let divides = [&SPIRV[..], &[3 << 16 | 22, 7, 32, 5 << 16 | 136, 7, 8, 9, 9]].concat();
        let error = interface(&inexact, &divides, &relying).unwrap_err().to_string();
        let expected = "the module was made for `test` and does not suit lavapipe: `div_f32_rounded` doesn't hold; ";
        assert!(error.starts_with(expected) && error.contains("vulkan1.1-minimum"), "{error}");
    }

    #[test]
    fn subgroups_must_be_those_it_was_made_for() {
        let packed = |subgroup_size, lanes| {
            let mut packed = good();
            packed.entries[0].packing = Some(Packing { subgroup_size, lanes });
            packed
        };
        let mut device = target();
        interface(&device, &SPIRV, &packed(8, 4)).unwrap();
        interface(&device, &SPIRV, &packed(1, 32)).unwrap();
        for (size, lanes) in [(16, 2), (8, 2), (0, 32), (1, 0), (3, 32), (1, 31), (u32::MAX, u32::MAX)] {
            let error = interface(&device, &SPIRV, &packed(size, lanes)).unwrap_err();
            assert!(matches!(error, Error::Interface(_) | Error::MadeForOthers { .. }), "{error}");
        }
        device.features.remove(&Feature::ComputeFullSubgroups);
        assert!(matches!(interface(&device, &SPIRV, &packed(8, 4)), Err(Error::MadeForOthers { .. })));
        interface(&device, &SPIRV, &packed(1, 32)).unwrap();
    }

    #[test]
    fn refuses_words_that_are_no_spirv() {
        for words in [&[][..], &[1, 2, 3, 4, 5], &SPIRV[..4], &SPIRV[..5], &SPIRV[..8]] {
            assert!(matches!(interface(&target(), words, &good()), Err(Error::Interface(_))));
        }
        let mut endless = SPIRV;
        endless[5] = 15;
        assert!(matches!(interface(&target(), &endless, &good()), Err(Error::Interface(_))));
    }
}
