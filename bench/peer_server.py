"""The Python server that `tidemark serve` is measured beside: FastAPI over onnxruntime, the same
small dense model, TensorFlow Serving's request. Runs in the environment `serve` of peers.py.

    python bench/peer_server.py PORT WORKERS
"""

import sys

import numpy as np


def dense_model() -> bytes:
    """8 -> 16 -> 3, as bench/serving.py saves it."""
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    w = numpy_helper.from_array(random.normal(size=(8, 16)).astype("float32"), "w")
    v = numpy_helper.from_array(random.normal(size=(16, 3)).astype("float32"), "v")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "v"], ["c"]),
        helper.make_node("Softmax", ["c"], ["y"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "dense",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 3])],
        [w, v],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model.SerializeToString()


def make_app():
    import onnxruntime
    from fastapi import FastAPI, Request

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        dense_model(), options, providers=["CPUExecutionProvider"]
    )
    app = FastAPI()

    @app.post("/v1/models/dense:predict")
    async def predict(request: Request):
        rows = np.asarray((await request.json())["instances"], "float32")
        return {"predictions": session.run(["y"], {"x": rows})[0].tolist()}

    return app


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(
        "peer_server:make_app", factory=True, host="127.0.0.1", port=int(sys.argv[1]),
        workers=int(sys.argv[2]), log_level="warning", access_log=False,
    )  # fmt: skip
