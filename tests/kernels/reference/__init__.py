"""CPU computations of what each test kernel must give, written from the kernels' meaning, not from their PTX."""
