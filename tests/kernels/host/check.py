#!/usr/bin/env python3
"""Runs every case on the CPU with the kernels' own sources compiled for it: a second opinion on the expected results.

No PTX, no GPU and no translator take part. Kernels with operations of warps or textures are left out. Needs clang++ (CLANGXX), numpy and an x86-64 processor with FMA.
"""

import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

KERNELS = Path(__file__).resolve().parent.parent
# Threads run one at a time here: these need whole warps or textures, or have PTX in them.
LEFT_OUT = {"clusters", "pipelines", "textures", "textures_legacy", "warp_idioms", "warp_synchronous"}
DTYPES = {f"{k}{8 * s}": np.dtype(f"{c}{s}") for k, c in [("u", "u"), ("s", "i"), ("b", "u")] for s in (1, 2, 4, 8)}
DTYPES |= {"f32": np.dtype("f4"), "f64": np.dtype("f8")}


def build(name, folder):
    """Compiles one .cu for the CPU; each kernel gets a launcher `launch_NAME(grid, block, args)`."""
    kernels = re.findall(r"__global__ void (\w+)\(", (KERNELS / f"{name}.cu").read_text())
    launchers = "".join(
        f'extern "C" void launch_{k}(const u32* grid, const u32* block, void** args) {{ host::launch({k}, grid, block, args); }}\n'
        for k in kernels
    )
    library = folder / f"{name}.so"
    flags = "-x c++ -std=c++17 -O1 -mfma -ffp-contract=off -fno-strict-aliasing -fwrapv -fPIC -shared -DHOST_CHECK -w".split()
    include = [f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'host'}"]
    source = f'#include "{KERNELS / name}.cu"\n{launchers}'
    command = [os.environ.get("CLANGXX", "clang++-19"), *flags, *include, "-", "-o", library]
    subprocess.run(command, input=source.encode(), check=True)
    return ctypes.CDLL(library)


def numbers(values, dtype):
    """JSON numbers and bit patterns as an array."""
    plain = np.dtype(f"u{dtype.itemsize}")
    parts = []
    for v in values:
        if isinstance(v, str) and v.startswith("0x"):
            parts.append(np.array([int(v, 16)], plain).view(dtype))
        else:
            parts.append(np.array([float(v) if dtype.kind == "f" else int(v)], dtype))
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def content(spec, dtype):
    if "file" in spec:
        return np.fromfile(KERNELS / spec["file"], dtype)
    if "fill" in spec:
        return np.repeat(numbers([spec["fill"]], dtype), spec["len"])
    return numbers(spec["data"], dtype)


def accepted(actual, expected, spec):
    """Which elements are right."""
    same = actual.view(f"u{actual.itemsize}") == expected.view(f"u{expected.itemsize}")
    if actual.dtype.kind == "f":
        same |= np.isnan(actual) & np.isnan(expected)
        assert "ulp" not in spec, "no case here uses it"
        with np.errstate(invalid="ignore"):
            error = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        same |= error <= spec.get("abs", -1.0)
        same |= error <= spec.get("rel", -1.0) * np.abs(expected)
    return same


def run(case, library):
    """The number of wrong elements."""
    library.host_allocate.restype = ctypes.c_void_p
    library.host_allocate.argtypes = [ctypes.c_size_t]
    buffers, values = {}, []
    for name, spec in case.get("globals", {}).items():
        data = content(spec, DTYPES[spec["type"]])
        address = ctypes.addressof(ctypes.c_char.in_dll(library, name))
        ctypes.memmove(address, data.tobytes(), data.nbytes)
    for i, spec in enumerate(case["args"]):
        if spec.get("type") == "bytes":
            values.append(bytes.fromhex(spec["value"]))
        elif "value" in spec:
            values.append(numbers([spec["value"]], DTYPES[spec["type"]]).tobytes())
        else:
            data = content(spec, DTYPES[spec["type"]])
            address = library.host_allocate(data.nbytes)
            ctypes.memmove(address, data.tobytes(), data.nbytes)
            buffers[i] = (address, data)
            values.append(np.uint64(address).tobytes())
    # Structs by value need their alignment.
    storage = [np.frombuffer(v + bytes(-len(v) % 8), np.uint64).copy() for v in values]
    pointers = (ctypes.c_void_p * len(storage))(*(s.ctypes.data for s in storage))
    dims = [(ctypes.c_uint32 * 3)(*case[key]) for key in ("grid", "block")]
    getattr(library, f"launch_{case['entry']}")(*dims, pointers)
    wrong = 0
    for spec in case["expect"]:
        if "arg" in spec:
            address, before = buffers[spec["arg"]]
            dtype = before.dtype
        else:
            name = spec["global"]
            address = ctypes.addressof(ctypes.c_char.in_dll(library, name))
            dtype = DTYPES[spec["type"]]
        expected = content(spec, dtype)
        start = spec.get("offset", 0) * dtype.itemsize
        actual = np.frombuffer(ctypes.string_at(address + start, expected.nbytes), dtype)
        bad = np.flatnonzero(~accepted(actual, expected, spec))
        if bad.size:
            where = f"{case['name']}: {spec.get('arg', spec.get('global'))}[{bad[0]}]"
            print(f"{where} is {actual[bad[0]]}, expected {expected[bad[0]]} ({bad.size} wrong)")
        wrong += bad.size
    return wrong


def main(wanted):
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(KERNELS.glob("*.json")):
            if file.stem in LEFT_OUT or wanted and file.stem not in wanted:
                continue
            for number, case in enumerate(json.loads(file.read_text())):
                # A fresh copy per case that relies on module variables being as initialised.
                if number == 0 or file.stem == "module_vars":
                    fresh = Path(folder) / str(number)
                    fresh.mkdir(exist_ok=True)
                    library = build(file.stem, fresh)
                wrong += run(case, library)
                count += 1
    print(f"{count} cases, {wrong} wrong elements")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
