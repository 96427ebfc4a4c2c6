// The running Python frames, read without making frame objects where the interpreter allows it.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

/// One frame of the running thread. Pointers are borrowed and hold until the frame goes on.
struct Place {
  void* frame = nullptr;  // private to frames*.cpp
  PyCodeObject* code = nullptr;
  int instruction = 0;  // byte offset into the code
};

/// The innermost frame that runs Python code; false: there is none. Needs the GIL.
bool innermost_place(Place& place) noexcept;
/// Moves on to the caller's frame; false: there is none.
bool outer_place(Place& place) noexcept;

/// True iff the two objects lie next to each other on the frame's value stack, as the operands of
/// a binary instruction do. Values the frame has popped may still be found. Always false where the
/// stack cannot be read.
bool are_neighbours_on_stack(const Place& place, PyObject* left, PyObject* right) noexcept;

/// True iff code[from] runs into code[to] in a straight line and nothing between them stores a
/// value, calls a function or jumps: what the first leaves on the stack, only the second can take.
/// `to` must be a binary operator. Always false where the stack cannot be read.
bool flows_straight(PyCodeObject* code, int from, int to);

}  // namespace tidemark::python
