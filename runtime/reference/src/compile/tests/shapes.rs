//! Selected code shapes: memory layouts, parallel moves, loops, lines, constants.

use ptx2spv_target::Target;

use super::{assemble, compile_text, device};
use crate::code::{Class, Code, Inst, Slot};
use crate::module::Module;

/// A module with one entry point of 4 invocations: its memory model, unless it is GLSL's, interface variables, decorations, globals, blocks, and other functions.
macro_rules! module {
    ($interface:literal, $decorations:literal, $globals:literal, $main:literal) => {
        module!($interface, $decorations, $globals, $main, "")
    };
    ($interface:literal, $decorations:literal, $globals:literal, $main:literal, $functions:literal) => {
        module!("OpMemoryModel Logical GLSL450", $interface, $decorations, $globals, $main, $functions)
    };
    ($header:literal, $interface:literal, $decorations:literal, $globals:literal, $main:literal, $functions:literal) => {
        concat!(
            "OpCapability Shader\n",
            $header,
            "\nOpEntryPoint GLCompute %main \"main\" ",
            $interface,
            "\nOpExecutionMode %main LocalSize 4 1 1\n",
            $decorations,
            "\n%void = OpTypeVoid\n%function = OpTypeFunction %void\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n",
            $globals,
            "\n%main = OpFunction %void None %function\n%entry = OpLabel\n",
            $main,
            "\nOpReturn\nOpFunctionEnd\n",
            $functions
        )
    };
}

/// Three phis that rotate in every iteration: a cycle of moves.
const SWAP: &str = module!(
    "",
    "",
    "%u1 = OpConstant %uint 1
    %u2 = OpConstant %uint 2
    %u3 = OpConstant %uint 3
    %u9 = OpConstant %uint 9",
    "OpBranch %header
    %header = OpLabel
    %a = OpPhi %uint %u1 %entry %b %next
    %b = OpPhi %uint %u2 %entry %c %next
    %c = OpPhi %uint %u3 %entry %a %next
    %d = OpPhi %uint %u9 %entry %a %next
    %again = OpULessThan %bool %a %d
    OpLoopMerge %done %next None
    OpBranchConditional %again %next %done
    %next = OpLabel
    OpBranch %header
    %done = OpLabel"
);

/// A buffer with vectors and an array of structs, from which single components are read.
const LAYOUT: &str = module!(
    "OpCapability Int64
    OpCapability PhysicalStorageBufferAddresses
    OpMemoryModel PhysicalStorageBuffer64 GLSL450",
    "",
    "OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 16
    OpMemberDecorate %block 1 Offset 96
    OpMemberDecorate %part 0 Offset 4
    OpMemberDecorate %part 1 Offset 16
    OpDecorate %parts ArrayStride 32
    OpDecorate %vectors ArrayStride 24",
    "%ulong = OpTypeInt 64 0
    %float = OpTypeFloat 32
    %v3 = OpTypeVector %float 3
    %part = OpTypeStruct %uint %v3
    %parts = OpTypeRuntimeArray %part
    %u2 = OpConstant %uint 2
    %vectors = OpTypeArray %v3 %u2
    %block = OpTypeStruct %vectors %parts
    %pblock = OpTypePointer PhysicalStorageBuffer %block
    %pvectors = OpTypePointer PhysicalStorageBuffer %vectors
    %pvector = OpTypePointer PhysicalStorageBuffer %v3
    %ppart = OpTypePointer PhysicalStorageBuffer %part
    %u0 = OpConstant %uint 0
    %u1 = OpConstant %uint 1
    %u5 = OpConstant %uint 5
    %address = OpConstant %ulong 0x1000",
    "%buffer = OpConvertUToPtr %pblock %address
    %p = OpAccessChain %pvectors %buffer %u0
    %m = OpLoad %vectors %p Aligned 16
    %q = OpAccessChain %pvector %buffer %u0 %u1
    %second = OpLoad %v3 %q Aligned 8
    %r = OpAccessChain %ppart %buffer %u1 %u5
    %s = OpLoad %part %r Aligned 4
    OpStore %r %s Aligned 4",
    ""
);

