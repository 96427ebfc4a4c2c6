"""The way from a root of the program to what keeps bytes, one link a thing a person knows.

    [module __main__] [list "tapes" (150 items) at train.py:9] [GradientTape made at train.py:5]

Objects that only carry others (an instance's own dict, cells, bound methods, the insides of
libraries' objects) are no links of their own.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import sysconfig
import threading
import types
from collections import deque
from dataclasses import dataclass, field

from tidemark._explain import kinds, source

_MOST_COUNTED = 1 << 17  # items of an array
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
CACHE = type(functools.lru_cache(lambda: None))
OPENED = "opened"  # the kind of link that is to be closed: a session
_RUNNING = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = (_PACKAGE, sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
_STANDARD = sysconfig.get_path("stdlib")
_NOT_INSTANCES = (
    types.ModuleType, types.FunctionType, types.FrameType, types.TracebackType, types.CellType,
    types.MethodType, types.BuiltinFunctionType, types.MappingProxyType, type, CACHE,
    functools.partial, *_RUNNING, *CONTAINERS,
)  # fmt: skip


@dataclass(frozen=True)
class Link:
    """One thing on the way. Equal links are the same to a person: counts do not tell them apart."""

    label: str  # list "tapes"
    kind: str
    name: str = field(default="", compare=False)
    file: str = ""
    line: int = 0
    is_container: bool = False  # that may grow
    is_root: bool = False

    def words(self, items=0):
        """list "tapes" (150 items) at train.py:9"""
        text = self.label
        if self.kind == "thread":
            more = f" and {items - 1} more" if items > 1 else ""
            text = f'{text} in thread "{self.name}"{more}'
        elif self.is_container and items:
            count = f"{items} item{'s' if items > 1 else ''}"
            # attribute Log.entries (list): the kind stands in brackets already
            is_open = text.endswith(")") and not text.endswith("()")
            text = f"{text[:-1]}, {count})" if is_open else f"{text} ({count})"
        at = f" at {os.path.basename(self.file)}:{self.line}" if self.file and self.line else ""
        return text if self.is_root else text + at


def is_installed(file):
    """Whether a file belongs to a library, and not to the program."""
    return not file or file.startswith(_INSTALLED) or "site-packages" in file


@functools.lru_cache(maxsize=8192)
def is_programs(file):
    """Whether a person would change the file: no library's, nor Python's own."""
    return not is_installed(file) and not file.startswith((_STANDARD, "<"))


def file_of(kind):
    """The file of a class."""
    return getattr(sys.modules.get(kind.__module__), "__file__", "") or ""


def is_instance(obj):
    """An object of a class, with attributes."""
    return not isinstance(obj, _NOT_INSTANCES) and type(obj).__module__ != "builtins"


def own_dict(obj):
    """The dict of an object's attributes; None."""
    try:
        return object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return None


def is_namespace(obj):
    """The globals of a module."""
    return (
        isinstance(obj, dict) and "__name__" in obj and ("__builtins__" in obj or "__spec__" in obj)
    )


def without_own_dicts(path, edges):
    """The way without objects' own dicts, which are the objects; and each object's name in the one
    before it."""
    kept, names = list(path[:1]), [None]
    for parent, obj, name in zip(path, path[1:], edges, strict=False):
        if isinstance(obj, dict) and _is_dict_of(obj, parent):
            continue
        if isinstance(obj, dict) and isinstance(kept[-1], threading.local) and name is None:
            continue  # of one thread
        kept.append(obj)
        names.append(name)
    return kept, names


def _is_dict_of(obj, parent):
    if isinstance(parent, type):
        return True  # a class refers to no other dict
    has_dict = is_instance(parent) or isinstance(parent, types.FunctionType)
    return has_dict and obj is own_dict(parent)


def merged(told, more):
    """Equal links with the counts of both: of threads together, of the rest the larger."""
    return tuple(
        (link, items + others if link.kind == "thread" else max(items, others))
        for (link, items), (_, others) in zip(told, more, strict=True)
    )


