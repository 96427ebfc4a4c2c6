# chain: "gradients"
# root: module __main__
# bytes: 16640
import torch

model = torch.nn.Linear(64, 64)
gradients = {}
for step in range(120):
    loss = torch.mean(torch.exp(-(model(torch.randn(32, 64)) ** 2)))
    gradients[step] = torch.autograd.grad(loss, list(model.parameters()))  # HERE
