#include "interpreter_lock.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "py_ref.h"

namespace tidemark::python {

namespace {

/// Held while a state is made for a thread, so that the interpreter is not freed meanwhile.
std::mutex making;
constinit std::atomic<bool> has_ended{false};  // set with the mutex held

PyThreadState* current_state() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

/// States are compared, not read: at the end those of other threads are freed.
bool holds_lock(PyThreadState* own) noexcept { return own && own == current_state(); }

PyThreadState* make_state() {
  {
    const std::lock_guard hold(making);
    if (!has_ended.load(std::memory_order_relaxed)) {
      PyThreadState* made = PyThreadState_New(PyInterpreterState_Main());
      return made ? made : throw std::bad_alloc();
    }
  }
  sleep_until_the_end();
}

void note_end(PyObject*) {
  const std::lock_guard hold(making);
  has_ended.store(true, std::memory_order_relaxed);
}

}  // namespace

void sleep_until_the_end() noexcept {
  for (;;) ::pause();
}

void take_gil(PyThreadState* thread) {
  unless_at_end([thread] { PyEval_RestoreThread(thread); });
}

Locked::Locked() {
  PyThreadState* own = PyGILState_GetThisThreadState();
  if (holds_lock(own)) return;
  is_made_ = own == nullptr;
  taken_ = is_made_ ? make_state() : own;
  take_gil(taken_);
}

Locked::~Locked() {
  if (!taken_) return;
  if (is_made_) {
    unless_at_end([this] { PyThreadState_Clear(taken_); });  // lets go of objects: may run Python
    PyThreadState_DeleteCurrent();
  } else {
    PyEval_SaveThread();
  }
}

bool detail::may_let_go() noexcept {
  if (holds_lock(PyGILState_GetThisThreadState())) {
    return !has_ended.load(std::memory_order_relaxed);
  }
  return Py_IsInitialized() != 0;
}

void watch_for_the_end() {
  // Kept by the interpreter itself, it goes after all modules and before what threads ask.
  static constexpr const char* kName = "tidemark.end";
  const Ref end = Ref::checked(PyCapsule_New(&making, kName, note_end));
  PyObject* kept = PyInterpreterState_GetDict(PyInterpreterState_Get());
  if (!kept) raise(PyExc_RuntimeError, "the interpreter keeps nothing for extensions");
  check(PyDict_SetItemString(kept, kName, end.get()));
  // A child of fork has none of the threads that might be inside.
  ::pthread_atfork(nullptr, nullptr, [] { new (&making) std::mutex; });
}

}  // namespace tidemark::python
