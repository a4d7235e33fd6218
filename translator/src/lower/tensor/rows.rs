//! The rows of a tensor's box, in the order of shared memory.

use super::map::Map;
use crate::ir::{Builder, Compare, Type, Value, Var};

/// Where a box begins.
pub struct Start {
    /// Address of the box's first element if all coordinates but the first were 0.
    pub address: Value,
    /// Its coordinates.
    pub at: Vec<Value>,
    /// Which elements it has.
    pub shape: Shape,
}

/// Which elements a box has.
pub enum Shape {
    /// Those of the map's sizes from the coordinates on (`tile`).
    Tile,
    /// A column of pixels (`im2col`), with offsets for all coordinates but the first and the last.
    Columns(Vec<Value>),
    /// Four rows of a matrix (`tile::gather4` and `tile::scatter4`), whose numbers are the coordinates from the second on.
    Rows,
}

/// A row of a box.
pub struct Row {
    /// Whether all coordinates but the first are inside the tensor.
    pub inside: Value,
    /// Address of its first element.
    pub address: Value,
    /// Its number in the box.
    pub number: Value,
}

/// Runs `each` for each row, and gives the number of rows.
pub fn for_each_row(
    b: &mut Builder<'_>,
    map: &Map,
    start: &Start,
    each: &mut dyn FnMut(&mut Builder<'_>, Row),
) -> Value {
    let number = b.var(Type::I32);
    let none = b.i32(0);
    b.set(number, none);
    match &start.shape {
        Shape::Tile => {
            let inside = b.bool(true);
            in_dimension(b, map, start, map.sizes.len(), (inside, start.address), number, each);
        }
        Shape::Columns(offsets) => by_columns(b, map, start, offsets, number, each),
        Shape::Rows => listed(b, map, start, number, each),
    }
    b.get(number)
}

/// The rows of a box with known coordinates from dimension `above` on, which come with whether they are inside and
/// their address.
fn in_dimension(
    b: &mut Builder<'_>,
    map: &Map,
    start: &Start,
    above: usize,
    (inside, address): (Value, Value),
    number: Var,
    each: &mut dyn FnMut(&mut Builder<'_>, Row),
) {
    let dimension = above - 1;
    if dimension == 0 {
        row(b, (inside, address), number, each);
        return;
    }
    let (size, step, at) = (map.sizes[dimension], map.steps[dimension], start.at[dimension]);
    let next = b.var(Type::I32);
    let zero = b.i32(0);
    b.set(next, zero);
    b.loop_(|b| {
        let offset = b.get(next);
        let more = b.ult(offset, size);
        b.if_else(more, |_| {}, Builder::break_);
        let coordinate = b.add(at, offset);
        let place = placed(b, map, dimension, coordinate, (inside, address));
        in_dimension(b, map, start, dimension, place, number, each);
        let up = b.add(offset, step);
        b.set(next, up);
    });
}

/// Adds a coordinate in one dimension: whether it is inside as well, and the new address.
fn placed(
    b: &mut Builder<'_>,
    map: &Map,
    dimension: usize,
    coordinate: Value,
    (inside, address): (Value, Value),
) -> (Value, Value) {
    let fits = b.ule(coordinate, map.lasts[dimension]);
    let inside = b.and(inside, fits);
    let wide = b.zero_extend(coordinate);
    let distance = b.mul(wide, map.strides[dimension - 1]);
    (inside, b.add(address, distance))
}

fn row(
    b: &mut Builder<'_>,
    (inside, address): (Value, Value),
    number: Var,
    each: &mut dyn FnMut(&mut Builder<'_>, Row),
) {
    let current = b.get(number);
    each(b, Row { inside, address, number: current });
    let up = b.add_const(current, 1);
    b.set(number, up);
}

/// The rows whose numbers are given.
fn listed(b: &mut Builder<'_>, map: &Map, start: &Start, number: Var, each: &mut dyn FnMut(&mut Builder<'_>, Row)) {
    let [_, first, others @ ..] = start.at.as_slice() else { return };
    b.loop_(|b| {
        let current = b.get(number);
        let more = b.compare_const(Compare::LessUnsigned, current, 1 + others.len() as u64);
        b.if_else(more, |_| {}, Builder::break_);
        let mut coordinate = *first;
        for (place, &other) in (1..).zip(others) {
            let is_it = b.compare_const(Compare::Equal, current, place);
            coordinate = b.select(is_it, other, coordinate);
        }
        let inside = b.bool(true);
        let place = placed(b, map, 1, coordinate, (inside, start.address));
        row(b, place, number, each);
    });
}

/// Visits pixels from the first on, within the box that the map's corners bound: at the end in one dimension, the next dimension advances.
fn by_columns(
    b: &mut Builder<'_>,
    map: &Map,
    start: &Start,
    offsets: &[Value],
    number: Var,
    each: &mut dyn FnMut(&mut Builder<'_>, Row),
) {
    let dimensions = start.at.len();
    let pixels = map.pixels(b);
    let vars: Vec<Var> = start
        .at
        .iter()
        .skip(1)
        .map(|&at| {
            let var = b.var(Type::I32);
            b.set(var, at);
            var
        })
        .collect();
    let corners: Vec<_> = (0..dimensions.saturating_sub(2)).map(|at| map.corners(b, at, dimensions - 2)).collect();
    b.loop_(|b| {
        let done = b.get(number);
        let more = b.ult(done, pixels);
        b.if_else(more, |_| {}, Builder::break_);
        let mut place = (b.bool(true), start.address);
        for (index, &var) in vars.iter().enumerate() {
            let at = b.get(var);
            let coordinate = match offsets.get(index) {
                Some(&offset) => b.add(at, offset),
                None => at,
            };
            place = placed(b, map, index + 1, coordinate, place);
        }
        row(b, place, number, each);
        advance(b, map, &vars, &corners);
    });
}

/// Advances to the next pixel: a step in the first dimension. If the step leads beyond the upper corner, the coordinate returns to the
/// lower corner and the next dimension advances.
fn advance(b: &mut Builder<'_>, map: &Map, vars: &[Var], corners: &[[Value; 2]]) {
    let [var, others @ ..] = vars else { return };
    let dimension = map.steps.len() - vars.len();
    let at = b.get(*var);
    let next = b.add(at, map.steps[dimension]);
    let [[lower, upper], corners @ ..] = corners else {
        b.set(*var, next);
        return;
    };
    let inside = b.sle(next, *upper);
    b.if_else(
        inside,
        |b| b.set(*var, next),
        |b| {
            b.set(*var, *lower);
            advance(b, map, others, corners);
        },
    );
}
