# chain: maps
# chain: block
# root: module __main__
# bytes: 16384
import torch


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q = torch.nn.Linear(width, width)
        self.k = torch.nn.Linear(width, width)
        self.maps = []

    def forward(self, x):
        weights = torch.softmax(self.q(x) @ self.k(x).T, -1)
        self.maps.append(weights.detach())  # HERE
        return weights @ x


block = Block(32)
with torch.no_grad():
    for step in range(120):
        out = block(torch.randn(64, 32))
