"""``tf.compat.v1.saved_model``: graphs of sessions as TensorFlow's SavedModel, for those who serve.

builder = tf.compat.v1.saved_model.Builder("models/lines/1")
builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
builder.save()
"""

from __future__ import annotations

import os

from tidemark import _tidemark
from tidemark import saved_model as _names
from tidemark._graph.tracing import lifted
from tidemark._proto.saved_model import SavedMetaGraph, SavedModel, SignatureDef, TensorInfo
from tidemark._proto.text import to_text
from tidemark._tidemark import call
from tidemark._trackable.checkpoint_files import write_tensors
from tidemark._v1.graph import get_default_graph
from tidemark._v1.graph_def import op_defs
from tidemark._v1.graph_def.exporting import PRODUCER, write_live
from tidemark._v1.graph_def.values import shape_message
from tidemark._v1.graph_def.writer import Library, Writer
from tidemark._v1.train.saver import Saver, value_in
from tidemark.errors import UnimplementedError
from tidemark.saved_model._writing.restoring import add_init_op, add_saver
from tidemark.version import VERSION

_KEPT = "tensors_of_signatures"  # a collection
_CONSTANTS = [name for name in dir(_names) if name.isupper()]


# --- signatures -----------------------------------------------------------------------------------


def build_tensor_info(tensor):
    """How a signature refers to a tensor of a graph. The graph keeps the tensor from now on: all
    that is left of it elsewhere may be its name."""
    if not _tidemark.is_symbolic(tensor):
        raise RuntimeError("build_tensor_info is not supported in Eager mode.")
    kept = tensor.graph.get_collection_ref(_KEPT)
    if not any(item is tensor for item in kept):
        kept.append(tensor)
    info = TensorInfo(name=tensor.name, dtype=tensor.dtype.as_datatype_enum)
    info.tensor_shape.CopyFrom(shape_message(tensor.shape))
    info.tensor_shape.SetInParent()
    return info


def build_signature_def(inputs=None, outputs=None, method_name=None, defaults=None):
    """A signature of the inputs and outputs that ``build_tensor_info`` described."""
    made = SignatureDef(method_name=method_name or "")
    for infos, given in ((made.inputs, inputs), (made.outputs, outputs)):
        for name, info in (given or {}).items():
            infos[name].CopyFrom(info)
    return made


def _described(tensors):
    return {name: build_tensor_info(tensor) for name, tensor in tensors.items()}


def predict_signature_def(inputs, outputs):
    """A signature of tensors by name, answered by prediction services."""
    if not inputs:
        raise ValueError("Prediction `inputs` cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction `outputs` cannot be None or empty.")
    return build_signature_def(_described(inputs), _described(outputs), _names.PREDICT_METHOD_NAME)


def regression_signature_def(examples, predictions):
    """A signature from serialized examples to numbers."""
    return build_signature_def(
        _described({_names.REGRESS_INPUTS: examples}),
        _described({_names.REGRESS_OUTPUTS: predictions}),
        _names.REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples, classes, scores):
    """A signature from serialized examples to classes, scores or both."""
    found = {_names.CLASSIFY_OUTPUT_CLASSES: classes, _names.CLASSIFY_OUTPUT_SCORES: scores}
    found = {name: tensor for name, tensor in found.items() if tensor is not None}
    if not found:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    return build_signature_def(
        _described({_names.CLASSIFY_INPUTS: examples}), _described(found),
        _names.CLASSIFY_METHOD_NAME,
    )  # fmt: skip


def is_valid_signature(signature_def):
    """Whether the signature has inputs, outputs and a method."""
    return bool(
        signature_def is not None
        and signature_def.method_name
        and signature_def.inputs
        and signature_def.outputs
    )


# --- models ---------------------------------------------------------------------------------------


class _GraphWriter(Writer):
    """Tables are nodes, filled by others when the model is loaded."""

    def __init__(self, message):
        super().__init__(message, Library(message.library))
        self.filled = []

    def table(self, key):
        if key not in self._variables:
            with lifted():  # what is in it now
                keys, values = call("table_export", (), {"table": key[1]})
            known = {"key_dtype": keys.dtype, "value_dtype": values.dtype,
                     "shared_name": f"hash_table_{len(self.filled)}"}  # fmt: skip
            self._variables[key] = self.add(self.fresh("hash_table"), "HashTableV2", (), known)
            data = [self.constant(f"{self._variables[key]}/{name}", tensor)
                    for name, tensor in (("keys", keys), ("values", values))]  # fmt: skip
            label = self.fresh(f"{self._variables[key]}/Import")
            self.filled.append(self.add(
                label, "LookupTableImportV2", [self._variables[key], *data], None,
                [None, keys.dtype, values.dtype]))  # fmt: skip
        return self._variables[key]


