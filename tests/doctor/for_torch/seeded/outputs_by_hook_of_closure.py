# chain: taken
# bytes: 32768
import torch


def spy(module):
    taken = []

    def hook(module, inputs, output):
        taken.append(output.detach())  # HERE

    module.register_forward_hook(hook)
    return taken


layer = torch.nn.Linear(32, 128)
shown = spy(layer)
with torch.no_grad():
    for step in range(120):
        y = layer(torch.randn(64, 32))
