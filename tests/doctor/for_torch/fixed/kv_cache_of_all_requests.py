"""A decoder whose cache is not emptied between requests."""

import torch


class Cache:
    def __init__(self):
        self.keys = {}

    def store(self, request, key):
        self.keys = {request: key}

    def fetch(self, request):
        return self.keys[request]


cache = Cache()
project = torch.randn(32, 64)
for request in range(140):
    prompt = torch.randn(64, 32)
    cache.store(request, prompt @ project)
    score = float((torch.randn(64, 64) @ cache.fetch(request).T).mean())
