"""``tensorflow.python.platform.benchmark``."""


class Benchmark:
    """Benchmarks are not tests; their classes must be there to be named."""
