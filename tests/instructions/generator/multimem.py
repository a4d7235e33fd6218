"""multimem on one device, where an address stands for that device's memory alone."""

import random

from .exact import BF16, F16, F32, F64, add
from .floats import extremum
from .ptx import Family, header

THREADS = 4
FLOATS = {"f16": F16, "f16x2": F16, "bf16": BF16, "bf16x2": BF16, "f32": F32, "f64": F64}
LOADS = [
    "(min|max).(u32|s32|u64|s64)", "add.(u32|s32|u64|f64)", "(and|or|xor).(b32|b64)", "(min|max){.v2|.v4}.(f16x2|bf16x2)",
    "add{.acc::f32}{.v2|.v4}.(f16x2|bf16x2)", "(min|max).(v2|v4|v8).(f16|bf16)", "add{.acc::f32}.(v2|v4|v8).(f16|bf16)",
    "add{.v2|.v4}.f32", "(min|max){.v2|.v4}.(e4m3x4|e5m2x4)", "add{.acc::f16}{.v2|.v4}.(e4m3x4|e5m2x4)",
]
STORES = [
    "(b32|b64|u32|u64|s32|s64|f64)", "{v2|v4}.(f16x2|bf16x2|f32)", "(v2|v4|v8).(f16|bf16)", "{v2|v4}.(e4m3x4|e5m2x4)",
]
REDUCTIONS = [
    "(min|max).(u32|s32|u64|s64)", "add.(u32|s32|u64|f64)", "(and|or|xor).(b32|b64)", "add{.v2|.v4}.(f16x2|bf16x2|f32)",
    "(min|max).(v2|v4).(f16x2|bf16x2)", "(add|min|max).(v2|v4|v8).(f16|bf16)",
]


def spellings(form, rng):
    """Two of a form's spellings, the first with what may be left out."""
    for first in (False, True):
        words, rest = [], form
        while rest:
            if rest[0] in "({":
                end = rest.index(")" if rest[0] == "(" else "}")
                choices = [choice.strip(".") for choice in rest[1:end].split("|")]
                if rest[0] == "(" or not first:
                    words.append(choices[-1] if first else rng.choice(choices))
                rest = rest[end + 1 :]
            else:
                word, _, rest = rest.lstrip(".").partition(".") if rest[0] == "." else rest.partition(".")
                if "(" in word or "{" in word:
                    at = min(word.index(mark) for mark in "({" if mark in word)
                    rest = word[at:] + ("." + rest if rest else "")
                    word = word[:at]
                words.append(word)
            rest = rest.lstrip(".")
        yield ".".join(word for word in words if word)


def width(ty):
    """Bits of an element."""
    if ty in ("e4m3x4", "e5m2x4"):
        return 32
    return {"f16x2": 32, "bf16x2": 32, "bf16": 16}.get(ty) or int(ty[1:])


def numbers(ty, count, rng):
    fmt = FLOATS.get(ty)
    size = width(ty)
    if fmt is None:
        return [rng.getrandbits(size) for _ in range(count)]
    one = lambda: fmt.round(rng.randrange(-99, 99))
    return [sum(one() << place for place in range(0, size, fmt.bits)) for _ in range(count)]


def combined(op, ty, a, b):
    fmt = FLOATS.get(ty)
    size = width(ty)
    if fmt:
        function = (lambda x, y: add(fmt, x, y)) if op == "add" else extremum(fmt, op == "max", False, False)
        mask = (1 << fmt.bits) - 1
        return sum(function(a >> place & mask, b >> place & mask) << place for place in range(0, size, fmt.bits))
    signed = lambda bits: bits - (1 << size) if ty[0] == "s" and bits >> size - 1 else bits
    functions = {
        "add": lambda: a + b & (1 << size) - 1, "and": lambda: a & b, "or": lambda: a | b, "xor": lambda: a ^ b,
        "min": lambda: min(a, b, key=signed), "max": lambda: max(a, b, key=signed),
    }
    return functions[op]()


def build(family, what, forms, rng):
    ordered = {"ld_reduce": ("relaxed", "acquire"), "st": ("relaxed", "release"), "red": ("relaxed", "release")}[what]
    for form in forms:
        for modifiers in ("", ".global", f".{rng.choice(ordered)}.{rng.choice(('cta', 'cluster', 'gpu', 'sys'))}.global"):
            for spelling in dict.fromkeys(spellings(form, rng)):
                words = spelling.split(".")
                ty = words[-1]
                vector = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
                size = width(ty)
                held = f".b{size}" if size == 16 or ty in FLOATS and ty not in ("f32", "f64") or "x4" in ty else f".{ty}"
                access = f"b{size}"
                instruction = f"multimem.{what}{modifiers}.{spelling}"
                entry = instruction.replace(".", "_").replace(":", "_")
                registers = [f"%v{place}" for place in range(vector)]
                listed = registers[0] if vector == 1 else "{" + ", ".join(registers) + "}"
                body = ["mov.u32 %t, %tid.x;", "ld.param.u64 %a, [in];", "ld.param.u64 %o, [out];"]
                body += [f"mul.wide.u32 %d, %t, {size // 8 * vector};", "add.u64 %a, %a, %d;", "add.u64 %o, %o, %d;"]
                step = size // 8
                if what == "ld_reduce":
                    body += [f"{instruction} {listed}, [%a];"]
                    body += [f"st.global.{access} [%o+{place * step}], {register};" for place, register in enumerate(registers)]
                else:
                    body += [f"ld.global.{access} {register}, [%a+{place * step}];" for place, register in enumerate(registers)]
                    body += [f"{instruction} [%o], {listed};"]
                declared = [".reg .b32 %t;", ".reg .b64 %a, %o, %d;", f".reg {held} {', '.join(registers)};"]
                family.kernel(entry, [".param .u64 out", ".param .u64 in"], declared, body)
                given = numbers(ty, vector * THREADS, rng)
                old = numbers(ty, len(given), rng)
                expected = [combined(words[0], ty, *pair) for pair in zip(old, given)] if what == "red" else given
                args = [{"type": f"u{size}", "data": old}, {"type": f"u{size}", "data": given}]
                family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=THREADS)


def families(tables):
    family = Family("multimem", "multimem on one device.", tables, header=header("8.6").replace("sm_90", "sm_100a"))
    rng = random.Random("multimem")
    build(family, "ld_reduce", LOADS, rng)
    build(family, "st", STORES, rng)
    build(family, "red", REDUCTIONS, rng)
    return [family]
