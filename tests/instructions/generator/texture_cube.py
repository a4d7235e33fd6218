"""Cubes: faces, the coordinates on them, and what lies behind their edges (docs/numerics.md)."""

import struct
from fractions import Fraction

from .texture_levels import FAR, footprint, kept, logarithm, number, plus, single, stretched

# Of each face how far its coordinates and its own direction go along x, y and z.
FACES = [
    ((0, 0, -1), (0, -1, 0), (1, 0, 0)),
    ((0, 0, 1), (0, -1, 0), (-1, 0, 0)),
    ((1, 0, 0), (0, 0, 1), (0, 1, 0)),
    ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    ((1, 0, 0), (0, -1, 0), (0, 0, 1)),
    ((-1, 0, 0), (0, -1, 0), (0, 0, -1)),
]


def projected(point):
    """A direction of ordinary numbers, scaled so that the greatest is about one."""
    greatest = max(map(abs, point))
    if not greatest:
        return [Fraction(0)] * 3
    reciprocal = single(1 / greatest)
    return [single(value * reciprocal) for value in point]


def face_of(point):
    """The face that a direction meets; z goes before y, y before x."""
    x, y, z = map(abs, point)
    axis = 2 if z >= x and z >= y else 1 if y >= x else 0
    return 2 * axis + (point[axis] < 0)


def on_face(face, point):
    """Both coordinates, and how far along the face's direction."""
    return [sum(a * b for a, b in zip(axis, point)) for axis in FACES[face]]


def located(bits):
    """Face and coordinates from -1 to 1."""
    point = projected([number(value) for value in bits])
    face = face_of(point)
    s, t, _ = on_face(face, point)
    return face, s, t


def step_to(face, here, point, extent):
    """From a point on a face to another, which may lie on another face, by texels; and whether it does."""
    halves = lambda step: stretched(step, extent) / 2
    other = face_of(point)
    *there, along = on_face(face, point)
    step = [halves(single(new - old)) for new, old in zip(there, here)]
    if other == face:
        return step, False
    if other ^ 1 == face:
        return [FAR, step[1]], True
    # Over the edge, and on from there.
    axis = next(number for number in (0, 1) if FACES[face][number][other // 2])
    sign = -1 if there[axis] < 0 else 1
    step[axis] = sign * plus(halves(single(1 - sign * here[axis])), halves(single(1 - along)))
    return step, True


def gradient_level(bits, gradients, extent):
    """The level for two gradients by bits."""
    point = [number(value) for value in bits]
    face, *here = located(bits)
    steps, apart = [], False
    for gradient in gradients:
        moved = projected([single(at + number(step)) for at, step in zip(point, gradient)])
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
