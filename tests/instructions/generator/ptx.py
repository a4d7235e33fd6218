"""Families: one PTX file and one case file each, made of kernels that apply one form to a table of operands.

The usual kernel is `elementwise`: each thread loads its operands, runs a few instructions and stores its result.
Kernels of another shape are given as lines to `kernel`, and launched by `case`.
"""

import json
from pathlib import Path

from .exact import FORMATS, width, wrap
from .values import COUNT



def header(version):
    return f".version {version}\n.target sm_90\n.address_size 64\n"


HEADER = header("7.8")
BLOCK = 64


class Family:
    """The kernels and cases of one pair of files.

    `packed` families keep the results that `elementwise` expects in binary files under `expected/`. `header` replaces
    the usual PTX version and target.
    """

    def __init__(self, name, purpose, tables, directives="", packed=False, header=HEADER):
        self.name, self.tables, self.packed = name, tables, packed
        self.text = [f"// {line}\n" for line in purpose.split("\n")] + [header, directives]
        self.cases = []
        self.expected = {}

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
        args += [{"type": ty, "file": f"data/{table}.bin"} for ty, table in inputs] + [{"type": "u32", "value": count}]
        expect = {"arg": 0} | ({"type": compare} if compare else {})
        if self.packed:
            size = width(output) // 8
            self.expected[name] = b"".join(wrap(value, output).to_bytes(size, "little") for value in expected)
            expect |= {"file": f"expected/{self.name}/{name}.bin"}
        else:
            expect |= {"data": literals(compare or output, expected)}
        self.case(name, entry, args, [expect | (check or {})], block=max(BLOCK, count))

    def operands(self, name, bits, values):
        """A table of operands that this family alone uses."""
        self.tables[name] = (bits, values)

    def write(self, folder):
        """Writes both files and returns how many cases there are."""
        Path(folder, f"{self.name}.ptx").write_text("".join(self.text))
        lines = ",\n  ".join(json.dumps(case) for case in self.cases)
        Path(folder, f"{self.name}.json").write_text(f"[\n  {lines}\n]\n")
        for name, data in self.expected.items():
            file = Path(folder, "expected", self.name, f"{name}.bin")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return len(self.cases)


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
    if ty[0] == "f":
        return [f"0x{value:0{bits // 4}x}" for value in values]
    wrapped = [value & ((1 << bits) - 1) for value in values]
    return [value - (1 << bits) if ty[0] == "s" and value >> (bits - 1) else value for value in wrapped]


def is_float(ty):
    return ty in FORMATS
