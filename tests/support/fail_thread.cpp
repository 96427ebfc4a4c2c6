// Makes the start of one thread fail, as where a user may have no more. Loaded before a program:
//
//   FAIL_THREAD=3 LD_PRELOAD=libfail_thread.so program    # the third
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* made,
                                                                     const pthread_attr_t* how,
                                                                     void* (*run)(void*),
                                                                     void* given) {
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  static const char* const wanted = std::getenv("FAIL_THREAD");
  static std::atomic<int> started{0};
  if (wanted && ++started == std::atoi(wanted)) return EAGAIN;
  return next(made, how, run, given);
}
