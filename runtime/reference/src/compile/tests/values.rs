//! Instructions that are composed of several operations, compared with results computed by hand.

use std::fmt::Write;
use std::sync::Arc;

use super::assemble;
use crate::config::Config;
use crate::device::Device;
use crate::dispatch::{Bound, Dispatch};

/// Types and constants for all modules here.
const GLOBALS: &str = "
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %ulong = OpTypeInt 64 0
    %float = OpTypeFloat 32
    %double = OpTypeFloat 64
    %v2 = OpTypeVector %float 2
    %v3 = OpTypeVector %float 3
    %v4 = OpTypeVector %float 4
    %u2 = OpTypeVector %uint 2
    %u4 = OpTypeVector %uint 4
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %pblock = OpTypePointer StorageBuffer %block
    %puint = OpTypePointer StorageBuffer %uint
    %buffer = OpVariable %pblock StorageBuffer
    %f0 = OpConstant %float 0
    %f1 = OpConstant %float 1
    %f2 = OpConstant %float 2
    %f3 = OpConstant %float 3
    %f4 = OpConstant %float 4
    %fm1 = OpConstant %float -1
    %half = OpConstant %float 0.5
    %a3 = OpConstantComposite %v3 %f1 %f2 %f3
    %b3 = OpConstantComposite %v3 %f4 %fm1 %f2
    %c2 = OpConstantComposite %v2 %f3 %f4
    ";

