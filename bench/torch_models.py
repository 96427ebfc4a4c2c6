"""The models of models.py in torch's own modules, with its Adam."""

from __future__ import annotations

from models import RESNET_STAGES


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
    if name == "resnet":
        return resnet(torch), torch.randn(8, 3, 224, 224), torch.randint(0, 1000, (8,))
    return torch_gpt(torch, blocks=12 if name == "gpt12" else 4)


def picture(torch, compiled=False):
    """A function that gives the classes of one picture."""
    model, x = resnet(torch).eval(), torch.randn(1, 3, 224, 224)
    model = torch.compile(model) if compiled else model

    def classify():
        with torch.inference_mode():
            return model(x)

    return classify


def resnet(torch):
    nn = torch.nn

    class Convolution(nn.Sequential):
        def __init__(self, size, inputs, outputs, stride=1):
            filters = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
            super().__init__(filters, nn.BatchNorm2d(outputs))

    class Block(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            relu = nn.ReLU(inplace=True)
            inner = [Convolution(1, inputs, width), relu, Convolution(3, width, width, stride)]
            self.inner = nn.Sequential(*inner, relu, Convolution(1, width, 4 * width))
            needs_own = stride != 1 or inputs != 4 * width
            own = Convolution(1, inputs, 4 * width, stride) if needs_own else nn.Identity()
            self.beside = own

        def forward(self, h):
            return nn.functional.relu(self.inner(h) + self.beside(h), inplace=True)

    layers, inputs = [Convolution(7, 3, 64, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for count, width, stride in RESNET_STAGES:
        for number in range(count):
            layers.append(Block(inputs, width, stride if number == 0 else 1))
            inputs = 4 * width
    end = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)]
    return nn.Sequential(*layers, *end)


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
