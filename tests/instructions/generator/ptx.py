"""Families: one PTX file and one case file each, made of kernels that apply one form to a table of operands.

The usual kernel is `elementwise`: each thread loads its operands, runs a few instructions and stores its result.
Kernels of another shape are given as lines to `kernel`, and launched by `case`.
"""

import json
from itertools import groupby
from pathlib import Path

from .exact import FORMATS, width, wrap
from .values import COUNT



def header(version):
    return f".version {version}\n.target sm_90\n.address_size 64\n"


HEADER = header("7.8")
BLOCK = 64
# Families with at least this many bytes of results keep them in a binary file.
PACKED_BYTES = 1 << 16
# Arrays that several cases have in common are tables if their texts are as long as this.
SHARED_LENGTH = 200


class Family:
    """The kernels and cases of one pair of files.

    `header` replaces the usual PTX version and target.
    """

    def __init__(self, name, purpose, tables, directives="", header=HEADER):
        self.name, self.tables = name, tables
        self.text = [f"// {line}\n" for line in purpose.split("\n")] + [header, directives]
        self.cases = []
        # Of elementwise cases: what they expect, and its type.
        self.results = []

    def kernel(self, name, params, registers, body, directives=""):
        """Adds an entry with these lines of declarations and code, and perhaps directives."""
        lines = [
            f".visible .entry {name}({', '.join(params)}){directives}",
            "{",
            *(f"\t{line}" for line in registers + body),
            "\tret;",
            "}",
            "",
        ]
        self.text.append("\n".join(lines) + "\n")

    def case(self, name, entry, args, expect, block=BLOCK, grid=1, **more):
        shape = lambda size: list(size) if isinstance(size, tuple) else [size, 1, 1]
        case = {"name": name, "ptx": f"{self.name}.ptx", "entry": entry, "grid": shape(grid), "block": shape(block)}
        self.cases.append(case | more | {"args": args, "expect": expect})

    def elementwise(self, name, inputs, output, body, reference, registers="", count=COUNT, check=None, compare=None):
        """A kernel and its case.

        `inputs` are pairs of a PTX type and a table; operands come in registers %a, %b, %c, %e of these types (8-bit
        ones in 16-bit registers). `body` leaves `output`'s bits in %d, or in %d0, %d1 … if `output` is a list.
        `reference` gives the expected bits for the operands' bits, as a list for several results. `check` adds keys to
        the expectation; `compare` is the type it is compared as.
        """
        outputs = output if isinstance(output, list) else [output]
        same = outputs[0]
        assert all(width(ty) == width(same) for ty in outputs)
        results = ["%d"] if not isinstance(output, list) else [f"%d{index}" for index in range(len(outputs))]
        names = "abcef"[: len(inputs)]
        params = [".param .u64 out", *(f".param .u64 {letter}" for letter in names), ".param .u32 n"]
        pointers = ", ".join(f"%p{letter}" for letter in "o" + names)
        declared = [".reg .pred %end;", ".reg .b32 %t, %n;", f".reg .b64 {pointers};"]
        declared += [f".reg {register_type(ty)} %{letter};" for letter, (ty, _) in zip(names, inputs)]
        declared += [f".reg {register_type(ty)} {result};" for ty, result in zip(outputs, results)]
        declared += [registers] if registers else []
        lines = guard()
        for letter, (ty, table) in zip(names, inputs):
            assert self.tables[table][0] == width(ty), (name, ty, table)
            lines += element(letter, letter, width(ty) // 8) + [f"ld.global.{ty} %{letter}, [%p{letter}];"]
        lines += element("out", "o", width(same) // 8 * len(outputs)) + body
        for index, (ty, result) in enumerate(zip(outputs, results)):
            offset = f"+{width(same) // 8 * index}" if index else ""
            lines.append(f"st.global.{ty} [%po{offset}], {result};")
        self.kernel(name, params, declared, lines)
        self.apply(name, name, inputs, same, reference, count, len(outputs), check, compare)

    def apply(self, name, entry, inputs, output, reference, count=COUNT, outputs=1, check=None, compare=None):
        """A case for an elementwise kernel."""
        expected = []
        for operands in zip(*(self.tables[table][1][:count] for _, table in inputs)):
            result = reference(*operands)
            expected += result if outputs > 1 else [result]
        args = [{"type": output, "zeros": count * outputs}]
        args += [{"type": ty, "table": table} for ty, table in inputs] + [{"type": "u32", "value": count}]
        ty = compare or output
        # Of pairs that are compared one by one.
        steps = range(0, width(output), width(ty))
        expected = [value >> step & (1 << width(ty)) - 1 for value in expected for step in steps]
        expect = {"arg": 0} | ({"type": compare} if compare else {}) | {"data": literals(ty, expected)} | (check or {})
        self.results.append((expect, ty))
        self.case(name, entry, args, [expect], block=max(BLOCK, count))

    def operands(self, name, bits, values):
        """A table of operands that this family alone uses."""
        self.tables[name] = (bits, values)

    def write(self, folder):
        """Writes the files and returns how many cases there are."""
        Path(folder, f"{self.name}.ptx").write_text("".join(self.text))
        self.pack(folder)
        arrays = [pair for case in self.cases for pair in arrays_of(case)]
        for array, ty in arrays:
            compress(array, ty)
        tables = {}
        for array, _ in arrays:
            if name := array.get("table"):
                bits, values = self.tables[name]
                tables[name] = {"type": f"b{bits}", "bits": patterns(f"b{bits}", values)}
        tables |= share(arrays)
        cases = ",\n  ".join(map(json.dumps, self.cases))
        text = f"[\n  {cases}\n]"
        if tables:
            lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(table)}" for name, table in sorted(tables.items()))
            text = f'{{"tables": {{\n  {lines}\n}}, "cases": {text}}}'
        Path(folder, f"{self.name}.json").write_text(text + "\n")
        return len(self.cases)

    def pack(self, folder):
        """Moves results into a binary file if they are many."""
        sizes = [width(ty) // 8 * len(expect["data"]) for expect, ty in self.results]
        if sum(sizes) < PACKED_BYTES:
            return
        packed = b""
        for expect, ty in self.results:
            values = expect.pop("data")
            expect |= {"file": f"{self.name}.bin", "at": len(packed), "len": len(values)}
            packed += b"".join(pattern(ty, value).to_bytes(width(ty) // 8, "little") for value in values)
        Path(folder, f"{self.name}.bin").write_bytes(packed)


def arrays_of(case):
    """The arrays of a case with their types."""
    variables = case.get("globals", {})
    images = case.get("images", {})
    for array in [*case["args"], *variables.values()]:
        yield array, array.get("type")
    for image in images.values():
        # Of fractions the integers are written.
        yield image, image["format"].replace("norm", "")
    for expect in case["expect"]:
        if "image" in expect:
            of = {"type": images[expect["image"]]["format"]}
        else:
            of = case["args"][expect["arg"]] if "arg" in expect else variables.get(expect["global"], {})
        yield expect, expect.get("type", of.get("type"))


def compress(array, ty):
    """Writes numbers by their bits if they are floats, or if that is much shorter."""
    values = array.get("data", [])
    plain = ty and ty.lstrip("b")[0] != "f"
    if not values or not all(isinstance(value, int) and plain or str(value).startswith("0x") for value in values):
        return
    bits = patterns(ty, values)
    if not plain or ty[0] == "b" or 2 * len(bits) < len(json.dumps(values)):
        replace(array, {"data": "bits"}, bits)


def share(arrays):
    """Makes tables of what stands in several places, if it is long."""
    found = {}
    for array, ty in arrays:
        for key in ("data", "bits"):
            if len(text := json.dumps(array.get(key))) >= SHARED_LENGTH:
                found.setdefault((ty, key, text), []).append(array)
    tables = {}
    for (ty, key, text), places in found.items():
        if len(places) > 1:
            name = f"shared_{len(tables)}"
            tables[name] = {"type": ty, key: json.loads(text)}
            for array in places:
                replace(array, {key: "table"}, name)
    return tables


def replace(array, renamed, value):
    """Gives a key another name and value where it stands."""
    items = [(renamed[key], value) if key in renamed else (key, old) for key, old in array.items()]
    array.clear()
    array.update(items)


def patterns(ty, values):
    """Bit patterns in hexadecimal; `*` and a number stand for that many equal ones."""
    digits = width(ty) // 4
    runs = ((value, len(list(run))) for value, run in groupby(pattern(ty, value) for value in values))
    return " ".join(f"{value:0{digits}x}" + (f"*{count}" if count > 1 else "") for value, count in runs)


def pattern(ty, value):
    """The bits of a number of a case: an integer, or a text of its bits."""
    return wrap(int(value, 16) if isinstance(value, str) else value, ty)


def register_type(ty):
    return ".b16" if width(ty) == 8 else f".{ty}"


def guard():
    """Leaves the thread's number in %t, and ends threads beyond `n`."""
    return ["ld.param.u32 %n, [n];", "mov.u32 %t, %tid.x;", "setp.ge.u32 %end, %t, %n;", "@%end exit;"]


def element(parameter, letter, size):
    """Leaves the address of the thread's element of a buffer in %p<letter>."""
    return [f"ld.param.u64 %p{letter}, [{parameter}];", f"mad.wide.u32 %p{letter}, %t, {size}, %p{letter};"]


def literals(ty, values):
    """Numbers as the recorder writes them: floats by their bits, integers in decimal."""
    bits = width(ty)
    if ty.lstrip("b")[0] == "f":
        return [f"0x{value:0{bits // 4}x}" for value in values]
    wrapped = [value & ((1 << bits) - 1) for value in values]
    return [value - (1 << bits) if ty[0] == "s" and value >> (bits - 1) else value for value in wrapped]


def is_float(ty):
    return ty in FORMATS
