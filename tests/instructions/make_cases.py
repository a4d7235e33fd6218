#!/usr/bin/env python3
"""Writes the PTX and case files of this folder. See README.md."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from generator import (
    approximate,
    atomics,
    atomics_wide,
    barriers,
    blocks,
    clusters,
    compare,
    constants,
    constants_other,
    control,
    convergence,
    convert,
    convert_half,
    edges,
    extended,
    floats,
    functions,
    graphs,
    half,
    integer,
    large_memory,
    launches,
    legacy,
    litmus,
    logic,
    masks,
    matrices,
    mbarriers,
    memory,
    memory_wide,
    movement,
    multimem,
    neighbours,
    nesting,
    newer,
    newest,
    packed,
    products,
    progress,
    simd,
    spaces,
    stochastic,
    tensors,
    texture_batches,
    texture_many,
    texture_filters,
    textures,
    tiles,
    video,
    warpgroups,
    warps,
)
from generator.values import tables


HERE = Path(__file__).resolve().parent
# Cases that not every device can run: a folder of their own.
BETWEEN = "between_blocks"
SUFFIXES = (".ptx", ".json", ".bin")


def generate(root):
    """Writes all files below a copy of `tests/`, and returns how many cases there are."""
    folder, between = root / HERE.name, root / BETWEEN
    contents = tables() | approximate.operand_tables()
    arithmetic = (
        integer, extended, packed, floats, constants, constants_other, half, compare, logic, video, simd, convert, convert_half, edges,
        approximate, legacy,
    )
    modules = (
        *arithmetic, memory, memory_wide, spaces, movement, neighbours, nesting, atomics, atomics_wide, control, functions, warps, convergence, graphs, masks, matrices, products, warpgroups, blocks, barriers,
        mbarriers, multimem, newer, newest, stochastic, clusters, tensors, textures, texture_batches, texture_many, texture_filters, tiles, progress, litmus, launches, large_memory,
    )
    total = sum(family.write(folder) for module in modules for family in module.families(contents))
    beyond = (family for module in (progress, atomics_wide) for family in module.between_blocks(contents))
    return total + sum(family.write(between) for family in beyond)


def files(root):
    """The generated files below `tests/` or a copy of it."""
    found = (path for name in (HERE.name, BETWEEN) for path in Path(root, name).iterdir())
    return {path.relative_to(root): path for path in found if path.suffix in SUFFIXES}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and say which files differ from what would be written")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name in (HERE.name, BETWEEN):
            Path(root, name).mkdir()
        total = generate(root)
        new, old = files(root), files(HERE.parent)
        same = lambda name: name in new and name in old and new[name].read_bytes() == old[name].read_bytes()
        changed = sorted(name for name in new.keys() | old.keys() if not same(name))
        if not check:
            for name in changed:
                # Families that were renamed leave nothing.
                if name in new:
                    shutil.copy(new[name], HERE.parent / name)
                else:
                    old[name].unlink()
    for name in changed:
        print(name)
    print(f"{total} cases, {len(changed)} files {'differ' if check else 'written'}")
    sys.exit(check and changed != [])


if __name__ == "__main__":
    main()
