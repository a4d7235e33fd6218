//! Selected code shapes: memory layouts, parallel moves, loops, lines, constants.

use ptx2spv_target::Target;

use super::{assemble, compile_text, device};
use crate::code::{Class, Code, Inst, Slot};
use crate::module::Module;

/// Three phis that rotate in every iteration: a cycle of moves.
const SWAP: &str = include_str!("shapes/swap.spvasm");

/// A buffer with vectors and an array of structs, from which single components are read.
const LAYOUT: &str = include_str!("shapes/layout.spvasm");

/// Two nested loops, the inner one with a barrier, and a third loop without one.
const LOOPS: &str = include_str!("shapes/loops.spvasm");

/// Plain workgroup variables, one of them zeroed, and a function variable that is indexed.
const WORKGROUP: &str = include_str!("shapes/workgroup.spvasm");

/// Two aliased blocks of different sizes over the same workgroup memory.
const BLOCKS: &str = include_str!("shapes/blocks.spvasm");

/// A workgroup size and an array length that are specialization constants.
const SPECIALIZED: &str = include_str!("shapes/specialized.spvasm");

/// A function that is called twice, lines of a source file, a branch, dynamic indices.
const MIXED: &str = include_str!("shapes/mixed.spvasm");

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