def links_of(path, names, root, left_out=0):
    """[(Link, items)] from the root on; ``root`` is where the walk began. ``left_out``: objects in
    the middle of the way, which repeat what stands before and after them."""
    told = [(link, items) for _, link, items in each_link(path, names, root)]
    if isinstance(path[-1], kinds.variables):
        told.append((Link("tf.Variable", "variable"), 0))
    told = _collapsed(told)
    if not left_out:
        return told
    whole = 1 + left_out / len(path)
    return [(link, round(items * whole) if link.kind == "linked" else items)
            for link, items in told]  # fmt: skip


def each_link(path, names, root):
    """(where on the way, Link, items), from the root on; the root itself may be nowhere on it."""
    begin = _beginning(path)
    paused = _paused_in_a_library(path, root) if begin is None else None
    if paused is not None:
        begin, code = paused
        yield (begin, Link(f"{code.co_name}()", "function", code.co_name, is_root=True), 0)
    elif begin is None:
        yield (None, *_root_link(root))
        if root is not None and root.kind in ("local", "context"):
            yield (0, *_of_name(path[0], root.name, root.file, root.lines))
        begin = 0
    elif isinstance(path[begin], type):
        module, kind = _class_links(path[begin])
        yield (None, *module)
        yield (begin, *kind)
    else:
        yield (begin, *_module_link(path[begin]["__name__"]))
    file = path[begin].get("__file__") if is_namespace(path[begin]) else root and root.file
    file = code.co_filename if paused is not None else file
    is_inside = False  # of a library's object, whose insides are its own affair
    for at in range(begin + 1, len(path)):
        obj = path[at]
        given = _given_link(path[at - 1], names[at], obj, file or "") if is_inside else None
        is_inside = is_inside and given is None and not _is_of_the_program(obj)
        told = None if is_inside else given or _link(path, names, at)
        if told is not None:
            yield (at, *told)
        is_inside = is_inside or (is_instance(obj) and is_installed(file_of(type(obj))))


def _paused_in_a_library(path, root):
    """Where on the way a coroutine of the program's stands that a library's loop goes on with,
    and its code: it is to a person what a running function is. None: nowhere."""
    if root is None or root.kind != "local" or is_programs(root.file):
        return None
    for at, obj in enumerate(path[:-1]):
        frame = frame_of(obj)
        if frame is not None and is_programs(frame.f_code.co_filename):
            return at, frame.f_code
    return None


_frames = {}  # by the number of what is paused, of the look that is under way


def remember_frames(walked):
    """Of what is paused on the ways: other threads may run it to its end before it is told of."""
    _frames.clear()
    paused = {id(obj): obj for item in walked for obj in item["path"] if isinstance(obj, _RUNNING)}
    _frames.update(
        {number: frame for number, obj in paused.items() if (frame := frame_of(obj)) is not None}
    )


def frame_of(paused):
    """Of a generator or a coroutine, while there is one; else None."""
    if not isinstance(paused, _RUNNING):
        return None
    if (known := _frames.get(id(paused))) is not None:
        return known
    names = ("gi_frame", "cr_frame", "ag_frame")
    return next((f for name in names if (f := getattr(paused, name, None)) is not None), None)


def _is_of_the_program(obj):
    if isinstance(obj, types.FunctionType):
        return is_programs(obj.__code__.co_filename)
    if isinstance(obj, types.FrameType):
        return is_programs(obj.f_code.co_filename)
    return is_instance(obj) and is_programs(file_of(type(obj)))


def _beginning(path):
    """From where on the way is told: a module's globals, or a class that was reached by chance, by
    an instance of it. None: from its root, a running function."""
    for at in range(len(path) - 1, -1, -1):
        if is_namespace(path[at]):
            return at
        is_class = isinstance(path[at], type) and at < len(path) - 1
        if is_class and not (at and is_namespace(path[at - 1])) and _is_at_home(path[at]):
            return at
    return None


def _is_at_home(kind):
    """Whether a class is what its module has by its name: others are made again and again, and live
    as long as somebody keeps them."""
    found = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = vars(found).get(name) if isinstance(found, (type, types.ModuleType)) else None
    return found is kind


