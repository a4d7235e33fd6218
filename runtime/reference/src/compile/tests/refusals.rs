//! Refused modules, and the rules that they violate.

use std::fmt::Write;

use ptx2spv_target::Version;
use ptx2spv_target::{Feature, Target};
use rspirv::spirv::ExecutionMode;

use super::{assemble, compile_text, compile_words, device};
use crate::module::Refusal;

/// A module with more capabilities, execution modes and globals, and statements in its only function.
fn module(capabilities: &[&str], modes: &[&str], globals: &str, body: &str) -> String {
    let mut text = String::from("OpCapability Shader\n");
    for capability in capabilities {
        let _ = writeln!(text, "OpCapability {capability}");
    }
    text += "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n";
    text += "OpExecutionMode %main LocalSize 4 1 1\n";
    for mode in modes {
        let _ = writeln!(text, "OpExecutionMode %main {mode}");
    }
    text += "%void = OpTypeVoid\n%function = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%u1 = OpConstant %uint 1\n";
    text += globals;
    let _ =
        write!(text, "\n%main = OpFunction %void None %function\n%entry = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n");
    text
}

fn refusal(text: &str, target: &Target) -> Refusal {
    match compile_words(&assemble(text), "main", target) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(refusal) => refusal,
    }
}

/// The rule for which a module is refused on a device with all features.
fn rule(text: &str) -> String {
    refusal(text, &device()).rule
}

fn without(features: &[Feature]) -> Target {
    let mut target = device();
    target.features.retain(|feature| !features.contains(feature));
    target
}

#[test]
fn missing_features_are_named() {
    use Feature as F;
    let int64_atomics = "shaderBufferInt64Atomics or shaderSharedInt64Atomics";
    let cases: [(&[&str], &[Feature], &str); 11] = [
        (&["Int64"], &[F::ShaderInt64], "shaderInt64"),
        (&["Int16"], &[F::ShaderInt16], "shaderInt16"),
        (&["Int8"], &[F::ShaderInt8], "shaderInt8"),
        (&["Float64"], &[F::ShaderFloat64], "shaderFloat64"),
        (&["Float16"], &[F::ShaderFloat16], "shaderFloat16"),
        (&["StorageBuffer16BitAccess"], &[F::StorageBuffer16BitAccess], "storageBuffer16BitAccess"),
        (&["StorageBuffer8BitAccess"], &[F::StorageBuffer8BitAccess], "storageBuffer8BitAccess"),
        (&["PhysicalStorageBufferAddresses"], &[F::BufferDeviceAddress], "bufferDeviceAddress"),
        (&["VulkanMemoryModel"], &[F::VulkanMemoryModel], "vulkanMemoryModel"),
        (&["Int64", "Int64Atomics"], &[F::ShaderBufferInt64Atomics, F::ShaderSharedInt64Atomics], int64_atomics),
        (&["WorkgroupMemoryExplicitLayoutKHR"], &[F::WorkgroupMemoryExplicitLayout], "workgroupMemoryExplicitLayout"),
    ];
    let of_capabilities =
        cases.map(|(capabilities, features, expected)| (module(capabilities, &[], "", ""), features, expected));
    let uniform: (_, &[Feature], _) = (
        module(&[], &["SubgroupUniformControlFlowKHR"], "", ""),
        &[F::ShaderSubgroupUniformControlFlow],
        "shaderSubgroupUniformControlFlow",
    );
    for (text, features, expected) in of_capabilities.into_iter().chain([uniform]) {
        assert_eq!(refusal(&text, &without(features)).rule, expected);
        compile_text(&text).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    }
}

