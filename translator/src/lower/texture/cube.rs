//! Cubes: the face that a direction meets and the place there, the neighbours beyond the edges of faces, and gradients
//! across faces.
//!
//! A direction is scaled so that its greatest coordinate is one. Of equal coordinates, z goes before y and y before x.

use super::clamp_float;
use super::footprint::{self, coordinate, difference, plus, size, stretched};
use crate::ir::{Builder, Compare, Type, Unary, Value};

/// For each face, the directions of its two coordinates and its normal: an axis, and whether it is negated.
const FACES: [[(usize, bool); 3]; 6] = [
    [(2, true), (1, true), (0, false)],
    [(2, false), (1, true), (0, true)],
    [(0, false), (2, false), (1, false)],
    [(0, false), (2, true), (1, true)],
    [(0, false), (1, true), (2, false)],
    [(0, true), (1, true), (2, true)],
];

/// A direction, as floats.
pub(super) type Direction = [Value; 3];

/// A place on a face, as floats from -1 to 1.
#[derive(Clone, Copy)]
pub(super) struct FacePoint {
    pub(super) face: Value,
    pub(super) coordinates: [Value; 2],
}

/// A direction, scaled so that its greatest coordinate is one.
fn projected(b: &Builder<'_>, direction: Direction) -> Direction {
    let zero = b.f32(0.0);
    let mut greatest = zero;
    for value in direction {
        greatest = b.maximum(Compare::FLess, greatest, size(b, value));
    }
    let reciprocal = b.fdiv(b.f32(1.0), greatest);
    // A subnormal reciprocal counts as 0.
    let is_tiny = b.ult(b.bits(reciprocal), b.i32(0x80_0000));
    let reciprocal = b.select(is_tiny, zero, reciprocal);
    direction.map(|value| b.fmul(value, reciprocal))
}

/// The face that a direction meets. A NaN coordinate is less than all others.
fn face(b: &Builder<'_>, direction: Direction) -> Value {
    let [zero, none] = [0.0, -1.0].map(|number| b.f32(number));
    let [x, y, z] = direction.map(|value| {
        let size = size(b, value);
        let is_number = b.feq(size, size);
        b.select(is_number, size, none)
    });
    let [negative_x, negative_y, negative_z] = direction.map(|value| {
        let is_negative = b.flt(value, zero);
        b.bool_to(Type::I32, is_negative)
    });
    let over_x = b.fle(x, z);
    let over_y = b.fle(y, z);
    let is_z = b.and(over_x, over_y);
    let is_y = b.fle(x, y);
    let second = b.add_const(negative_y, 2);
    b.select(is_z, b.add_const(negative_z, 4), b.select(is_y, second, negative_x))
}

/// One of six values by a face's number.
fn by_face(b: &Builder<'_>, face: Value, values: [Value; 6]) -> Value {
    let [mut found, ..] = values;
    for (number, value) in (0..).zip(values).skip(1) {
        let is_this = b.compare_const(Compare::Equal, face, number);
        found = b.select(is_this, value, found);
    }
    found
}

/// Both coordinates of a direction on a face, and its component along the face's normal.
fn on_face(b: &Builder<'_>, face: Value, direction: Direction) -> Direction {
    let turned = direction.map(|value| b.unary(Unary::FNeg, value));
    std::array::from_fn(|part| {
        let values = FACES.map(|axes| {
            let (axis, is_turned) = axes.get(part).copied().unwrap_or_default();
            let of = if is_turned { turned } else { direction };
            of.get(axis).copied().unwrap_or(face)
        });
        by_face(b, face, values)
    })
}

/// Whether a coordinate of a face goes along the negative direction of its axis, as 0 or 1.
fn turned(b: &Builder<'_>, face: Value, part: usize) -> Value {
    let is_turned = |axes: &[(usize, bool); 3]| axes.get(part).is_some_and(|(_, is_turned)| *is_turned);
    let bits = (0..).zip(FACES).map(|(number, axes)| u32::from(is_turned(&axes)) << number).sum();
    let bit = b.shr_by(b.i32(bits), face);
    b.and_const(bit, 1)
}

/// A scaled direction's place.
fn place(b: &Builder<'_>, direction: Direction) -> FacePoint {
    let face = face(b, direction);
    let [s, t, _] = on_face(b, face, direction);
    let [least, most] = [-1.0, 1.0].map(|number| b.f32(number));
    let coordinates = [s, t].map(|value| clamp_float(b, coordinate(b, value), [least, most]));
    FacePoint { face, coordinates }
}

/// The point where a direction meets the cube.
pub(super) fn located(b: &Builder<'_>, direction: Direction) -> FacePoint {
    place(b, projected(b, direction))
}

/// The size of a pixel's footprint from the gradients of a direction.
pub(super) fn footprint(b: &Builder<'_>, from: Direction, gradients: [Direction; 2], extent: Value) -> Value {
    let here = located(b, from);
    let [across, down] = gradients.map(|gradient| {
        let mut moved = from;
        for (value, step) in moved.iter_mut().zip(gradient) {
            *value = b.fadd(*value, step);
        }
        step_to(b, here, moved, extent)
    });
    let is_apart = b.or(across.1, down.1);
    footprint::footprint(b, across.0, down.0, Some(is_apart))
}

