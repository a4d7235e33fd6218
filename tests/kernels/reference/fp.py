"""Correctly rounded arithmetic that numpy lacks: fma in single and double precision."""

from fractions import Fraction

import numpy as np


def fma32(a, b, c):
    """fma.rn.f32 element by element.

    The product of two f32 is exact in f64. Its sum with c is rounded to odd there, which leaves the final rounding to
    f32 correct: f64 has more than two bits to spare (Boldo and Melquiond, 2008).
    """
    a, b, c = (np.asarray(x, dtype=np.float32).astype(np.float64) for x in (a, b, c))
    with np.errstate(all="ignore"):
        product = a * b
        total = product + c
        # Knuth's two-sum: the exact error of the sum.
        part = total - product
        error = (product - (total - part)) + (c - part)
        bits = np.atleast_1d(total).view(np.int64).copy()
        error, flat = np.atleast_1d(error), np.atleast_1d(total)
        inexact = np.isfinite(flat) & (error != 0) & (bits & 1 == 0)
        # One step towards the exact value makes the last bit odd; magnitudes grow with the integer view.
        away = (error > 0) == (flat > 0)
        bits[inexact] += np.where(away[inexact], 1, -1)
        result = bits.view(np.float64).reshape(np.shape(total)).astype(np.float32)
    return result if np.ndim(result) else np.float32(result)


def fma64(a, b, c):
    """fma.rn.f64 of finite scalars with a result in the normal range or zero without a sign question."""
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    return np.float64(float(exact))


def self_check(rng):
    """Compares fma32 with exact rational arithmetic."""
    for _ in range(3000):
        exponents = rng.integers(-30, 30, 3)
        a, b, c = (np.float32(m * 2.0 ** float(e)) for m, e in zip(rng.uniform(-2, 2, 3), exponents))
        if rng.random() < 0.3:
            c = np.float32(-(float(a) * float(b)))  # cancellation
        assert fma32(a, b, c) == round_to_f32(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))


def round_to_f32(exact):
    """The f32 nearest to a rational number in the normal range, ties to even."""
    near = np.float32(float(exact))
    candidates = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]

    def distance(x):
        return (abs(Fraction(float(x)) - exact), int(np.array(x).view(np.uint32)) & 1)

    return min(candidates, key=distance)
