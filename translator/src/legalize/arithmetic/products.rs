//! Products of matrices where the device's matrix units don't compute them as NVIDIA's do: each lane takes the words of its rows and columns from
//! the lanes that hold them.

use super::matrix::fraction;
use super::ordinary_products::{Kind, ordinary_sums};
use crate::ir::{
    Accumulator, Binary, Builder, Builtin, Compare, Factors, Fragments, Function, MatrixStep, Op, Rewritten, Stmt,
    Type, Unary, Value, Var, Warp, WarpOp, rewrite,
};
use crate::soft;
use ptx2spv_target::{Generation, MatrixTypes};

/// How products are computed without a unit.
#[derive(Clone, Copy)]
pub struct Means {
    /// Whose sums of floats they have; else those of `F32` arithmetic.
    pub generation: Option<Generation>,
    /// Whether each lane is an invocation. Else each lane's code is repeated, and compilers take long for all of it.
    pub are_lanes_invocations: bool,
    /// Whether the device's `F32` arithmetic is right about normal numbers, so that it serves for ordinary ones.
    pub has_floats: bool,
    /// Whether the device converts f16 exactly. Else that is long.
    pub has_halves: bool,
}

impl Means {
    /// Whether there is a short way for sums of ordinary products.
    fn serve(self, factors: Factors) -> bool {
        let are_wide = matches!(factors, Factors::Bf16 | Factors::Tf32);
        self.are_lanes_invocations && self.has_floats && (are_wide || factors == Factors::F16 && self.has_halves)
    }
}

/// Replaces the products whose types the device's units don't have. Where they have signed bytes, they compute products of which one matrix' are unsigned too.
pub fn expand_matrix_products(function: &mut Function, means: Means, has_unit: impl Fn(MatrixTypes) -> bool) {
    rewrite(function, |b, stmt| match stmt {
        Stmt::Warp(Warp { results, op: WarpOp::MatrixProduct(types, fragments), members }) if !has_unit(*types) => {
            if has_unit(types.with_signed_bytes()) {
                by_signed_bytes(b, *types, *fragments, *members, results);
            } else {
                expand(b, *types, means, fragments, results);
            }
            Rewritten::Replaced
        }
        _ => Rewritten::Kept,
    });
}

/// A product of bytes of which one matrix' are unsigned, by two of signed bytes: an unsigned byte is what its bits are as a signed one, and 256 times
/// its highest bit.
fn by_signed_bytes(
    b: &Builder<'_>,
    types: MatrixTypes,
    fragments: Fragments,
    members: Option<Value>,
    results: &[Value],
) {
    let product = |fragments| {
        let results = [(); 4].map(|()| b.value(Type::I32));
        let op = WarpOp::MatrixProduct(types.with_signed_bytes(), fragments);
        b.push(Stmt::Warp(Warp { results: results.to_vec(), op, members }));
        results
    };
    let highest = |word| b.and_const(b.shr(word, 7), 0x0101_0101);
    let zero = b.i32(0);
    let upper = match types {
        MatrixTypes::U8S8 => Fragments { a: fragments.a.map(highest), b: fragments.b, c: [zero; 4] },
        _ => Fragments { a: fragments.a, b: fragments.b.map(highest), c: [zero; 4] },
    };
    let [lower, upper] = [fragments, upper].map(product);
    for ((lower, upper), &result) in lower.into_iter().zip(upper).zip(results) {
        let upper = b.shl(upper, 8);
        b.push(Stmt::Let(result, Op::Binary(Binary::Add, lower, upper)));
    }
}

