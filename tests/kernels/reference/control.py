"""Kernels about control: calls, a switch, early exits, atomics, generic pointers."""

import math

import numpy as np

from .arithmetic import elementwise, signed, truncated_divide
from .casefile import CaseFile, filled, written
from .fp import fma32

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n & 1 else n // 2), steps + 1
    return steps


def noinline_call():
    f = CaseFile("noinline_call")
    for n, rounds in [(1, 1), (60, 7), (33, 0)]:
        c = f.rng.uniform(-1, 0.5, (n, 2)).astype(np.float32)
        re, im = np.zeros(n, np.float32), np.zeros(n, np.float32)
        for _ in range(rounds):
            re, im = fma32(-im, im, fma32(re, re, c[:, 0])), fma32(im, re, fma32(re, im, c[:, 1]))
        blank = filled(np.float32, 2 * n + 4)
        args = [c.ravel(), blank, np.uint32(rounds), np.uint32(n)]
        f.add(f"complex_{n}", -(-n // 32), 32, args, {1: written(blank, np.stack([re, im], axis=1).ravel())}, entry="call_complex")
    a = f.rng.integers(-(2**63), 2**63, 50, dtype=np.int64) >> f.rng.integers(0, 60, 50)
    b = f.rng.integers(-40, 40, 50).astype(np.int32)
    b[7] = b[30] = 0  # threads that return at once
    a[::4] = b[::4].astype(np.int64) * 12345
    blanks = [filled(np.int64, 50), filled(np.int32, 50), filled(np.uint8, 50)]
    after = [blank.copy() for blank in blanks]
    for i in range(50):
        if b[i] != 0:
            quotient, remainder = truncated_divide(int(a[i]), int(b[i]))
            after[0][i], after[1][i], after[2][i] = quotient, remainder, remainder == 0
    f.add("divide", 2, 32, [a, b, *blanks, np.uint32(50)], {2 + i: x for i, x in enumerate(after)}, entry="call_divide")
    words = [int.from_bytes(f.rng.bytes(8), "little") for _ in range(70)]
    out = []
    for x in words:
        if x & 1:
            e = int(np.float32(x & 0xFFFF) - np.float32(1000.5))
            result = (x & 0xFF) * 3 + signed(x >> 8, 16) + ((x >> 24 & MASK32) ^ (x >> 32)) + (x & MASK32) + e
        else:
            result = max(collatz((x & 0xFF) + 1 + i) for i in range(5))
        out += [result & MASK32, ~result & MASK32]
    elementwise(f, "mixed", "call_mixed", [np.array(words, np.uint64)], [np.array(out, np.uint32)])
    return f


OPERATIONS = "PUSH ADD SUB MUL DUP SWAP DROP JUMP_NOT_ZERO INPUT HALT AND SHIFT".split()
POPS = {"ADD": 2, "SUB": 2, "MUL": 2, "SWAP": 2, "AND": 2, "DUP": 1, "DROP": 1, "JUMP_NOT_ZERO": 1, "SHIFT": 1}


def run_program(program, value, limit):
    """The stack machine of switch_vm: (top of the stack, how it ended)."""
    stack, at = [], 0
    for _ in range(limit):
        code, operand = program[at]
        at += 1
        name = OPERATIONS[code] if code < len(OPERATIONS) else None
        if len(stack) < POPS.get(name, 0):
            return (stack[-1] if stack else 0), 1
        if len(stack) == 8 and name in ("PUSH", "DUP", "INPUT"):
            return stack[-1], 2
        if name in (None, "HALT"):
            return (stack[-1] if stack else 0), 3 if name is None else 0
        if name in ("PUSH", "INPUT"):
            stack.append(signed(operand, 8) if name == "PUSH" else value)
        elif name == "DUP":
            stack.append(stack[-1])
        elif name in ("SWAP", "ADD", "SUB", "MUL", "AND"):
            b, a = stack.pop(), stack.pop()
            stack += [b, a] if name == "SWAP" else [signed({"ADD": a + b, "SUB": a - b, "MUL": a * b, "AND": a & b}[name], 32)]
        elif name == "SHIFT":
            stack.append(stack.pop() >> (operand & 31))
        elif stack.pop() != 0 and name == "JUMP_NOT_ZERO":
            at = operand
    return (stack[-1] if stack else 0), 4


def assemble(text):
    return [(OPERATIONS.index(w.split(":")[0]), int(w.split(":")[1]) & 0xFF if ":" in w else 0) for w in text.split()]


def switch_vm():
    f = CaseFile("switch_vm")
    programs = [
        # Sum of squares of input & 31 down to 1: keeps (sum, i) on the stack.
        assemble("PUSH:0 INPUT PUSH:31 AND DUP DUP MUL SWAP PUSH:-1 ADD SWAP DROP DUP JUMP_NOT_ZERO:4 HALT"),
        assemble("INPUT DUP MUL SHIFT:3 PUSH:-7 SUB HALT"),
        assemble("INPUT PUSH:1 AND JUMP_NOT_ZERO:6 PUSH:100 HALT PUSH:-100 HALT"),
        assemble("PUSH:1 DUP JUMP_NOT_ZERO:0"),  # overflows
        assemble("INPUT ADD HALT"),  # underflows
        assemble("PUSH:1 JUMP_NOT_ZERO:0"),  # never ends
        assemble("HALT"),
        [(8, 0), (77, 0)],  # unknown operation
        assemble("INPUT DUP PUSH:-1 ADD DUP JUMP_NOT_ZERO:1 HALT"),
    ]
    f.rng.shuffle(inputs := np.concatenate([np.arange(-10, 60), [2**31 - 1, -(2**31), 46341, -46341]]).astype(np.int32))
    starts = np.cumsum([0] + [2 * len(p) for p in programs])[:-1].astype(np.uint32)
    code = np.array([byte for p in programs for pair in p for byte in pair], np.uint8)
    seen = set()
    for limit in [3, 200]:
        n = len(inputs)
        results, ends = zip(*(run_program(programs[t % len(programs)], int(inputs[t]), limit) for t in range(n)))
        seen |= set(ends)
        blanks = [filled(np.int32, n + 2), filled(np.uint32, n + 2)]
        args = [code, starts, np.uint32(len(programs)), inputs, *blanks, np.uint32(limit), np.uint32(n)]
        expect = {4: written(blanks[0], results), 5: written(blanks[1], ends)}
        f.add(f"limit_{limit}", -(-n // 32), 32, args, expect)
    assert seen == {0, 1, 2, 3, 4}
    return f


def early_exit():
    f = CaseFile("early_exit")
    for n, block, rounds in [(1, 32, 3), (33, 64, 5), (100, 128, 4), (256, 256, 2), (7, 40, 0)]:
        values = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        ring = values.copy()
        for _ in range(rounds):
            ring = ring * np.uint32(3) + np.roll(ring, -1)
        out = filled(np.uint32, block + 1)
        args = [values, out, np.uint32(rounds), np.uint32(n)]
        f.add(f"barrier_{n}_{block}", 1, block, args, {1: written(out, ring)}, entry="exit_before_barrier")
    width, limit, n = 12, 900, 80
    rows = f.rng.integers(0, 1000, (n, width)).astype(np.uint32)
    rows[rows < 40] = 0
    rows[::9] = 17
    rows[5::10, 3] = limit
    index, found = filled(np.uint32, n), filled(np.uint32, n)
    after = [index.copy(), found.copy()]
    for i, row in enumerate(rows.tolist()):
        for k, value in enumerate(row):
            if value == 0 or value > limit:
                after[0][i], after[1][i] = k, 1 if value == 0 else 2
                break
            if value == limit:
                break
        else:
            after[0][i], after[1][i] = width, 0
    assert {0, 1, 2} <= set(after[1].tolist()) and len(set(after[1].tolist())) == 4
    args = [rows.ravel(), np.uint32(width), np.uint32(limit), index, found, np.uint32(n)]
    f.add("search", 3, 32, args, {3: after[0], 4: after[1]}, entry="exit_search")
    targets = np.concatenate([[0, 1, 2, 3, 25, 50, 325], f.rng.integers(0, 1200, 40)]).astype(np.uint32)
    pairs = []
    for target in targets.tolist():
        found_pair = next(((a, math.isqrt(target - a * a)) for a in range(math.isqrt(target) + 1)
                           if math.isqrt(target - a * a) ** 2 == target - a * a and math.isqrt(target - a * a) >= a), (MASK32, MASK32))
        pairs.append(found_pair)
    elementwise(f, "nested", "exit_nested", [targets], [np.array(p, np.uint32) for p in zip(*pairs)])
    seeds, out = f.rng.integers(0, 2**32, 70, dtype=np.uint32), []
    for x in seeds.tolist():
        steps, skip = 0, x & 1
        while True:
            if not skip:
                x, steps = (x * 5 + 1) & MASK32, steps + 1
                if steps > 40 or x & 6 == 2:
                    break
            skip = 0
            x, steps = x ^ x >> 3, steps + 2
            if x % 7 == 0:
                break
        out.append((x + steps) & MASK32)
    elementwise(f, "irreducible", "exit_irreducible", [seeds], [np.array(out, np.uint32)])
    return f


def updated(cells, values, bits, limit=None):
    """What the eight (with `limit` ten) cells of atomics.cu hold after all values were applied, in any order."""
    mask = (1 << bits) - 1
    spread = 0xFF00FF00FF00FF & mask if bits == 64 else 0xFF00FF
    c = [int(x) for x in cells]
    for v in map(int, values):
        c[0] = c[0] + v & mask
        c[1] &= v | 0xFF
        c[2] |= v & spread
        c[3] ^= v
        c[4], c[5] = min(c[4], v), max(c[5], v)
        c[6] = min(signed(c[6], bits), signed(v, bits)) & mask
        c[7] = max(signed(c[7], bits), signed(v, bits)) & mask
        if limit is not None:
            c[8] = 0 if c[8] >= limit else c[8] + 1
            c[9] = limit if c[9] == 0 or c[9] > limit else c[9] - 1
    return np.array(c, cells.dtype)


def atomics():
    f = CaseFile("atomics")
    for bits, kind, count in [(32, np.uint32, 10), (64, np.uint64, 8)]:
        for n, block, limit in [(1, 32, 5), (100, 32, 6), (300, 64, 1000)]:
            values = np.array([int.from_bytes(f.rng.bytes(bits // 8), "little") for _ in range(n)], kind)
            first = np.array([7, -1 & ((1 << bits) - 1), 0, 99, 2**31, 2**31, 5, 5, 3, 2][:count], kind)
            limits = [np.uint32(limit)] if bits == 32 else []
            tail = np.array([4711], kind)
            after = updated(first, values, bits, limit if limits else None)
            args = [values, np.append(first, tail), *limits, np.uint32(n)]
            grid = -(-n // block)
            f.add(f"global{bits}_{n}", grid, block, args, {1: np.append(after, tail)}, entry=f"atomics_global{bits}")
            blank = filled(kind, count * grid + 1)
            per_block = [updated(first, values[b * block : (b + 1) * block], bits, limit if limits else None) for b in range(grid)]
            args = [values, first, blank, *limits, np.uint32(n)]
            f.add(f"shared{bits}_{n}", grid, block, args, {2: written(blank, np.concatenate(per_block))}, entry=f"atomics_shared{bits}")
    for n, block in [(1, 32), (40, 64), (200, 256)]:
        args = [np.array([0], np.uint32), np.zeros(n + 1, np.uint32), np.array([77], np.uint32), np.array([0], np.uint32)]
        args += [np.array([2**63], np.uint64), np.array([1], np.uint64), np.uint32(n)]
        total = (77 + sum(t * t + 1 for t in range(n))) & MASK32
        wide = (2**63 + 1 + sum((t << 40) + t for t in range(n))) & MASK64
        finals = [[n], [1] * n + [0], [0], [total], [0], [wide]]
        expect = {i: np.array(v, args[i].dtype) for i, v in enumerate(finals)}
        f.add(f"returned_{n}", 1, block, args, expect, entry="atomics_returned")
    for n in [1, 90]:
        values = f.rng.integers(0, 5000, n).astype(np.uint32)
        product = 3
        for v in values.tolist():
            product = product * (2 * v + 1) & MASK64
        args = [values, np.array([123], np.uint32), np.array([3], np.uint64), np.uint32(n)]
        expect = {1: np.array([(123 + int(values.sum())) % 10007], np.uint32), 2: np.array([product], np.uint64)}
        f.add(f"cas_{n}", -(-n // 32), 32, args, expect, entry="atomics_cas")
    return f


def weighted(values):
    total = 0
    for v in values:
        total = (total * 3 + v) & MASK32
    return total


def generic_ptr():
    f = CaseFile("generic_ptr")
    for grid in [1, 3]:
        n = 32 * grid
        words = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        where = f.rng.integers(0, 4, n).astype(np.uint32)
        shared = [[(int(w) + k) & MASK32 for k in range(4)] for w in words]
        scratch = [[int(w) ^ k for k in range(4)] for w in words]
        local = [[(int(w) - k * k) & MASK32 for k in range(4)] for w in words]
        sums = []
        for i in range(n):
            mine = [shared[i], scratch[i], local[i], [1, 10, 100, 1000]][where[i]]
            if where[i] != 3:
                mine.reverse()
            sums.append(weighted(mine))
        others = [weighted(shared[i // 32 * 32 + 31 - i % 32]) for i in range(n)]
        args = [words, where, filled(np.uint32, 4 * n), filled(np.uint32, 2 * n + 1)]
        expect = {2: np.array(scratch, np.uint32).ravel(), 3: written(args[3], sums + others)}
        f.add(f"choice_{grid}", grid, 32, args, expect, entry="generic_choice")
    values = f.rng.integers(0, 2**32, 32, dtype=np.uint32)
    before = np.array([1, 2, 3, 4, 5, 6, 7, 8], np.uint32)
    even, odd = values[values % 2 == 0], values[values % 2 == 1]
    after = before.copy()
    after[0] += odd.sum(dtype=np.uint32)
    after[1] = max(2, odd.max())
    after[2], after[3] = even.sum(dtype=np.uint32), even.max()
    wide = (5 + sum(int(v) << 16 for v in values)) & MASK64
    after[4], after[5] = wide & MASK32, wide >> 32
    f.add("atomics", 1, 32, [values, before], {1: after}, entry="generic_atomics")
    return f


def recursion():
    f = CaseFile("recursion")

    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    def ackermann(m, n):
        if m == 0:
            return n + 1
        return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))

    numbers = [fibonacci(i % 11) + (1000 * ackermann(2, i % 5) if i % 3 == 1 else 0) for i in range(70)]
    blank = filled(np.uint32, 75)
    after = written(blank, np.array(numbers, np.uint32))
    f.add("numbers", 3, 32, [blank, np.uint32(70)], {0: after}, entry="recursion_numbers")
    for each, n in [(1, 3), (7, 40), (60, 33)]:
        keys = f.rng.integers(-50, 50, each * n + 5).astype(np.int32)
        after = keys.copy()
        after[: each * n] = np.sort(keys[: each * n].reshape(n, each), axis=1).ravel()
        args = [keys, np.uint32(each), np.uint32(n)]
        f.add(f"sort_{each}", -(-n // 32), 32, args, {0: after}, entry="recursion_sort")

    def descend(key, depth, trail):
        if depth == 0:
            return float(trail[0] & 0xFF) + float(key & 0xF)
        return branch(key ^ trail[3], depth, trail) + float(depth)

    def branch(key, depth, trail):
        own = [trail[0] + depth & MASK32, trail[1] ^ key & MASK32, trail[2] * 3 & MASK32, trail[3]]
        left = descend(key * 6364136223846793005 + 1 & MASK64, depth - 1, own)
        own[key & 3] = own[key & 3] + 5 & MASK32
        right = descend(key >> 3, depth - 1, own) if key & 4 else 0.5
        # Exact in doubles: a few dozen bits each.
        return left * 0.25 + right + own[1 + depth % 3]

    keys = [int.from_bytes(f.rng.bytes(8), "little") for _ in range(40)]
    for depth in (0, 5):
        values = [descend(key, depth + i % 2, [i, i * i, 7, i & 3]) for i, key in enumerate(keys)]
        blank = filled(np.float64, 44)
        args = [np.array(keys, np.uint64), blank, np.uint32(depth), np.uint32(40)]
        f.add(f"tree_{depth}", 2, 32, args, {1: written(blank, np.array(values))}, entry="recursion_tree")
    return f


def function_pointers():
    f = CaseFile("function_pointers")
    a, b = (f.rng.integers(0, 2**32, 50, dtype=np.uint32) >> f.rng.integers(0, 28, 50).astype(np.uint32) for _ in range(2))
    mix = lambda a, b: (a << 5 & MASK32 | a >> 27) ^ b
    operations = [lambda a, b: a + b & MASK32, lambda a, b: a * b & MASK32, mix, math.gcd]
    results = [mix(operations[i % 4](int(x), int(y)), int(y)) for i, (x, y) in enumerate(zip(a, b))]
    elementwise(f, "table", "pointer_table", [a, b], [np.array(results, np.uint32)])
    sizes = f.rng.integers(-(10**6), 10**6, 50).astype(np.int32)
    areas = []
    for i, size in enumerate(int(size) for size in sizes):
        factor = i % 5 - 2
        area = size * size if i % 3 == 0 else 3 * ((size + 10) ** 2 - size * size)
        areas.append(area * factor + (0 if i % 3 == 0 else size) - area)
    elementwise(f, "virtual", "virtual_calls", [sizes], [np.array(areas, np.int64)])
    return f


def indirect_calls():
    f = CaseFile("indirect_calls")

    def collatz(x, _):
        return 3 * x + 1 if x & 1 else x >> 1

    def rounds(x, k):
        for _ in range(max(k & 7, 1)):
            x = 5 * x + k & MASK32
        return x

    def rotate(x, k):
        return x << (k & 31) | x >> 32 - (k & 31)

    operations = [
        lambda x, k: x + k,
        lambda x, k: x * k + 3,
        rotate,
        collatz,
        rounds,
        lambda x, k: k - x,
        lambda x, k: x.bit_count() ^ k,
        lambda x, _: int(f"{x:032b}"[::-1], 2),
    ]

    def flat(x, i):
        for call in range(6):
            x = operations[x >> 4 * call & 7](x, i + call) & MASK32
        return x

    def nested(which, x, k, depth):
        result = operations[which](x, k) & MASK32
        return nested(result >> which + 3 & 7, result, k, depth - 1) ^ x if depth else result

    words = f.rng.integers(0, 2**32, 90, dtype=np.uint32)
    numbered = [(i, int(x)) for i, x in enumerate(words)]
    elementwise(f, "flat", "calls_flat", [words], [np.array([flat(x, i) for i, x in numbered], np.uint32)])
    results = [nested(x & 7, x, i + 5, i & 7) for i, x in numbered]
    elementwise(f, "nested", "calls_nested", [words], [np.array(results, np.uint32)])
    return f


def device_heap():
    f = CaseFile("device_heap")
    lengths = f.rng.integers(0, 12, 40, dtype=np.uint32)
    sums = []
    for i, length in enumerate(int(length) for length in lengths):
        total = 0
        for k in reversed(range(length)):
            total = 31 * total + i * k + 1 & MASK32
        sums.append(total)
    elementwise(f, "lists", "heap_lists", [lengths], [np.array(sums, np.uint32)])
    for threads, size in [(32, 5), (7, 300)]:
        sums = [sum(1000 * ((i + 5) % threads) + k for k in range(size)) for i in range(threads)]
        blank = filled(np.uint32, 32)
        args = [blank, np.uint32(size)]
        f.add(f"exchange_{size}", 1, threads, args, {0: written(blank, np.array(sums, np.uint32))}, entry="heap_exchange")
    return f


def locked_task():
    f = CaseFile("locked_task")

    def arena(head, end, failures=0):
        return np.array([head & MASK32, head >> 32, end & MASK32, end >> 32, 0, failures], np.uint32)

    for blocks, threads, times, size in [(1, 1, 4, 20), (1, 32, 1, 8), (1, 48, 2, 13)]:
        each, total = -(-size // 8) * 8, blocks * threads * times
        blank = filled(np.uint32, blocks * threads)
        after = np.full(blocks * threads, times, np.uint32)
        head = 8 + (total - 1) * each + size
        args = [arena(8, 1 << 40), blank, np.uint32(times), np.uint32(size)]
        f.add(f"allocate_{threads}", blocks, threads, args, {0: arena(head, 1 << 40), 1: after}, entry="locked_allocate")
    # There is room for three of five.
    args = [arena(8, 80), filled(np.uint32, 1), np.uint32(5), np.uint32(24)]
    f.add("exhausted", 1, 1, args, {0: arena(80, 80, 2), 1: np.array([3], np.uint32)}, entry="locked_allocate")
    for name, end, second in [("fits", 1 << 33, 5_000_000), ("fails", (1 << 32) + 2_000_000, 5_000_000)]:
        start = (1 << 32) - 36_864
        one = -(-start // 4096) * 4096
        two = -(-(one + (1 << 20)) // 4096) * 4096
        fits = two + second <= end
        head = two + second if fits else one + (1 << 20)
        after = np.array([one, two if fits else 0], np.uint64)
        args = [arena(start, end), filled(np.uint64, 2), np.uint64(1 << 20), np.uint64(second)]
        f.add(f"initialize_{name}", 1, 1, args, {0: arena(head, end, int(not fits)), 1: after}, entry="locked_initialize")
    return f


FILES = [noinline_call, switch_vm, early_exit, atomics, generic_ptr, recursion, function_pointers, indirect_calls, device_heap, locked_task]