/// The step, in texels, from a place to the place where a direction meets the cube, and whether that is on another
/// face.
fn step_to(b: &Builder<'_>, here: FacePoint, direction: Direction, extent: Value) -> (Direction, Value) {
    let direction = projected(b, direction);
    let other = face(b, direction);
    let [s, t, along] = on_face(b, here.face, direction);
    let crosses = b.ne(other, here.face);
    let opposite = b.xor(other, here.face);
    let is_opposite = b.compare_const(Compare::Equal, opposite, 1);
    let goes_over = b.and(crosses, b.not(is_opposite));
    // The coordinate along the other face's normal crosses the edge.
    let axes = FACES.map(|[(axis, _), ..]| b.i32(axis as u32));
    let first_axis = by_face(b, here.face, axes);
    let is_first = b.eq(first_axis, b.shr(other, 1));
    let other_end = b.and_const(other, 1);
    let [zero, one, minus_one, half] = [0.0, 1.0, -1.0, 0.5].map(|number| b.f32(number));
    let halves = |b: &Builder<'_>, step: Value| b.fmul(stretched(b, step, extent), half);
    let face = here.face;
    let rest = halves(b, difference(b, one, coordinate(b, along)));
    let mut step = [zero; 3];
    for (number, ((there, here), step)) in [s, t].into_iter().zip(here.coordinates).zip(&mut step).enumerate() {
        let straight = halves(b, difference(b, coordinate(b, there), here));
        // The other face is at the lower end of this coordinate, or at the upper one.
        let is_negative = b.ne(turned(b, face, number), other_end);
        let sign = b.select(is_negative, minus_one, one);
        let near = halves(b, difference(b, one, b.fmul(sign, here)));
        let over = b.fmul(sign, plus(b, near, rest));
        let is_axis = if number == 0 { is_first } else { b.not(is_first) };
        let is_over = b.and(goes_over, is_axis);
        *step = b.select(is_over, over, straight);
    }
    let far = b.f32((1u64 << 60) as f32);
    let [first, second, third] = step;
    (([b.select(is_opposite, far, first), second, third]), crosses)
}

/// The neighbours beyond the four edges of a face (left, right, above, below), a byte each: three bits for the face, and three flags:
/// whether the edge is a column there, whether it is at the upper end, and whether the coordinate along the edge is reversed.
fn edge_neighbours(face: usize) -> u32 {
    let axes = FACES.get(face).copied().unwrap_or_default();
    let sign = |is_turned: bool| if is_turned { -1i32 } else { 1 };
    let mut word = 0;
    for edge in 0..4 {
        let [over, beside] = if edge < 2 { [axes[0], axes[1]] } else { [axes[1], axes[0]] };
        // The edge points towards the next face, and this face's normal tells at which end its texels begin.
        let direction = sign(over.1) * if edge % 2 == 0 { -1 } else { 1 };
        let next = 2 * over.0 + usize::from(direction < 0);
        let [s, t, _] = FACES.get(next).copied().unwrap_or_default();
        let is_column = s.0 == axes[2].0;
        let [at, running] = if is_column { [s, t] } else { [t, s] };
        let is_end = sign(at.1) == sign(axes[2].1);
        let turns = sign(running.1) != sign(beside.1);
        let entry = next as u32 | u32::from(is_column) << 3 | u32::from(is_end) << 4 | u32::from(turns) << 5;
        word |= entry << (8 * edge);
    }
    word
}

/// The face and position of a texel that may be beyond one edge.
pub(super) fn neighbour(b: &Builder<'_>, face: Value, [x, y]: [Value; 2], extent: Value) -> (Value, [Value; 2]) {
    let words = std::array::from_fn(|number| b.i32(edge_neighbours(number)));
    let word = by_face(b, face, words);
    let zero = b.i32(0);
    let [x_is_low, y_is_low] = [x, y].map(|value| b.slt(value, zero));
    let [x_is_high, y_is_high] = [x, y].map(|value| b.sle(extent, value));
    let x_is_out = b.or(x_is_low, x_is_high);
    let y_is_out = b.or(y_is_low, y_is_high);
    let is_out = b.or(x_is_out, y_is_out);
    let [right, below] = [x_is_high, y_is_high].map(|value| b.bool_to(Type::I32, value));
    let edge = b.select(x_is_out, right, b.add_const(below, 2));
    let entry = b.shr_by(word, b.shl(edge, 3));
    let next = b.and_const(entry, 7);
    // There is no texel beyond a corner, but the address must be valid.
    let last = b.sub_const(extent, 1);
    let along = b.select(x_is_out, y, x);
    let along = b.minimum(Compare::LessSigned, last, b.maximum(Compare::LessSigned, along, zero));
    let turned = b.sub(last, along);
    let flag = |b: &Builder<'_>, bit: u64| b.is_nonzero(b.and_const(entry, 1 << bit));
    let (is_column, is_end, turns) = (flag(b, 3), flag(b, 4), flag(b, 5));
    let along = b.select(turns, turned, along);
    let across = b.select(is_end, last, zero);
    let [column, row] = [b.select(is_column, across, along), b.select(is_column, along, across)];
    (b.select(is_out, next, face), [b.select(is_out, column, x), b.select(is_out, row, y)])
}
