import torch

model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses = []
for step in range(150):
    x = torch.randn(32, 64)
    loss = torch.mean(torch.exp(-(model(x) ** 2)))
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    losses.append(loss.item())
