"""Files of a model: copies in ``assets/``, and variables that hold where they are.

Whoever loads the model feeds the placeholders of the paths when it starts it.
"""

from __future__ import annotations

import os
import shutil

from tidemark import dtypes, errors
from tidemark.saved_model._asset import asset_key


class AssetWriter:
    """The files of one model, known by their keys (``asset_key``)."""

    def __init__(self, writer, objects, meta):
        self._writer, self._parts, self._meta = writer, objects, meta
        self._resources = {}  # key → (number of the object, node that reads the path)
        self._copies = {}  # name in the model → path
        self.initialised = []  # nodes that note the paths

    keys = property(lambda self: self._resources.keys())

    def resource(self, key):
        """(number of the object, what gives the path in the graph)."""
        return self._resources[key]

    def declare(self, asset):
        """Makes the object of a file; its number."""
        path = asset._path
        if not os.path.isfile(path):
            raise errors.NotFoundError(None, None, f"the asset {path} is no file")
        writer, at = self._writer, len(self._meta.asset_file_def)
        given = writer.add(writer.fresh("asset_path_initializer"), "Placeholder", (),
                           {"dtype": dtypes.string, "shape": []})  # fmt: skip
        label = writer.fresh("asset_path")
        known = {"dtype": dtypes.string, "shape": [], "shared_name": label}
        handle = writer.add(label, "VarHandleOp", (), known)
        noted = writer.add(writer.fresh(f"{label}/Assign"), "AssignVariableOp", [handle, given],
                           {"dtype": dtypes.string})  # fmt: skip
        self.initialised.append(noted)
        read = writer.add(writer.fresh(f"{label}/Read/ReadVariableOp"), "ReadVariableOp", [handle],
                          {"dtype": dtypes.string})  # fmt: skip
        made = self._meta.asset_file_def.add()
        made.filename = self._free_name(path)
        made.tensor_info.name = f"{given}:0"
        made.tensor_info.dtype = dtypes.string.as_datatype_enum
        made.tensor_info.tensor_shape.SetInParent()
        number = self._parts.add_asset(at)
        self._resources.setdefault(asset_key(path), (number, read))
        return number

    def _free_name(self, path):
        """A name that no other file of the model has."""
        stem, end = os.path.splitext(os.path.basename(path))
        name, count = stem + end, 0
        while self._copies.get(name, path) != path:
            count += 1
            name = f"{stem}_{count}{end}"
        self._copies[name] = path
        return name

    def write(self, folder):
        for name, path in self._copies.items():
            shutil.copyfile(path, os.path.join(folder, name))


__all__ = ["AssetWriter"]
