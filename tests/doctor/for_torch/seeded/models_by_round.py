# rule: variables-each-step
# chain: "models"
# bytes: 16640
import torch

models = {}
for step in range(100):
    models[step] = torch.nn.Linear(64, 64)  # HERE
    models[step](torch.randn(4, 64))