def _module_link(name):
    return Link(f"module {name}", "module", name, is_root=True), 0


def _class_links(kind):
    return [_module_link(kind.__module__), (_class_link(kind), 0)]


def _class_link(kind):
    file = file_of(kind)
    line = source.class_line(kind.__name__, file) if is_programs(file) else 0
    return Link(f"class {kind.__name__}", "class", kind.__name__, file, line)


def _root_link(root):
    if root is None:
        return Link("a running expression", "running", is_root=True), 0
    if root.kind == "context":
        return Link("a context", "context", is_root=True), 0
    if root.kind != "local":
        return _module_link(root.name)
    if root.thread not in ("", "MainThread"):
        return Link(f"{root.function}()", "thread", root.thread, is_root=True), 1
    return Link(f"{root.function}()", "function", root.function, is_root=True), 0


def word_of(obj):
    """list, dict, …: what kind of container; "" for none."""
    return type(obj).__name__ if isinstance(obj, CONTAINERS) or is_of_objects(obj) else ""


def is_of_objects(obj):
    """An array of NumPy's that has objects, or records with objects, as items."""
    return _is_array(obj) and obj.dtype.hasobject


def _is_array(obj):
    kind = type(obj)
    return kind.__name__ == "ndarray" and kind.__module__ == "numpy"


def _items(obj):
    if isinstance(obj, CONTAINERS):
        return len(obj)
    if not is_of_objects(obj) or obj.size > _MOST_COUNTED:
        return 0
    return sum(item is not None and not isinstance(item, int)
               for column in columns_of_objects(obj) for item in column.flat)  # fmt: skip


def columns_of_objects(array):
    """The array, or those columns of an array of records, that have objects as items."""
    names = [name for name in array.dtype.names or () if array.dtype[name].hasobject]
    return [array[name] for name in names] if names else [array]


def _of_name(obj, name, file, lines=(1, 1 << 30)):
    """What a variable refers to."""
    if isinstance(obj, types.ModuleType):
        return _module_link(obj.__name__)
    if isinstance(obj, CACHE):
        return _cache_link(obj)
    if isinstance(obj, type):
        return _class_link(obj), 0
    word = word_of(obj)
    line = source.line_for_name(file, name, *lines) if is_programs(file) else 0
    label = word or _kind_name(obj)
    kind = word or "variable"
    return Link(f'{label} "{name}"', kind, name, file, line, bool(word)), _items(obj)


def _kind_name(obj):
    """What a variable refers to that is no container: an object of a class, or anything else."""
    return type(obj).__name__ if is_instance(obj) and not _is_value(obj) else "variable"


def _is_value(obj):
    return isinstance(obj, (*kinds.tensors, *kinds.variables)) or (
        _is_array(obj) and not obj.dtype.hasobject
    )


def _link(path, names, at):
    """What the object there is, given the one before it; None: nothing a person would name."""
    parent, obj, name = path[at - 1], path[at], names[at]
    if is_namespace(parent):
        return _of_name(obj, name or "?", parent.get("__file__") or "")
    if isinstance(obj, BaseException) and isinstance(parent, BaseException):
        label = f"error before the {type(parent).__name__}"
        return Link(label, "attribute", type(parent).__name__), 0
    if isinstance(obj, CACHE):
        return _cache_link(obj)
    if isinstance(obj, types.TracebackType):
        return _traceback_link(path, at)
    if isinstance(parent, types.CellType):
        return _closure_link(path, at)
    if isinstance(parent, _RUNNING):
        return _paused_link(parent, obj)
    if isinstance(parent, types.FrameType):
        return _frame_link(parent, obj)
    if isinstance(parent, functools.partial):
        return _partial_link(parent), 0
    if isinstance(parent, types.FunctionType) and name is None:
        return None  # its defaults: each is told by its name
    before = path[at - 2] if at > 1 else None
    if isinstance(before, types.FunctionType) and _has_default(before, parent):
        return _default_link(before, parent, obj)
    if isinstance(parent, type):
        return _attribute_link(parent, file_of(parent), obj, name)
    if isinstance(parent, types.FunctionType):
        return _attribute_link(parent, parent.__code__.co_filename, obj, name)
    if is_instance(parent):
        return _attribute_link(type(parent), file_of(type(parent)), obj, name)
    if isinstance(parent, CACHE) or (at > 1 and isinstance(path[at - 2], CACHE)):
        return None  # how the cache keeps it
    if (field_ := _field_of(parent, obj)) is not None:
        return _attribute_link(type(parent), file_of(type(parent)), obj, field_)
    if isinstance(obj, CONTAINERS) and isinstance(parent, CONTAINERS):
        return Link(word_of(obj), word_of(obj), is_container=True), _items(obj)
    if is_instance(obj) and is_installed(file_of(type(obj))) and not _is_value(obj):
        return _object_link(obj), 0
    return None


