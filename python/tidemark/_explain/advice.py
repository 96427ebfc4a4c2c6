"""What to do about a finding: words made of the chain that was found, and, where the source allows
it, changes of the program in the order in which they are worth a try."""

from __future__ import annotations

import ast

from tidemark._explain import edits, links, source

_WIDTH = 70
_OBJECTS = {  # what to keep in place of the objects
    "persistent-tape": "the gradient",
    "variables-each-step": "the values you need",
    "constants-baked-in": "one function for all rounds",
    "dataset-buffer": "one iterator for all rounds",
    "function-in-loop": "one function for all rounds",
    "sessions-left-open": "the results",
}


def advise(finding, found):
    """Two lines that fit the finding: a line of the program as it should be, and why; or the rule's
    own words, where no change was ``found``."""
    chain = finding.chain
    if chain is None or finding.rule.startswith("retrace"):
        return finding.fix
    root = chain.links[0][0]
    if chain.grower is None and root.kind == "thread":
        name = chain.links[-1][0].name
        return (f"del {name}   # in {root.label}, before it waits\n"
                f"# or let the threads end: {name} lives as long as {root.label} runs")  # fmt: skip
    if root.kind == "native":
        return f"# line {finding.line}: hand {root.name}() a number: it keeps what it is given"
    if chain.grower is None and root.kind != "cycle":
        return finding.fix
    why = f"# line {finding.line}: {_why(finding, chain)}"
    if not found and finding.rule == "history-kept":
        return finding.fix
    if not found and chain.grower is not None and chain.grower.kind == "linked":
        return f"{why}\n# or {chain.grower.name} = None where the past is not needed any more"
    if not found:
        return f"{why}\n{finding.fix.splitlines()[-1]}"
    return f"{_shortened(_changed_line(*found[0][1:]))}\n{why}"


def _why(finding, chain):
    grower, name = chain.grower, _target(finding)
    if grower is None:
        return "a reference that does not keep what it refers to"
    name = name or grower.name
    if grower.kind == "lru_cache":
        return f"forgets the oldest; or {grower.name}.cache_clear() when it is used"
    if grower.kind == "linked":
        return "each keeps all that came before it"
    if finding.rule == "traceback-holds":
        return "the text: an error keeps the frames it went through"
    if finding.rule == "tensors-gathered" and _holds_tensors(chain):
        return f"a number; or empty {name} when you have used them"
    what = _OBJECTS.get(finding.rule, "a number of it")
    keep, but = f"or keep {what} in {name}", f", not {_between(chain)}".partition(" (")[0]
    return keep + but if len(keep + but) <= _WIDTH - len("# line 1000: ") else keep


def _changed_line(before, after):
    diff = edits.unified("", before, after).splitlines()[2:]
    added = [line[1:].strip() for line in diff if line.startswith("+")]
    taken = [line[1:].strip() for line in diff if line.startswith("-")]
    new = [line for line in added if line not in taken and not line.startswith("import ")]
    return (new or [f"# without: {taken[0]}" if taken else ""])[0]


def _shortened(line):
    line = line.partition("  #")[0]
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def _target(finding):
    """How the program writes what grows: self.history."""
    text = _text(finding.file)
    added = edits.Source(text).added(_line_adding(finding)) if text else None
    return ast.unparse(added[0]) if added else ""


def _line_adding(finding):
    """Where what grows is added to: of what is to be closed that is another line than the one to
    change."""
    chain = finding.chain
    is_opened = chain is not None and any(link.kind == links.OPENED for link, _ in chain.links)
    if is_opened and chain.grower is not None and chain.grower.file == finding.file:
        return chain.grower.line
    return finding.line


def _holds_tensors(chain):
    """Whether what grows has the tensors themselves, and no objects that have them."""
    return chain.links[-1][0] == chain.grower


def _between(chain):
    told = [link for link, _ in chain.links]
    inner = next(iter(told[told.index(chain.grower) + 1 :]), None)
    if inner is None:
        return "the tensors"
    if inner.kind == "attribute":
        return f"the {inner.label.split()[1].partition('.')[0]}"
    return f"the {inner.label.removesuffix(' made').removesuffix(' opened')}"


def _text(file):
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
        ast.parse(text)
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return ""
    return text


def changes(finding):
    """[(file, its text before, after)], what is most likely right first."""
    before = _text(finding.file)
    if not before or not finding.line:
        return []
    found = [after for after in _changes(finding, edits.Source(before)) if after]
    return [(finding.file, before, after) for after in dict.fromkeys(found) if after != before]


def _changes(finding, text):
    rule, line, chain = finding.rule, _line_adding(finding), finding.chain
    if rule == "graph-grows":
        yield text.before_the_loop(text.statement(line))
    if rule == "function-in-loop":
        for place in finding.made_at:
            made = source.parse_place(place)[1]
            yield text.before_the_loop(text.definition(made) or text.statement(made))
    name = finding.function
    if rule == "retrace-value":
        yield text.with_tensor_argument(line, name)
    elif rule == "retrace-identity":
        yield text.with_shared_argument(line, name)
    elif rule == "retrace-shape":
        yield text.with_any_shape(name)
    elif rule == "retrace-structure":
        yield text.with_stacked_argument(line, name)
    elif rule == "captured-state":
        yield text.with_argument(name, finding.holder.partition('"')[2].rpartition('"')[0])
    elif rule == "big-constant":
        yield text.before_the_function(name)
    elif rule == "threads-arenas":
        yield text.before_the_function(_function_at(finding), line)
    elif rule == "reference-cycle":
        yield text.with_weak_reference(line)
    elif rule == "dataset-buffer" and (chain is None or chain.grower is None):
        yield text.with_small_shuffle()
    if rule == "tensors-gathered" and chain is not None:
        yield text.with_numbers_of(line, _made_names(finding))
    # Where a function cannot be made before the loop, to keep fewer of them does not help.
    if chain is not None and chain.grower is not None and rule != "function-in-loop":
        yield from _of_container(rule, line, chain, text)


def _function_at(finding):
    """In which function the bytes are made."""
    return source.parse_place(finding.made_at[0])[2] if finding.made_at else ""


def _made_names(finding):
    """The variables that the lines which made the bytes assign."""
    names = set()
    for place in finding.made_at:
        file, line, _ = source.parse_place(place)
        if source.full_path(file) == finding.file:
            names |= source.names_made(finding.file, line)
    return names


def _of_container(rule, line, chain, text):
    kind = chain.grower.kind
    if kind == "lru_cache":
        yield text.with_small_cache(line)
    elif kind == "linked":
        yield text.without_past(chain.grower.line)
    elif rule == "traceback-holds":
        yield text.with_text(line)
    elif rule == "tensors-gathered" and _holds_tensors(chain):
        yield text.with_number(line)
    elif rule == "sessions-left-open" and (added := text.added(line)):
        yield text.without_adding(line, f"{ast.unparse(added[1])}.close()")
    if rule != "tensors-gathered":
        yield text.without_adding(line)
    yield text.bounded(line, _container(chain.grower))


def _container(link):
    """list, dict, …, also of an attribute: attribute Log.entries (list)."""
    if link.kind in ("attribute", "closure", "frame") and "(" in link.label:
        return link.label.rpartition("(")[2].rstrip(")").split()[0]
    return link.kind
