//! Instructions that are composed of several operations, compared with results computed by hand.

use std::fmt::Write;
use std::sync::Arc;

use super::assemble;
use crate::config::Config;
use crate::device::{Device, Dispatch};

/// Types and constants for all modules here.
const GLOBALS: &str = "
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %float = OpTypeFloat 32
    %v3 = OpTypeVector %float 3
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %pblock = OpTypePointer PhysicalStorageBuffer %block
    %puint = OpTypePointer PhysicalStorageBuffer %uint
    %push = OpTypeStruct %pblock
    %ppush = OpTypePointer PushConstant %push
    %ppblock = OpTypePointer PushConstant %pblock
    %constants = OpVariable %ppush PushConstant
    %f1 = OpConstant %float 1
    %f2 = OpConstant %float 2
    %f3 = OpConstant %float 3
    %f4 = OpConstant %float 4
    %fm1 = OpConstant %float -1
    %a3 = OpConstantComposite %v3 %f1 %f2 %f3
    %b3 = OpConstantComposite %v3 %f4 %fm1 %f2
    ";

/// Runs a function body for one invocation and returns the words (integers or floats) that it computes.
fn run(globals: &str, body: &str, floats: &[&str], integers: &[&str]) -> Vec<u32> {
    let mut text = format!(
        "OpCapability Shader
        OpCapability PhysicalStorageBufferAddresses
        OpCapability DotProductKHR
        OpCapability DotProductInput4x8BitPackedKHR
        OpExtension \"SPV_KHR_integer_dot_product\"
        OpMemoryModel PhysicalStorageBuffer64 GLSL450
        OpEntryPoint GLCompute %main \"main\" %constants
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %push Block
        OpMemberDecorate %push 0 Offset 0
        OpDecorate %words ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        {GLOBALS}\n{globals}\n"
    );
    let count = floats.len() + integers.len();
    for index in 0..count.max(1) {
        let _ = writeln!(text, "%i{index} = OpConstant %uint {index}");
    }
    let _ = write!(
        text,
        "%main = OpFunction %void None %function\n%entry = OpLabel\n{body}
        %place = OpAccessChain %ppblock %constants %i0
        %buffer = OpLoad %pblock %place\n"
    );
    for (index, name) in floats.iter().chain(integers).enumerate() {
        let value = if index < floats.len() {
            let _ = writeln!(text, "%r{index} = OpBitcast %uint {name}");
            format!("%r{index}")
        } else {
            (*name).into()
        };
        let _ = writeln!(
            text,
            "%p{index} = OpAccessChain %puint %buffer %i0 %i{index}\nOpStore %p{index} {value} Aligned 4"
        );
    }
    text += "OpReturn\nOpFunctionEnd";
    let device = Device::new(Config::default());
    let shader = device.shader(&assemble(&text)).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let pipeline = device.pipeline(&shader, "main", &[], None).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let bytes = 4 * count as u64;
    let address = device.allocate(bytes).expect("there is memory");
    let dispatch = Dispatch { groups: [1, 1, 1], push_constants: &address.to_le_bytes() };
    device.dispatch(&Arc::clone(&pipeline), &dispatch).expect("nothing goes wrong");
    let mut result = vec![0; bytes as usize];
    device.read(address, &mut result).expect("it is allocated");
    result.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

#[test]
fn products_of_vectors() {
    assert_eq!(run("", "%dot = OpDot %float %a3 %b3", &["%dot"], &[]), [8f32.to_bits()]);
}

#[test]
fn dot_products_of_integers() {
    // Bytes 1, -2, 127, -128 and 3, 4, 127, 127.
    let globals = "%a = OpConstant %uint 0x807ffe01\n%b = OpConstant %uint 0x7f7f0403";
    let body = "%s = OpSDotKHR %uint %a %b PackedVectorFormat4x8BitKHR
        %u = OpUDotKHR %uint %a %b PackedVectorFormat4x8BitKHR
        %m = OpSUDotKHR %uint %b %a PackedVectorFormat4x8BitKHR";
    let signed: i32 = 3 - 2 * 4 + 127 * 127 - 128 * 127;
    let unsigned: u32 = 3 + 254 * 4 + 127 * 127 + 128 * 127;
    let found = run(globals, body, &[], &["%s", "%u", "%m"]);
    assert_eq!(found, [signed as u32, unsigned, unsigned]);
}
