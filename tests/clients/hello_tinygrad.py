"""tinygrad: a sum and a product of matrices. Environment: DEV=CUDA:PTX."""

import numpy as np
from tinygrad import Device, Tensor

assert Device.DEFAULT.startswith("CUDA"), Device.DEFAULT
# All numbers on the way are integers below 2^24, and so exact.
numbers = (np.arange(4096).reshape(64, 64) * 3 % 17).astype(np.float32)
tensor = Tensor(numbers).realize()
assert np.array_equal((tensor @ tensor).realize().numpy(), numbers @ numbers)
assert (tensor * 2 + 1).sum().realize().item() == (numbers * 2 + 1).sum()