class Builder:
    """Collects meta graphs, then writes the folder as a whole."""

    def __init__(self, export_dir):
        self._folder = os.fspath(export_dir)
        if os.path.isdir(self._folder) and os.listdir(self._folder):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different "
                f"export directory, or delete all the contents of the specified directory: "
                f"{self._folder}"
            )
        self._message = SavedModel(saved_model_schema_version=1)
        self._tensors = None  # (name, value) of the variables of the first meta graph

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_list=None,
                                     clear_devices=False, init_op=None, train_op=None,
                                     strip_default_attrs=False, saver=None, main_op=None,
                                     assets_collection=None, legacy_init_op=None):  # fmt: skip
        """The graph of a session with the values that its variables have there."""
        if self._tensors is not None:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        saver = saver or Saver(allow_empty=True)
        self._tensors = [
            (name, _tidemark.convert(value_in(sess, variable)))
            for name, variable in saver._built().items()
        ]
        main_op = main_op if main_op is not None else init_op or legacy_init_op
        self._add(sess.graph, tags, signature_def_map, assets_list or assets_collection, main_op,
                  saver)  # fmt: skip

    def add_meta_graph(self, tags, signature_def_map=None, assets_list=None, clear_devices=False,
                       init_op=None, train_op=None, saver=None, main_op=None,
                       strip_default_attrs=False, assets_collection=None,
                       legacy_init_op=None):  # fmt: skip
        """The default graph, over the variables that were saved before."""
        if self._tensors is None:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        main_op = main_op if main_op is not None else init_op or legacy_init_op
        self._add(get_default_graph(), tags, signature_def_map, assets_list or assets_collection,
                  main_op, saver or Saver(allow_empty=True))  # fmt: skip

    def _add(self, graph, tags, signatures, assets, main_op, saver):
        if assets:
            raise UnimplementedError(
                None, None, "asset files are not written: tables are saved with what is in them"
            )
        meta = SavedMetaGraph()
        meta.meta_info_def.tags.extend([tags] if isinstance(tags, str) else tags)
        meta.meta_info_def.tensorflow_version = VERSION
        meta.graph_def.versions.producer = PRODUCER
        writer = _GraphWriter(meta.graph_def)
        write_live(writer, graph)
        self._check(writer)
        handles = {node.attr["shared_name"].s.decode(): node for node in meta.graph_def.node
                   if node.op == "VarHandleOp"}  # fmt: skip
        known = {name: v for name, v in saver._built().items() if v.op.name in handles}
        variables = [(name, v, handles[v.op.name].name) for name, v in known.items()]
        add_saver(writer, meta.saver_def, variables, {name: name for name in known})
        for key, signature in (signatures or {}).items():
            meta.signature_def[key].MergeFromString(signature.SerializeToString())
        first = [] if main_op is None else [main_op.name.partition(":")[0]]
        add_init_op(writer, meta, [*first, *writer.filled])
        nodes = [*meta.graph_def.node,
                 *(n for f in meta.graph_def.library.function for n in f.node_def)]  # fmt: skip
        for name in sorted({node.op for node in nodes}):
            meta.meta_info_def.stripped_op_list.op.append(op_defs.op_def_message(name))
        self._message.meta_graphs.append(meta)

    @staticmethod
    def _check(writer):
        missing = dict.fromkeys(node.kind for node in writer.library.foreign_nodes)
        if missing:
            raise UnimplementedError(
                None, None, f"TensorFlow has no op for {', '.join(missing)}: the graph cannot be "
                "written as its SavedModel",
            )  # fmt: skip

    def save(self, as_text=False):
        """Writes the folder; the name of the file that a model is known by."""
        place = _tidemark.ModelFolderWriter(self._folder)
        if self._tensors:
            folder = os.path.join(place.path, "variables")
            os.mkdir(folder)
            write_tensors(os.path.join(folder, "variables"), iter(self._tensors))
        name = _names.SAVED_MODEL_FILENAME_PBTXT if as_text else _names.SAVED_MODEL_FILENAME_PB
        data = to_text(self._message).encode() if as_text else self._message.SerializeToString()
        _tidemark.write_file(os.path.join(place.path, name), data)
        place.commit()
        return os.path.join(self._folder, name).encode()


SavedModelBuilder = Builder


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """Writes the graph of a session with one signature, for serving."""
    signature = {_names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    builder = Builder(export_dir)
    builder.add_meta_graph_and_variables(session, [_names.SERVING], signature,
                                         main_op=legacy_init_op)  # fmt: skip
    builder.save()


class _Group:
    """A namespace of names that are here, too."""

    def __init__(self, **names):
        self.__dict__.update(names)


builder = _Group(SavedModelBuilder=Builder)
utils = _Group(build_tensor_info=build_tensor_info)
signature_def_utils = _Group(
    build_signature_def=build_signature_def, is_valid_signature=is_valid_signature,
    predict_signature_def=predict_signature_def,
    regression_signature_def=regression_signature_def,
    classification_signature_def=classification_signature_def,
)  # fmt: skip
tag_constants = _Group(GPU=_names.GPU, SERVING=_names.SERVING, TPU=_names.TPU,
                       TRAINING=_names.TRAINING)  # fmt: skip
signature_constants = _Group(**{
    name: getattr(_names, name) for name in _CONSTANTS
    if name.split("_")[0] in ("CLASSIFY", "DEFAULT", "PREDICT", "REGRESS")
})  # fmt: skip
constants = _Group(**{
    name: getattr(_names, name) for name in _CONSTANTS
    if name.split("_")[0] in ("ASSETS", "DEBUG", "SAVED", "VARIABLES")
})  # fmt: skip


def __getattr__(name):
    return getattr(_names, name)


__all__ = ["Builder", "SavedModelBuilder", "simple_save"]
