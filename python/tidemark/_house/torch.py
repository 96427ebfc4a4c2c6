"""A house call to PyTorch: what can be seen of it from outside.

A function mode tells each call of the library with its results. What the graph of gradients keeps
is told by the nodes that the program's own tensors lead to. Not to be seen are values that only
native code has: intermediates of a call, buffers of data loaders' other processes, and what
compiled functions keep.
"""

from __future__ import annotations

import weakref

from tidemark._house.visitor import Visitor as _Visitor

_MOST_NODES = 20_000
_LONG = 8  # nodes from which on a graph of gradients is looked at


class Visitor(_Visitor):
    library = "torch"
    not_seen = (
        "From outside of PyTorch nothing can be seen of what native code alone keeps: "
        "intermediates of a call, what compiled functions keep, memory of a data loader's other "
        "processes."
    )
    keepers = ("graph", "history")
    fewest = {"history": 50}  # nodes
    plurals = {"history": "nodes of a graph of gradients", "graph": "tensors with their graphs"}
    number = "({}).mean().item()"
    piles = {
        "graph": ("tensors-gathered", "Tensors are gathered with the graphs that made them",
                  "losses.append(loss.item())   # a number has no history\n"
                  "# or loss.detach(), where the tensor itself is needed"),
        "iterator": ("dataset-buffer", "Iterators of data loaders stay",
                     "for batch in loader: …   # lets its iterator go at the end\n"
                     "# or one iterator for all rounds"),
        "history": ("history-kept", "The graph of gradients grows: it keeps every step's history",
                    "total += loss.item()      # a number has no history\n"
                    "# or loss.detach(), where the tensor itself is needed"),
    }  # fmt: skip

    def __init__(self):
        # The library's own installation; its inner names are what there is to look with.
        import torch
        from torch.overrides import TorchFunctionMode
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        self._torch = torch
        super().__init__((torch.Tensor,), (), (), {_BaseDataLoaderIter: "iterator"})
        self._storages = {}  # where a storage lies → references to the tensors that have it
        self._modes = []
        visitor = self

        class Mode(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                result = func(*args, **(kwargs or {}))
                visitor._called(func, result)
                return result

        self._mode = Mode

    def start(self):
        super().start()
        parameter, visitor = self._torch.nn.Parameter, self
        make = parameter.__new__

        def new(cls, *args, **kwargs):
            made = make(cls, *args, **kwargs)
            visitor._called(parameter, made)
            return made

        parameter.__new__ = new
        self._new = make

    def begin_thread(self):
        mode = self._mode()
        mode.__enter__()
        self._modes.append(mode)

    def stop(self):
        self._modes[0].__exit__(None, None, None)
        self._torch.nn.Parameter.__new__ = self._new

    def _called(self, func, result):
        if self._is_looking:
            return
        name = getattr(func, "__name__", "call")
        if name == "__get__":
            return  # x.shape, x.T
        self.settle()  # before others lie where those lay that went
        tensors = result if isinstance(result, (list, tuple)) else (result,)
        self.ran(name, [told for one in tensors for told in self.new_in(one)])

    def tensor_of(self, obj):
        """A view keeps the tensor it was made of, which no object of Python's refers to."""
        base = getattr(obj, "_base", None) if isinstance(obj, self._torch.Tensor) else None
        return obj if base is None or self.is_known(obj) else base

    def new_in(self, obj):
        return self._new_storage(obj) if isinstance(obj, self._torch.Tensor) else ()

    def _new_storage(self, tensor):
        """(tensor, bytes, holder), where it has memory that no other tensor has."""
        if self.is_known(tensor) or tensor.device.type == "meta" or tensor.is_sparse:
            return
        storage = tensor.untyped_storage()
        size, where = storage.nbytes(), storage.data_ptr()
        if not size:
            return
        sharers = self._sharers(where)
        shares = any(one is not tensor for one in sharers)
        if not any(one is tensor for one in sharers):
            self._storages[where] = [weakref.ref(one) for one in (*sharers, tensor)]
        is_parameter = isinstance(tensor, self._torch.nn.Parameter)
        if is_parameter or not shares:
            yield tensor, size, "variable" if is_parameter else "value"

    def _sharers(self, where):
        """The tensors that have their memory there."""
        found = [refer() for refer in self._storages.get(where, ())]
        return [one for one in found
                if one is not None and one.untyped_storage().data_ptr() == where]  # fmt: skip

    def memory_of(self, tensor):
        return tensor.untyped_storage().data_ptr()

    def heir_of(self, made):
        heir = next((one for one in self._sharers(made.memory) if not self.is_known(one)), None)
        if heir is None:
            self._storages.pop(made.memory, None)
        return heir

    def sorts_of_tensor(self, tensor):
        """A tensor that has a graph of gradients keeps what is in it."""
        node = getattr(tensor, "grad_fn", None)
        if node is None:
            return
        yield "graph", 0
        nodes = self._nodes_behind(node)
        if nodes >= _LONG:
            yield "history", nodes

    def _nodes_behind(self, node):
        seen, open_ = {node}, [node]
        while open_ and len(seen) < _MOST_NODES:
            for after, _ in open_.pop().next_functions:
                if after is not None and after not in seen:
                    seen.add(after)
                    open_.append(after)
        return len(seen)
