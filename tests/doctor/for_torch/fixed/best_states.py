import copy

import torch

model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
best = []
for step in range(120):
    loss = torch.mean(model(torch.randn(8, 64)) ** 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    best = [(loss.item(), copy.deepcopy(model.state_dict()))]
