"""Records what onnxruntime answers for ONNX models that Tidemark writes.

    python tools/record_written_onnx.py write FOLDER [NAME …]    # with a Python that has Tidemark
    python tools/record_written_onnx.py answer FOLDER [NAME …]   # onnx and onnxruntime

The first writes each of ``tests/python/onnx_programs.py`` into FOLDER with what Tidemark gives; the
second has onnx check it and onnxruntime run it, compares, and puts models and answers into
``tests/python/data/written_onnx``.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/python"))
DATA = ROOT / "tests/python/data/written_onnx"

import numpy as np  # noqa: E402
import onnx_programs as programs  # noqa: E402


def write(folder, names):
    import tidemark

    tidemark.install_as_tensorflow()
    for name in names:
        model, signature, inputs = programs.PROGRAMS[name](tidemark)
        path = folder / f"{name}.onnx"
        tidemark.onnx.save(model, path, signature)
        results = tidemark.nest.flatten(model(*map(tidemark.constant, inputs.values())))
        found = {f"in/{key}": value for key, value in inputs.items()}
        names = [port.name for port in tidemark.onnx.load(path).outputs]
        found |= {f"out/{at}": np.asarray(one) for at, one in zip(names, results, strict=True)}
        np.savez_compressed(folder / f"{name}.npz", **found)
        print(f"{name}: {path.stat().st_size} bytes, {len(results)} outputs")


def answer(folder, names):
    import onnx
    import onnxruntime

    DATA.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / f"{name}.onnx"
        onnx.checker.check_model(str(path), full_check=True)
        given = np.load(folder / f"{name}.npz")
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        inputs = {key.partition("/")[2]: given[key] for key in given if key.startswith("in/")}
        outputs = [port.name for port in session.get_outputs()]
        found = {f"in/{key}": value for key, value in inputs.items()}
        for key, value in zip(outputs, session.run(outputs, inputs), strict=True):
            wanted = given[f"out/{key}"]
            assert value.dtype == wanted.dtype, (name, key, value.dtype, wanted.dtype)
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=2e-5, err_msg=f"{name} {key}")
            found[f"out/{key}"] = value
        np.savez_compressed(DATA / f"{name}.npz", **found)
        (DATA / f"{name}.onnx").write_bytes(path.read_bytes())
        print(f"{name}: onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    names = sys.argv[3:] or list(programs.PROGRAMS)
    {"write": write, "answer": answer}[what](folder, names)


if __name__ == "__main__":
    main()
