"""Draws a Julia set with Taichi, as an example of a CUDA program that runs unmodified.

    ptx2spv cuda -- python3 examples/taichi/julia.py julia.png
"""

import sys

import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False)

WIDTH, HEIGHT, STEPS = 480, 270, 300
picture = ti.Vector.field(3, ti.f32, shape=(WIDTH, HEIGHT))


@ti.kernel
def draw(cx: ti.f32, cy: ti.f32):
    for i, j in picture:
        x = (i - WIDTH / 2) / (HEIGHT / 2.4)
        y = (j - HEIGHT / 2) / (HEIGHT / 2.4)
        steps = 0
        while x * x + y * y < 16 and steps < STEPS:
            x, y = x * x - y * y + cx, 2 * x * y + cy
            steps += 1
        if steps < STEPS:
            # The count is made continuous by how far the last step went.
            count = steps + 1 - ti.log(ti.log(x * x + y * y) / 2) / ti.log(2.0)
            turn = 6.2832 * ti.sqrt(ti.max(count, 0) / STEPS)
            picture[i, j] = [0.5 - 0.5 * ti.cos(turn), 0.5 - 0.5 * ti.cos(turn * 0.8), 0.6 - 0.4 * ti.cos(turn * 0.5)]



draw(-0.79, 0.155)
ti.tools.imwrite(picture, sys.argv[1] if len(sys.argv) > 1 else "julia.png")
