// frames.h for Python 3.11 to 3.13, whose frames are plain structures on the thread's own stack.
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#define Py_BUILD_CORE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#pragma GCC diagnostic pop
#include <opcode.h>

#include <algorithm>

#include "frames.h"

namespace tidemark::python {

namespace {

using Frame = _PyInterpreterFrame;

Frame* frame_of(const Place& place) noexcept { return static_cast<Frame*>(place.frame); }

Frame* current_frame() noexcept {
  PyThreadState* thread = PyThreadState_GET();
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame;
#else
  return thread->cframe->current_frame;
#endif
}

/// Null for the frames the interpreter puts between C and Python.
PyCodeObject* code_of(const Frame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  if (frame->owner == FRAME_OWNED_BY_CSTACK || !PyCode_Check(frame->f_executable)) return nullptr;
  return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#elif PY_VERSION_HEX >= 0x030C0000
  return frame->owner == FRAME_OWNED_BY_CSTACK ? nullptr : frame->f_code;
#else
  return frame->f_code;
#endif
}

bool find_place(Frame* frame, Place& place) noexcept {
  for (; frame; frame = frame->previous) {
    PyCodeObject* code = code_of(frame);
    if (!code) continue;
#if PY_VERSION_HEX >= 0x030D0000
    const _Py_CODEUNIT* at = frame->instr_ptr;
#else
    const _Py_CODEUNIT* at = frame->prev_instr;
#endif
    place.frame = frame;
    place.code = code;
    place.instruction =
        static_cast<int>(reinterpret_cast<const char*>(at) - code->co_code_adaptive);
    return true;
  }
  return false;
}

/// Instructions that push a value and change nothing else; those that may run Python code
/// (attributes, operators) cannot reach values on this frame's stack.
bool only_pushes(int opcode) noexcept {
  switch (opcode) {
    case CACHE:
    case NOP:
    case EXTENDED_ARG:
    case LOAD_FAST:
    case LOAD_CONST:
    case LOAD_GLOBAL:
    case LOAD_NAME:
    case LOAD_DEREF:
    case LOAD_ATTR:
    case PUSH_NULL:
    case BINARY_OP:
    case UNARY_NEGATIVE:
#if PY_VERSION_HEX >= 0x030C0000
    case LOAD_FAST_CHECK:
#endif
#if PY_VERSION_HEX >= 0x030D0000
    case LOAD_FAST_LOAD_FAST:
#endif
      return true;
    default:
      return false;
  }
}

}  // namespace

bool innermost_place(Place& place) noexcept { return find_place(current_frame(), place); }

bool outer_place(Place& place) noexcept { return find_place(frame_of(place)->previous, place); }

bool are_neighbours_on_stack(const Place& place, PyObject* left, PyObject* right) noexcept {
  PyObject* const* stack = frame_of(place)->localsplus + place.code->co_nlocalsplus;
  for (int i = 0; i + 1 < place.code->co_stacksize; ++i) {
    if (stack[i] == left && stack[i + 1] == right) return true;
  }
  return false;
}

bool flows_straight(PyCodeObject* code, int from, int to) {
  const Ref bytes = Ref::checked(PyCode_GetCode(code));
  const auto* opcodes = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes.get()));
  const auto size = static_cast<int>(PyBytes_GET_SIZE(bytes.get()));
  if (from < 0 || from >= to || to >= size || opcodes[to] != BINARY_OP) return false;
  int first = from + 2;  // the caches of the producing instruction follow it
  while (first < to && opcodes[first] == CACHE) first += 2;
  for (int i = first; i < to; i += 2) {
    if (!only_pushes(opcodes[i])) return false;
  }
  return true;
}

}  // namespace tidemark::python
#endif
