# chain: hooks
import torch

model = torch.nn.Linear(64, 64)
for step in range(120):
    x = torch.randn(64, 64)
    target = torch.tanh(x)  # MADE
    model.register_forward_hook(lambda m, given, out, target=target: None)  # HERE
    y = model(x)
