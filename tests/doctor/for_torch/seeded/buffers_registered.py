# chain: buffer
# bytes: 16384
import torch


class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.number = 0

    def forward(self, x):
        y = torch.sin(x)  # MADE
        self.register_buffer(f"past{self.number}", y)  # HERE
        self.number += 1
        return y


memory = Memory()
x = torch.randn(64, 64)
for step in range(130):
    x = memory(x)