#[test]
fn reconvergence_is_a_feature() {
    // Older versions of spirv-as don't know this mode, so another mode is replaced by its number.
    let mut words = assemble(&module(&[], &["SubgroupUniformControlFlowKHR"], "", ""));
    let mode = words.iter_mut().find(|word| **word == ExecutionMode::SubgroupUniformControlFlowKHR as u32);
    *mode.expect("the mode is there") = ExecutionMode::MaximallyReconvergesKHR as u32;
    let code = compile_words(&words, "main", &device()).expect("it has all features");
    assert!(code.convergence.maximal && !code.convergence.subgroup_uniform);
    let target = without(&[Feature::ShaderMaximalReconvergence]);
    let found = compile_words(&words, "main", &target).expect_err("the feature is missing");
    assert_eq!(found.rule, "shaderMaximalReconvergence");
}

#[test]
fn unknown_capabilities_are_named() {
    let found = refusal(&module(&["Geometry"], &[], "", ""), &device());
    assert_eq!(found.rule, "VUID-VkShaderModuleCreateInfo-pCode-08740");
    assert!(found.message.contains("Geometry"), "{found}");
    let found = refusal(&module(&["StoragePushConstant8"], &[], "", ""), &device());
    assert_eq!(found.rule, "storagePushConstant8");
}

#[test]
fn float_controls_are_those_of_the_target() {
    let text = module(&["RoundingModeRTE"], &["RoundingModeRTE 32"], "", "");
    let mut target = device();
    target.float_controls.rounding_mode_rte_float32 = false;
    assert_eq!(refusal(&text, &target).rule, "shaderRoundingModeRTEFloat32");
    target.float_controls.rounding_mode_rte_float32 = true;
    let code = compile_words(&assemble(&text), "main", &target).expect("the target has it");
    assert!(code.floats.0[1].nearest_even && !code.floats.0[0].nearest_even);
}

#[test]
fn versions_are_those_of_the_target() {
    let mut target = device();
    target.spirv = Version(1, 3);
    // Assembled for SPIR-V 1.6.
    assert_eq!(refusal(&module(&[], &[], "", ""), &target).rule, "VUID-VkShaderModuleCreateInfo-pCode-08737");
    let text = module(&["GroupNonUniform"], &[], "", "");
    target = device();
    target.vulkan = Version(1, 0);
    assert_eq!(refusal(&text, &target).rule, "Vulkan 1.1");
}

/// A 64-bit atomic on workgroup memory or on a buffer.
fn atomic(class: &str) -> String {
    let (variable, pointer) = match class {
        "Workgroup" => ("%p = OpVariable %pulong Workgroup", ""),
        _ => ("", "%p = OpConvertUToPtr %pulong %l1"),
    };
    let globals = format!(
        "%ulong = OpTypeInt 64 0
        %l1 = OpConstant %ulong 1
        %u0 = OpConstant %uint 0
        %pulong = OpTypePointer {class} %ulong
        {variable}"
    );
    let body = format!("{pointer}\n%old = OpAtomicIAdd %ulong %p %u1 %u0 %l1");
    physical(&module(&["Int64", "Int64Atomics"], &[], &globals, &body))
}

/// A module with physical pointers.
fn physical(module: &str) -> String {
    module.replace("OpMemoryModel Logical", "OpMemoryModel PhysicalStorageBuffer64").replacen(
        "OpCapability Shader",
        "OpCapability Shader\nOpCapability PhysicalStorageBufferAddresses",
        1,
    )
}

#[test]
fn atomics_depend_on_where_they_are() {
    let (buffer, shared) = (Feature::ShaderBufferInt64Atomics, Feature::ShaderSharedInt64Atomics);
    let accepted = |class, target: &Target| compile_words(&assemble(&atomic(class)), "main", target).is_ok();
    assert!(accepted("Workgroup", &without(&[buffer])));
    assert!(accepted("PhysicalStorageBuffer", &without(&[shared])));
    assert_eq!(refusal(&atomic("Workgroup"), &without(&[shared])).rule, "shaderSharedInt64Atomics");
    assert_eq!(refusal(&atomic("PhysicalStorageBuffer"), &without(&[buffer])).rule, "shaderBufferInt64Atomics");
}

