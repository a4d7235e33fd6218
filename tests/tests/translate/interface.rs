//! The translation's description for the host: parameters, variables, sizes, and required features.

use ptx2spv_translator::interface::ParamLocation;
use ptx2spv_translator::{ErrorKind, Feature, Interface, Options, Program, Source, Target};

use crate::support::*;

#[test]
fn dynamic_shared_memory_is_told() {
    let shared = |text: &str| accepted(text).interface.entries[0].shared.clone();
    let none = shared(&kernel("k", ""));
    assert_eq!((none.static_bytes, none.dynamic), (0, false));
    let some =
        shared(&kernel("k", ".shared .align 8 .b8 s[20]; .shared .u32 t; st.shared.u32 [s], 1; st.shared.u32 [t], 2;"));
    assert_eq!((some.static_bytes, some.dynamic), (24, false));
    let dynamic = ".extern .shared .align 16 .b8 dyn[];\n".to_owned();
    let both =
        shared(&(dynamic.clone() + &kernel("k", ".shared .u32 t; st.shared.u32 [t], 2; st.shared.u32 [dyn+4], 3;")));
    assert_eq!((both.static_bytes, both.dynamic), (4, true));
    assert!(!shared(&(dynamic + &kernel("k", ""))).dynamic);
}

/// Offset, size, alignment, and whether it is an array and a pointer.
type ParamFacts = (u32, u32, u32, bool, bool);

fn params(interface: &Interface) -> Vec<ParamFacts> {
    let facts = |param: &ptx2spv_translator::interface::Param| {
        (param.offset, param.size, param.align, param.array, param.pointer)
    };
    interface.entries[0].params.iter().map(facts).collect()
}

#[test]
fn parameters_lie_at_multiples_of_their_alignment() {
    let parameters = ".param .u8 a, .param .u64 b, .param .align 8 .b8 s[12], .param .u16 c, .param .f32 d,
        .param .u64 .ptr .global .align 16 e, .param .b8 f[3], .param .align 4 .b8 g[4]";
    let interface = accepted(&format!(".entry k({parameters}) {{ ret; }}")).interface;
    let expected: [ParamFacts; 8] = [
        (0, 1, 1, false, false),
        (8, 8, 8, false, false),
        (16, 12, 8, true, false),
        (28, 2, 2, false, false),
        (32, 4, 4, false, false),
        (40, 8, 8, false, true),
        (48, 3, 1, true, false),
        (52, 4, 4, true, false),
    ];
    assert_eq!(params(&interface), expected);
    let entry = &interface.entries[0];
    assert_eq!((entry.params_size, entry.params_location), (56, ParamLocation::PushConstant));
    assert_eq!(entry.push_constant_size, 40 + 56);
    let names: Vec<_> = entry.params.iter().map(|param| (param.name.as_str(), param.ty.as_str())).collect();
    assert_eq!(names[..3], [("a", "u8"), ("b", "u64"), ("s", "b8")]);
}

#[test]
fn parameters_that_are_too_large_for_push_constants_go_to_a_buffer() {
    // lavapipe has 128 bytes, of which 40 are taken.
    let location = |size: u32, body: &str| {
        let text =
            format!(".entry k(.param .align 4 .b8 s[{size}]) {{ .reg .u32 %r<2>; .reg .u64 %rd<2>; {body} ret; }}");
        let interface = accepted(&text).interface;
        let entry = &interface.entries[0];
        (entry.params_location, entry.params_size, entry.push_constant_size)
    };
    let load = "ld.param.u32 %r1, [s+80];";
    assert_eq!(location(88, load), (ParamLocation::PushConstant, 88, 128));
    assert_eq!(location(89, load), (ParamLocation::Buffer, 92, 40));
    assert_eq!(location(4096, load), (ParamLocation::Buffer, 4096, 40));
    // An address must be one of memory.
    assert_eq!(location(88, "mov.b64 %rd1, s;").0, ParamLocation::Buffer);
}

