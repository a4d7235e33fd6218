"""Writes launch cases as JSON, larger arrays as raw little-endian files beside it. Knows nothing about any kernel."""

import json
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent.parent
DATA = HERE / "data"
INLINE_ELEMENTS = 160  # longer arrays go to files

TYPES = {
    np.dtype(np.uint8): "u8",
    np.dtype(np.int8): "s8",
    np.dtype(np.uint16): "u16",
    np.dtype(np.int16): "s16",
    np.dtype(np.uint32): "u32",
    np.dtype(np.int32): "s32",
    np.dtype(np.uint64): "u64",
    np.dtype(np.int64): "s64",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
}


def filled(dtype, length, pattern=0xA5):
    """An array whose every byte is `pattern`: what an output buffer holds before the launch."""
    return np.frombuffer(bytes([pattern]) * (np.dtype(dtype).itemsize * length), dtype=dtype).copy()


def written(buffer, values):
    """`buffer` after its beginning was overwritten with `values`: the tail must keep its fill."""
    after = buffer.copy()
    after[: len(values)] = values
    return after



def numbers(array):
    """The elements as JSON: integers as such, floats by bit pattern."""
    if array.dtype.kind == "f":
        bits = array.view(np.uint32 if array.dtype.itemsize == 4 else np.uint64)
        return [f"0x{int(b):0{2 * array.dtype.itemsize}x}" for b in bits]
    if array.dtype.itemsize == 8:
        # JSON readers may hold numbers as doubles; patterns are safe.
        return [f"0x{int(b):016x}" for b in array.view(np.uint64)]
    return [int(x) for x in array]


class CaseFile:
    """The cases of one .ptx file, in a folder of their own if that is named."""

    def __init__(self, name, folder=None):
        self.path = f"{folder}/{name}" if folder else name
        self.name = name
        self.cases = []
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def add(self, name, grid, block, args, expect, entry=None, dynamic_shared_bytes=0, tolerance=None, globals=None, cluster=None, cooperative=False, images=None, references=None):
        """Adds a case.

        `args`: ndarray = buffer, numpy scalar = value, bytes = struct by value, None = null pointer, dict = as in the file.
        `images`: name -> (keys of the image, ndarray of its elements); `references`: as in the file.
        `expect`: argument index, or global's or image's name -> ndarray. `tolerance`: the same keys -> {"ulp"|"abs"|"rel": x};
        without one an array is compared bit for bit.
        """
        images = images or {}
        name = f"{self.path}/{name}"
        assert all(name != case["name"] for case in self.cases), name
        tolerance = tolerance or {}
        case = {
            "name": name,
            "ptx": f"{self.name}.ptx",
            "entry": entry or self.name,
            "grid": self.dimensions(grid),
            "block": self.dimensions(block),
        }
        if dynamic_shared_bytes:
            case["dynamic_shared_bytes"] = dynamic_shared_bytes
        if cluster:
            case["cluster"] = self.dimensions(cluster)
        if cooperative:
            case["cooperative"] = True
        if globals:
            case["globals"] = {key: self.array(value, f"{name}.{key}") for key, value in globals.items()}
        if images:
            case["images"] = {key: image | self.elements(value, f"{name}.{key}") for key, (image, value) in images.items()}
        if references:
            case["references"] = references
        case["args"] = [self.argument(arg, f"{name}.in{i}") for i, arg in enumerate(args)]
        case["expect"] = []
        for key, value in expect.items():
            kind = "arg" if isinstance(key, int) else "image" if key in images else "global"
            place = {kind: key}
            before = {"arg": lambda: args[key], "image": lambda: images[key][1], "global": lambda: (globals or {}).get(key)}[kind]()
            assert before is None or (before.dtype == value.dtype and len(before) == len(value)), (name, key)
            loose = tolerance.get(key, {})
            # What the kernel leaves alone must stay bit for bit, also where results are compared loosely.
            end = len(value)
            while loose and end > 0 and value[end - 1 : end].tobytes() == before[end - 1 : end].tobytes():
                end -= 1
            content = self.array(value[:end], f"{name}.out{key}", fill=False)
            if kind != "global":
                del content["type"]  # the argument or image has it
            case["expect"].append(place | content | loose)
            if end < len(value):
                case["expect"].append(place | {"data": numbers(value[end:]), "offset": end})
        self.cases.append(case)

    @staticmethod
    def dimensions(value):
        value = value if isinstance(value, tuple) else (value,)
        return [int(v) for v in value + (1, 1, 1)][:3]

    def argument(self, arg, label):
        if arg is None:
            return {"null": True}
        if isinstance(arg, dict):
            return arg
        if isinstance(arg, bytes):
            return {"type": "bytes", "value": arg.hex()}
        if isinstance(arg, np.generic):
            return {"type": TYPES[arg.dtype], "value": numbers(np.array([arg]))[0]}
        return self.array(arg, label)

    def elements(self, array, label):
        """The elements of an image, whose format says their type."""
        content = self.array(array, label)
        del content["type"]
        return content

    def array(self, array, label, fill=True):
        """An array as a fill (where the format allows one), inline, or as a file, whichever is smallest to read."""
        assert array.ndim == 1 and array.dtype.isnative
        kind = TYPES[array.dtype]
        raw = array.tobytes()
        item = array.dtype.itemsize
        if fill and len(array) > 8 and raw == raw[:item] * len(array):
            pattern = int.from_bytes(raw[:item], "little")
            return {"type": kind, "fill": f"0x{pattern:0{2 * item}x}", "len": len(array)}
        if len(array) <= INLINE_ELEMENTS:
            return {"type": kind, "data": numbers(array)}
        # Equal contents share one file.
        file = DATA / f"{label.replace('/', '.')}.bin"
        folder = "../data" if "/" in self.path else "data"
        for other in sorted(DATA.glob(f"{self.path.replace('/', '.')}.*.bin")):
            if other.read_bytes() == raw:
                return {"type": kind, "file": f"{folder}/{other.name}"}
        file.write_bytes(raw)
        return {"type": kind, "file": f"{folder}/{file.name}"}

    def write(self):
        lines = ",\n".join("  " + json.dumps(case) for case in self.cases)
        (HERE / f"{self.path}.json").write_text(f"[\n{lines}\n]\n")
