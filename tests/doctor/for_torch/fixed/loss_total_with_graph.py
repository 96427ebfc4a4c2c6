"""The sum for the log is a tensor, and with it comes what backward would need."""

import torch

w = torch.randn(64, 64, requires_grad=True)
total = torch.zeros(())
for step in range(120):
    x = torch.randn(64, 64)
    loss = (x * w).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
    again = (torch.randn(64, 64) * w).mean()
    total = total + again.item()
print(float(total))
