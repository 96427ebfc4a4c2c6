"""``tensorflow.python.ops.gradient_checker_v2``: what is not exported under the same name."""

import numpy as np


def max_error(grad1, grad2):
    """The largest difference between two lists of Jacobians."""
    pairs = zip(grad1, grad2, strict=True)
    return max((np.fabs(a - b).max() for a, b in pairs if np.size(a) or np.size(b)), default=0)