def _field_of(record, obj):
    """By which name a named tuple of the program's has an object; None."""
    fields = getattr(type(record), "_fields", None) if isinstance(record, tuple) else None
    if not fields or not is_programs(file_of(type(record))):
        return None
    return _name_among(dict(zip(fields, record, strict=False)), obj)


def _object_link(obj):
    """An object of a library: a model, an optimizer, an iterator, a tape, a function."""
    kind = type(obj).__name__
    if isinstance(obj, kinds.functions):
        code = getattr(obj._python_function, "__code__", None)
        file, line = (code.co_filename, code.co_firstlineno) if code else ("", 0)
        return Link(f"function {obj._name}()", "function", obj._name, file, line)
    where = getattr(obj, "_made_at", None)
    opened = getattr(obj, "_opened_at", None)
    file, line, _ = source.parse_place(where or opened)
    did = " made" if where else " opened" if opened else ""
    sort = OPENED if opened and not where else "object"
    return Link(f"{kind}{did}", sort, kind, source.full_path(file) if line else "", line)


def _given_link(owner, name, obj, file):
    """An attribute that the program gives an object of a library; None: it is the library's."""
    if not name or not is_instance(owner) or not is_programs(file):
        return None
    if _is_used_by(type(owner), name, of_program=False):
        return None
    line = source.line_of_attribute(file, name)
    if not line:
        return None
    word = word_of(obj)
    label = f"attribute {type(owner).__name__}.{name}{f' ({word})' if word else ''}"
    return Link(label, "attribute", name, file, line, bool(word)), _items(obj)


@functools.lru_cache(maxsize=1024)
def _is_used_by(kind, name, of_program):
    """Whether code of an object's classes uses an attribute: of the program's, or of libraries'."""
    code = [one.__code__ for k in kind.__mro__ for one in vars(k).values()
            if isinstance(one, types.FunctionType)]  # fmt: skip
    files = {one.co_filename for one in code if name in one.co_names}
    files = {file for file in files if not file.startswith("<")}  # what a decorator made
    return any(is_programs(file) == of_program for file in files)


def _attribute_link(owner, file, obj, name):
    if isinstance(owner, type) and is_installed(file):
        return None  # inside of a library's object
    if isinstance(obj, types.TracebackType):
        return None
    computed = _computed_once(owner, name)
    if computed is not None:
        return computed, 0
    word = word_of(obj)
    if is_instance(obj) and not _is_value(obj) and not word:
        word = type(obj).__name__
    listed = f" ({word})" if word else ""
    is_librarys = (
        isinstance(owner, type)
        and name
        and (
            _is_used_by(owner, name, of_program=False)
            and not _is_used_by(owner, name, of_program=True)
        )
    )
    has_line = is_programs(file) and name and not is_librarys
    line = source.line_for_name(file, name) if has_line else 0
    label = f"attribute {owner.__name__}.{name or '?'}{listed}"
    return Link(label, "attribute", name or "?", file, line, bool(word_of(obj))), _items(obj)


