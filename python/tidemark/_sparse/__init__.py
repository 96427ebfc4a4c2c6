"""``tf.sparse``: tensors given by where their elements are, and ops on them."""

from tidemark._sparse import combining, layout, matmul, reducing, tensor
from tidemark._sparse.tensor import SparseTensor, SparseTensorSpec, SparseTensorValue