/// Two nested loops, the inner one with a barrier, and a third loop without one.
const LOOPS: &str = module!(
    "",
    "",
    "%two = OpConstant %uint 2
    %semantics = OpConstant %uint 264
    %true = OpConstantTrue %bool",
    "OpBranch %outer
    %outer = OpLabel
    OpLoopMerge %outer_done %outer_next None
    OpBranch %inner
    %inner = OpLabel
    OpLoopMerge %inner_done %inner_next None
    OpBranchConditional %true %inner_body %inner_done
    %inner_body = OpLabel
    OpControlBarrier %two %two %semantics
    OpBranch %inner_next
    %inner_next = OpLabel
    OpBranch %inner
    %inner_done = OpLabel
    OpBranchConditional %true %outer_done %outer_next
    %outer_next = OpLabel
    OpBranch %outer
    %outer_done = OpLabel
    OpBranch %third
    %third = OpLabel
    OpLoopMerge %third_done %third_next None
    OpBranchConditional %true %third_next %third_done
    %third_next = OpLabel
    OpBranch %third
    %third_done = OpLabel"
);

/// Plain workgroup variables, one of them zeroed, and a function variable that is indexed.
const WORKGROUP: &str = module!(
    "%a %b",
    "",
    "%float = OpTypeFloat 32
    %v3 = OpTypeVector %float 3
    %u2 = OpConstant %uint 2
    %u5 = OpConstant %uint 5
    %array = OpTypeArray %v3 %u5
    %mixed = OpTypeStruct %bool %v3 %uint
    %parray = OpTypePointer Workgroup %array
    %pmixed = OpTypePointer Workgroup %mixed
    %puint = OpTypePointer Workgroup %uint
    %pv3 = OpTypePointer Workgroup %v3
    %a = OpVariable %parray Workgroup
    %b = OpVariable %pmixed Workgroup",
    "%p = OpAccessChain %pv3 %a %u2
    %x = OpLoad %v3 %p
    %q = OpAccessChain %puint %b %u2
    %y = OpLoad %uint %q"
);

/// Two aliased blocks of different sizes over the same workgroup memory.
const BLOCKS: &str = module!(
    "OpCapability WorkgroupMemoryExplicitLayoutKHR
    OpExtension \"SPV_KHR_workgroup_memory_explicit_layout\"
    OpMemoryModel Logical GLSL450",
    "%a %b",
    "OpDecorate %a Aliased
    OpDecorate %b Aliased
    OpDecorate %words Block
    OpDecorate %floats Block
    OpMemberDecorate %words 0 Offset 0
    OpMemberDecorate %floats 0 Offset 8
    OpDecorate %array ArrayStride 4",
    "%float = OpTypeFloat 32
    %u0 = OpConstant %uint 0
    %u10 = OpConstant %uint 10
    %array = OpTypeArray %uint %u10
    %words = OpTypeStruct %array
    %floats = OpTypeStruct %float
    %pwords = OpTypePointer Workgroup %words
    %pfloats = OpTypePointer Workgroup %floats
    %puint = OpTypePointer Workgroup %uint
    %pfloat = OpTypePointer Workgroup %float
    %a = OpVariable %pwords Workgroup
    %b = OpVariable %pfloats Workgroup",
    "%p = OpAccessChain %puint %a %u0 %u0
    %x = OpLoad %uint %p
    %q = OpAccessChain %pfloat %b %u0
    %y = OpLoad %float %q",
    ""
);

/// A workgroup size and an array length that are specialization constants.
const SPECIALIZED: &str = module!(
    "%array",
    "OpDecorate %x SpecId 0
    OpDecorate %n SpecId 7
    OpDecorate %size BuiltIn WorkgroupSize",
    "%v3 = OpTypeVector %uint 3
    %u1 = OpConstant %uint 1
    %u3 = OpConstant %uint 3
    %x = OpSpecConstant %uint 2
    %n = OpSpecConstant %uint 4
    %size = OpSpecConstantComposite %v3 %x %u1 %u3
    %small = OpSpecConstantOp %bool ULessThan %n %u3
    %least = OpSpecConstantOp %uint Select %small %u3 %n
    %length = OpSpecConstantOp %uint IMul %least %u3
    %type = OpTypeArray %uint %length
    %pointer = OpTypePointer Workgroup %type
    %puint = OpTypePointer Workgroup %uint
    %array = OpVariable %pointer Workgroup",
    "%p = OpAccessChain %puint %array %u3
    OpStore %p %n"
);

