"""``tf.Session``: runs the parts of a graph that are asked for."""

from __future__ import annotations

import contextlib
import threading

import numpy as np

import tidemark as tf
from tidemark import _tidemark, nest
from tidemark._explain import listener
from tidemark._tensor.specs import CompositeTensor
from tidemark._tidemark import Tensor
from tidemark._v1 import composites, partial
from tidemark._v1 import config as settings
from tidemark._v1.config import RunOptions
from tidemark._v1.graph import Operation, enter, get_default_graph, leave
from tidemark._v1.variables import RefVariable
from tidemark.errors import InvalidArgumentError

_thread = threading.local()


def _sessions():
    if not hasattr(_thread, "sessions"):
        _thread.sessions = []
    return _thread.sessions


def running():
    """The session whose run this thread is in; None."""
    return getattr(_thread, "running", None)


def get_default_session():
    """The innermost session of this thread's contexts; None."""
    sessions = _sessions()
    return sessions[-1] if sessions else None


def default_session():
    session = get_default_session()
    if session is None:
        raise ValueError(
            "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to `eval(session=sess)`"
        )
    return session


class BaseSession:
    """Values of the graph's variables, and plans of what was run."""

    def __init__(self, target="", graph=None, config=None):
        self._graph = graph if graph is not None else get_default_graph()
        self._graph_id = self._graph._shared.id
        config = settings.checked(config)
        settings.apply(config)
        self._session = _tidemark.SessionBase(settings.memory_limit(config))
        self._config = config
        self._logs_placement = config is not None and config.log_device_placement
        self._timeout = config.operation_timeout_in_ms if config is not None else 0
        self._opened_at = _tidemark.current_place()
        self.sess_str = target
        self._partials = {}

    graph = property(lambda self: self._graph)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """The values of tensors, by the names or structure they are asked for."""
        if listener.active is not None:
            listener.active.add_run(fetches)
        with self._marked_as_running():
            if not self._logs_placement:
                return self._run_any(fetches, feed_dict, options, run_metadata)
            _tidemark.log_placement_here(True)
            try:
                return self._run_any(fetches, feed_dict, options, run_metadata)
            finally:
                _tidemark.log_placement_here(False)

    @contextlib.contextmanager
    def _marked_as_running(self):
        outer, _thread.running = running(), self
        try:
            yield
        finally:
            _thread.running = outer

    def _run_any(self, fetches, feed_dict, options, run_metadata):
        plain = options is None and run_metadata is None and not self._timeout
        plain = plain and not self._graph._unfeedable and not self._graph._unfetchable
        if plain and not self._session.is_closed:  # what most programs ask for
            try:
                found = self._session.run_quickly(self._graph_id, fetches, feed_dict)
            except TypeError:
                if feed_dict:
                    self._feeds(feed_dict)  # says which of them it was
                raise
            if found is not NotImplemented:
                return found
        self._check_open()
        flat, pack = self._taken_apart(fetches)
        wanted = [self._fetch(item) for item in flat]
        feeds = self._feeds(feed_dict) if feed_dict else []
        fed = {_key(what): value for what, value in feeds} if feeds else {}
        asked, places = [], []
        for item in wanted:
            direct = isinstance(item, Tensor) and (
                not _tidemark.is_symbolic(item) or _key(item) in fed
            )
            places.append(None if direct else len(asked))
            if not direct:
                asked.append(item._node if isinstance(item, Operation) else item)
        found = self._run(asked, feeds, options, run_metadata)
        results = []
        for item, at in zip(wanted, places, strict=True):
            value = (
                (fed.get(_key(item), item) if _tidemark.is_symbolic(item) else item)
                if at is None
                else found[at]
            )
            results.append(None if value is None else value.numpy())
        return pack(results)

    def _run(self, asked, feeds, options, run_metadata):
        timeout, wants_trace = self._timeout, False
        if options is not None:
            is_message = isinstance(options, RunOptions) or (  # or protobuf's class of this name
                type(options).__name__ == "RunOptions" and hasattr(options, "SerializeToString")
            )
            if not is_message:
                raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
            if options.timeout_in_ms < 0:
                raise ValueError("timeout_in_ms of a tf.RunOptions is at least 0; 0: no limit")
            timeout = options.timeout_in_ms or timeout
            wants_trace = run_metadata is not None and options.trace_level > RunOptions.NO_TRACE
        if not asked:
            return []
        found, trace = self._session.run(asked, feeds, timeout, wants_trace)
        if wants_trace:
            settings.fill_metadata(run_metadata, trace)
            if options.output_partition_graphs:
                run_metadata.partition_graphs.append(self._graph.as_graph_def())
        return found

    def _check_open(self):
        if self._session.is_closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def _taken_apart(self, fetches):
        if isinstance(fetches, (list, tuple, dict)) or nest.is_nested(fetches):
            leaves = nest.flatten(fetches)
            if any(composites.has_parts(leaf) for leaf in leaves):
                return _expanded(leaves, lambda found: nest.pack_sequence_as(fetches, found))
            return leaves, lambda found: nest.pack_sequence_as(fetches, found)
        if composites.has_parts(fetches):
            return _expanded([fetches], lambda found: found[0])
        if isinstance(fetches, CompositeTensor):
            parts = fetches._type_spec._to_components(fetches)
            return nest.flatten(parts), lambda found: nest.pack_sequence_as(parts, found)
        return [fetches], lambda found: found[0]

    def _fetch(self, item):
        if item is None:
            raise TypeError("Argument `fetch` = None has invalid type 'NoneType'. Cannot be None")
        try:
            found = self._graph.as_graph_element(item)
            if self._graph._unfetchable and not self._graph.is_fetchable(found):
                raise ValueError(f"{item!r} has been marked as not fetchable.")
            return found
        except TypeError as error:
            raise TypeError(
                f"Argument `fetch` = {item!r} has invalid type {type(item).__name__!r} must be a "
                f"string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Fetch argument {item!r} cannot be interpreted as a Tensor. ({error})"
            ) from None

    def _feeds(self, feed_dict):
        if not hasattr(feed_dict, "items"):
            raise TypeError(f"Invalid type of feed_dict: {type(feed_dict).__name__}; use a dict")
        feeds = []
        for key, value in feed_dict.items():
            if composites.has_parts(key):
                feeds.extend(_fed_parts(key, value))
            elif isinstance(key, CompositeTensor):
                parts = nest.flatten(key._type_spec._to_components(key))
                feeds.extend(zip(parts, nest.flatten(_components(value)), strict=True))
            else:
                feeds.append((key, value))
        return [self._feed(key, value) for key, value in feeds]

    def _feed(self, key, value):
        try:
            tensor = self._graph.as_graph_element(key)
        except (TypeError, ValueError, KeyError) as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
        if self._graph._unfeedable and not self._graph.is_feedable(tensor):
            raise ValueError(f"Tensor {_name(tensor)} may not be fed.")
        if isinstance(value, Tensor) and _tidemark.is_symbolic(value):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
                "Python scalars, strings, lists, numpy ndarrays, or TensorHandles."
            )
        # NumPy's own texts end before the zeros at their end.
        texts = object if tensor.dtype.name == "string" else None
        given = np.asarray(value.numpy() if isinstance(value, Tensor) else value, texts)
        is_text = given.dtype.kind in "OSU"
        if (
            is_text
            and tensor.dtype.name != "string"
            or (not is_text and given.dtype != tensor.dtype.as_numpy_dtype)
        ):
            try:
                given = given.astype(tensor.dtype.as_numpy_dtype)
            except (TypeError, ValueError) as error:
                place = Operation(_tidemark.node_of(tensor)).place
                raise ValueError(
                    f"{error}: the value fed for Tensor {_name(tensor)!r} of {tensor.dtype.name}, "
                    f"which was made at {place}"
                ) from None
        if not tensor.shape.is_compatible_with(given.shape):
            raise ValueError(
                f"Cannot feed value of shape {given.shape} for Tensor {_name(tensor)!r}, which has "
                f"shape {tensor.shape} and was made at "
                f"{Operation(_tidemark.node_of(tensor)).place}"
            )
        return tensor, _tidemark.convert(given, tensor.dtype._enum, None, False)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function of the fed values that runs the fetches."""
        keys = [self._graph.as_graph_element(key) for key in feed_list or ()]
        if not isinstance(fetches, list):  # looked up once
            fetches = self._resolved(fetches)
        else:
            fetches = [self._resolved(fetch) for fetch in fetches]

        def call(*values, options=None, run_metadata=None):
            if len(values) != len(keys):
                raise ValueError(f"{len(keys)} values are fed; {len(values)} were given")
            if options is None and run_metadata is None:
                return self.run(fetches, dict(zip(keys, values, strict=True)))
            if not accept_options:
                raise TypeError("this callable was made without accept_options=True")
            return self.run(fetches, dict(zip(keys, values, strict=True)), options, run_metadata)

        return call

    def _make_callable_from_options(self, callable_options):
        """As make_callable, told by a message of names: Keras 2 runs its functions so."""
        fetches, targets = list(callable_options.fetch), list(callable_options.target)
        run = self.make_callable([*fetches, *targets], list(callable_options.feed), True)

        def call(*values, run_metadata=None):
            options = callable_options.run_options if run_metadata is not None else None
            return run(*values, options=options, run_metadata=run_metadata)[: len(fetches)]

        return call

    def _resolved(self, fetch):
        return self._graph.as_graph_element(fetch) if isinstance(fetch, str) else fetch

    def partial_run_setup(self, fetches, feeds=None):
        """Announces what will be fetched and fed bit by bit; gives what ``partial_run`` takes."""
        self._check_open()
        handle = partial.Partial(self, fetches, feeds)
        self._partials[handle.name] = handle
        return handle.name

    def partial_run(self, handle, fetches, feed_dict=None):
        """The values of some of what was announced. What was computed on the way is kept."""
        self._check_open()
        found = self._partials.get(handle)
        if found is None:
            raise InvalidArgumentError(
                None, None, f"Must run 'partial_run_setup' before performing partial runs: {handle}"
            )
        with self._marked_as_running():
            values = found.run(fetches, feed_dict or {})
        if found.is_done:
            del self._partials[handle]
        return values

    def list_devices(self):
        """The devices: this machine's processor."""
        return tf.config.list_logical_devices()

    def as_default(self):
        """A context in which ``eval`` and ``run`` use this session."""
        return _AsDefault(self)

    def close(self):
        """Gives all bytes back; runs under way on other threads stop with a CancelledError."""
        self._partials.clear()
        self._session.close()

    def __del__(self):
        session = getattr(self, "_session", None)
        if session is not None:
            session.close()


