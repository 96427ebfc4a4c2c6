# chain: Evaluation.outputs
# bytes: 8192
import torch


class Evaluation:
    def __init__(self, model):
        self.model = model
        self.outputs = []

    def batch(self, x):
        with torch.no_grad():
            self.outputs.append(self.model(x))  # HERE


evaluation = Evaluation(torch.nn.Linear(16, 32))
for step in range(160):
    evaluation.batch(torch.randn(64, 16))
