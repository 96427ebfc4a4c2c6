import torch

optimizers = []
for step in range(100):
    weights = torch.nn.Parameter(torch.randn(64, 64))
    optimizer = torch.optim.Adam([weights])
    torch.sum(weights * weights).backward()
    optimizer.step()
    optimizers.append(step)
