//! Draws programs together with launches.

use super::{Invalid, Launch, Outcome, Program, Size, generate, interpret};
use crate::random::Random;

/// A program, launches, and their results.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The program.
    pub program: Program,
    /// Launches with the interpreter's results.
    pub launches: Vec<(Launch, Outcome)>,
}

/// Shapes of blocks, in all dimensions, some with an incomplete warp.
const BLOCKS: &[[u32; 3]] = &[
    [1, 1, 1],
    [3, 1, 1],
    [8, 1, 1],
    [31, 1, 1],
    [32, 1, 1],
    [40, 1, 1],
    [64, 1, 1],
    [8, 4, 1],
    [8, 8, 1],
    [5, 7, 1],
    [4, 4, 4],
    [3, 5, 3],
    [2, 3, 11],
    [32, 2, 1],
    [100, 1, 1],
];

const GRIDS: &[[u32; 3]] = &[[1, 1, 1], [1, 1, 1], [2, 1, 1], [3, 1, 1], [1, 2, 1], [2, 1, 2]];

/// The program for a seed. A program without a defined result is replaced by another one.
pub fn draw(seed: u64, size: Size, launches: usize) -> Drawn {
    let mut random = Random::new(!seed);
    loop {
        let program = generate(seed ^ (random.word() << 32), size);
        let launches = (0..launches).map(|_| {
            let launch = Launch {
                grid: *random.pick(GRIDS),
                block: *random.pick(BLOCKS),
                uniforms: std::array::from_fn(|_| random.word() as u32),
            };
            let outcome = interpret(&program, &launch)?;
            Ok((launch, outcome))
        });
        if let Ok(launches) = launches.collect::<Result<_, Invalid>>() {
            return Drawn { program, launches };
        }
    }
}