/// A function that is called twice, lines of a source file, a branch, dynamic indices.
const MIXED: &str = module!(
    "%id",
    "%file = OpString \"kernel.ptx\"
    OpDecorate %id BuiltIn GlobalInvocationId",
    "%true = OpConstantTrue %bool
    %v3 = OpTypeVector %uint 3
    %u0 = OpConstant %uint 0
    %u1 = OpConstant %uint 1
    %u4 = OpConstant %uint 4
    %puint = OpTypePointer Input %uint
    %pv3 = OpTypePointer Input %v3
    %array = OpTypeArray %uint %u4
    %parray = OpTypePointer Function %array
    %pelement = OpTypePointer Function %uint
    %add = OpTypeFunction %uint %v3 %uint
    %id = OpVariable %pv3 Input",
    "%variable = OpVariable %parray Function
    OpLine %file 12 3
    %p = OpAccessChain %puint %id %u1
    %y = OpLoad %uint %p
    %all = OpLoad %v3 %id
    %first = OpFunctionCall %uint %sum %all %y
    OpLine %file 14 1
    %second = OpFunctionCall %uint %sum %all %first
    OpNoLine
    %e = OpAccessChain %pelement %variable %second
    OpStore %e %y
    OpSelectionMerge %done None
    OpLine %file 20 1
    OpBranchConditional %true %then %else
    %then = OpLabel
    OpBranch %done
    %else = OpLabel
    OpBranch %done
    %done = OpLabel",
    "%sum = OpFunction %uint None %add
    %vector = OpFunctionParameter %v3
    %scalar = OpFunctionParameter %uint
    %body = OpLabel
    %z = OpCompositeExtract %uint %vector 2
    %swapped = OpVectorShuffle %v3 %vector %vector 2 1 0
    %x = OpCompositeExtract %uint %swapped 0
    %t = OpIAdd %uint %z %scalar
    %u = OpIAdd %uint %t %x
    OpReturnValue %u
    OpFunctionEnd"
);

/// All modules here, as seeds for mutation.
pub(super) const ALL: &[&str] = &[SWAP, LAYOUT, LOOPS, WORKGROUP, BLOCKS, SPECIALIZED, MIXED];

