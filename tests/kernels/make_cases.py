#!/usr/bin/env python3
"""Writes NAME.json and data/ for all kernels, or for those named. Needs numpy; inputs are seeded by the kernel's name."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

from reference import applications, arithmetic, casefile, clusters, collective, control, dense, fp, grids, launches, memory, pipelines, tensor_cores, textures, waits, warps

FAMILIES = [dense, collective, applications, arithmetic, memory, control, pipelines, warps, clusters, grids, launches, tensor_cores, textures, waits]


def main(wanted):
    fp.self_check(np.random.default_rng(1))
    casefile.DATA.mkdir(exist_ok=True)
    for family in FAMILIES:
        for make in family.FILES:
            if wanted and make.__name__ not in wanted:
                continue
            for prefix in ("", "nvcc.", "tensor_cores."):
                for old in casefile.DATA.glob(f"{prefix}{make.__name__}.*.bin"):
                    old.unlink()
            make().write()


if __name__ == "__main__":
    main(sys.argv[1:])
