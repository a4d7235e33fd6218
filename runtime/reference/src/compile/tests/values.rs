//! Instructions that are composed of several operations, compared with results computed by hand.

use std::fmt::Write;

use super::assemble;
use crate::config::Config;
use crate::device::{Device, Dispatch};

/// Everything before the constants and the function.
const HEADER: &str = include_str!("values.spvasm");

/// Runs a function body for one invocation and returns up to eight words that it computes.
fn run(constants: &str, body: &str, words: &[&str]) -> Vec<u32> {
    let mut text = format!(
        "{HEADER}{constants}
        %main = OpFunction %void None %function\n%entry = OpLabel\n{body}
        %place = OpAccessChain %ppblock %constants %i0
        %buffer = OpLoad %pblock %place\n"
    );
    for (index, word) in words.iter().enumerate() {
        let _ = writeln!(text, "%p{index} = OpAccessChain %puint %buffer %i0 %i{index}");
        let _ = writeln!(text, "OpStore %p{index} {word} Aligned 4");
    }
    text += "OpReturn\nOpFunctionEnd";
    let device = Device::new(Config::default());
    let shader = device.shader(&assemble(&text)).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let pipeline = device.pipeline(&shader, "main", &[], None).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let mut result = vec![0; 4 * words.len()];
    let address = device.allocate(result.len() as u64).expect("there is memory");
    let dispatch = Dispatch { groups: [1, 1, 1], push_constants: &address.to_le_bytes() };
    device.dispatch(&pipeline, &dispatch).expect("nothing goes wrong");
    device.read(address, &mut result).expect("it is allocated");
    result.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

#[test]
fn products_of_vectors() {
    let constants = "%f1 = OpConstant %float 1
        %f2 = OpConstant %float 2
        %f3 = OpConstant %float 3
        %f4 = OpConstant %float 4
        %fm1 = OpConstant %float -1
        %a = OpConstantComposite %v3 %f1 %f2 %f3
        %b = OpConstantComposite %v3 %f4 %fm1 %f2
        %c = OpConstantComposite %v2 %f3 %f4";
    let mut body = "%reflected = OpExtInst %v3 %glsl Reflect %a %b
        %normal = OpExtInst %v2 %glsl Normalize %c
        %scaled = OpVectorTimesScalar %v2 %c %f2
        %dot = OpDot %float %a %b
        %dotbits = OpBitcast %uint %dot"
        .to_owned();
    let parts = [("reflected", 3), ("normal", 2), ("scaled", 2)];
    let parts: Vec<(&str, u32)> =
        parts.into_iter().flat_map(|(name, count)| (0..count).map(move |part| (name, part))).collect();
    for (name, part) in &parts {
        let _ = write!(body, "\n%{name}{part} = OpCompositeExtract %float %{name} {part}");
        let _ = write!(body, "\n%{name}{part}bits = OpBitcast %uint %{name}{part}");
    }
    let words = parts.iter().map(|(name, part)| format!("%{name}{part}bits"));
    let words: Vec<String> = words.chain(["%dotbits".to_owned()]).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found: Vec<f32> = run(constants, &body, &words).into_iter().map(f32::from_bits).collect();
    // I - 2 * dot(N, I) * N, where the dot product is 4 - 2 + 6.
    assert_eq!(found, [-63.0, 18.0, -29.0, 3.0 / 5.0, 4.0 / 5.0, 6.0, 8.0, 8.0]);
}

#[test]
fn dot_products_of_integers() {
    // Bytes 1, -2, 127, -128 and 3, 4, 127, 127.
    let constants = "%a = OpConstant %uint 0x807ffe01\n%b = OpConstant %uint 0x7f7f0403";
    let body = "%s = OpSDotKHR %uint %a %b PackedVectorFormat4x8BitKHR
        %u = OpUDotKHR %uint %a %b PackedVectorFormat4x8BitKHR
        %m = OpSUDotKHR %uint %b %a PackedVectorFormat4x8BitKHR";
    let signed: i32 = 3 - 2 * 4 + 127 * 127 - 128 * 127;
    let unsigned: u32 = 3 + 254 * 4 + 127 * 127 + 128 * 127;
    assert_eq!(run(constants, body, &["%s", "%u", "%m"]), [signed as u32, unsigned, unsigned]);
}
