//! Compares results with references, in parallel, and records the worst.

use std::thread;

use serde_json::{Value, json};

use crate::functions::{Function, Judge};
use crate::sides::Range;

/// The outcome of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Number of operands compared.
    operands: u64,
    /// Number of wrong results: bits that differ from an exact function's, or an infinity, NaN or zero where the
    /// reference has none.
    pub wrong: u64,
    /// The number of the first operand with a wrong result, and the result.
    first_wrong: Option<(u32, u64)>,
    /// The largest error, with its operand number.
    worst: Option<(f64, u32)>,
    /// Whether CUDA computed the results too.
    with_cuda: bool,
    /// Number of results that differ from CUDA's.
    differing: u64,
    /// The largest distance from CUDA's results, in units in the last place.
    distance: u64,
}

impl Tally {
    /// An empty tally.
    pub fn new(with_cuda: bool) -> Self {
        Self { with_cuda, ..Self::default() }
    }

    /// Adds another part of the same sweep.
    pub fn add(&mut self, other: Tally) {
        self.operands += other.operands;
        self.wrong += other.wrong;
        self.first_wrong = self.first_wrong.or(other.first_wrong);
        if other.worst.is_some_and(|(error, _)| self.worst.is_none_or(|(worst, _)| error > worst)) {
            self.worst = other.worst;
        }
        self.differing += other.differing;
        self.distance = self.distance.max(other.distance);
    }

    fn result(&mut self, function: &Function, number: u32, result: u64) {
        self.operands += 1;
        let error = match &function.judge {
            Judge::Bits(reference) => (u64::from(reference(number)) != result).then_some(f64::INFINITY),
            Judge::Error { error, .. } => error(number, result),
        };
        match error {
            None => {}
            Some(f64::INFINITY) => {
                self.wrong += 1;
                self.first_wrong = self.first_wrong.or(Some((number, result)));
            }
            Some(error) if self.worst.is_none_or(|(worst, _)| error > worst) => self.worst = Some((error, number)),
            Some(_) => {}
        }
    }

    fn compare(&mut self, result: u64, cuda: u64, width: u32) {
        if result != cuda {
            self.differing += 1;
            self.distance = self.distance.max(ordinal(result, width).abs_diff(ordinal(cuda, width)));
        }
    }

    /// The cells of a table row.
    pub fn cells(&self, function: &Function) -> Vec<String> {
        let (error, place) = match self.worst {
            Some((error, number)) => (function.judge.error_text(error), function.operand_text(number)),
            None => match self.first_wrong {
                Some((number, result)) => ("–".to_owned(), format!("{}: {result:#x}", function.operand_text(number))),
                None => ("–".to_owned(), "–".to_owned()),
            },
        };
        let cuda = match (self.with_cuda, self.differing) {
            (false, _) => "–".to_owned(),
            (true, 0) => "equal".to_owned(),
            (true, differing) => format!("{differing} differ, by at most {} ulp", self.distance),
        };
        vec![function.name.clone(), self.operands.to_string(), self.wrong.to_string(), error, place, cuda]
    }

    /// The row as JSON.
    pub fn value(&self, function: &Function) -> Value {
        json!({
            "function": function.name,
            "operands": self.operands,
            "wrong": self.wrong,
            "worst_error": self.worst.map(|(error, _)| error),
            "worst_operand": self.worst.map(|(_, number)| function.operand_text(number)),
            "cuda_differs": self.with_cuda.then_some(self.differing),
            "cuda_ulp": self.with_cuda.then_some(self.distance),
        })
    }
}

/// The index of a float in the order of its format's values, as an unsigned number.
fn ordinal(bits: u64, width: u32) -> u64 {
    let sign = 1 << (width - 1);
    if bits & sign == 0 { bits | sign } else { !bits & (sign - 1) }
}

/// Judges the results of a range of operands on several threads.
pub fn chunk(function: &Function, range: Range, results: &[u64], cuda: Option<&[u64]>, threads: usize) -> Tally {
    let part = results.len().div_ceil(threads).max(1);
    let (start, width) = (range.start(), function.float_bits());
    thread::scope(|scope| {
        let parts: Vec<_> = results
            .chunks(part)
            .enumerate()
            .map(|(number, results)| {
                let first = number * part;
                let cuda = cuda.and_then(|cuda| cuda.get(first..first + results.len()));
                scope.spawn(move || {
                    let mut tally = Tally::new(cuda.is_some());
                    for (offset, &result) in results.iter().enumerate() {
                        // A chunk has fewer than 2^32 results.
                        #[allow(clippy::cast_possible_truncation)]
                        let number = start.wrapping_add(((first + offset) as u32).wrapping_mul(range.stride));
                        tally.result(function, number, result);
                        if let Some(cuda) = cuda.and_then(|cuda| cuda.get(offset)) {
                            tally.compare(result, *cuda, width);
                        }
                    }
                    tally
                })
            })
            .collect();
        let mut tally = Tally::new(cuda.is_some());
        for part in parts {
            match part.join() {
                Ok(part) => tally.add(part),
                // A panic of a reference is a fault of this program. The part counts as wrong.
                Err(_) => tally.wrong += 1,
            }
        }
        tally
    })
}