/// Runs a function body for one invocation and returns the words (integers or floats) that it computes.
fn run(globals: &str, body: &str, floats: &[&str], integers: &[&str]) -> Vec<u32> {
    let mut text = format!(
        "OpCapability Shader
        OpCapability Int64
        OpCapability Float64
        OpCapability DotProductKHR
        OpCapability DotProductInput4x8BitPackedKHR
        OpExtension \"SPV_KHR_integer_dot_product\"
        %glsl = OpExtInstImport \"GLSL.std.450\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %buffer
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %buffer DescriptorSet 0
        OpDecorate %buffer Binding 0
        OpDecorate %words ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        {GLOBALS}\n{globals}\n"
    );
    let count = floats.len() + integers.len();
    for index in 0..count.max(1) {
        let _ = writeln!(text, "%i{index} = OpConstant %uint {index}");
    }
    let _ = write!(text, "%main = OpFunction %void None %function\n%entry = OpLabel\n{body}\n");
    for (index, name) in floats.iter().chain(integers).enumerate() {
        let value = if index < floats.len() {
            let _ = writeln!(text, "%r{index} = OpBitcast %uint {name}");
            format!("%r{index}")
        } else {
            (*name).into()
        };
        let _ = writeln!(text, "%p{index} = OpAccessChain %puint %buffer %i0 %i{index}\nOpStore %p{index} {value}");
    }
    text += "OpReturn\nOpFunctionEnd";
    let device = Device::new(Config::default());
    let shader = device.shader(&assemble(&text)).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let pipeline = device.pipeline(&shader, "main", &[], None).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let bytes = 4 * count as u64;
    let address = device.allocate(bytes).expect("there is memory");
    let bindings = [Bound { set: 0, binding: 0, address, range: bytes }];
    let dispatch = Dispatch { groups: [1, 1, 1], push_constants: &[], bindings: &bindings };
    device.dispatch(&Arc::clone(&pipeline), &dispatch).expect("nothing goes wrong");
    let mut result = vec![0; bytes as usize];
    device.read(address, &mut result).expect("it is allocated");
    result.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Like [`run`], for the components of a vector of floats.
fn run_vector(globals: &str, body: &str, count: usize) -> Vec<f32> {
    let mut body = body.to_owned();
    let names: Vec<String> = (0..count).map(|index| format!("%part{index}")).collect();
    for (index, name) in names.iter().enumerate() {
        let _ = write!(body, "\n{name} = OpCompositeExtract %float %result {index}");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    run(globals, &body, &names, &[]).into_iter().map(f32::from_bits).collect()
}

#[test]
fn products_of_vectors() {
    assert_eq!(run_vector("", "%result = OpExtInst %v3 %glsl Cross %a3 %b3", 3), [7.0, 10.0, -9.0]);
    // I - 2 * dot(N, I) * N, where the dot product is 4 - 2 + 6.
    assert_eq!(run_vector("", "%result = OpExtInst %v3 %glsl Reflect %a3 %b3", 3), [-63.0, 18.0, -29.0]);
    assert_eq!(run_vector("", "%result = OpExtInst %v2 %glsl Normalize %c2", 2), [3.0 / 5.0, 4.0 / 5.0]);
    let body = "%length = OpExtInst %float %glsl Length %c2
        %n = OpVectorShuffle %v2 %c2 %c2 1 0
        %far = OpExtInst %float %glsl Distance %c2 %n
        %dot = OpDot %float %a3 %b3";
    let values: Vec<f32> = run("", body, &["%length", "%far", "%dot"], &[]).into_iter().map(f32::from_bits).collect();
    assert_eq!(values, [5.0, 2f32.sqrt(), 8.0]);
}

#[test]
fn packing() {
    let globals = "%v = OpConstantComposite %v4 %f1 %fm1 %half %f0
        %two = OpConstantComposite %v2 %f1 %fm1
        %packed = OpConstant %uint 0x7f8100ff
        %halves = OpConstant %uint 0xc0003c00";
    let body = "%snorm = OpExtInst %uint %glsl PackSnorm4x8 %v
        %unorm = OpExtInst %uint %glsl PackUnorm4x8 %v
        %half16 = OpExtInst %uint %glsl PackHalf2x16 %two
        %wide = OpExtInst %uint %glsl PackSnorm2x16 %two
        %pair = OpBitcast %u2 %long
        %double0 = OpExtInst %double %glsl PackDouble2x32 %pair
        %bits = OpBitcast %ulong %double0
        %high = OpShiftRightLogical %ulong %bits %amount
        %word = OpUConvert %uint %high
        %un = OpExtInst %v4 %glsl UnpackSnorm4x8 %packed
        %un0 = OpCompositeExtract %float %un 0
        %un2 = OpCompositeExtract %float %un 2
        %un3 = OpCompositeExtract %float %un 3
        %uh = OpExtInst %v2 %glsl UnpackHalf2x16 %halves
        %uh1 = OpCompositeExtract %float %uh 1";
    let globals = format!("{globals}\n%long = OpConstant %ulong 0x1122334455667788\n%amount = OpConstant %uint 32");
    let floats = ["%un0", "%un2", "%un3", "%uh1"];
    let found = run(&globals, body, &floats, &["%snorm", "%unorm", "%half16", "%wide", "%word"]);
    // -1 / 127, then the clamped -127 / 127, 1 and -2.
    assert_eq!(found[..4], [-1.0 / 127.0, -1.0, 1.0, -2.0f32].map(f32::to_bits));
    // 1, -1, 0.5 and 0 as bytes: 127, -127, round(63.5), 0; and 255, 0, round(127.5), 0. Ties may be rounded either
    // way.
    assert_eq!(found[4] & 0xff00_ffff, 0x0000_817f);
    assert!([63, 64].contains(&(found[4] >> 16)));
    assert_eq!(found[5] & 0xff00_ffff, 0x0000_00ff);
    assert!([127, 128].contains(&(found[5] >> 16)));
    assert_eq!(found[6..], [0xbc00_3c00, 0x8001_7fff, 0x1122_3344]);
}

#[test]
fn dot_products_of_integers() {
    // Bytes 1, -2, 127, -128 and 3, 4, 127, 127.
    let globals = "%a = OpConstant %uint 0x807ffe01\n%b = OpConstant %uint 0x7f7f0403
        %most = OpConstant %uint 0x7fffffff\n%all = OpConstant %uint 0xffffffff";
    let body = "%s = OpSDotKHR %uint %a %b PackedVectorFormat4x8BitKHR
        %u = OpUDotKHR %uint %a %b PackedVectorFormat4x8BitKHR
        %m = OpSUDotKHR %uint %b %a PackedVectorFormat4x8BitKHR
        %x = OpUDotAccSatKHR %uint %a %b %most PackedVectorFormat4x8BitKHR
        %y = OpUDotAccSatKHR %uint %a %b %all PackedVectorFormat4x8BitKHR
        %z = OpSDotAccSatKHR %uint %b %b %most PackedVectorFormat4x8BitKHR
        %w = OpSDotAccSatKHR %uint %a %b %most PackedVectorFormat4x8BitKHR";
    let signed: i32 = 3 - 2 * 4 + 127 * 127 - 128 * 127;
    let unsigned: u32 = 3 + 254 * 4 + 127 * 127 + 128 * 127;
    let found = run(globals, body, &[], &["%s", "%u", "%m", "%x", "%y", "%z", "%w"]);
    let expected = [
        signed as u32,
        unsigned,
        unsigned,
        0x7fff_ffff + unsigned,
        u32::MAX,
        0x7fff_ffff,
        (0x7fff_ffff + signed) as u32,
    ];
    assert_eq!(found, expected);
}

#[test]
fn parts_of_floats_are_stored() {
    let globals = "%pf = OpTypePointer Function %float\n%pu = OpTypePointer Function %uint
        %x = OpConstant %float -6.75\n%pair = OpTypeStruct %float %uint";
    let body = "%whole = OpVariable %pf Function
        %exponent = OpVariable %pu Function
        %fraction = OpExtInst %float %glsl Modf %x %whole
        %w = OpLoad %float %whole
        %significand = OpExtInst %float %glsl Frexp %x %exponent
        %e = OpLoad %uint %exponent
        %both = OpExtInst %pair %glsl FrexpStruct %x
        %f = OpCompositeExtract %uint %both 1";
    let found = run(globals, body, &["%fraction", "%w", "%significand"], &["%e", "%f"]);
    assert_eq!(found, [(-0.75f32).to_bits(), (-6f32).to_bits(), (-6.75f32 / 8.0).to_bits(), 3, 3]);
}