def _computed_once(owner, name):
    """An attribute that a property computes once and keeps; None: it is none."""
    kinds_of_it = owner.__mro__ if isinstance(owner, type) else ()
    descriptor = next((vars(one)[name] for one in kinds_of_it if name in vars(one)), None)
    code = getattr(getattr(descriptor, "func", None), "__code__", None)
    if not isinstance(descriptor, functools.cached_property) or code is None:
        return None
    label = f"attribute {owner.__name__}.{name} (cached)"
    return Link(label, "cached_property", name, code.co_filename, code.co_firstlineno)


def _cache_link(cache):
    function = getattr(cache, "__wrapped__", None)
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", "a function").removeprefix("<locals>.")
    file, line = (code.co_filename, code.co_firstlineno) if code else ("", 0)
    if is_programs(file):
        line = source.line_of_cache(file, function.__name__, line)
    return Link(f"lru_cache of {name}()", "lru_cache", name, file, line, True), (
        cache.cache_info().currsize
    )


def _closure_link(path, at):
    cell = path[at - 1]
    function = next(
        (o for o in reversed(path[: at - 1]) if isinstance(o, types.FunctionType)), None
    )
    if function is None:
        return None
    free = free_name(function, cell)
    word = word_of(path[at])
    named = f' ({word + " " if word else ""}"{free}")' if free else ""
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    if word and free and is_programs(file):
        line = source.line_for_name(file, free) or line
    label = f"closure of {function.__name__}{named}"
    return Link(label, "closure", free or "", file, line, bool(word)), _items(path[at])


def free_name(function, cell):
    """Under which name a function knows a cell."""
    pairs = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    return next((name for name, c in pairs if c is cell), None)


def _name_among(values, obj):
    return next((name for name, value in values.items() if value is obj), None)


def _paused_link(paused, obj):
    frame = frame_of(paused)
    if frame is None:
        return None
    code = frame.f_code
    name = _name_among(frame.f_locals, obj)
    sort = "generator" if isinstance(paused, types.GeneratorType) else "coroutine"
    word = word_of(obj)
    what = word or _kind_name(obj)
    named = f'{what} "{name}" of ' if name else ""
    label = f"{named}{sort} {code.co_name}()"
    line = code.co_firstlineno
    is_gathering = word or what != "variable"
    if is_gathering and name and is_programs(code.co_filename):
        line = source.line_for_name(code.co_filename, name, *source.code_range(code)) or line
    link = Link(label, "generator", name or "", code.co_filename, line, bool(word and name))
    return link, _items(obj)


def _frame_link(frame, obj):
    code = frame.f_code
    name = _name_among(frame.f_locals, obj)
    if name is None:
        return None
    line = 0
    if is_programs(code.co_filename):
        line = source.line_for_name(code.co_filename, name, *source.code_range(code))
    word = word_of(obj) or "variable"
    label = f'{word} "{name}" in {code.co_name}()'
    return Link(label, "frame", name, code.co_filename, line, bool(word_of(obj))), _items(obj)


def _traceback_link(path, at):
    if isinstance(path[at - 1], types.TracebackType):
        return None  # one link for all frames of an error
    error = next((o for o in reversed(path[:at]) if isinstance(o, BaseException)), None)
    name = type(error).__name__ if error is not None else "error"
    first = path[at]
    file, line = first.tb_frame.f_code.co_filename, first.tb_lineno
    return Link(f"traceback of the {name} caught", "traceback", name, file, line), 0


def _partial_link(partial):
    name = getattr(partial.func, "__name__", type(partial.func).__name__)
    return Link(f"argument of partial({name})", "partial", name)  # who made it is not known


def _has_default(function, obj):
    return obj is function.__defaults__ or obj is function.__kwdefaults__


def _default_link(function, defaults, obj):
    """What an argument is that nobody gives."""
    code = function.__code__
    if isinstance(defaults, dict):
        name = _name_among(defaults, obj)
    else:
        names = code.co_varnames[: code.co_argcount][-len(defaults) :]
        pairs = zip(names, defaults, strict=False)
        name = next((name for name, value in pairs if value is obj), None)
    word = word_of(obj)
    line = 0
    if name and is_programs(code.co_filename):
        line = source.line_for_name(code.co_filename, name, *source.code_range(code))
    label = f'{word or "value"} "{name or "?"}", a default of {function.__name__}()'
    line = line or code.co_firstlineno
    return Link(label, "default", name or "?", code.co_filename, line, bool(word)), _items(obj)


