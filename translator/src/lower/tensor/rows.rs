//! The rows of a tensor's box, in the order of shared memory.

use crate::ir::{Builder, Compare, Type, Value, Var};

/// A dimension that rows differ in.
#[derive(Clone, Copy)]
pub struct Dimension {
    /// The first coordinate of the box.
    pub at: Value,
    /// Greatest coordinate in the tensor.
    pub last: Value,
    /// Bytes from one coordinate to the next, in `I64`.
    pub stride: Value,
    /// Step from one coordinate of the box to the next.
    pub step: Value,
    /// The number of coordinates that the box spans.
    pub size: Value,
}

impl Dimension {
    /// The first of two dimensions if a condition holds, else the second.
    pub fn select(b: &Builder<'_>, condition: Value, then: Self, otherwise: Self) -> Self {
        let choose = |field: fn(&Self) -> Value| b.select(condition, field(&then), field(&otherwise));
        Self {
            at: choose(|of| of.at),
            last: choose(|of| of.last),
            stride: choose(|of| of.stride),
            step: choose(|of| of.step),
            size: choose(|of| of.size),
        }
    }
}

/// A dimension of a picture, in which a column of pixels advances.
pub struct Side {
    pub dimension: Dimension,
    /// The least and the greatest coordinate of the box that the column advances in.
    pub bounds: [Value; 2],
    /// Is added to all coordinates, after they have advanced.
    pub offset: Option<Value>,
}

/// The rows of a box.
pub enum Shape {
    /// A row for each place in these dimensions, of which the first advances first (`tile`).
    Tile(Vec<Dimension>),
    /// A row for each pixel of a column (`im2col`): by the sides of the pictures, then from picture to picture.
    Columns { sides: Vec<Side>, pictures: Dimension, pixels: Value },
    /// The rows with these coordinates (`tile::gather4` and `tile::scatter4`).
    Rows(Dimension, Vec<Value>),
}

/// The place of the rows of a box in the dimensions that have been fixed so far.
#[derive(Clone, Copy)]
pub struct Place {
    /// Whether the coordinates so far are inside the tensor.
    pub inside: Value,
    /// Address of the first element.
    pub address: Value,
}

impl Place {
    pub fn at(self, b: &Builder<'_>, dimension: &Dimension, coordinate: Value) -> Place {
        let fits = b.ule(coordinate, dimension.last);
        let distance = b.mul(b.zero_extend(coordinate), dimension.stride);
        Place { inside: b.and(self.inside, fits), address: b.add(self.address, distance) }
    }
}

/// A row of a box.
pub struct Row {
    pub place: Place,
    /// Its number in the box.
    pub number: Value,
}

/// Runs `each` for each row, and gives the number of rows.
pub fn for_each_row(b: &Builder<'_>, place: Place, shape: &Shape, each: &mut dyn FnMut(&Builder<'_>, Row)) -> Value {
    let number = b.var(Type::I32);
    b.set(number, b.i32(0));
    match shape {
        Shape::Tile(dimensions) => tile(b, place, dimensions, number, each),
        Shape::Columns { sides, pictures, pixels } => column(b, place, (sides, pictures), *pixels, number, each),
        Shape::Rows(dimension, coordinates) => listed(b, place, dimension, coordinates, number, each),
    }
    b.get(number)
}

/// The rows of a box whose coordinates in all but the given dimensions are part of the place.
fn tile(b: &Builder<'_>, place: Place, dimensions: &[Dimension], number: Var, each: &mut dyn FnMut(&Builder<'_>, Row)) {
    let [inner @ .., dimension] = dimensions else {
        row(b, place, number, each);
        return;
    };
    let next = b.var(Type::I32);
    b.set(next, b.i32(0));
    b.loop_(|b| {
        let offset = b.get(next);
        let more = b.ult(offset, dimension.size);
        b.if_else(more, |_| {}, Builder::break_);
        let coordinate = b.add(dimension.at, offset);
        tile(b, place.at(b, dimension, coordinate), inner, number, each);
        b.set(next, b.add(offset, dimension.step));
    });
}

fn row(b: &Builder<'_>, place: Place, number: Var, each: &mut dyn FnMut(&Builder<'_>, Row)) {
    let current = b.get(number);
    each(b, Row { place, number: current });
    b.set(number, b.add_const(current, 1));
}

/// The rows whose coordinates are given.
fn listed(
    b: &Builder<'_>,
    place: Place,
    dimension: &Dimension,
    coordinates: &[Value],
    number: Var,
    each: &mut dyn FnMut(&Builder<'_>, Row),
) {
    b.loop_(|b| {
        let current = b.get(number);
        let more = b.compare_const(Compare::LessUnsigned, current, coordinates.len() as u64);
        b.if_else(more, |_| {}, Builder::break_);
        let mut coordinate = dimension.at;
        for (index, &other) in (0..).zip(coordinates).skip(1) {
            let is_it = b.compare_const(Compare::Equal, current, index);
            coordinate = b.select(is_it, other, coordinate);
        }
        row(b, place.at(b, dimension, coordinate), number, each);
    });
}

/// Visits pixels from the first on, within the box that the bounds are: at the end in one dimension, the next dimension advances.
fn column(
    b: &Builder<'_>,
    place: Place,
    (sides, pictures): (&[Side], &Dimension),
    pixels: Value,
    number: Var,
    each: &mut dyn FnMut(&Builder<'_>, Row),
) {
    let var = |at: Value| {
        let var = b.var(Type::I32);
        b.set(var, at);
        var
    };
    let vars: Vec<Var> = sides.iter().map(|side| var(side.dimension.at)).collect();
    let picture = var(pictures.at);
    b.loop_(|b| {
        let more = b.ult(b.get(number), pixels);
        b.if_else(more, |_| {}, Builder::break_);
        let coordinate = b.get(picture);
        let mut place = place.at(b, pictures, coordinate);
        for (side, &var) in sides.iter().zip(&vars) {
            let at = b.get(var);
            let coordinate = side.offset.map_or(at, |offset| b.add(at, offset));
            place = place.at(b, &side.dimension, coordinate);
        }
        row(b, place, number, each);
        advance(b, sides, &vars, (pictures, picture));
    });
}

/// Advances to the next pixel: a step in the first dimension. If the step leads beyond the upper bound, the coordinate returns to the
/// lower bound and the next dimension advances.
fn advance(b: &Builder<'_>, sides: &[Side], vars: &[Var], pictures: (&Dimension, Var)) {
    let ([side, sides @ ..], [var, vars @ ..]) = (sides, vars) else {
        b.set(pictures.1, b.add(b.get(pictures.1), pictures.0.step));
        return;
    };
    let next = b.add(b.get(*var), side.dimension.step);
    let [lower, upper] = side.bounds;
    let inside = b.sle(next, upper);
    b.if_else(
        inside,
        |b| b.set(*var, next),
        |b| {
            b.set(*var, lower);
            advance(b, sides, vars, pictures);
        },
    );
}
