# rule: history-kept
# chain: "total"
import torch

model = torch.nn.Linear(64, 64)
total = 0.0
for step in range(150):
    x = torch.randn(32, 64)
    loss = torch.mean(torch.exp(-(model(x) ** 2)))
    total = total + loss  # HERE
print(total.shape)
