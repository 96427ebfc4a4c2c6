"""An eager training step of an MLP, a CNN and a small GPT with Adam, against torch's."""

from case import Case, InPython, Options, Row
from timing import best_ns, resident_bytes, resident_peak_bytes, start_resident_peak

NAMES = ("mlp", "cnn", "gpt")


def tidemark(name):
    def run(options: Options):
        import tidemark as tf

        return measure(lambda: __import__("models").training_step(tf, name), options)

    return run


def torch(name):
    def run(options: Options):
        import torch

        torch.set_num_threads(2)
        return measure(lambda: torch_step(torch, name), options)

    return run


def measure(make, options: Options):
    """Time of a step, and the highest resident memory over what the imports left."""
    import numpy  # noqa: F401  (whoever needs it: no part of what the model takes)

    before = resident_bytes()
    start_resident_peak()
    step = make()
    nanoseconds = best_ns(step, calls=5, repeats=options.pick(8, 1))
    return {"step_ns": nanoseconds, "memory_mib": (resident_peak_bytes() - before) / 2**20}


def torch_step(torch, name):
    model, inputs, labels = torch_model(torch, name)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
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
    return torch_gpt(torch)


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


def rows(name):
    def row(what, figure, bar, unit):
        return Row(
            f"{name}, {what}",
            f"tidemark {name}.{figure}",
            f"torch {name}.{figure}",
            at_most_ratio=bar,
            unit=unit,
            peer_label="torch",
        )

    return [row("training step", "step_ns", 0.8, "ns"), row("memory", "memory_mib", 0.5, "MiB")]


CASE = Case(
    about="an eager training step of an MLP, a CNN and a small GPT with Adam, against torch",
    subjects=[
        subject
        for name in NAMES
        for subject in (
            InPython(f"tidemark {name}", tidemark(name), environment="tidemark"),
            InPython(f"torch {name}", torch(name), environment="torch"),
        )
    ],
    rows=[row for name in NAMES for row in rows(name)],
)
