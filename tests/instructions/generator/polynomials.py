#!/usr/bin/env python3
"""Derives the polynomials of `translator/src/legalize/approximate.rs` and prints them as Rust constants.

Each is the interpolation of its function at Chebyshev nodes, which is close to the best polynomial of its degree, in
rational arithmetic, with coefficients rounded to f32. Run as `python3 -m generator.polynomials` in the folder above.
"""

from fractions import Fraction
from math import cos, isqrt, pi

from .exact import F32

# Digits beyond those of any result here.
BITS = 160


def exponential(x):
    """e^x by its series."""
    total = term = Fraction(1)
    for n in range(1, 60):
        term = chop(term * x / n)
        total += term
    return total


def chop(x):
    """Cut to a sensible length, so that fractions don't grow."""
    return Fraction(int(x * 2**BITS), 2**BITS)


def logarithm(x):
    """ln x for x in [1/2, 2], by the series of artanh."""
    y = chop((x - 1) / (x + 1))
    total, power = Fraction(0), y
    for n in range(1, 400, 2):
        total += power / n
        power = chop(power * y * y)
    return 2 * chop(total)


LN_2 = logarithm(Fraction(2))


def arc_tangent(x):
    total, power = Fraction(0), Fraction(x)
    for n in range(1, 300, 2):
        total += power / n if n % 4 == 1 else -power / n
        power = chop(power * x * x)
    return chop(total)


# Machin's formula.
PI = 16 * arc_tangent(Fraction(1, 5)) - 4 * arc_tangent(Fraction(1, 239))


def sine_and_cosine(x):
    sine, cosine, term = Fraction(0), Fraction(0), Fraction(1)
    for n in range(60):
        sign = -1 if n % 4 >= 2 else 1
        if n % 2:
            sine += sign * term
        else:
            cosine += sign * term
        term = chop(term * x / (n + 1))
    return sine, cosine


def hyperbolic_tangent(x):
    squared = exponential(2 * x)
    return (squared - 1) / (squared + 1)


def interpolate(function, low, high, count):
    """Coefficients, lowest first, of the polynomial through a function's values at `count` Chebyshev nodes."""
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = [middle + half * Fraction(cos(pi * (2 * k + 1) / (2 * count))) for k in range(count)]
    nodes = [chop(node) for node in nodes]
    table = [chop(function(node)) for node in nodes]
    for level in range(1, count):
        for k in range(count - 1, level - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (nodes[k] - nodes[k - level])
    coefficients = [Fraction(0)] * count
    for k in range(count - 1, -1, -1):
        shifted = [Fraction(0)] + coefficients[:-1]
        coefficients = [up - nodes[k] * same for up, same in zip(shifted, coefficients)]
        coefficients[0] += table[k]
    return coefficients


def show(name, text, function, low, high, count):
    """Prints a polynomial's coefficients, lowest first, as bits of f32, with the worst error that these leave."""
    low, high = Fraction(low), Fraction(high)
    rounded = [F32.value(F32.round(c)) for c in interpolate(function, low, high, count)]
    places = [low + (high - low) * Fraction(2 * k + 1, 400) for k in range(200)]
    worst = max(abs(function(x) - sum(c * x**n for n, c in enumerate(rounded))) for x in places)
    words = ", ".join(f"0x{F32.round(c):08x}" for c in rounded)
    print(f"/// {text} The coefficients leave an error of {float(worst):.1e}.")
    print(f"const {name}: [u32; {count}] = [{words}];")


def main():
    quarter = PI / 2
    root = lambda x: Fraction(isqrt(int(x * 4**BITS)), 2**BITS)
    sine = lambda s: sine_and_cosine(root(s) * quarter)[0]
    cosine = lambda s: sine_and_cosine(root(s) * quarter)[1]
    tangent = lambda s: hyperbolic_tangent(root(s))
    show("EXP2", "`(2^x - 1) / x` for |x| <= 1/2.", lambda x: (exponential(x * LN_2) - 1) / x, -0.5, 0.5, 6)
    show("LOG2", "`log2(1 + x) / x` for 1 + x from 1/sqrt(2) to sqrt(2).", lambda x: logarithm(1 + x) / LN_2 / x,
         -0.2930, 0.4143, 10)
    show("SINE", "`sin(x pi/2) / x` by `x^2`, for |x| <= 1/2.", lambda s: sine(s) / root(s), 2**-30, 0.25, 4)
    show("COSINE", "`(cos(x pi/2) - 1) / x^2` by `x^2`, for |x| <= 1/2.", lambda s: (cosine(s) - 1) / s, 2**-30, 0.25, 4)
    show("TANH", "`(tanh(x) / x - 1) / x^2` by `x^2`, for |x| <= 5/8.", lambda s: (tangent(s) / root(s) - 1) / s,
         2**-30, 0.390625, 5)


if __name__ == "__main__":
    main()
