//! Launches of random programs as launch cases.

use ptx2spv::cases::contents::Array;
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
    let ptx = Ptx::new("program.ptx", ptx(&[("program", program)]));
    let expectation = Expectation::Results(buffers.iter().enumerate().map(check).collect());
    Prepared { grid: launch.grid, block: launch.block, args, expectation, ..Prepared::new(ptx, "program") }
}
