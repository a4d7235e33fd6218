#!/usr/bin/env python3
"""Writes the launch cases of this folder: what the programs must give, by the rules of linking and exact arithmetic."""

import json
from pathlib import Path


def shapes():
    scale = [1, 2, 4, 8]
    areas = [3 * i * i + 100 if i % 3 == 0 else i * i for i in range(32)]
    areas = [area * scale[i % 4] for i, area in enumerate(areas)]
    out = [-area if i % 2 else 2 * area for i, area in enumerate(areas)]
    corners = [0 if i % 3 == 0 else 4 for i in range(32)]
    buffer = lambda type, count: {"type": type, "fill": "0xa5a5a5a5", "len": count}
    return {
        "name": "linking/shapes", "ptx": "shapes.ptx", "entry": "areas", "grid": [1, 1, 1], "block": [32, 1, 1],
        "dynamic_shared_bytes": 128,
        "args": [buffer("f32", 32), buffer("s32", 32), buffer("f32", 1), buffer("u32", 1)],
        "expect": [
            {"arg": 0, "data": out}, {"arg": 1, "data": corners}, {"arg": 2, "data": [sum(areas)]},
            {"arg": 3, "data": [32]}, {"global": "calls", "type": "u32", "data": [32]},
        ],
    }


def rules():
    out = [1, 2, 3, 49, 30, 100, 2, 11, 22, 7, 8, 77, 0xFFFFFFFF, 5, 6, 8, 3, 0, 0x41500000]
    case = lambda name, out: {
        "name": f"linking/{name}", "ptx": "rules.ptx", "entry": name, "grid": [1, 1, 1], "block": [1, 1, 1],
        "dynamic_shared_bytes": 16, "args": [{"type": "u32", "fill": "0xa5a5a5a5", "len": len(out)}],
        "expect": [{"arg": 0, "data": out}],
    }
    results, other = case("results", out), case("other", [5, 15])
    results["expect"] += [{"global": "own", "type": "u32", "data": [11]}, {"global": "weak_first", "type": "u32", "data": [1]}]
    other["expect"] += [{"global": "number", "type": "u32", "data": [15]}]
    return [results, other]


for name, cases in {"shapes": [shapes()], "rules": rules()}.items():
    text = ",\n".join("  " + json.dumps(case) for case in cases)
    Path(__file__).with_name(f"{name}.json").write_text(f"[\n{text}\n]\n")
