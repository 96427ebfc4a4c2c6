// frames.h for Pythons whose frames are only known through frame objects: 3.10, and those newer
// than the ones frames_internal.cpp was written for.
#include <patchlevel.h>
#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030E0000 || defined(Py_GIL_DISABLED)
#include "frames.h"

#include <frameobject.h>

namespace tidemark::python {

namespace {

/// Place::frame stays borrowed: frames on the stack of a running thread outlive the walk.
bool look_at(PyFrameObject* frame, Place& place) noexcept {
  if (!frame) return false;
  place.frame = frame;
  place.code = PyFrame_GetCode(frame);
  Py_DECREF(place.code);  // the frame holds it
#if PY_VERSION_HEX >= 0x030B0000
  place.instruction = PyFrame_GetLasti(frame);
#else
  place.instruction = frame->f_lasti * 2;
#endif
  return true;
}

}  // namespace

bool innermost_place(Place& place) noexcept {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  const bool found = look_at(frame, place);
  Py_XDECREF(frame);
  return found;
}

bool outer_place(Place& place) noexcept {
  PyFrameObject* frame = PyFrame_GetBack(static_cast<PyFrameObject*>(place.frame));
  const bool found = look_at(frame, place);
  Py_XDECREF(frame);
  return found;
}

bool are_neighbours_on_stack(const Place&, PyObject*, PyObject*) noexcept { return false; }

bool flows_straight(PyCodeObject*, int, int) { return false; }

}  // namespace tidemark::python
#endif
