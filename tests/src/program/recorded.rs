//! Random programs with recorded results. Each has one launch.

use std::fmt::Write;

use ptx2spv::cases::contents::Array;
use ptx2spv::cases::prepare::{Argument, Check, Expectation, Prepared, Subject, Tolerance};
use ptx2spv::cases::{Ptx, Scalar};
use serde_json::{Value, json};

use super::draw::Drawn;
use super::{GATHERED, Launch, Outcome, Program, Size, UNTOUCHED, draw, ptx};
use crate::hash;

/// A program, by its seed, with its launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    size: Size,
    seed: u64,
}

impl Recorded {
    /// Number of short programs.
    pub const PROGRAMS: u64 = 300;
    /// Number of divergent programs.
    pub const DIVERGENT: u64 = 100;

    /// All programs, short ones first.
    pub fn all() -> impl Iterator<Item = Self> {
        let programs = (0..Self::PROGRAMS).map(|seed| Self { size: Size::Short, seed });
        programs.chain((0..Self::DIVERGENT).map(|seed| Self { size: Size::Divergent, seed }))
    }

    /// Whether lanes meet in different places. Drivers take longest to compile such programs.
    pub fn divergent(self) -> bool {
        self.size == Size::Divergent
    }

    /// The program's name.
    pub fn name(self) -> String {
        format!("{}_{}", if self.divergent() { "divergent" } else { "program" }, self.seed)
    }

    fn draw(self) -> Drawn {
        draw(self.seed, self.size, 1)
    }

    /// The program's launch.
    pub fn prepare(self) -> Prepared {
        let drawn = self.draw();
        let (launch, outcome) = &drawn.launches[0];
        prepare(&drawn.program, launch, outcome)
    }

    /// A hash of the program, its launch and its results.
    fn fingerprint(self) -> u64 {
        let drawn = self.draw();
        let mut text = ptx(&[("program", &drawn.program)]).into_bytes();
        for (launch, outcome) in &drawn.launches {
            let words = launch.grid.iter().chain(&launch.block).chain(&launch.uniforms);
            let words = words.chain(&outcome.output).chain(&outcome.gathered);
            text.extend(words.flat_map(|word| word.to_le_bytes()));
        }
        hash(text)
    }

    /// The contents of the file of records: a line for each program with its name and fingerprint.
    pub fn file() -> String {
        Self::all().fold(String::new(), |mut text, program| {
            let _ = writeln!(text, "{} {:016x}", program.name(), program.fingerprint());
            text
        })
    }

    /// The PTX file and the case file, with their names.
    pub fn case_files(self) -> [(String, String); 2] {
        let (name, drawn) = (self.name(), self.draw());
        let module = format!("{name}.ptx");
        let cases: Vec<Value> =
            drawn.launches.iter().map(|(launch, outcome)| case(&module, &name, launch, outcome)).collect();
        let text = ptx(&[(&name, &drawn.program)]);
        [(module, text), (format!("{name}.json"), format!("{}\n", Value::from(cases)))]
    }
}
fn case(module: &str, name: &str, launch: &Launch, outcome: &Outcome) -> Value {
    let buffer = |len: usize| json!({"type": "u32", "fill": UNTOUCHED.to_string(), "len": len});
    let mut arguments = vec![buffer(outcome.output.len()), buffer(GATHERED + 1)];
    arguments.extend(launch.uniforms.iter().map(|uniform| json!({"type": "u32", "value": uniform})));
    json!({
        "name": name,
        "ptx": module,
        "entry": name,
        "grid": launch.grid,
        "block": launch.block,
        "args": arguments,
        "expect": [{"arg": 0, "data": outcome.output}, {"arg": 1, "data": outcome.gathered}],
    })
}

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
