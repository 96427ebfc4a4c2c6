#include "memory_reference.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

#if defined(__x86_64__)
__attribute__((target("avx2"))) void stream_half(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; i += 16) {
    const __m256 low = _mm256_load_ps(from + i);
    const __m256 high = _mm256_load_ps(from + i + 8);
    _mm256_stream_ps(to + i, low);
    _mm256_stream_ps(to + i + 8, high);
  }
  _mm_sfence();
}
bool can_stream() { return __builtin_cpu_supports("avx2"); }

__attribute__((target("avx2"))) float read_half_avx2(const float* from, size_t count) {
  __m256 sums[8] = {};
  for (size_t i = 0; i < count; i += 64) {
    for (int k = 0; k < 8; ++k) sums[k] = _mm256_add_ps(sums[k], _mm256_load_ps(from + i + 8 * k));
  }
  for (int k = 1; k < 8; ++k) sums[0] = _mm256_add_ps(sums[0], sums[k]);
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, sums[0]);
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}
#else
void stream_half(float* to, const float* from, size_t count) {
  std::memcpy(to, from, count * sizeof(float));
}
bool can_stream() { return false; }
#endif

float read_half(const float* from, size_t count) {
#if defined(__x86_64__)
  if (can_stream()) return read_half_avx2(from, count);
#endif
  float sums[16] = {};
  for (size_t i = 0; i < count; i += 16) {
    for (int k = 0; k < 16; ++k) sums[k] += from[i + k];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace

ThreadPair::ThreadPair() : other_([this] { serve(); }) {}

ThreadPair::~ThreadPair() {
  stopping_ = true;
  asked_.fetch_add(1);
  asked_.notify_one();
  other_.join();
}

void ThreadPair::run(const std::function<void(int)>& work) {
  work_ = &work;
  const uint32_t turn = asked_.fetch_add(1) + 1;
  asked_.notify_one();
  work(0);
  for (uint32_t done = done_.load(); done != turn; done = done_.load()) done_.wait(done);
}

void ThreadPair::serve() {
  for (uint32_t served = 0;; ++served) {
    asked_.wait(served);
    if (stopping_) return;
    (*work_)(1);
    done_.store(served + 1);
    done_.notify_one();
  }
}

// Counts are multiples of 128 floats and arrays start on 64 bytes, so halves need no tail.

void copy_plain(ThreadPair& threads, float* to, const float* from, size_t count) {
  const size_t half = count / 2;
  threads.run([=](int which) {
    std::memcpy(to + half * which, from + half * which, half * sizeof(float));
  });
}

void copy_streaming(ThreadPair& threads, float* to, const float* from, size_t count) {
  if (!can_stream()) return copy_plain(threads, to, from, count);
  const size_t half = count / 2;
  threads.run([=](int which) { stream_half(to + half * which, from + half * which, half); });
}

float read_all(ThreadPair& threads, const float* from, size_t count) {
  const size_t half = count / 2;
  float sums[2] = {};
  threads.run([&](int which) { sums[which] = read_half(from + half * which, half); });
  return sums[0] + sums[1];
}

}  // namespace bench
