"""Dr.Jit: sums, a prefix sum, a loop, a scatter, and a derivative."""

import drjit as dr
from drjit.cuda import Float, UInt
from drjit.cuda.ad import Float as Differentiable

numbers = dr.arange(Float, 1000)
assert dr.all(dr.sum(numbers * 2) == 999_000)
assert list(dr.prefix_sum(UInt(1, 2, 3, 4))) == [0, 1, 3, 6]


@dr.syntax
def collatz(value):
    steps = UInt(0)
    while value != 1:
        value = dr.select(value % 2 == 0, value // 2, 3 * value + 1)
        steps += 1
    return steps


assert list(collatz(UInt(1, 2, 3, 7, 27))) == [0, 1, 7, 16, 111]
counts = dr.zeros(UInt, 4)
dr.scatter_add(counts, UInt(1), dr.arange(UInt, 100) % 4)
assert list(counts) == [25] * 4
x = Differentiable(1, 2, 3)
dr.enable_grad(x)
dr.backward(dr.sum(x * x * x))
assert list(x.grad) == [3, 12, 27]
