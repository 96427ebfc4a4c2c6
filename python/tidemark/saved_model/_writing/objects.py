"""The objects of a model as TensorFlow's ``SavedObjectGraph``: which are parts of which."""

from __future__ import annotations

from tidemark._proto.saved_model import SavedObjectGraph
from tidemark._v1.graph_def.values import shape_message
from tidemark.saved_model._writing import structures

_WRAPPERS = {"object": "_generic_user_object", "list": "trackable_list_wrapper",
             "tuple": "trackable_tuple_wrapper", "dict": "trackable_dict_wrapper",
             "signatures": "signature_map"}  # fmt: skip
_NO_PARAMETERS = {"tuple": []}


class ObjectGraph:
    """The message on its way; objects are known by their numbers."""

    def __init__(self):
        self.message = SavedObjectGraph()

    def add(self):
        """The number of a new object, and its message."""
        made = self.message.nodes.add()
        return len(self.message.nodes) - 1, made

    def add_user_object(self, kind):
        """A thing that has nothing but parts."""
        number, made = self.add()
        made.user_object.identifier = _WRAPPERS[kind]
        made.user_object.version.producer = 1
        made.user_object.version.min_consumer = 1
        return number

    def add_variable(self, variable):
        number, made = self.add()
        made.variable.dtype = variable.dtype.as_datatype_enum
        made.variable.shape.CopyFrom(shape_message(variable.shape))
        made.variable.shape.SetInParent()
        made.variable.trainable = variable.trainable
        made.variable.name = variable.name.partition(":")[0]
        return number

    def add_constant(self, operation):
        number, made = self.add()
        made.constant.operation = operation
        return number

    def add_asset(self, place):
        """``place``: among the files of the model."""
        number, made = self.add()
        made.asset.asset_file_def_index = place
        made.asset.SetInParent()
        return number

    def add_resource(self):
        number, made = self.add()
        made.resource.SetInParent()
        return number

    def add_part(self, parent, name, child):
        """Says that the child is an attribute of the parent."""
        self.message.nodes[parent].children.add(node_id=child, local_name=name)

    def add_dependency(self, parent, name, child):
        """Says that the parent cannot be made without the child."""
        self.message.nodes[parent].dependencies.add(node_id=child, local_name=name)

    def add_function(self, names, parameters, input_signature=None):
        """A function of Python's with these traces."""
        number, made = self.add()
        made.function.concrete_functions.extend(names)
        spec = structures.function_spec(parameters or [], input_signature)
        made.function.function_spec.CopyFrom(spec)
        return number

    def add_procedure(self, name):
        """A function without parameters."""
        return self.add_function([name], [], _NO_PARAMETERS)

    def add_concrete(self, name, keywords, num_positional, parameters=None):
        """One trace that is called by the names of its inputs."""
        number, made = self.add()
        concrete = made.bare_concrete_function
        concrete.concrete_function_name = name
        concrete.argument_keywords.extend(keywords)
        concrete.allowed_positional_arguments = num_positional
        if parameters is not None:
            concrete.function_spec.CopyFrom(structures.function_spec(parameters))
        return number

    def describe(self, function, bound, arguments, results):
        """What a function of the library takes and gives; ``bound``: objects behind its inputs."""
        made = self.message.concrete_functions[function]
        made.bound_inputs.extend(bound)
        made.canonicalized_input_signature.CopyFrom(arguments)
        made.output_signature.CopyFrom(results)


def checkpoint_records(message):
    """(objects as checkpoints have them, variable's number → key), for what is reached from the
    root, each at the first way to it."""
    keys, seen, order = {}, {0: ()}, [0]
    for number in order:
        for child in message.nodes[number].children:
            if child.node_id not in seen:
                seen[child.node_id] = (*seen[number], child.local_name)
                order.append(child.node_id)
    records = []
    for number, node in enumerate(message.nodes):
        links = [(child.local_name, child.node_id) for child in node.children]
        attributes = []
        if node.WhichOneof("kind") == "variable" and number in seen:
            path = [part.replace(".", "..").replace("/", ".S") for part in seen[number]]
            keys[number] = "/".join([*path, ".ATTRIBUTES", "VARIABLE_VALUE"])
            attributes.append(("VARIABLE_VALUE", node.variable.name, keys[number]))
        records.append((links, attributes, ()))
    return records, keys


__all__ = ["ObjectGraph", "checkpoint_records"]