#[test]
fn memory_has_limits() {
    let globals = "%length = OpConstant %uint 1025
        %array = OpTypeArray %uint %length
        %pointer = OpTypePointer Workgroup %array
        %element = OpTypePointer Workgroup %uint
        %variable = OpVariable %pointer Workgroup";
    let body = "%p = OpAccessChain %element %variable %u1\n%x = OpLoad %uint %p";
    let text = module(&[], &[], globals, body);
    let mut target = device();
    target.limits.max_compute_shared_memory_size = 4096;
    assert_eq!(refusal(&text, &target).rule, "maxComputeSharedMemorySize");
    // An unused variable takes no memory.
    let unused = module(&[], &[], globals, "");
    assert!(compile_words(&assemble(&unused), "main", &target).is_ok());
    let globals = "%length = OpConstant %uint 33
        %array = OpTypeArray %uint %length
        %block = OpTypeStruct %array
        %pointer = OpTypePointer PushConstant %block
        %element = OpTypePointer PushConstant %uint
        %u0 = OpConstant %uint 0
        %variable = OpVariable %pointer PushConstant";
    let body = "%p = OpAccessChain %element %variable %u0 %u1\n%x = OpLoad %uint %p";
    target.limits.max_push_constants_size = 128;
    assert_eq!(refusal(&module(&[], &[], globals, body), &target).rule, "maxPushConstantsSize");
}

/// Globals, the body of the function, and the rule that they violate.
#[test]
fn rules_are_named() {
    let huge = "%length = OpConstant %uint 4000000000
        %array = OpTypeArray %uint %length
        %large = OpTypeArray %array %length
        %null = OpConstantNull %large
        %pointer = OpTypePointer Function %large";
    let boolean = "%bool = OpTypeBool\n%true = OpConstantTrue %bool";
    let floats = "%float = OpTypeFloat 32\n%f1 = OpConstant %float 1";
    let nested = (1..300).fold(String::from("%t0 = OpTypeStruct %uint\n"), |globals, depth| {
        globals + &format!("%t{depth} = OpTypeStruct %t{}\n", depth - 1)
    });
    let (unsupported, universal) =
        ("not supported by the reference device", "SPIR-V 2.16.1 Universal Validation Rules");
    for (globals, body, expected) in [
        (huge, "%part = OpCompositeExtract %uint %null 7 7", unsupported),
        (huge, "%variable = OpVariable %pointer Function", unsupported),
        // A branch back to a block that is not a loop header.
        (
            boolean,
            "OpBranch %again\n%again = OpLabel\nOpBranchConditional %true %again %end\n%end = OpLabel",
            "SPIR-V 2.11 Structured Control Flow",
        ),
        // Operands of other types, and a result of one.
        (floats, "%x = OpIAdd %uint %f1 %u1", universal),
        (floats, "%x = OpFAdd %float %f1 %u1", universal),
        (floats, "%x = OpFAdd %uint %f1 %f1", universal),
        (&nested, "", "SPIR-V 2.17 Universal Limits"),
    ] {
        assert_eq!(rule(&module(&[], &[], globals, body)), expected, "{body}");
    }
}

#[test]
fn recursion_is_refused() {
    let other =
        "%a = OpFunction %void None %function\n%al = OpLabel\n%ac = OpFunctionCall %void %b\nOpReturn\nOpFunctionEnd
        %b = OpFunction %void None %function\n%bl = OpLabel\n%bc = OpFunctionCall %void %a\nOpReturn\nOpFunctionEnd\n";
    let text = module(&[], &[], "", "%call = OpFunctionCall %void %a") + other;
    assert_eq!(rule(&text), "VUID-StandaloneSpirv-None-04634");
    let calls_twice = other.replace("%bc = OpFunctionCall %void %a\n", "");
    assert!(compile_text(&(module(&[], &[], "", "%call = OpFunctionCall %void %a") + &calls_twice)).is_ok());
}

#[test]
fn uses_come_after_definitions() {
    let body = "%sum = OpIAdd %uint %later %u1\n%later = OpIAdd %uint %u1 %u1";
    let found = refusal(&module(&[], &[], "", body), &device());
    assert_eq!(found.rule, "SPIR-V 2.16.1 Universal Validation Rules");
    assert!(found.message.contains("before it is defined"), "{found}");
}