fn code(text: &str) -> Code {
    compile_text(text).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// For each announced access, its size and the offsets of its loads.
fn accesses(code: &Code) -> Vec<(u32, Vec<u32>)> {
    let mut all: Vec<(u32, Vec<u32>)> = Vec::new();
    for inst in &code.insts {
        match *inst {
            Inst::Access { bytes, .. } => all.push((bytes, Vec::new())),
            Inst::Load { offset, .. } | Inst::Store { offset, .. } => {
                all.last_mut().expect("an access comes first").1.push(offset);
            }
            _ => {}
        }
    }
    all
}

/// The values that instructions have.
fn each<T>(code: &Code, of: impl Fn(Inst) -> Option<T>) -> Vec<T> {
    code.insts.iter().copied().filter_map(of).collect()
}

/// The offsets and sizes of variables.
fn variables(code: &Code) -> Vec<(u32, u32)> {
    code.variables.iter().map(|variable| (variable.offset, variable.bytes)).collect()
}

fn constant(code: &Code, slot: Slot) -> Option<u64> {
    code.constants.get(slot as usize).copied()
}

#[test]
fn phis_change_places_at_once() {
    let code = code(SWAP);
    // The last moves are those of the back edge; the ones before set the constants.
    let moves = each(&code, |inst| if let Inst::Move { d, a } = inst { Some((d, a)) } else { None });
    let (initial, back): (Vec<_>, Vec<_>) = moves.iter().partition(|(_, a)| constant(&code, *a).is_some());
    let phi = |value| {
        let mut found = initial.iter().filter(|(_, a)| constant(&code, *a) == Some(value));
        found.next().expect("each phi begins with a constant of its own").0
    };
    let (a, b, c, d) = (phi(1), phi(2), phi(3), phi(9));
    let mut registers: Vec<u32> = (0..code.slots).collect();
    for (to, from) in back {
        registers[to as usize] = registers[from as usize];
    }
    assert_eq!([a, b, c, d].map(|slot| registers[slot as usize]), [b, c, a, a]);
}

#[test]
fn buffers_are_laid_out_as_decorated() {
    let code = code(LAYOUT);
    // Two vectors of three components, 24 bytes apart.
    assert_eq!(
        accesses(&code),
        [
            (24 + 12, vec![0, 4, 8, 24, 28, 32]),
            (12, vec![0, 4, 8]),
            (28, vec![4, 16, 20, 24]),
            (28, vec![4, 16, 20, 24])
        ]
    );
    let pointers =
        each(&code, |inst| if let Inst::Access { pointer, .. } = inst { constant(&code, pointer) } else { None });
    let (vectors, part) = (0x1000 + 16, 0x1000 + 96 + 5 * 32);
    assert_eq!(pointers, [vectors, vectors + 24, part, part]);
}

#[test]
fn loops_are_nested_as_written() {
    let code = code(LOOPS);
    // Blocks in the order of the module: b0, outer, inner, inner_body, inner_next, inner_done, outer_next, outer_done,
    // third, third_next, third_done.
    assert_eq!(code.loops, [1, 2, 8], "the headers");
    let loops: Vec<&[u32]> = code.blocks.iter().map(|block| block.loops.as_slice()).collect();
    let expected: [&[u32]; 11] = [&[], &[0], &[0, 1], &[0, 1], &[0, 1], &[0], &[0], &[], &[2], &[2], &[]];
    assert_eq!(loops, expected);
    let forward: Vec<&[u32]> = code.blocks.iter().map(|block| block.forward.as_slice()).collect();
    let expected: [&[u32]; 11] = [&[1], &[2], &[3, 5], &[4], &[], &[6, 7], &[], &[8], &[9, 10], &[], &[]];
    assert_eq!(forward, expected);
    // Iterations are counted only for loops with waits.
    let counted = each(&code, |inst| matches!(inst, Inst::EnterLoop(_) | Inst::NextRound(_)).then_some(inst));
    assert_eq!(counted, [Inst::EnterLoop(0), Inst::EnterLoop(1), Inst::NextRound(1), Inst::NextRound(0)]);
}

#[test]
fn every_place_is_in_its_block() {
    for text in ALL {
        let code = code(text);
        for (pc, place) in (0..).zip(&code.places) {
            // The code that runs before the entry point is at the end.
            if pc < code.start || code.start == 0 {
                assert!(code.blocks[place.block as usize].start <= pc, "{pc}\n{text}");
            }
        }
    }
}

#[test]
fn workgroup_variables_follow_each_other() {
    let code = code(WORKGROUP);
    // In the standard storage buffer layout, vectors of three are 16 bytes apart: 4 * 16 + 12 bytes, then aligned to
    // 16. The struct has its vector at 16 and its last member at 28.
    assert_eq!(variables(&code), [(0, 76), (80, 32)]);
    assert_eq!(code.workgroup_bytes, 112);
    let pointers = each(&code, |inst| match inst {
        Inst::Access { class: Class::Workgroup, pointer, .. } => Some(constant(&code, pointer)),
        _ => None,
    });
    assert_eq!(pointers, [Some(32), Some(80 + 28)]);
}

#[test]
fn aliased_blocks_overlap() {
    let code = code(BLOCKS);
    assert_eq!(variables(&code), [(0, 40), (0, 12)]);
    assert_eq!(code.workgroup_bytes, 40);
}

#[test]
fn specialization_reaches_sizes() {
    let words = assemble(SPECIALIZED);
    let module = Module::parse(&words).expect("it is valid");
    let target = device();
    let compile = |specialization: &[(u32, u64)]| super::super::compile(&module, "main", specialization, &target);
    let code = compile(&[]).expect("it is valid");
    assert_eq!((code.workgroup_size, code.workgroup_bytes), ([2, 1, 3], 4 * 3 * 4));
    let code = compile(&[(7, 2), (0, 5)]).expect("it is valid");
    assert_eq!((code.workgroup_size, code.workgroup_bytes), ([5, 1, 3], 3 * 3 * 4));
    let refusal = compile(&[(0, 1025)]).expect_err("it is too large");
    assert_eq!(refusal.rule, "maxComputeWorkGroupSize");
    let limits = target.limits.clone();
    let small =
        Target { limits: ptx2spv_target::Limits { max_compute_work_group_invocations: 5, ..limits }, ..target.clone() };
    let refusal = super::super::compile(&module, "main", &[], &small).expect_err("it is too large");
    assert_eq!(refusal.rule, "maxComputeWorkGroupInvocations");
}

#[test]
fn parts_of_composites_cost_nothing() {
    let code = code(MIXED);
    let calls = each(&code, |inst| if let Inst::Call(target) = inst { Some(target) } else { None });
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0], calls[1]);
    // The function is two additions of the parameter's registers, the move of the result, and the return.
    let body = &code.insts[calls[0] as usize..];
    let [Inst::Binary { a: z, d: t, .. }, Inst::Binary { a, b: x, .. }, Inst::Move { .. }, Inst::Return, ..] = body
    else {
        panic!("{body:?}");
    };
    assert_eq!((a, x), (t, z), "the first component of the shuffled vector is the last of the parameter");
    // Each call passes four registers and takes one back, and the function returns one.
    assert_eq!(code.insts.iter().filter(|inst| matches!(inst, Inst::Move { .. })).count(), 2 * 5 + 1);
}