#[test]
fn accesses_to_parameters_must_lie_inside() {
    let text = |access: &str| {
        format!(".entry k(.param .u32 a, .param .align 4 .b8 s[6]) {{ .reg .u32 %r<3>; {access} ret; }}")
    };
    accepted(&text("ld.param.u32 %r1, [s]; ld.param.u16 %r1, [s+4]; ld.param.u8 %r1, [s+5];"));
    // The padding after a parameter is part of it.
    accepted(&text("ld.param.u32 %r1, [s+4]; ld.param.v2.u32 {%r1, %r2}, [s];"));
    // So are the other parameters of a kernel.
    accepted(&text("ld.param.u32 %r1, [s+-4]; ld.param.v2.u32 {%r1, %r2}, [a];"));
    refused(&text("¦ld.param.u32 %r1, [s+8];"), &["do not lie in the 12 bytes of the kernel's parameters"]);
    refused(&text("¦ld.param.u32 %r1, [a+-4];"), &["do not lie in the 12 bytes of the kernel's parameters"]);
    refused(&text("¦ld.param.u16 %r1, [s+1];"), &["2 bytes at offset 1"]);
    refused(&text("¦ld.param.v2.u32 {%r1, %r2}, [s+4];"), &["4 bytes at offset 8"]);
    refused(&text("¦st.param.u32 [a], %r1;"), &["a kernel's parameters can't be written"]);
    refused(&text("¦ld.global.u32 %r1, [a];"), &["another state space"]);
    let unaligned = ".entry k(.param .u8 a, .param .b8 s[8]) { .reg .u32 %r<2>; ¦ld.param.u32 %r1, [s]; ret; }";
    refused(unaligned, &["4 bytes at offset 0 do not lie in the 9 bytes"]);
}

/// ptxas refuses each of these too.
#[test]
fn parameters_lie_in_their_spaces() {
    for space in ["const", "reg", "global", "shared"] {
        refused(&format!(".entry k(.{space} .u32 ¦a) {{ ret; }}"), &["lie in the state space `.param`"]);
    }
    refused(".func f(.local .u32 ¦a) { ret; } .entry k() { ret; }", &["lie in the state space `.param` or `.reg`"]);
    refused(".entry k(¦.param .v2 .u32 a) { ret; }", &["can't be a vector"]);
    refused(".entry k(¦.param .u32 a[0]) { ret; }", &["only a function's last parameter can lack a size"]);
    refused(
        ".func f(¦.hidden .param .u32 a) { ret; } .entry k() { ret; }",
        &["only parameters of kernels are `.hidden`"],
    );
    accepted(
        ".func f(.reg .v2 .u32 a) { ret; } .func g(.param .u32 a[0]) { ret; } .entry k(.param .v4 .u32 a[2]) { ret; }",
    );
}

/// ptxas refuses each of these too.
#[test]
fn arrays_without_a_size_are_external() {
    refused(".global .u32 ¦a[0]; .entry k() { ret; }", &["only `.extern` arrays can lack a size"]);
    refused(".global .u32 ¦a[] = {}; .entry k() { ret; }", &["only `.extern` arrays can lack a size"]);
    refused(".global .u32 ¦a[2][0]; .entry k() { ret; }", &["only an array's first dimension can lack a size"]);
    refused(".entry k() { .shared .u32 ¦a[0]; ret; }", &["only `.extern` arrays can lack a size"]);
    accepted(".extern .shared .u32 s[0]; .global .u32 a[0] = {1, 2}; .entry k() { ret; }");
}

#[test]
fn kernels_call_functions_only() {
    refused(".entry e() { ret; } .entry k() { call ¦e; ret; }", &["`e` is a kernel, which can't be called"]);
}

#[test]
fn only_old_modules_have_banks_of_constants() {
    refused(".const[0] .u32 ¦c = 1; .entry k() { ret; }", &["none of since PTX 2.2"]);
    refused(
        ".const .u32 c = 1; .entry k() { .reg .u32 %r; ld.¦const[0].u32 %r, [c]; ret; }",
        &["none of since PTX 2.2"],
    );
}

const VARIABLES: &str = ".global .u32 a = 5;
.global .align 8 .b8 b[3] = {1, 2, 3};
.const .f32 c[2] = {1.0, 0f40000000};
.global .u64 p = b+1;
.global .u32 z;
.global .u8 q[3] = {0xFF(b), 7, 0xFF00(b)};
.global .u16 w[2][2] = {{1, 2}, {-1}};
";

/// The preset for NVIDIA's driver, whose modules have no variables of the translator.
fn interface_of_variables() -> Interface {
    let target = Target::preset("nvidia").unwrap();
    translate(&format!("{HEADER}{VARIABLES}{}", kernel("k", "")), &target, None, false).unwrap().interface
}

#[test]
fn variables_have_places() {
    let variables = interface_of_variables().variables;
    let places: Vec<_> =
        variables.list.iter().map(|v| (v.name.as_str(), &*v.space, &*v.ty, v.offset, v.size)).collect();
    let expected = [
        ("a", "global", "u32", 8, 4),
        ("b", "global", "b8", 16, 3),
        ("c", "const", "f32", 0, 8),
        ("p", "global", "u64", 24, 8),
        ("z", "global", "u32", 32, 4),
        ("q", "global", "u8", 36, 3),
        ("w", "global", "u16", 40, 8),
    ];
    assert_eq!(places, expected);
    assert_eq!(variables.size, 48);
    assert!(variables.align >= 8 && variables.align.is_power_of_two());
}

