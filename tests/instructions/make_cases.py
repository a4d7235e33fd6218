#!/usr/bin/env python3
"""Writes the PTX files, case files and operand tables of this folder. See README.md."""

import shutil
from pathlib import Path

from generator import (
    approximate,
    atomics,
    barriers,
    blocks,
    clusters,
    compare,
    constants,
    control,
    convert,
    convert_half,
    edges,
    extended,
    floats,
    functions,
    half,
    integer,
    large_memory,
    launches,
    legacy,
    litmus,
    logic,
    masks,
    mbarriers,
    meetings,
    memory,
    memory_wide,
    movement,
    neighbours,
    newer,
    packed,
    progress,
    simd,
    spaces,
    tiles,
    video,
    warps,
)
from generator.values import tables


def main():
    folder = Path(__file__).resolve().parent
    contents = tables() | approximate.operand_tables()
    # Families that were renamed must leave nothing behind.
    for old in [*folder.glob("*.ptx"), *folder.glob("*.json")]:
        old.unlink()
    shutil.rmtree(folder / "expected", ignore_errors=True)
    total = 0
    arithmetic = (
        integer, extended, packed, floats, constants, half, compare, logic, video, simd, convert, convert_half, edges,
        approximate, legacy,
    )
    modules = (
        *arithmetic, memory, memory_wide, spaces, movement, neighbours, atomics, control, functions, warps, meetings, masks, blocks, barriers,
        mbarriers, newer, clusters, tiles, progress, litmus, launches, large_memory,
    )
    for module in modules:
        for family in module.families(contents):
            total += family.write(folder)
    # Not on every device: a folder of their own.
    between = folder.parent / "between_blocks"
    between.mkdir(exist_ok=True)
    total += sum(family.write(between) for family in progress.between_blocks(contents))
    Path(folder, "data").mkdir(exist_ok=True)
    for name, (bits, values) in contents.items():
        data = b"".join(value.to_bytes(bits // 8, "little") for value in values)
        Path(folder, "data", f"{name}.bin").write_bytes(data)
    print(f"{total} cases")


if __name__ == "__main__":
    main()