class _AsDefault:
    def __init__(self, session):
        self._session = session

    def __enter__(self):
        _sessions().append(self._session)
        return self._session

    def __exit__(self, *error):
        _sessions().remove(self._session)
        return False


class Session(BaseSession):
    """As a context: the default session, whose graph is built; closed at the end."""

    def __enter__(self):
        _sessions().append(self)
        self._places = [*getattr(self, "_places", ()), enter(self._graph)]
        return self

    def __exit__(self, *error):
        leave(self._places.pop())
        _sessions().remove(self)
        self.close()
        return False

    @staticmethod
    def reset(target, containers=None, config=None):
        """Other machines are not reset from here."""


class InteractiveSession(BaseSession):
    """The default session from its making to ``close``."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        _sessions().append(self)
        self._place = enter(self._graph)

    def close(self):
        super().close()
        if self in _sessions():
            _sessions().remove(self)
            leave(self._place)


def _key(tensor):
    return (_tidemark.node_of(tensor).sequence, _tidemark.output_index(tensor))


def _name(tensor):
    return f"{Operation(_tidemark.node_of(tensor)).name}:{_tidemark.output_index(tensor)}"


def _components(value):
    return value._type_spec._to_components(value) if isinstance(value, CompositeTensor) else value


def _expanded(leaves, pack):
    """The leaves with sparse and ragged tensors by their parts, and how values become theirs."""
    flat = []
    for leaf in leaves:
        parts = composites.parts_of(leaf) if composites.has_parts(leaf) else [leaf]
        flat.extend(part for part in parts if part is not None)

    def packed(found):
        given = iter(found)
        results = []
        for leaf in leaves:
            if not composites.has_parts(leaf):
                results.append(next(given))
                continue
            parts = [None if p is None else next(given) for p in composites.parts_of(leaf)]
            results.append(composites.value_of(leaf, parts))
        return pack(results)

    return flat, packed


def _fed_parts(key, value):
    """Pairs of the parts of a sparse or ragged tensor and what is fed for them."""
    is_value = composites.has_parts(value) or isinstance(value, composites.RaggedTensorValue)
    given = composites.parts_of(value) if is_value else list(value)
    wanted = composites.parts_of(key)
    if len(given) != len(wanted):
        raise ValueError(
            f"{key!r} is fed by the values of its {len(wanted)} parts; {len(given)} were given"
        )
    return [pair for pair in zip(wanted, given, strict=True) if pair[0] is not None]


__all__ = ["InteractiveSession", "RefVariable", "Session", "get_default_session"]
