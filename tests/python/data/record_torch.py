"""Records small files of PyTorch's, and what is in them, in data/weights/: run with torch.

python tests/python/data/record_torch.py
"""

import collections
import json
from pathlib import Path

import torch

FOLDER = Path(__file__).parent / "weights"


class Custom:
    """What only running code could make."""


def tensors():
    base = torch.arange(12.0).reshape(3, 4)
    return {
        "float32": base,
        "float64": torch.tensor([1.5, -2.5], dtype=torch.float64),
        "float16": torch.tensor([1.5, -2.5], dtype=torch.float16),
        "bfloat16": torch.tensor([1.5, -2.5], dtype=torch.bfloat16),
        "int64": torch.tensor([[2**40]]),
        "int32": torch.tensor(7, dtype=torch.int32),
        "int16": torch.tensor([-3], dtype=torch.int16),
        "int8": torch.tensor([-3], dtype=torch.int8),
        "uint8": torch.tensor([250], dtype=torch.uint8),
        "bool": torch.tensor([True, False]),
        "complex64": torch.tensor([1 + 2j]),
        "turned": base.t(),
        "part": base[1:, 1:3],
        "empty": torch.zeros(0, 3),
        "parameter": torch.nn.Parameter(torch.tensor([0.25])),
    }


def told(value):
    value = value.detach()
    shown = value.to(torch.complex128 if value.is_complex() else torch.float64).flatten()
    numbers = [[n.real, n.imag] if value.is_complex() else n for n in shown.tolist()]
    return {"shape": list(value.shape), "values": numbers}


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(1)
    every = tensors()
    layers = collections.OrderedDict(a=torch.nn.Linear(3, 2), norm=torch.nn.BatchNorm1d(2))
    model = torch.nn.Sequential(layers)
    model(torch.ones(4, 3))
    adam = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 3)).sum().backward()
    adam.step()
    whole = {"model": model.state_dict(), "optimizer": adam.state_dict(), "epoch": 3, "name": "x"}
    torch.save(every, FOLDER / "every_type.pt")
    torch.save(every, FOLDER / "before_1_6.pth", _use_new_zipfile_serialization=False)
    torch.save(whole, FOLDER / "checkpoint.pt")
    torch.save({"thing": Custom(), "w": torch.ones(1)}, FOLDER / "with_code.pt")
    expected = {"every_type.pt": {name: told(value) for name, value in every.items()}}
    state = {f"model.{name}": told(value) for name, value in model.state_dict().items()}
    for number, one in adam.state_dict()["state"].items():
        state.update(
            {f"optimizer.state.{number}.{name}": told(value) for name, value in one.items()}
        )
    expected["checkpoint.pt"] = state
    (FOLDER / "torch.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