#[test]
fn variables_have_initial_content() {
    let variables = interface_of_variables().variables;
    let mut image = [0u8; 48];
    for run in &variables.image {
        image[run.offset as usize..][..run.bytes.len()].copy_from_slice(&run.bytes);
    }
    let mut expected = [0u8; 48];
    // Constants come first.
    expected[..4].copy_from_slice(&1.0_f32.to_le_bytes());
    expected[4..8].copy_from_slice(&2.0_f32.to_le_bytes());
    expected[8] = 5;
    expected[16..19].copy_from_slice(&[1, 2, 3]);
    expected[37] = 7;
    expected[40..46].copy_from_slice(&[1, 0, 2, 0, 0xff, 0xff]);
    assert_eq!(image, expected);
    let relocations: Vec<_> = variables.relocations.iter().map(|r| (r.offset, r.size, r.target, r.shift)).collect();
    assert_eq!(relocations, [(24, 8, 17, 0), (36, 1, 16, 0), (38, 1, 16, 8)]);
}

#[test]
fn block_sizes_are_told() {
    let block =
        |directives: &str| accepted(&format!(".entry k() {directives} {{ ret; }}")).interface.entries[0].block.clone();
    assert_eq!((block("").required, block("").max), (None, None));
    assert_eq!(block(".reqntid 32, 2, 1").required, Some([32, 2, 1]));
    assert_eq!(block(".reqntid 32").required, Some([32, 1, 1]));
    assert_eq!(block(".maxntid 64, 4").max, Some([64, 4, 1]));
    assert_eq!(block(".minnctapersm 2 .maxnreg 32").max, None);
}

#[test]
fn features_are_those_of_what_is_used() {
    let text = kernel("plain", "add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;")
        + &kernel("double", "ld.global.f64 %fd1, [%rd1]; add.f64 %fd1, %fd1, %fd1; st.global.f64 [%rd1], %fd1;");
    let interface = accepted(&text).interface;
    let has = |name: &str| interface.entry(name).unwrap().features.contains(&Feature::ShaderFloat64);
    assert!(!has("plain") && has("double") && interface.features.contains(&Feature::ShaderFloat64));
    for entry in &interface.entries {
        assert!(entry.features.contains(&Feature::BufferDeviceAddress));
        assert!(entry.features.is_subset(&interface.features));
    }
}

#[test]
fn doubles_need_no_feature() {
    let mut target = lavapipe();
    target.features.remove(&Feature::ShaderFloat64);
    let double = "ld.global.f64 %fd1, [%rd1]; add.f64 %fd1, %fd1, %fd1; st.global.f64 [%rd1], %fd1;";
    let text = HEADER.to_owned() + &kernel("double", double);
    let interface = translate(&text, &target, None, false).unwrap().interface;
    assert!(!interface.features.contains(&Feature::ShaderFloat64), "{:?}", interface.features);
}

#[test]
fn missing_features_are_named() {
    let mut target = lavapipe();
    target.features.remove(&Feature::BufferDeviceAddress);
    let text = HEADER.to_owned() + &kernel("k", "");
    let errors = translate(&text, &target, None, false).unwrap_err();
    assert_eq!(errors.list.len(), 1, "{errors}");
    let error = &errors.list[0];
    assert!(matches!(error.kind, ErrorKind::MissingFeature { feature: Feature::BufferDeviceAddress, .. }), "{errors}");
    assert!(error.kind.to_string().contains("`bufferDeviceAddress`"), "{errors}");
}

#[test]
fn limits_are_named() {
    let mut target = lavapipe();
    target.limits.max_compute_shared_memory_size = 1024;
    let text = HEADER.to_owned() + &kernel("k", ".shared .b8 s[232449]; st.shared.u8 [s+1], %r1;");
    let errors = translate(&text, &target, None, false).unwrap_err();
    let limit = matches!(errors.list[0].kind, ErrorKind::Limit { needed: 232_449, available: 232_448, .. });
    assert!(limit, "{errors}");
}

