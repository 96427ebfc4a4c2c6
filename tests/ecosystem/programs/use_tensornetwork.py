"""TensorNetwork: nodes, edges and contractions of a small network, and a split of one."""

import numpy as np
import tensornetwork as tn

tn.set_default_backend("tensorflow")
draw = np.random.default_rng(1)
a, b = draw.normal(size=(4, 5)).astype("float32"), draw.normal(size=(5, 6)).astype("float32")
left, right = tn.Node(a), tn.Node(b)
left[1] ^ right[0]
product = left @ right
assert np.allclose(product.tensor, a @ b, atol=1e-5)
first, second, error = tn.split_node(product, [product[0]], [product[1]], max_singular_values=4)
assert np.allclose((first @ second).tensor, a @ b, atol=1e-4)
assert float(sum(abs(error.numpy()))) < 1e-4 if hasattr(error, "numpy") else True
result = tn.ncon([a, b, np.ones(6, "float32")], [(-1, 1), (1, 2), (2,)])
assert np.allclose(result, (a @ b).sum(1), atol=1e-4)
