"""Kernels about where data lives: structs by value, pointers in memory, module variables, vectors, shared memory."""

import struct

import numpy as np

from .casefile import CaseFile, filled, written
from .fp import fma32


def struct_param():
    f = CaseFile("struct_param")
    mask = 2**64 - 1
    for shift, bias, factor, offset in [(0, 0, 1, 0), (7, -300, 0x9E3779B1, 2**63 + 5), (31, 32767, 2**32 - 1, 12345)]:
        words = f.rng.integers(0, 2**32, 50, dtype=np.uint32)
        out = np.array([(offset + (int(w) >> shift) * factor + bias) & mask for w in words], np.uint64)
        blank = filled(np.uint64, 53)
        args = [struct.pack("<BxhIQ", shift, bias, factor, offset), words, blank, np.uint32(50)]
        f.add(f"small_{shift}", 2, 32, args, {2: written(blank, out)}, entry="struct_small")
    for count, scale, origin in [(5, 0.1, -1.5), (100, -3.7, 1e10)]:
        table = f.rng.integers(0, 2**32, 40, dtype=np.uint32)
        signs = f.rng.integers(-128, 128, 12)
        tail, last = 60000, int(f.rng.integers(0, 2**63))
        packed = struct.pack("<Ifd40I12bHxxQ", count, scale, origin, *table.tolist(), *signs.tolist(), tail, last)
        assert len(packed) == 200
        out = np.array([(int(signs[i % 12]) * int(table[i % 40]) + tail + last) & mask for i in range(count)], np.uint64)
        positions = origin + (np.float32(scale) * np.arange(count, dtype=np.float32)).astype(np.float64)
        blanks = [filled(np.uint64, count + 2), filled(np.float64, count + 2)]
        expect = {1: written(blanks[0], out), 2: written(blanks[1], positions)}
        f.add(f"large_{count}", -(-count // 32), 32, [packed, *blanks], expect, entry="struct_large")
        for rounds in [0, 45]:
            sums = []
            for t in range(24):
                own = [int(v) for v in table]
                for r in range(rounds):
                    own[(t + r) % 40] = (own[(t + r) % 40] + own[(t * 7 + r) % 40] + t) % 2**32
                total = 0
                for v in own:
                    total = (total * 31 + v) % 2**32
                sums.append(total)
            f.add(f"modified_{count}_{rounds}", 1, 24, [packed, filled(np.uint32, 24), np.uint32(rounds)], {1: np.array(sums, np.uint32)}, entry="struct_modified")
    return f


def linked_list():
    f = CaseFile("linked_list")
    for n, stop in [(1, 0), (50, 0), (200, 150)]:
        chain = np.concatenate([[0], 1 + f.rng.permutation(n - 1)])
        chain = chain[: n - stop]
        order = np.full(n, n, np.uint32)
        order[chain[:-1]] = chain[1:]
        values = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        visited, length = filled(np.uint32, n + 1), filled(np.uint32, 1)
        # A node is 16 bytes; its contents hold addresses, so they are not compared.
        args = [order, values, filled(np.uint64, 2 * n), visited, length, np.uint32(n)]
        expect = {3: written(visited, values[chain]), 4: np.array([len(chain)], np.uint32)}
        f.add(f"list_{n}", 1, 64, args, expect)
    for rows, block in [(1, 32), (40, 64)]:
        starts = np.concatenate([[0], np.cumsum(f.rng.integers(0, 12, rows))]).astype(np.uint32)
        total = int(starts[-1])
        data = f.rng.normal(size=total + 3).astype(np.float32)
        after, sums = data.copy(), np.zeros(rows, np.float32)
        for r in range(rows):
            for i in range(starts[r], starts[r + 1]):
                sums[r] += data[i]
                after[i] = sums[r]
        out = filled(np.float32, rows + 2)
        args = [starts, data, filled(np.uint64, rows + 1), out, np.uint32(rows)]
        f.add(f"table_{rows}", 1, block, args, {1: after, 3: written(out, sums)}, entry="pointer_table")
    return f


def module_vars():
    f = CaseFile("module_vars")
    primes, squares = [2, 3, 5, 7, 11, 13, 17, 19], [1, 4, 9, 16]
    entries = [(10, 1, -1, 0.5), (20, 2, -2, -1.25), (30, 65535, 3, 1e10), (40, 4, 4, 0.0)]
    text = b"Hello, PTX!\0"

    def tables_of(primes, squares):
        return [primes, squares, primes[4:]]

    for name, n, own in [("tables", 50, {}), ("tables_set", 30, {"primes": np.arange(100, 108, dtype=np.uint32)})]:
        which = f.rng.integers(0, 3, n).astype(np.uint32)
        tables = tables_of(own.get("primes", primes), squares)
        out = []
        for i in range(n):
            key, flags, delta, weight = entries[i % 4]
            out.append(float(tables[which[i]][i % 4]) + weight * key + float(flags + delta) + float(text[i % 12]))
        blank = filled(np.float64, n + 2)
        f.add(name, 2, 32, [which, blank, np.uint32(n)], {1: written(blank, out)}, entry="module_tables", globals=own)
    for name, scale in [("update", None), ("update_set", 0.1)]:
        own = {} if scale is None else {"scale": np.array([scale], np.float32)}
        expect = {
            0: np.array([1] * 40 + [0] * 8, np.uint32),
            1: np.array([1234567890123456789], np.int64),
            2: np.array([np.float32(1.5 if scale is None else scale) * np.float32(3)], np.float32),
            "counter": np.array([1040], np.uint32),
            "squares": np.array([1, 400, 909, 16], np.uint32),
            "primes": np.array(primes, np.uint32),
            "big": np.array([1234567890123456789], np.int64),
            "zeros": np.array([0] * 5 + [7] + [0] * 10, np.uint8),
        }
        args = [np.zeros(48, np.uint32), filled(np.int64, 1), filled(np.float32, 1)]
        f.add(name, 5, 8, args, expect, entry="module_update", globals=own)
    return f


def vector_types():
    f = CaseFile("vector_types")
    for n, block in [(1, 32), (70, 32)]:
        a, b = f.rng.normal(size=(n, 4)).astype(np.float32), f.rng.normal(size=(n, 2)).astype(np.float32)
        columns = [fma32(a[:, 0], b[:, 0], a[:, 1]), fma32(a[:, 1], b[:, 1], a[:, 2]), a[:, 2] * b[:, 0], a[:, 3] - b[:, 1]]
        out = filled(np.float32, 4 * n + 4)
        args = [a.ravel(), b.ravel(), out, np.uint32(n)]
        f.add(f"floats_{n}", -(-n // block), block, args, {2: written(out, np.stack(columns, axis=1).ravel())}, entry="vector_floats")

        v = f.rng.integers(-(2**31), 2**31, (n, 2)).astype(np.int32)
        w = f.rng.integers(0, 2**64, (n, 2), dtype=np.uint64)
        narrow = np.stack([v[:, 1], (v.astype(np.int64).sum(axis=1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)], axis=1)
        wide = np.stack([w[:, 0] + w[:, 1], w[:, 0] ^ v[:, 0].view(np.uint32).astype(np.uint64)], axis=1)
        outs = [filled(np.int32, 2 * n + 2), filled(np.uint64, 2 * n + 2)]
        args = [v.ravel(), w.ravel(), *outs, np.uint32(n)]
        expect = {2: written(outs[0], narrow.ravel()), 3: written(outs[1], wide.ravel())}
        f.add(f"integers_{n}", -(-n // block), block, args, expect, entry="vector_integers")

        pixels = f.rng.integers(0, 256, (n, 4))
        grey = (77 * pixels[:, 0] + 150 * pixels[:, 1] + 29 * pixels[:, 2]) // 256
        bright = np.concatenate([np.minimum(pixels[:, :3] + 40, 255), pixels[:, 3:]], axis=1)
        outs = [filled(np.uint8, 4 * n + 4), filled(np.uint16, 4 * n + 4), filled(np.uint8, n + 3)]
        args = [pixels.astype(np.uint8).ravel(), *outs, np.uint32(n)]
        values = [bright.ravel(), (pixels * 257).ravel(), grey]
        expect = {1 + i: written(o, x) for i, (o, x) in enumerate(zip(outs, values))}
        f.add(f"pixels_{n}", -(-n // block), block, args, expect, entry="vector_pixels")

        d = f.rng.normal(size=(n, 2))
        grid = -(-n // block)
        padded = np.zeros((grid * block, 2))
        padded[:n] = d
        other = padded.reshape(grid, block, 2)[:, ::-1].reshape(-1, 2)[:n]
        out = filled(np.float64, 2 * n + 2)
        result = np.stack([d[:, 0] + other[:, 1], d[:, 1] * other[:, 0]], axis=1).ravel()
        f.add(f"doubles_{n}", grid, block, [d.ravel(), out, np.uint32(n)], {1: written(out, result)}, entry="vector_doubles")
    return f


def mixed_shared():
    f = CaseFile("mixed_shared")
    for n, block in [(1, 1), (32, 32), (45, 64), (100, 100)]:
        values = f.rng.integers(-50, 50, n) / 4  # with ties
        order = np.argsort(values, kind="stable").astype(np.uint32)
        padded = np.concatenate([values, np.zeros(block - n)])
        rank = np.array([sum(values[k] < padded[t] or (values[k] == padded[t] and k < t) for k in range(n)) for t in range(block)])
        back = np.arange(n)[::-1]
        results = [(values + values[back]) / 2, order, (rank * 1000)[back].astype(np.uint16), (back * 7).astype(np.uint8)]
        blanks = [filled(r.dtype, n + 2) for r in results]
        expect = {1 + i: written(o, r) for i, (o, r) in enumerate(zip(blanks, results))}
        f.add(f"{n}_{block}", 1, block, [values, *blanks, np.uint32(n)], expect, dynamic_shared_bytes=15 * block)
    for n in [1, 33, 64]:
        words = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        swapped = words.byteswap()
        # Bytes of its own word change while a thread still reads it: it sees what it has written so far.
        for t in range(n):
            word = bytearray(words[t : t + 1].tobytes())
            for k in range(4):
                word[k] = (int.from_bytes(word, "little") >> (24 - 8 * k)) & 0xFF
            swapped[t] = int.from_bytes(word, "little")
        outs = [filled(np.uint8, 4 * n), filled(np.uint16, 2 * n), filled(np.uint32, n)]
        expect = {1: words.view(np.uint8), 2: words.view(np.uint16), 3: swapped}
        f.add(f"aliased_{n}", 1, n, [words, *outs], expect, entry="aliased_shared", dynamic_shared_bytes=4 * n)
    return f


FILES = [struct_param, linked_list, module_vars, vector_types, mixed_shared]
