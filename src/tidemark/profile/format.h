// The format of recordings: docs/recording-format.md tells it in full.
//
// A header, then blocks. A block is its kind, its length and its bytes; whoever does not know a
// kind skips it. Everything is little-endian.
#pragma once

#include <cstdint>

namespace tidemark::profile {

inline constexpr char kMagic[8] = {'T', 'I', 'D', 'E', 'M', 'A', 'R', 'K'};
inline constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // blocks begin there
  int64_t started;        // nanoseconds since 1970
  int64_t pid;
  int64_t limit;  // of the process's tensor memory, in bytes
  uint64_t flags;
  uint64_t reserved[2];
};
static_assert(sizeof(Header) == 64);

inline constexpr uint64_t kFromRing = 1;  // the oldest events may be missing

enum class BlockKind : uint32_t { events = 1, name = 2, end = 3, plan = 4 };
struct BlockHead {
  uint32_t kind;
  uint32_t bytes;
};

enum class EventKind : uint8_t {
  found = 1,  // a buffer that was alive when the recording began
  allocate,
  free,
  change,  // of holder or size
  op,
  step,
  call,  // of a function
  session,
  gradient,
  trace,
  plan,
  lost,  // `value` events could not be kept
  work,  // of a device other than the CPU
};
inline constexpr int kEventKinds = 14;

/// Buffers: `id` is the buffer (unique among the live), `value` its bytes as charged.
/// Ops: `id` is the thread, `value` the nanoseconds it took; `time` is its beginning. Work: the
/// same, and `id` is the number of a text, the device.
/// Marks (step, call, session, gradient, trace, plan): `id` is the number of a text, `value` a
/// number that belongs to it.
struct Event {
  uint64_t time;  // nanoseconds since the start
  uint64_t id;
  uint64_t value;
  uint32_t place;  // number of a name
  uint16_t op;     // number of a name
  EventKind kind;
  uint8_t holder;  // a memory::Holder; kIdle where the buffer waits for its next use
};
static_assert(sizeof(Event) == 32);
inline constexpr uint8_t kIdle = 0x80;

/// Names are numbered from 1 in each table; 0 is none. `device` has the numbers of places: a line
/// whose buffers lie on a device other than the CPU is a place of its own, and the text is the
/// device and its limit in bytes, "gpu:0 1073741824".
enum class NameTable : uint32_t { place = 0, op = 1, text = 2, device = 3 };
inline constexpr int kNameTables = 4;
struct NameHead {
  uint32_t table;
  uint32_t number;  // then the text, up to the end of the block
};

/// The map of a plan: the head, then its buffers up to the end of the block.
struct PlanHead {
  uint64_t time;
  int64_t arena, results, peak, lower_bound;  // bytes
  uint32_t name;                              // number of a text: whose plan it is
  uint32_t place;                             // who called it first
};
static_assert(sizeof(PlanHead) == 48);
struct PlanBuffer {
  enum Kind : uint32_t { in_arena, workspace, result, own };
  int64_t bytes, offset;  // the offset is of those in the arena
  uint32_t first, last;   // steps of the plan
  uint32_t name;          // number of a text: the op
  uint32_t place;
  uint32_t kind;
  uint32_t reserved;
};
static_assert(sizeof(PlanBuffer) == 40);

struct EndBlock {
  uint64_t events;
  uint64_t lost;
};

}  // namespace tidemark::profile
