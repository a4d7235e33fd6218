//! Common parts of products of matrices without units: the ways to compute them, and the words of rows and columns that
//! a lane takes from the lanes that hold them.

use crate::ir::{Builder, Builtin, Compare, Factors, Fragments, Type, Value, Var};
use ptx2spv_target::{Generation, MatrixTypes};
use rustc_hash::FxHashMap;

/// The arithmetic for products without a unit.
#[derive(Clone, Copy)]
pub struct Means {
    /// The generation whose sums of floats the products have; without one, sums are those of `F32` arithmetic.
    pub generation: Option<Generation>,
    /// Whether each lane is an invocation. Else each lane's code is repeated, and compilers take long for all copies.
    pub are_lanes_invocations: bool,
    /// Whether the device's `F32` arithmetic is right about normal numbers, so that it serves for ordinary products.
    pub has_floats: bool,
    /// Whether the device converts f16 exactly. Else conversions are long.
    pub has_halves: bool,
}

impl Means {
    /// Whether products of these types are computed in any order, with code that is short enough to stand for each
    /// product.
    pub fn is_plain(self, types: MatrixTypes) -> bool {
        self.are_lanes_invocations && (self.generation.is_none() || types.is_of_bytes())
    }

    /// Whether sums of ordinary products have a short way.
    pub fn serve(self, factors: Factors) -> bool {
        let are_wide = matches!(factors, Factors::Bf16 | Factors::Tf32);
        self.are_lanes_invocations && self.has_floats && (are_wide || factors == Factors::F16 && self.has_halves)
    }
}

/// The words that a lane has in a turn, of two rows of A and of two columns of B: of those rows and columns that one of
/// four lanes holds.
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

/// The lanes that hold a lane's rows and columns.
#[derive(Clone, Copy)]
pub struct Holders {
    /// The first lane that holds this one's rows, and those of its columns.
    own: Value,
    even: Value,
    odd: Value,
}

/// The words of other lanes that were taken in a turn, by the own word and the first of the holders.
pub type Taken = FxHashMap<(Value, Value), Value>;

impl Holders {
    /// The executing lane's.
    pub fn of(b: &Builder<'_>) -> Self {
        let lane = b.and_const(b.builtin(Builtin::ThreadIndex), 31);
        let own = b.and_const(lane, 28);
        let quad = b.and_const(lane, 3);
        // Lanes 8 t to 8 t + 3 hold column 2 t, the next four column 2 t + 1.
        let even = b.shl(quad, 3);
        let odd = b.add_const(even, 4);
        Self { own, even, odd }
    }

    /// The lines of a turn. Words that other products have taken in this turn aren't taken again.
    pub fn take(self, b: &Builder<'_>, fragments: &Fragments, number: Value, mut taken: Option<&mut Taken>) -> Lines {
        let is_used = |word: &Value| b.known(*word) != Some(0);
        let [low, high, low_next, high_next] = fragments.a;
        let places = [[low, high], [low_next, high_next]].into_iter().zip(fragments.b);
        // Only what is zero in both matrices has no part: infinity times zero is NaN.
        let (words, others): (Vec<[Value; 2]>, Vec<Value>) =
            places.filter(|(words, other)| words.iter().chain([other]).any(is_used)).unzip();
        let mut line = |words: &mut dyn Iterator<Item = Value>, first| {
            let lane = b.add(first, number);
            let mut take = |word| match &mut taken {
                Some(taken) => *taken.entry((word, first)).or_insert_with(|| b.from_lane(word, lane)),
                None => b.from_lane(word, lane),
            };
            words.map(|word| if is_used(&word) { take(word) } else { word }).collect()
        };
        let rows = [0, 1].map(|row| line(&mut words.iter().map(|words| words[row]), self.own));
        let columns = [self.even, self.odd].map(|first| line(&mut others.iter().copied(), first));
        Lines { rows, columns }
    }
}

/// The turns in which lanes take words from the lanes that hold their rows and columns: one for each of the four that hold a row.
pub struct Turns<'f> {
    pub fragments: &'f Fragments,
    holders: Holders,
    /// The lines of all turns. Without them, the turns form a loop, which is shorter.
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
    pub fn in_loop(b: &Builder<'_>, fragments: &'f Fragments) -> Self {
        Self { fragments, holders: Holders::of(b), taken: None }
    }

    /// The lines of a turn.
    fn take(&self, b: &Builder<'_>, number: Value) -> Lines {
        self.holders.take(b, self.fragments, number, None)
    }

    /// For each element of D, the value that `add` makes of first values in all turns.
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
