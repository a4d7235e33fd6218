"""Writes include/crt/curand_jumps.h: how the states of XORWOW and MRG32k3a change by many steps at once.

Marsaglia's XORWOW ("Xorshift RNGs", 2003) is linear over bits but for a counter: 2^j steps are a polynomial of the step, of degree below 160.
L'Ecuyer's MRG32k3a ("Good parameters and implementations for combined multiple recursive random number generators", 1999) is linear modulo two
primes: 2^j steps are powers of two matrices.
"""

import pathlib

BITS = 160


def step(state):
    """One step of XORWOW's five words, without the counter."""
    mask = 0xFFFFFFFF
    t = state[0] ^ (state[0] >> 2)
    last = state[4]
    return [*state[1:], (last ^ (last << 4) ^ t ^ (t << 1)) & mask]


def minimal_polynomial():
    """By Berlekamp and Massey, from a bit of 320 states."""
    state, sequence = [1, 2, 3, 4, 5], []
    for _ in range(2 * BITS):
        sequence.append(state[4] & 1)
        state = step(state)
    current, previous, length, gap = 1, 1, 0, 1
    for n in range(len(sequence)):
        difference = 0
        for i in range(length + 1):
            difference ^= (current >> i & 1) & sequence[n - i]
        if not difference:
            gap += 1
        elif 2 * length <= n:
            current, previous, length, gap = current ^ (previous << gap), current, n + 1 - length, 1
        else:
            current, gap = current ^ (previous << gap), gap + 1
    assert length == BITS
    # The reciprocal of the connection polynomial.
    return sum((current >> i & 1) << (BITS - i) for i in range(BITS + 1))


def square(a, modulus):
    """Of a polynomial over bits."""
    result = 0
    for i in range(BITS):
        if a >> i & 1:
            result ^= 1 << (2 * i)
    for i in range(2 * BITS, BITS - 1, -1):
        if result >> i & 1:
            result ^= modulus << (i - BITS)
    return result


def product(a, b, modulus):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) % modulus for j in range(3)] for i in range(3)]


def main():
    modulus = minimal_polynomial()
    powers, power = [], 2
    for _ in range(131):
        powers.append(power)
        power = square(power, modulus)
    rows = [powers[j] for j in range(64)] + [powers[67 + j] for j in range(64)]
    lines = ["/* Made by random/jumps.py. */", "#ifndef PTX2SPV_CURAND_JUMPS_H", "#define PTX2SPV_CURAND_JUMPS_H", ""]
    lines += ["/* Polynomials of XORWOW's step for 2^j steps, and for 2^(67+j). */"]
    lines += ["static __device__ const unsigned int ptx2spv_xorwow_jumps[128][5] = {"]
    for row in rows:
        lines.append("    {" + ", ".join(f"{row >> 32 * i & 0xFFFFFFFF:#x}" for i in range(5)) + "},")
    lines += ["};", "", "/* Matrices of MRG32k3a's two parts for 1, 2^76 and 2^127 steps. */"]
    lines += ["static __device__ const unsigned int ptx2spv_mrg_jumps[3][2][9] = {"]
    moduli = (2**32 - 209, 2**32 - 22853)
    first = [[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]], [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]]
    for exponent in (0, 76, 127):
        parts = []
        for matrix, m in zip(first, moduli):
            for _ in range(exponent):
                matrix = product(matrix, matrix, m)
            parts.append("{" + ", ".join(str(x % m) + "u" for row in matrix for x in row) + "}")
        lines.append("    {" + ",\n     ".join(parts) + "},")
    lines += ["};", "", "#endif", ""]
    path = pathlib.Path(__file__).parent.parent / "include/crt/curand_jumps.h"
    path.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
