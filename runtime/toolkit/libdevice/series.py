#!/usr/bin/env python3
"""Prints series.h: polynomials through Chebyshev's nodes, of functions that sollya doesn't have. Needs mpmath."""
from mpmath import mp, mpf, chebyfit, gamma, loggamma, erfc, exp, log, sqrt, bernoulli
mp.prec = 300
import struct

def erfcx_scaled(t):
    """(1 + 2x) erfcx(x), where t = (x - 4) / (x + 4)."""
    t = mpf(t)
    if t > 1 - mpf(2) ** -12:
        x = 4 * (1 + t) / (1 - t) if t < 1 else mpf(10) ** 60
        # The asymptotic series.
        total, term = mpf(0), mpf(1)
        for k in range(1, 12):
            total += term
            term *= -(2 * k - 1) / (2 * x * x)
        return (1 + 2 * x) / x * total / sqrt(mp.pi)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)

# lgamma(2 + x) / x
def loggamma_quotient(x):
    x = mpf(x)
    if abs(x) < mpf(2) ** -60:
        x = mpf(2) ** -60
    return loggamma(2 + x) / x

FUNCTIONS = [
    ("ERFCX", erfcx_scaled, [mpf("-0.8"), 1], (12, 27)),
    ("LOGGAMMA", loggamma_quotient, [mpf("-0.5"), mpf("0.5")], (9, 20)),
    ("RECIPROCAL_GAMMA", lambda t: 1 / gamma(1 + mpf(t)), [0, 1], (9, 18)),
]

def number(value, kind):
    if kind == "float":
        value = struct.unpack("f", struct.pack("f", float(value)))[0]
    return float(value).hex()

print("// Coefficients of polynomials and series, the highest first; made by series.py.\n#pragma once\n\ntemplate <class T> struct Series;")
for which, kind in enumerate(["float", "double"]):
    print(f"\ntemplate <> struct Series<{kind}> {{")
    for name, function, interval, counts in FUNCTIONS:
        coefficients = chebyfit(function, interval, counts[which])
        print(f"    static constexpr {kind} {name}[] = {{{', '.join(number(c, kind) for c in coefficients)}}};")
    # Stirling's series in 1/x^2.
    count = (3, 9)[which]
    stirling = [bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(count, 0, -1)]
    print(f"    static constexpr {kind} STIRLING[] = {{{', '.join(number(c, kind) for c in stirling)}}};")
    print("};")
