# rule: history-kept
# chain: "state"
import torch

cell = torch.nn.GRUCell(32, 32)
state = torch.zeros(16, 32)
for step in range(200):
    state = cell(torch.randn(16, 32), state)  # HERE
