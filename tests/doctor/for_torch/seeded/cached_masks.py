# rule: tensors-gathered
# chain: causal_mask()
# root: module __main__
# bytes: 16384
import functools

import torch


@functools.cache  # HERE
def causal_mask(length, offset):
    rows = torch.arange(length).reshape(-1, 1) + offset
    return torch.where(rows >= torch.arange(length), 0.0, -1e9)  # MADE


for step in range(120):
    scores = torch.randn(64, 64)
    weights = torch.softmax(scores + causal_mask(64, step), -1)
