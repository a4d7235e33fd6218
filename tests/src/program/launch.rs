//! Launches of random programs as launch cases.

use std::collections::BTreeMap;

use ptx2spv::cases::contents::Array;
use ptx2spv::cases::images::Textures;
use ptx2spv::cases::prepare::{Argument, Check, Expectation, Prepared, Subject, Tolerance};
use ptx2spv::cases::{Ptx, Scalar};

use super::{Launch, Outcome, Program, UNTOUCHED, ptx};

/// A launch of a program with its expected outcome.
pub fn prepare(program: &Program, launch: &Launch, outcome: &Outcome) -> Prepared {
    let array =
        |words: &[u32]| Array { ty: Scalar::U32, bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let buffers = [&outcome.output, &outcome.gathered];
    let mut args: Vec<Argument> =
        buffers.iter().map(|buffer| Argument::Buffer(array(&vec![UNTOUCHED; buffer.len()]))).collect();
    args.extend(launch.uniforms.iter().map(|uniform| Argument::Value(uniform.to_le_bytes().to_vec())));
    let check = |(number, expected): (usize, &&Vec<u32>)| Check {
        subject: Subject::Arg(number),
        offset: 0,
        expected: array(expected),
        tolerance: Tolerance::default(),
    };
    Prepared {
        name: "program".to_owned(),
        ptx: Ptx::new("program.ptx", ptx(&[("program", program)])),
        entry: "program".to_owned(),
        grid: launch.grid,
        block: launch.block,
        cluster: None,
        cooperative: false,
        dynamic_shared_bytes: 0,
        globals: BTreeMap::new(),
        textures: Textures::default(),
        args,
        read_globals: BTreeMap::new(),
        expectation: Expectation::Results(buffers.iter().enumerate().map(check).collect()),
    }
}
