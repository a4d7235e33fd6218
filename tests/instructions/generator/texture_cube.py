"""Cubes: faces, the coordinates on them, and what lies behind their edges (docs/numerics.md)."""

from fractions import Fraction

from .texture_levels import FAR, added, difference, footprint, logarithm, number, plus, real, rounded, stretched

# Of each face how far its coordinates and its own direction go along x, y and z.
FACES = [
    ((0, 0, -1), (0, -1, 0), (1, 0, 0)),
    ((0, 0, 1), (0, -1, 0), (-1, 0, 0)),
    ((1, 0, 0), (0, 0, 1), (0, 1, 0)),
    ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    ((1, 0, 0), (0, -1, 0), (0, 0, 1)),
    ((-1, 0, 0), (0, -1, 0), (0, 0, -1)),
]


def projected(bits):
    """A direction, scaled so that the greatest is about one, by the bits of singles."""
    values = [real(value) for value in bits]
    greatest = max([0.0, *(abs(value) for value in values if value == value)])
    reciprocal = rounded(1 / greatest) if greatest else rounded(float("inf"))
    scale = real(reciprocal) if reciprocal >= 0x800000 else 0.0
    return [rounded(value * scale) for value in values]


def face_of(bits):
    """The face that a direction meets; z goes before y, y before x, and NaN is less than all others."""
    values = [real(value) for value in bits]
    x, y, z = (abs(value) if value == value else -1 for value in values)
    axis = 2 if z >= x and z >= y else 1 if y >= x else 0
    return 2 * axis + (values[axis] < 0)


def on_face(face, point):
    """Both coordinates, and how far along the face's direction."""
    return [sum(a * b for a, b in zip(axis, point)) for axis in FACES[face]]


def located(bits):
    """Face and coordinates from -1 to 1."""
    bits = projected(bits)
    face = face_of(bits)
    s, t, _ = on_face(face, [number(value) for value in bits])
    return face, *(min(max(value, Fraction(-1)), Fraction(1)) for value in (s, t))


def step_to(face, here, bits, extent):
    """From a point on a face to another, which may lie on another face, by texels; and whether it does."""
    halves = lambda step: stretched(step, extent) / 2
    other = face_of(bits)
    *there, along = on_face(face, [number(value) for value in bits])
    step = [halves(difference(new, old)) for new, old in zip(there, here)]
    if other == face:
        return step, False
    if other ^ 1 == face:
        return [FAR, step[1]], True
    # Over the edge towards the other face, and on from there.
    axis = next(number for number in (0, 1) if FACES[face][number][other // 2])
    sign = FACES[face][axis][other // 2] * (-1 if other % 2 else 1)
    step[axis] = sign * plus(halves(difference(Fraction(1), sign * here[axis])), halves(difference(Fraction(1), along)))
    return step, True


def gradient_level(bits, gradients, extent):
    """The level for two gradients by bits."""
    face, *here = located(bits)
    steps, apart = [], False
    for gradient in gradients:
        moved = projected([added(at, step) for at, step in zip(bits, gradient)])
        step, crosses = step_to(face, here, moved, extent)
        steps.append(step)
        apart = apart or crosses
    return logarithm(footprint(*steps, apart))


def neighbour(face, x, y, extent):
    """The texel behind an edge, as face and place; nothing behind a corner."""
    inside = [0 <= place < extent for place in (x, y)]
    if all(inside):
        return face, x, y
    if not any(inside):
        return None
    # Centres lie at odd places, between -extent and extent.
    place = [2 * x + 1 - extent, 2 * y + 1 - extent]
    axis = inside.index(False)
    place[axis] = extent if place[axis] > 0 else -extent
    parts = (*place, extent - 1)
    point = [sum(part * axis[k] for part, axis in zip(parts, FACES[face])) for k in range(3)]
    face = next(number for number in range(6) if on_face(number, point)[2] == extent)
    s, t, _ = on_face(face, point)
    return face, s + extent - 1 >> 1, t + extent - 1 >> 1


def corner_weights(weights, missing):
    """What a texel behind a corner would weigh goes to the others: a third each, rounded, to those beside it, the rest to the last."""
    weight = weights[missing]
    third = (2 * weight + 3) // 6
    shared = [value + third for value in weights]
    shared[missing], shared[3 - missing] = 0, weights[3 - missing] + weight - 2 * third
    return shared
