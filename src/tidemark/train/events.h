// EventFile: numbers over time, as TensorBoard reads them.
//
//   EventFile file("logs/train");
//   file.add("epoch_loss", 0.5, 3);
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace tidemark::train {

/// A file of its own in the folder, which is made. Each number is written at once, as one record.
class EventFile {
 public:
  /// Throws what the system says of the folder or the file.
  explicit EventFile(const std::string& folder);
  void add(std::string_view tag, double value, int64_t step);

 private:
  void write(std::string_view event);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace tidemark::train