/// Shared and local memory that doesn't fit the target is in device memory. The push constants hold its address if the
/// parameter block leaves room for it.
#[test]
fn scratch_memory_is_told() {
    const SHARED: &str = ".shared .b8 s[1025]; st.shared.u8 [s+1], %r1;";
    const LOCAL: &str =
        ".local .b8 l[1025]; mov.u32 %r1, %tid.x; mov.u32 %r2, l; add.u32 %r2, %r2, %r1; st.local.u8 [%r2], %r1;";
    let mut target = lavapipe();
    let scratch = |target: &Target, text: &str, dynamic_shared_bytes| {
        let source = Source::new("k.ptx", HEADER.to_owned() + text);
        let program = Program::new(&source).unwrap();
        let translation = program.translate(&Options::new(target).dynamic_shared_bytes(dynamic_shared_bytes)).unwrap();
        let entry = &translation.interface.entries[0];
        entry.scratch.map(|scratch| (scratch.address, scratch.local_bytes, scratch.shared, entry.push_constant_size))
    };
    let [shared, local] = [SHARED, LOCAL].map(|body| kernel("k", body));
    assert_eq!(scratch(&target, &shared, 0), None);
    assert_eq!(scratch(&target, &local, 0), None);
    target.limits.max_compute_shared_memory_size = 2048;
    target.quirks.local_memory = Some(2048);
    assert_eq!(scratch(&target, &shared, 1008), None);
    let inline = scratch(&target, &shared, 1009).unwrap();
    assert_eq!((inline.0, inline.1, inline.2), (8, 0, true));
    target.limits.max_compute_shared_memory_size = 1024;
    assert_eq!(scratch(&target, &shared, 0), Some(inline));
    assert_eq!(scratch(&target, &local, 0), None);
    target.quirks.local_memory = Some(1024);
    assert_eq!(scratch(&target, &local, 0).map(|found| (found.0, found.1, found.2)), Some((8, 1040, false)));
    let large = format!(".entry k(.param .b8 p[200]) {{ .reg .b32 %r<3>; {LOCAL} {SHARED} ret; }}");
    assert_eq!(scratch(&target, &large, 0), Some((40, 1040, true, 48)));
}

#[test]
fn clusters_take_no_more_than_a_workgroup_has() {
    let interface = accepted(".entry k() .reqnctapercluster 2, 4 { ret; }").interface;
    assert_eq!(interface.entries[0].cluster.map(|cluster| cluster.size), Some([2, 4, 1]));
    assert_eq!(accepted(".entry k() .reqnctapercluster 1 { ret; }").interface.entries[0].cluster, None);
    let limit = |text: &str, numbers: (u64, u64)| {
        let errors = translate(&(HEADER.to_owned() + text), &lavapipe(), None, false).unwrap_err();
        let found = match errors.list[0].kind {
            ErrorKind::Limit { needed, available, .. } => (needed, available),
            _ => panic!("{errors}"),
        };
        assert_eq!(found, numbers, "{errors}");
    };
    limit(".entry k() .reqnctapercluster 9, 2 { ret; }", (18, 16));
    // Each block has 8,192 bytes of shared memory, a workgroup 32,768.
    let large = ".entry k() .reqnctapercluster 5 { .shared .b32 s[2048]; .reg .u32 %r; ld.shared.u32 %r, [s]; st.shared.u32 [s+4], %r; ret; }";
    let scratch = accepted(large).interface.entries[0].scratch;
    assert_eq!(scratch.map(|scratch| (scratch.local_bytes, scratch.shared)), Some((0, true)));
}

/// Maximal reconvergence is declared if the device has it and its driver compiles it correctly, and never without warp
/// operations. Without full subgroups, no subgroup operation is left.
#[test]
fn subgroups_as_the_driver_has_them() {
    const VOTE: &str = "mov.u32 %r2, %tid.x;\n\tsetp.gt.u32 %p1, %r2, 5;\n\tvote.sync.ballot.b32 %r1, %p1, -1;\n\t\
                        st.global.u32 [%rd1], %r1;";
    let text = format!("{HEADER}{}", kernel("k", VOTE));
    let made = |target: &Target| translate(&text, target, None, false).unwrap();
    let mut target = Target::preset("nvidia").unwrap();
    let usual = made(&target).disassemble();
    assert!(usual.contains("MaximallyReconvergesKHR") && usual.contains("OpGroupNonUniformBallot"), "{usual}");
    target.quirks.maximal_reconvergence_wrong = true;
    let careful = made(&target);
    assert!(!careful.interface.features.contains(&Feature::ShaderMaximalReconvergence));
    let careful = careful.disassemble();
    assert!(!careful.contains("Maximal") && careful.contains("SubgroupUniformControlFlowKHR"), "{careful}");
    target.features.remove(&Feature::ComputeFullSubgroups);
    let alone = made(&target);
    assert_eq!(alone.interface.entries[0].packing.map(|packing| (packing.subgroup_size, packing.lanes)), Some((1, 32)));
    let alone = alone.disassemble();
    assert!(!alone.contains("GroupNonUniform"), "{alone}");
}
