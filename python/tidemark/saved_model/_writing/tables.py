"""Tables of a model: functions that make and fill them, from keys and values in the graph."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._tidemark import call
from tidemark._v1.graph_def.special_ops import table_key
from tidemark._v1.graph_def.values import shape_message
from tidemark.lookup._tables import MutableHashTable
from tidemark.saved_model._writing import structures
from tidemark.saved_model._writing.functions import PlainBody, call_of
from tidemark.tensor_shape import TensorShape

_NOTHING = {"tuple": [{"tuple": []}, {"dict": []}]}


class TableWriter:
    """The tables of one model, known by their keys (``table_key``)."""

    def __init__(self, writer, objects):
        self._writer, self._parts = writer, objects
        self._objects, self._may_change = {}, set()  # key → number of the object
        self._handles = {}  # key → node in the graph
        self.initialised = []  # nodes that fill tables

    def declare(self, table):
        """Makes the object of a table; its number."""
        key = table_key(table._table.number)
        if isinstance(table, MutableHashTable):
            self._may_change.add(key)
        return self.declare_number(key[1])

    def declare_number(self, number):
        """The same for a table that only functions know."""
        key = table_key(number)
        self._objects[key] = self._parts.add_resource()
        return self._objects[key]

    def knows(self, key):
        return key in self._objects

    def resource(self, key):
        """(number of the object, handle in the graph)."""
        return self._objects[key], self._handles[key]

    def write(self, changing):
        """Writes all of them; ``changing``: keys of those that functions change."""
        self._may_change |= changing
        for at, key in enumerate(self._objects):
            self._write(key, at)

    def _write(self, key, at):
        writer, parts, number = self._writer, self._parts, self._objects[key]
        keys, values = call("table_export", (), {"table": key[1]})
        op, attrs = self._table_op(key, keys, values, at)
        handle = writer.add(writer.fresh("hash_table"), op, (), attrs)
        self._handles[key] = handle
        data = [writer.constant("Const", tensor) for tensor in (keys, values)]
        bound = [parts.add_constant(name) for name in data]

        creator = PlainBody(writer, f"__inference__creator_{at}", [])
        made = creator.add("hash_table", op, (), attrs)
        creator = creator.finish([made], [dtypes.resource], [made])
        self._add_function(number, "_create_resource", creator, [], _resource_spec())
        types = [dtypes.resource, keys.dtype, values.dtype]
        filler = PlainBody(writer, f"__inference__initializer_{at}", types)
        filled = filler.add("LookupTableImportV2", "LookupTableImportV2", filler.arguments, None,
                            [None, *types[1:]])  # fmt: skip
        one = filler.constant("one", 1, dtypes.int32)
        filler = filler.finish([one], [dtypes.int32], [filled])
        self._add_function(number, "_initialize", filler, [number, *bound], _one_number())
        last = PlainBody(writer, f"__inference__destroyer_{at}", [])
        last = last.finish([last.constant("one", 1, dtypes.int32)], [dtypes.int32])
        self._add_function(number, "_destroy_resource", last, [], _one_number())
        label = writer.fresh("StatefulPartitionedCall")
        self.initialised.append(call_of(writer, filler, label, [handle, *data]))

    def _table_op(self, key, keys, values, at):
        attrs = {"key_dtype": keys.dtype, "value_dtype": values.dtype,
                 "shared_name": f"hash_table_{at}"}  # fmt: skip
        row = values.shape[1:]
        if row.rank:
            return "MutableHashTableOfTensorsV2", {**attrs, "value_shape": row.as_list()}
        return ("MutableHashTableV2" if key in self._may_change else "HashTableV2"), attrs

    def _add_function(self, number, name, function, bound, result):
        objects = self._parts
        objects.describe(function.name, bound, structures.structured(_NOTHING), result)
        made = objects.add_procedure(function.name)
        objects.add_part(number, name, made)
        if name == "_create_resource":
            objects.add_dependency(number, name, made)


def _one_number():
    return structures.structured({"spec": [[], "int32", None]})


def _resource_spec():
    made = structures.StructuredValue()
    made.tensor_spec_value.dtype = dtypes.resource.as_datatype_enum
    made.tensor_spec_value.shape.CopyFrom(shape_message(TensorShape([])))
    made.tensor_spec_value.shape.SetInParent()
    return made


__all__ = ["TableWriter"]
