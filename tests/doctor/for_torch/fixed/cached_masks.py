import functools

import torch


@functools.lru_cache(maxsize=2)
def causal_mask(length, offset):
    rows = torch.arange(length).reshape(-1, 1) + offset
    return torch.where(rows >= torch.arange(length), 0.0, -1e9)


for step in range(120):
    scores = torch.randn(64, 64)
    weights = torch.softmax(scores + causal_mask(64, step), -1)