/// A load by a physical pointer, with these memory operands.
fn load(operands: &str) -> String {
    let globals = "%ulong = OpTypeInt 64 0
        %address = OpConstant %ulong 0x1000
        %pointer = OpTypePointer PhysicalStorageBuffer %ulong";
    let body = format!("%p = OpConvertUToPtr %pointer %address\n%x = OpLoad %ulong %p {operands}");
    physical(&module(&["Int64"], &[], globals, &body))
}

#[test]
fn physical_pointers_say_their_alignment() {
    assert_eq!(rule(&load("")), "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708");
    assert_eq!(rule(&load("Aligned 4")), "VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314");
    assert!(compile_text(&load("Aligned 16")).is_ok());
}

#[test]
fn read_only_memory_is_not_written() {
    let globals = "%ulong = OpTypeInt 64 0
        %address = OpConstant %ulong 0x1000
        %u0 = OpConstant %uint 0
        %block = OpTypeStruct %uint
        %pblock = OpTypePointer PhysicalStorageBuffer %block
        %puint = OpTypePointer PhysicalStorageBuffer %uint";
    let body = "%b = OpConvertUToPtr %pblock %address\n%p = OpAccessChain %puint %b %u0\nOpStore %p %u1 Aligned 4";
    let decorations = "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n";
    let with = |more: &str| {
        let text = physical(&module(&["Int64"], &[], globals, body));
        text.replacen("%void =", &format!("{decorations}{more}%void ="), 1)
    };
    assert!(compile_text(&with("")).is_ok());
    assert_eq!(rule(&with("OpMemberDecorate %block 0 NonWritable\n")), "SPIR-V 3.20 Decoration, NonWritable");
}

#[test]
fn words_must_make_a_module() {
    let target = device();
    let rule = |words: &[u32]| compile_words(words, "main", &target).expect_err("it is none").rule;
    assert!(rule(&[]).starts_with("SPIR-V 2.3"));
    let words = assemble(&module(&[], &[], "", ""));
    assert!(rule(&words[..words.len() - 1]).starts_with("SPIR-V 2.4"), "OpFunctionEnd is missing");
    assert!(rule(&words[..words.len() - 2]).starts_with("SPIR-V 2.4"), "OpReturn is missing, too");
    let mut cut = words.clone();
    cut.truncate(words.len() - 3);
    assert!(!rule(&cut).is_empty());
    let mut bound = words.clone();
    bound[3] = u32::MAX;
    assert!(rule(&bound).starts_with("SPIR-V 2.17"));
    let other = compile_words(&words, "other", &target).expect_err("there is no such entry");
    assert_eq!(other.rule, "VUID-VkPipelineShaderStageCreateInfo-pName-00707");
}

#[test]
fn blocks_need_terminators() {
    // Without OpReturn, the second to last instruction, of one word.
    let mut words = assemble(&module(&[], &[], "", ""));
    words.remove(words.len() - 2);
    let found = compile_words(&words, "main", &device()).expect_err("a block does not end");
    assert_eq!(found.rule, "SPIR-V 2.16.1 Universal Validation Rules");
}

#[test]
fn types_have_no_cycles() {
    // spirv-as accepts something that spirv-val refuses: a struct that contains itself, because it is forward-declared
    // as a pointer.
    let text = physical(&module(&[], &[], "%cycle = OpTypeStruct %cycle", ""));
    let text = text.replacen("%void =", "OpTypeForwardPointer %cycle PhysicalStorageBuffer\n%void =", 1);
    assert_eq!(rule(&text), "SPIR-V 2.16.1 Universal Validation Rules");
    let list = text.replace(
        "%cycle = OpTypeStruct %cycle",
        "%node = OpTypeStruct %cycle\n%cycle = OpTypePointer PhysicalStorageBuffer %node",
    );
    assert!(compile_text(&list).is_ok());
}