_CHAINED = ("attribute", "closure", "partial", "generator", "default")


def _collapsed(links):
    """A thing that leads to another of its sort, and so on, is told once, with how many there
    are: the links of a linked list."""
    kept = []
    for link, items in links:
        if link.kind in _CHAINED and any(link == before for before, _ in kept):
            at = next(i for i, (before, _) in enumerate(kept) if before == link)
            chained = Link(link.label, "linked", link.name, link.file, link.line, True)
            kept[at:] = [(chained, kept[at][1] + 1 if kept[at][0].kind == "linked" else 2)]
        elif (same := _linked(kept, link)) is not None:
            kept[same] = (kept[same][0], kept[same][1] + 1)
            del kept[same + 1 :]
        elif not kept or kept[-1][0] != link:
            kept.append((link, items))
    return kept


def _linked(kept, link):
    for at, (before, _) in enumerate(kept):
        if before.kind == "linked" and before.label == link.label:
            return at
    return None


def shortest_cycle(obj, most=4000):
    """[(object, name by which it refers to the next)] that leads back to the object; None: there
    is none within so many objects."""
    came, open_ = {id(obj): None}, deque([obj])
    while open_ and len(came) < most:
        at = open_.popleft()
        for child in gc.get_referents(at):
            if child is obj:
                return _way_back(came, at, obj)
            if id(child) in came or not gc.is_tracked(child):
                continue
            if isinstance(child, (type, types.ModuleType, types.FunctionType, types.FrameType)):
                continue
            came[id(child)] = (at, child)
            open_.append(child)
    return None


def _given_to(function):
    """What a function was given, and not all that its module knows."""
    return function.__closure__, function.__defaults__, function.__kwdefaults__, function.__dict__


def leads_to_the_program(obj, most=4000):
    """Whether an object leads to one of the program's classes, functions or frames, other than by
    way of modules and classes: no library has made it alone."""
    seen, open_ = {id(obj)}, deque([obj])
    while open_ and len(seen) < most:
        at = open_.popleft()
        if _is_of_the_program(at):
            return True
        is_function = isinstance(at, types.FunctionType)
        for child in _given_to(at) if is_function else gc.get_referents(at):
            is_apart = isinstance(child, (type, types.ModuleType)) or is_namespace(child)
            if id(child) not in seen and gc.is_tracked(child) and not is_apart:
                seen.add(id(child))
                open_.append(child)
    return False


def cycle_link(way):
    """The cycle as a root: nothing else keeps it. Its line is where a reference is made that could
    be a weak one: one to a single object, rather than to a list of them."""
    steps = [(type(one), name) for one, name in way if is_instance(one)]
    parts = [f"{kind.__name__}.{name}" if name else kind.__name__ for kind, name in steps]
    single = [
        (kind, name)
        for at, (one, name) in enumerate(way)
        if name and is_instance(one) and is_instance(way[(at + 1) % len(way)][0])
        for kind in [type(one)]
    ]
    kind, name = (single or [step for step in steps if step[1]] or [(object, None)])[-1]
    file = file_of(kind)
    line = source.line_for_name(file, name) if name and is_programs(file) else 0
    label = "a reference cycle"
    if parts:
        label = f"reference cycle {' → '.join([*parts, steps[0][0].__name__])}"
    return Link(label, "cycle", name or "", file, line, is_root=True)


def attribute_links(holder, sample, name):
    """From an object to what it keeps."""
    link = _link([holder, sample], [None, name], 1)
    return [] if link is None else [link]


def _way_back(came, last, obj):
    way = [last]
    while way[0] is not obj:
        way.insert(0, came[id(way[0])][0])
    kept, _ = without_own_dicts(way, [None] * len(way))
    return [
        (one, _name_among(own_dict(one) or {}, after) if is_instance(one) else None)
        for one, after in zip(kept, [*kept[1:], obj], strict=True)
    ]
