"""The line to change: the one that makes the program keep one more thing in every round.

What is to be closed is changed where it is opened. Else, on the way from the root to the bytes,
something grows, and what made it grow is known, from the surest:

1. the line after which it was seen to have more, while lines ran (``additions``);
2. the line that adds to it as the source tells, or, where it has no name in the program, to what
   has one nearest to it further out;
3. where no line of the program adds to it, the call that hands over what was made.

Where nothing of that is known, it is the line that the rule tells.
"""

from __future__ import annotations

from tidemark._explain import chains, links, source

_CONTAINERS = ("list", "dict", "set", "deque", "ndarray")


def find(finding, sorts, grows, additions):
    """(file, line, chain) of a finding about some sorts of bytes or objects; the chain is told
    anew where what keeps it is a call."""
    told, chain = (finding.file, finding.line), finding.chain
    if chain is None:
        return (*told, chain)
    for link, _ in chain.links:
        if link.kind == links.OPENED and link.line:
            return link.file, link.line, chain
    if grows or chain.grower:
        file, line = additions.line(sorts, chain, finding.made_at)
        if line:
            return file, line, chain
    file, line = added_at(chain, grows, [finding.file])
    if not line and not grows:
        return (*told, chain)
    if grows:
        file, line, chain = _nearer(chain, file, line, finding.made_at)
    return (file, line, chain) if line else (*told, chain)


def added_at(chain, grows=False, files=()):
    """(file, line) where what grows is added to; ("", 0): no line of the program is known.

    A container without a name, or in a library, is added to by way of what has a name further out.
    Where there is no container on the way, what keeps growing bytes grows itself. Of what a library
    alone keeps, it is the call in ``files`` that gave it there.
    """
    told = [link for link, _ in chain.links]
    if told[0].kind == "cycle" and told[0].line:
        return told[0].file, told[0].line
    if chain.grower is None and told[0].kind == "thread":
        return _line_of_starting(told, files)
    if chain.grower is None and not grows:
        return "", 0
    at = len(told) if chain.grower is None else told.index(chain.grower) + 1
    if chain.grower is not None and chain.grower.kind == "linked":
        line = _line_of_linking(chain.grower, told[at - 2] if at > 1 else None)
        if line[1]:
            return line
    for link in reversed(told[:at]):
        if link.line and links.is_programs(link.file):
            is_inside = link is not chain.grower and link.kind in ("variable", "generator")
            line = source.line_of_giving(link.file, link.name) if is_inside else 0
            return link.file, line or link.line
    names = {link.name for link in told if link.kind in ("class", "function", "object")}
    for file in files:
        if links.is_programs(file) and (line := source.line_of_call(file, names)):
            return file, line
    return "", 0


def _line_of_linking(linked, begin):
    """Where one more is made that refers to those before it, in one place alone; or where what
    refers to the newest of them is made anew of itself and one more."""
    sort, _, owner = linked.label.partition(" ")
    if sort == "attribute":
        kind = owner.partition(".")[0]
        making = source.lines_of_making(linked.file, kind, linked.name)
        if len(set(making)) == 1:
            return linked.file, making[0]
    if begin is not None and begin.line in source.lines_adding(begin.file, begin.name):
        return begin.file, begin.line
    return "", 0


def _line_of_starting(told, files):
    """Where a thread is made whose function is a library's: threading.Timer."""
    made = {link.label.partition(" ")[0] for link in told if link.name == "self"}
    for file in files:
        if made and links.is_programs(file) and (line := source.line_of_call(file, made)):
            return file, line
    return "", 0


def _nearer(chain, file, line, made_at):
    """Of several lines that add to what grows the one that adds what was made; (file, line, chain).

    Where no line of the program adds to it, that is the call which is handed what was made: the
    code that keeps it is not the program's."""
    grower, root = chain.grower, chain.links[0][0]
    names = {
        link.name for link, _ in chain.links if line and (link.file, link.line) == (file, line)
    }
    adding = {one for name in names if name for one in source.lines_adding(file, name)}
    if grower is not None and line not in adding and line and grower.kind not in _CONTAINERS:
        return file, line, chain
    if grower is None and root.kind != "running":
        return file, line, chain  # there is nothing that grows
    for place in made_at:
        made_in, made, _ = source.parse_place(place)
        made_in = source.full_path(made_in)
        if not made_in or not links.is_programs(made_in):
            continue
        if adding:
            lines = list(dict.fromkeys((line, *sorted(adding))))
            fitting = source.line_storing(file, made, lines) if made_in == file else 0
            return file, fitting or line, chain
        first, last = source.statement_range(file, line) if line else (0, 0)
        if made_in == file and first <= made <= last:
            return file, line, chain  # [f(x) for x in …]
        handed, called = source.line_of_handing_over(made_in, made)
        if handed and root.kind == "running":
            keeper = links.Link(f"what {called}() keeps", "native", called, made_in, handed)
            chain = chains.Chain(((keeper, 0), *chain.links[1:]), None, chain.what)
        if handed:
            return made_in, handed, chain
    return file, line, chain
