#!/usr/bin/env python3
"""Writes the launch cases of the modules sdk_1_0 to sdk_2_3: what their kernels mean, computed on exact numbers."""

import json
import math
import random
import struct
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent


def case(file, entry, grid, block, args, expect, **more):
    ptx = {"name": f"{file}/{entry}", "ptx": f"{file}.ptx", "entry": entry, "grid": [grid, 1, 1], "block": [block, 1, 1]}
    return ptx | {"args": args, "expect": expect} | more


def data(ty, values):
    return {"type": ty, "data": values}


def room(ty, count):
    return {"type": ty, "fill": "0xa5a5a5a5", "len": count}


def sdk_1_0(rng):
    values = [rng.randrange(-50, 50) for _ in range(64)]
    sums = [sum(values[:i]) for i in range(64)]
    texels = [rng.randrange(-1000, 1000) for _ in range(32)]
    exponents = list(range(-20, 12))
    powers = []
    for x in exponents:
        power = Fraction(2) ** x
        powers += [float(number) for number in (power, 1 / power, -x, power, 1 / power, x / power)]
    scan = case("sdk_1_0", "scan_naive", 1, 64, [room("f32", 64), data("f32", values), {"type": "s32", "value": 64}],
                [{"arg": 0, "data": sums}], dynamic_shared_bytes=512)  # fmt: skip
    fetch = case("sdk_1_0", "fetch", 1, 64, [room("f32", 64)], [{"arg": 0, "data": [texels[7 * i % 32] for i in range(64)]}],
                 images={"texels": {"format": "f32", "shape": "linear", "size": [32], "data": texels}},
                 references={"lookup": {"texture": {"image": "texels"}}})  # fmt: skip
    # Approximations of powers of two are exact on some devices only.
    close = [{"arg": 1, "data": powers, "ulp": 4}]
    return [scan, fetch, case("sdk_1_0", "powers", 1, 32, [data("f32", exponents), room("f32", 192)], close)]


def sdk_1_2(rng):
    words = [rng.getrandbits(32) for _ in range(1000)]
    bins = [0] * 64
    for word in words:
        for byte in word.to_bytes(4, "little"):
            bins[byte >> 2] += 1
    histogram = case("sdk_1_2", "histogram64", 3, 64, [data("u32", [0] * 64), data("u32", words), {"type": "s32", "value": 1000}],
                     [{"arg": 0, "data": bins}])  # fmt: skip
    values = [rng.randrange(0, 30) for _ in range(64)] + [rng.randrange(11, 30) for _ in range(32)] + [rng.randrange(11) for _ in range(32)]
    votes = []
    for start in range(0, 128, 32):
        warp = [value > 10 for value in values[start : start + 32]]
        votes += [all(warp) + 2 * any(warp) + 4 * (all(warp) or not any(warp))] * 32
    return [histogram, case("sdk_1_2", "votes", 2, 64, [data("u32", values), room("u32", 128), data("u64", [5])],
                            [{"arg": 1, "data": votes}, {"arg": 2, "data": [5 + (sum(values) << 20)]}])]  # fmt: skip


def sdk_1_3(rng):
    # Sums of such numbers are exact in any order.
    a, b = ([rng.randrange(-(2**20), 2**20) / 64 for _ in range(300)] for _ in range(2))
    products = [float(sum(Fraction(x) * Fraction(y) for x, y in zip(a[start : start + 100], b[start : start + 100]))) for start in (0, 100, 200)]
    product = case("sdk_1_3", "scalarProd", 3, 64, [room("f64", 3), data("f64", a), data("f64", b), {"type": "s32", "value": 100}],
                   [{"arg": 0, "data": products}])  # fmt: skip
    values = [1.0, 2.0, 0.1, 1e300, 7.0, 5e-300, 3.0, 12345.678]
    results = []
    for x in values:
        results += [float(Fraction(x) / 3), math.sqrt(x), float(1 / Fraction(x))]
    return [product, case("sdk_1_3", "quotients", 1, 8, [data("f64", values), room("f64", 24)], [{"arg": 1, "data": results}])]


def sdk_1_4(rng):
    width, height = 70, 3
    weights = list(range(9)) + [-k for k in range(9, 17)]
    rows = [[rng.randrange(-40, 40) for _ in range(width)] for _ in range(height)]
    at = lambda row, x: row[x] if 0 <= x < width else 0
    result = [sum(at(row, x + k - 8) * weights[k] for k in range(17)) for row in rows for x in range(width)]
    convolution = case("sdk_1_4", "convolutionRows", 3, 48, [room("f32", width * height), data("f32", sum(rows, [])), {"type": "s32", "value": width}],
                       [{"arg": 0, "data": result}])  # fmt: skip
    convolution["grid"] = [3, height, 1]
    slope = [-1.0] * 3 + [0.5 * i + 2.25 - 7 for i in range(32)]
    content = struct.pack("<ffbxH", 2.25, 0.5, -7, 3).hex()
    ramp = case("sdk_1_4", "ramp", 1, 32, [data("f32", [-1] * 35), {"type": "bytes", "value": content}], [{"arg": 0, "data": slope}])
    return [convolution, ramp]


def sdk_2_0(rng):
    values = [rng.randrange(-20, 20) for _ in range(3 * 128)]
    out, counts = [-1] * len(values), []
    for start in range(0, len(values), 128):
        kept = [value for value in values[start : start + 128] if value > 0]
        out[start : start + len(kept)] = kept
        counts += [len(kept), 1 << (len(kept) - 1).bit_length()]
    compact = case("sdk_2_0", "compact", 3, 128, [data("s32", values), data("s32", [-1] * len(values)), room("u32", 6)],
                   [{"arg": 1, "data": out}, {"arg": 2, "data": counts}, {"global": "d_count", "type": "u32", "data": [sum(counts[::2])]}])  # fmt: skip
    values = [rng.randrange(-30, 30) for _ in range(32)]
    picked = [[values[i], 2 * values[i ^ 1], 100 * values[i]][i % 3] for i in range(32)]
    return [compact, case("sdk_2_0", "generic", 1, 32, [data("f32", values), data("f32", [0] * 33)], [{"arg": 1, "data": [sum(picked)] + picked}])]


def sdk_2_3(rng):
    values = [rng.randrange(-(2**31), 2**31) for _ in range(128)]
    sort = case("sdk_2_3", "bitonicSort", 1, 128, [data("s32", values)], [{"arg": 0, "data": sorted(values)}])
    content = [rng.randrange(256) for _ in range(777)]
    bins = [sum(byte >> 4 == number for byte in content) for number in range(16)]
    return [sort, case("sdk_2_3", "histogram16", 1, 32, [room("u32", 16), data("u8", content), {"type": "u32", "value": 777}], [{"arg": 0, "data": bins}])]


for make in (sdk_1_0, sdk_1_2, sdk_1_3, sdk_1_4, sdk_2_0, sdk_2_3):
    text = ",\n".join("  " + json.dumps(case) for case in make(random.Random(make.__name__)))
    (HERE / f"{make.__name__}.json").write_text(f"[\n{text}\n]\n")
