"""The models of models.py in torch's own modules, with its Adam."""

from __future__ import annotations


def training_step(torch, name, compiled=False, wrapped=lambda model: model):
    """A function that takes one step; ``compiled``: its forward and backward part, and Adam's.
    ``wrapped``: what is done to the model first."""
    model, inputs, labels = torch_model(torch, name)
    model = wrapped(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def loss_of(inputs, labels):
        return torch.nn.functional.cross_entropy(model(inputs), labels)

    update = optimizer.step
    if compiled:
        loss_of, update = torch.compile(loss_of), torch.compile(optimizer.step)

    def step():
        optimizer.zero_grad()
        loss = loss_of(inputs, labels)
        loss.backward()
        update()
        return loss

    return step


def torch_model(torch, name):
    nn = torch.nn
    if name == "mlp":
        layers = [
            nn.Linear(784, 512),
            nn.ReLU(),
            nn.Linear(512, 512),
            nn.ReLU(),
            nn.Linear(512, 10),
        ]
        return nn.Sequential(*layers), torch.randn(128, 784), torch.randint(0, 10, (128,))
    if name == "cnn":
        convolutions = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU()]
        dense = [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 144, 128), nn.ReLU()]
        model = nn.Sequential(*convolutions, *dense, nn.Linear(128, 10))
        return model, torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))
    return torch_gpt(torch, blocks=12 if name == "gpt12" else 4)


def torch_gpt(torch, vocabulary=1000, length=128, batch=8, width=256, heads=4, blocks=4):
    nn = torch.nn
    attend = nn.functional.scaled_dot_product_attention

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, h):
            parts = self.qkv(self.norm1(h)).view(batch, length, 3, heads, width // heads)
            seen = attend(*parts.permute(2, 0, 3, 1, 4), is_causal=True)
            h = h + self.out(seen.transpose(1, 2).reshape(batch, length, width))
            return h + self.down(nn.functional.gelu(self.up(self.norm2(h))))

    layers = [Block() for _ in range(blocks)]
    model = nn.Sequential(
        nn.Embedding(vocabulary, width),
        *layers,
        nn.LayerNorm(width),
        nn.Linear(width, vocabulary),
        nn.Flatten(0, 1),
    )
    tokens = torch.randint(0, vocabulary, (batch, length))
    return model, tokens, torch.randint(0, vocabulary, (batch * length,))
