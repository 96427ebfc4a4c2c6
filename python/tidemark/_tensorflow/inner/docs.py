"""``tensorflow.tools.docs.doc_controls``: marks for the pages of documentation, without effect."""

from __future__ import annotations


def _same(thing):
    return thing


do_not_doc_inheritable = do_not_generate_docs = doc_in_current_and_subclasses = _same
for_subclass_implementers = doc_private = _same


def set_deprecated(thing):
    return thing


def header(text):
    """Would put a text above a page."""
    return _same


inheritable_header = header
hide_from_search = _same