#[test]
fn lines_end_with_their_block() {
    let code = code(MIXED);
    assert_eq!(code.files, ["kernel.ptx"]);
    let line = |wanted: fn(&Inst) -> bool| {
        let lines = code
            .insts
            .iter()
            .zip(&code.places)
            .filter(|(inst, _)| wanted(inst))
            .map(|(_, place)| place.line.map(|at| at.line));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(line(|inst| matches!(inst, Inst::Call(_))), [Some(12), Some(14)]);
    assert_eq!(line(|inst| matches!(inst, Inst::Store { .. })), [None]);
    assert_eq!(line(|inst| matches!(inst, Inst::Branch { .. })), [Some(20)]);
    assert!(line(|inst| matches!(inst, Inst::Return)).iter().all(Option::is_none));
}

#[test]
fn indices_know_their_bounds() {
    let code = code(MIXED);
    let index = code.insts.iter().find(|inst| matches!(inst, Inst::Index { .. }));
    assert!(matches!(index, Some(Inst::Index { bits: 32, stride: 4, count: 4, .. })), "{index:?}");
}

#[test]
fn instructions_are_named() {
    let words = assemble(MIXED);
    let module = Module::parse(&words).expect("it is valid");
    let code = code(MIXED);
    let texts: Vec<String> = code.places.iter().map(|place| module.disassemble(place.word)).collect();
    let store = texts.iter().find(|text| text.starts_with("OpStore %")).expect("there is a store");
    assert_eq!(store.split(' ').count(), 3, "{store}");
    assert!(texts.iter().any(|text| text.contains(" = OpFunctionCall %")), "{texts:?}");
    assert!(texts.iter().all(|text| !text.is_empty()));
    assert_eq!(module.disassemble(3), "");
}

#[test]
fn variables_of_called_functions_begin_anew() {
    let text = MIXED.replace("%body = OpLabel", "%body = OpLabel\n%scratch = OpVariable %parray Function");
    let code = code(&text);
    let forgotten = each(&code, |inst| matches!(inst, Inst::Forget { .. }).then_some(inst));
    // After the entry point's own four words.
    assert_eq!(forgotten, [Inst::Forget { offset: 16, bytes: 16 }]);
    assert_eq!(code.private_bytes, 32);
}
