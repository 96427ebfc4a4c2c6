"""``tf.debugging``: checks of values, shapes and types that raise when they do not hold.

tf.debugging.assert_positive(x, message="weights must be positive")
tf.debugging.check_numerics(loss, "the loss")        # InvalidArgumentError on NaN or infinity
"""

from tidemark._export import namespace as _namespace
from tidemark.debugging import _checks

globals().update(_namespace("tf.debugging"))