fn expand(b: &Builder<'_>, types: MatrixTypes, means: Means, fragments: &Fragments, results: &[Value]) {
    let fused = match types {
        MatrixTypes::F16 => (Factors::F16, Accumulator::F32),
        MatrixTypes::F16Alone => (Factors::F16, Accumulator::F16),
        MatrixTypes::Bf16 => (Factors::Bf16, Accumulator::F32),
        MatrixTypes::Tf32 => (Factors::Tf32, Accumulator::F32),
        MatrixTypes::E4m3 => (Factors::E4m3, Accumulator::ShortF32),
        MatrixTypes::E4m3E5m2 => (Factors::E4m3E5m2, Accumulator::ShortF32),
        MatrixTypes::E5m2E4m3 => (Factors::E5m2E4m3, Accumulator::ShortF32),
        MatrixTypes::E5m2 => (Factors::E5m2, Accumulator::ShortF32),
        MatrixTypes::E4m3Alone => (Factors::E4m3, Accumulator::ShortF16),
        MatrixTypes::E4m3E5m2Alone => (Factors::E4m3E5m2, Accumulator::ShortF16),
        MatrixTypes::E5m2E4m3Alone => (Factors::E5m2E4m3, Accumulator::ShortF16),
        MatrixTypes::E5m2Alone => (Factors::E5m2, Accumulator::ShortF16),
        MatrixTypes::S8 => return bytes(b, [true, true], &Turns::of(b, means, fragments), results),
        MatrixTypes::S8U8 => return bytes(b, [true, false], &Turns::of(b, means, fragments), results),
        MatrixTypes::U8S8 => return bytes(b, [false, true], &Turns::of(b, means, fragments), results),
        MatrixTypes::U8 => return bytes(b, [false, false], &Turns::of(b, means, fragments), results),
    };
    let (factors, accumulator) = fused;
    let Some(generation) = means.generation else {
        return plain_sums(b, fused, &Turns::of(b, means, fragments), results);
    };
    if !means.serve(factors) {
        let sums = fused_sums(b, fused, fragments);
        return give(b, sums, results);
    }
    let kind = Kind { factors, accumulator, kept: fraction(generation) };
    let sums = ordinary_sums(b, kind, means, fragments, |b| fused_sums(b, fused, fragments));
    give(b, sums, results);
}

/// Lets values be the results.
fn give(b: &Builder<'_>, values: [Value; 4], results: &[Value]) {
    for (var, &result) in variables(b, values).into_iter().zip(results) {
        b.push(Stmt::Let(result, Op::Get(var)));
    }
}

/// What a lane has of two rows of A and of two columns of B in a turn: words, of those rows and columns that one of four lanes holds.
pub struct Lines {
    rows: [Vec<Value>; 2],
    columns: [Vec<Value>; 2],
}

impl Lines {
    /// The row and the column of each element of D.
    pub fn places(&self) -> [[&[Value]; 2]; 4] {
        let [low, high] = &self.rows;
        let [even, odd] = &self.columns;
        [[low, even], [low, odd], [high, even], [high, odd]]
    }

    /// The same of parts of the words of rows and of columns.
    pub fn map(&self, of_row: impl Fn(Value) -> Vec<Value>, of_column: impl Fn(Value) -> Vec<Value>) -> Self {
        let [low, high] = &self.rows;
        let [even, odd] = &self.columns;
        let rows = [low, high].map(|words| words.iter().flat_map(|word| of_row(*word)).collect());
        let columns = [even, odd].map(|words| words.iter().flat_map(|word| of_column(*word)).collect());
        Self { rows, columns }
    }
}

/// The turns in which lanes take words from the lanes that hold their rows and columns: one for each of the four that hold a row.
pub struct Turns<'f> {
    fragments: &'f Fragments,
    /// The first lane that holds this one's rows, and those of its columns.
    own: Value,
    even: Value,
    odd: Value,
    /// What all turns give. Else they form a loop, which is shorter.
    taken: Option<Vec<Lines>>,
}

impl<'f> Turns<'f> {
    /// The turns of a product.
    pub fn of(b: &Builder<'_>, means: Means, fragments: &'f Fragments) -> Self {
        let mut turns = Self::in_loop(b, fragments);
        if means.are_lanes_invocations {
            turns.taken = Some((0..4).map(|number| turns.take(b, b.i32(number))).collect());
        }
        turns
    }

    /// The turns of a product, in a loop.
    fn in_loop(b: &Builder<'_>, fragments: &'f Fragments) -> Self {
        let lane = b.and_const(b.builtin(Builtin::ThreadIndex), 31);
        let own = b.and_const(lane, 28);
        let quad = b.and_const(lane, 3);
        // Lanes 8 t to 8 t + 3 hold column 2 t, the next four column 2 t + 1.
        let even = b.shl(quad, 3);
        let odd = b.add_const(even, 4);
        Self { fragments, own, even, odd, taken: None }
    }

    /// What a turn gives.
    fn take(&self, b: &Builder<'_>, number: Value) -> Lines {
        let is_used = |word: &Value| b.known(*word) != Some(0);
        let [low, high, low_next, high_next] = self.fragments.a;
        let places = [[low, high], [low_next, high_next]].into_iter().zip(self.fragments.b);
        // Only what is zero in both matrices has no part: infinity times zero is NaN.
        let (words, others): (Vec<[Value; 2]>, Vec<Value>) =
            places.filter(|(words, other)| words.iter().chain([other]).any(is_used)).unzip();
        let line = |words: &mut dyn Iterator<Item = Value>, first| {
            let lane = b.add(first, number);
            words.map(|word| if is_used(&word) { b.from_lane(word, lane) } else { word }).collect()
        };
        let rows = [0, 1].map(|row| line(&mut words.iter().map(|words| words[row]), self.own));
        let columns = [self.even, self.odd].map(|first| line(&mut others.iter().copied(), first));
        Lines { rows, columns }
    }

