#include "tidemark/train/events.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "tidemark/base/text/crc32c.h"
#include "tidemark/base/wire.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/file_system.h"

namespace tidemark::train {

namespace {

/// Fields of TensorFlow's messages Event, Summary and Summary.Value.
enum EventField : uint32_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum SummaryField : uint32_t { kValue = 1 };
enum ValueField : uint32_t { kTag = 1, kSimpleValue = 2 };

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class T>
void put_plain(io::BytesSink& sink, uint32_t number, WireField::Type type, T value) {
  put_varint(sink, uint64_t{number} << 3 | static_cast<uint64_t>(type));
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  sink.append(std::string_view(bytes, sizeof(T)));
}

io::BytesSink event_of_now() {
  io::BytesSink event;
  put_plain(event, kWallTime, WireField::Type::fixed64, now());
  return event;
}

void append_checksum(std::string& to, std::string_view of) {
  const uint32_t sum = text::masked_crc32c(text::crc32c(of));
  to.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
}

}  // namespace

EventFile::EventFile(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  static std::atomic<int> number{0};  // files of one second and process differ
  char host[256] = "localhost";
  ::gethostname(host, sizeof(host) - 1);
  path_ = message(folder, "/events.out.tfevents.", static_cast<int64_t>(now()), ".", host, ".",
                  ::getpid(), ".", ++number);
  file_.reset(std::fopen(path_.c_str(), "ab"));
  if (!file_) io::fail_at(path_, "writing", errno);
  io::BytesSink event = event_of_now();
  put_bytes_field(event, kFileVersion, "brain.Event:2");
  write(event.bytes);
}

void EventFile::add(std::string_view tag, double value, int64_t step) {
  io::BytesSink number, summary, event = event_of_now();
  put_bytes_field(number, kTag, tag);
  put_plain(number, kSimpleValue, WireField::Type::fixed32, static_cast<float>(value));
  put_bytes_field(summary, kValue, number.bytes);
  put_varint_field(event, kStep, static_cast<uint64_t>(step));
  put_bytes_field(event, kSummary, summary.bytes);
  write(event.bytes);
}

void EventFile::write(std::string_view event) {
  const uint64_t size = event.size();
  std::string record(reinterpret_cast<const char*>(&size), sizeof(size));
  append_checksum(record, std::string(record));
  record += event;
  append_checksum(record, event);
  const bool done = std::fwrite(record.data(), 1, record.size(), file_.get()) == record.size() &&
                    std::fflush(file_.get()) == 0;
  if (!done) io::fail_at(path_, "writing", errno);
}

}  // namespace tidemark::train
