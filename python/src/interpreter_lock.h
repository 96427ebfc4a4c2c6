// The interpreter's lock, for threads of Python's and of our own, up to the interpreter's end and
// beyond it.
//
//   const Locked locked;                     // the thread may hold the lock already
//   let_go([&] { Py_DECREF(object_); });     // in a destructor: on any thread, at any time
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "interpreter_end.h"

namespace tidemark::python {

/// Takes the lock for a thread that gave it away with that state.
void take_gil(PyThreadState* thread);

/// PyGILState_Ensure would do the same, but reads what the interpreter's end has freed where a
/// thread comes to it after that. Here such a thread sleeps.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyThreadState* taken_ = nullptr;  // null: the thread held the lock
  bool is_made_ = false;            // the state, for a thread that had none
};

namespace detail {
/// False where objects are gone with the interpreter, or this thread would wait for it in vain.
bool may_let_go() noexcept;
}  // namespace detail

/// Runs `release`, which lets objects of Python go, with the lock; leaves them be where the
/// interpreter has ended.
template <class Release>
void let_go(Release&& release) {
  if (!detail::may_let_go()) return;
  const Locked locked;
  release();
}

/// Has threads be told of the interpreter's end while it can still be asked. Once, with the lock.
void watch_for_the_end();

}  // namespace tidemark::python