    /// For each element of D, what `add` makes of first values in all turns.
    pub fn fold(
        &self,
        b: &Builder<'_>,
        first: [Value; 4],
        add: impl Fn(&Builder<'_>, &Lines, [Value; 4]) -> [Value; 4],
    ) -> [Value; 4] {
        if let Some(taken) = &self.taken {
            return taken.iter().fold(first, |sums, lines| add(b, lines, sums));
        }
        let sums = variables(b, first);
        let turn = b.var(Type::I32);
        b.set(turn, b.i32(0));
        b.loop_(|b| {
            let number = b.get(turn);
            let lines = self.take(b, number);
            let values = add(b, &lines, sums.map(|sum| b.get(sum)));
            set(b, sums, values);
            let next = b.add_const(number, 1);
            b.set(turn, next);
            let is_last = b.compare_const(Compare::Equal, next, 4);
            b.if_(is_last, Builder::break_);
        });
        sums.map(|sum| b.get(sum))
    }
}

/// Variables that have these values.
pub fn variables(b: &Builder<'_>, values: [Value; 4]) -> [Var; 4] {
    let vars = values.map(|value| b.var(b.type_of(value)));
    set(b, vars, values);
    vars
}

/// Gives variables values.
pub fn set(b: &Builder<'_>, vars: [Var; 4], values: [Value; 4]) {
    for (var, value) in vars.into_iter().zip(values) {
        b.set(var, value);
    }
}

/// For each element of D, what `add` makes of a first value with each pair of words from the row and the column.
fn by_words(
    add: impl Fn(&Builder<'_>, [Value; 2], usize, Value) -> Value,
) -> impl Fn(&Builder<'_>, &Lines, [Value; 4]) -> [Value; 4] {
    move |b, lines, mut sums| {
        for (element, ([row, column], sum)) in lines.places().into_iter().zip(&mut sums).enumerate() {
            for (&x, &y) in row.iter().zip(column) {
                *sum = add(b, [x, y], element, *sum);
            }
        }
        sums
    }
}

/// Sums of an element of C and products, as matrix units compute them.
fn fused_sums(b: &Builder<'_>, (factors, accumulator): (Factors, Accumulator), fragments: &Fragments) -> [Value; 4] {
    let turns = Turns::in_loop(b, fragments);
    let step = |b: &Builder<'_>, step, x, y, z| b.op(Type::I32, Op::Matrix(step, x, y, z));
    let starts = fragments.c.map(|addend| step(b, MatrixStep::Start(accumulator), addend, addend, addend));
    let scales =
        turns.fold(b, starts, by_words(|b, [x, y], _, scale| step(b, MatrixStep::Scale(factors), x, y, scale)));
    // Sixteen products are below 2^31; of thirty-two, fewer bits are kept.
    let sums = turns.fold(
        b,
        [b.i32(0); 4],
        by_words(|b, [x, y], element, sum| {
            // There are as many scales as elements.
            b.add(sum, step(b, MatrixStep::Sum(factors), x, y, scales[element]))
        }),
    );
    std::array::from_fn(|element| {
        // There are four of each.
        let sum = b.unary(Unary::SignExtend, sums[element]);
        step(b, MatrixStep::Round(accumulator), fragments.c[element], scales[element], sum)
    })
}

/// Sums of an element of C and products, one after another in `F32`.
fn plain_sums(b: &Builder<'_>, (factors, accumulator): (Factors, Accumulator), turns: &Turns<'_>, results: &[Value]) {
    // Variables have the bits of floats.
    let addends = turns.fragments.c.map(|addend| b.bits(soft::plain_addend(b, accumulator, addend)));
    let [of_rows, of_columns] = soft::formats(factors);
    let sums = turns.fold(b, addends, |b, lines, sums| {
        let numbers = lines.map(|word| soft::numbers(b, of_rows, word), |word| soft::numbers(b, of_columns, word));
        let mut places = numbers.places().into_iter();
        sums.map(|sum| match places.next() {
            Some([row, column]) => b.bits(soft::add_products(b, row, column, b.bitcast(sum, Type::F32))),
            None => sum,
        })
    });
    give(b, sums.map(|sum| soft::plain_sum(b, accumulator, b.bitcast(sum, Type::F32))), results);
}

fn bytes(b: &Builder<'_>, are_signed: [bool; 2], turns: &Turns<'_>, results: &[Value]) {
    let sums =
        turns.fold(b, turns.fragments.c, by_words(|b, [x, y], _, sum| b.add(sum, b.dot_of_bytes(x, y, are_signed))));
    give(b, sums, results);
}
