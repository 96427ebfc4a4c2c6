"""Ragged tensors, functions on them, and how other functions take them."""

from tidemark._ragged import dispatch, functions, row_partition, tensor
from tidemark._ragged.row_partition import RowPartition
from tidemark._ragged.tensor import RaggedTensor, RaggedTensorSpec
