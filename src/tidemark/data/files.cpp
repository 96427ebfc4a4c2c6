// Elements read from files, a part at a time.
#include <cstring>
#include <string>

#include "tidemark/data/dataset.h"
#include "tidemark/data/file.h"
#include "tidemark/data/state.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::data {

namespace {

Tensor text_tensor(std::string_view text) { return Tensor::of_strings({&text, 1}, Shape{}); }

/// A scalar string of as many bytes, to be written.
Tensor new_text(uint64_t bytes) {
  Tensor t = new_tensor(DType::string, Shape{}, memory::Holder::value, static_cast<int64_t>(bytes));
  const StringRef text{t.nbytes(), bytes};
  std::memcpy(t.mutable_raw_data(), &text, sizeof(text));
  return t;
}

/// Files one after the other.
class Files {
 public:
  explicit Files(std::vector<std::string> names) : names_(std::move(names)) {}

  /// Null: none is open.
  File* now() { return file_.get(); }
  bool open_next() {
    file_.reset();
    if (next_ >= names_.size()) return false;
    file_ = std::make_unique<File>(names_[next_++]);
    return true;
  }
  void close() { file_.reset(); }
  void close_all() {
    file_.reset();
    next_ = names_.size();
  }

  void save(StateWriter& to, uint64_t position) const {
    to.number(static_cast<int64_t>(next_));
    to.number(file_ != nullptr);
    to.number(static_cast<int64_t>(position));
  }
  uint64_t restore(StateReader& from) {
    next_ = static_cast<size_t>(from.count(static_cast<int64_t>(names_.size())));
    const bool is_open = from.count(1);
    const auto position = static_cast<uint64_t>(from.count(kMostSaved));
    file_.reset();
    if (!is_open) return 0;
    if (next_ == 0) StateReader::damaged("no file is open");
    file_ = std::make_unique<File>(names_[next_ - 1]);
    file_->seek(position);
    return position;
  }

 private:
  std::vector<std::string> names_;
  std::unique_ptr<File> file_;
  size_t next_ = 0;
};

class Lines final : public Iterator {
 public:
  Lines(std::vector<std::string> files, int64_t buffer)
      : files_(std::move(files)),
        part_(new_tensor(DType::uint8, Shape{buffer}, memory::Holder::dataset)) {}

 private:
  bool take_next(Element& out) override {
    while (true) {
      if (find_line(out)) return true;
      if (files_.now() && refill()) continue;
      if (files_.now() && !pending_.empty()) return give(std::exchange(pending_, {}), out);
      if (!files_.open_next()) return false;
      begin_ = at_ = end_ = 0;
    }
  }
  const char* part() const { return static_cast<const char*>(part_.raw_data()); }
  bool find_line(Element& out) {
    const char* from = part() + at_;
    const auto* stop = static_cast<const char*>(std::memchr(from, '\n', end_ - at_));
    if (!stop) {
      pending_.append(from, end_ - at_);
      at_ = end_;
      return false;
    }
    std::string line = std::exchange(pending_, {});
    line.append(from, static_cast<size_t>(stop - from));
    at_ = static_cast<size_t>(stop - part()) + 1;
    return give(std::move(line), out);
  }
  bool give(std::string line, Element& out) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    out.assign(1, text_tensor(line));
    return true;
  }
  bool refill() {
    begin_ += end_;
    at_ = 0;
    end_ = files_.now()->read(static_cast<char*>(part_.mutable_raw_data()), part_.nbytes());
    return end_ > 0;
  }
  // Between two elements there is nothing pending.
  void save_state(StateWriter& to) override { files_.save(to, begin_ + at_); }
  void restore_state(StateReader& from) override {
    begin_ = files_.restore(from);
    at_ = end_ = 0;
    pending_.clear();
  }

  Files files_;
  Tensor part_;
  std::string pending_;
  uint64_t begin_ = 0;  // of the part, in the file
  size_t at_ = 0, end_ = 0;
};

class Records final : public Iterator {
 public:
  explicit Records(std::vector<std::string> files) : files_(std::move(files)) {}

 private:
  bool take_next(Element& out) override {
    while (true) {
      if (files_.now() && read_record(out)) return true;
      if (!files_.open_next()) return false;
      at_ = 0;
    }
  }

  template <class... Pieces>
  [[noreturn]] void corrupted(const Pieces&... pieces) {
    const std::string where = message(files_.now()->path(), " at byte ", at_, ": ", pieces...);
    files_.close_all();  // what follows damage cannot be trusted
    throw DataLossError(message("corrupted record in ", where));
  }

  bool read_record(Element& out) {
    File& file = *files_.now();
    char head[12];
    const size_t got = file.read(head, sizeof(head));
    if (got == 0) return false;
    if (got < sizeof(head)) corrupted("the file ends in the middle of a length");
    uint64_t length = 0;
    uint32_t check = 0;
    std::memcpy(&length, head, 8);
    std::memcpy(&check, head + 8, 4);
    if (masked_checksum(head, 8) != check) corrupted("the checksum of the length is wrong");
    if (length > kMostRecordBytes) corrupted("a record of ", length, " bytes");
    if (at_ + sizeof(head) + length + 4 > file.size()) {
      corrupted("the file ends in the middle of a record of ", length, " bytes");
    }
    Tensor record = new_text(length);
    char* text = string_area(record);
    if (file.read(text, length) < length ||
        file.read(reinterpret_cast<char*>(&check), sizeof(check)) < sizeof(check)) {
      corrupted("the file ends in the middle of a record of ", length, " bytes");
    }
    if (masked_checksum(text, length) != check) corrupted("the checksum of the record is wrong");
    at_ += length + 16;
    out.assign(1, std::move(record));
    return true;
  }
  void save_state(StateWriter& to) override { files_.save(to, at_); }
  void restore_state(StateReader& from) override { at_ = files_.restore(from); }

  /// Records are no longer than this, where the file cannot tell how long it is.
  static constexpr uint64_t kMostRecordBytes = uint64_t{1} << 31;
  Files files_;
  uint64_t at_ = 0;
};

class FixedRecords final : public Iterator {
 public:
  FixedRecords(std::vector<std::string> files, uint64_t record, uint64_t header, uint64_t footer)
      : files_(std::move(files)), record_(record), header_(header), footer_(footer) {}

 private:
  bool take_next(Element& out) override {
    while (true) {
      if (files_.now() && at_ + record_ + footer_ <= files_.now()->size()) {
        Tensor text = new_text(record_);
        if (files_.now()->read(string_area(text), record_) < record_) {
          fail<DataLossError>(files_.now()->path(), " became shorter while it was read");
        }
        at_ += record_;
        out.assign(1, std::move(text));
        return true;
      }
      if (!files_.open_next()) return false;
      check_size();
      files_.now()->seek(header_);
      at_ = header_;
    }
  }
  void check_size() {
    const uint64_t size = files_.now()->size();
    const uint64_t around = header_ + footer_;
    if (size >= around && (size - around) % record_ == 0) return;
    const std::string path = files_.now()->path();
    files_.close();
    fail("Excluding the header (", header_, " bytes) and footer (", footer_, " bytes), input file ",
         path, " has body length ", size < around ? 0 : size - around,
         " bytes, which is not an exact multiple of the record length (", record_, " bytes).");
  }
  void save_state(StateWriter& to) override { files_.save(to, at_); }
  void restore_state(StateReader& from) override { at_ = files_.restore(from); }

  Files files_;
  uint64_t record_, header_, footer_;
  uint64_t at_ = 0;
};

/// Elements that were written as records.
class Decoded final : public Iterator {
 public:
  explicit Decoded(std::unique_ptr<Iterator> records) : records_(std::move(records)) {}

 private:
  bool take_next(Element& out) override {
    Element record;
    if (!records_->next(record)) return false;
    out = decode(record[0].string_at(0));
    return true;
  }
  int64_t leave_out(int64_t count) override { return records_->skip(count); }
  void save_state(StateWriter& to) override { records_->save(to); }
  void restore_state(StateReader& from) override { records_->restore(from); }

  std::unique_ptr<Iterator> records_;
};

bool is_there(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file) std::fclose(file);
  return file != nullptr;
}

class CachedInFile final : public Dataset {
 public:
  CachedInFile(DatasetRef of, std::string file)
      : Dataset("cache"), of_(std::move(of)), file_(std::move(file)) {}
  int64_t cardinality() const override { return of_->cardinality(); }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<CachedInFileIterator>(of_, file_);
  }

  class CachedInFileIterator final : public Iterator {
   public:
    CachedInFileIterator(DatasetRef of, std::string file)
        : of_(std::move(of)), file_(std::move(file)) {
      if (is_there(file_)) {
        read();
      } else {
        from_ = of_->iterate();
        writer_ = std::make_unique<RecordWriter>(file_);
      }
    }

   private:
    void read() {
      reads_ = true;
      from_ = elements_in_file(file_, kUnknown)->iterate();
    }
    bool take_next(Element& out) override {
      if (!from_) return false;
      if (from_->next(out)) {
        if (writer_) writer_->add(encode(out));
        return true;
      }
      from_.reset();
      if (writer_) writer_->finish();
      writer_.reset();
      return false;
    }
    /// What was written so far stays behind: an iterator that goes on computes, and writes nothing.
    void save_state(StateWriter& to) override {
      to.number(reads_);
      save_if(to, from_.get());
    }
    void restore_state(StateReader& from) override {
      writer_.reset();
      if (from.count(1) && !reads_) read();
      from_ = restore_if(from, [&] { return from_ ? std::move(from_) : of_->iterate(); });
    }

    DatasetRef of_;
    std::string file_;
    std::unique_ptr<Iterator> from_;
    std::unique_ptr<RecordWriter> writer_;
    bool reads_ = false;
  };

  DatasetRef of_;
  std::string file_;
};

}  // namespace

DatasetRef text_lines(std::vector<std::string> files, int64_t buffer) {
  if (buffer <= 0) buffer = 256 << 10;
  return generated(
      [files = std::move(files), buffer]() -> std::unique_ptr<Iterator> {
        return std::make_unique<Lines>(files, buffer);
      },
      kUnknown, "TextLineDataset");
}

DatasetRef tf_records(std::vector<std::string> files) {
  return generated(
      [files = std::move(files)]() -> std::unique_ptr<Iterator> {
        return std::make_unique<Records>(files);
      },
      kUnknown, "TFRecordDataset");
}

DatasetRef fixed_records(std::vector<std::string> files, int64_t record, int64_t header,
                         int64_t footer) {
  if (record <= 0) fail("`record_bytes` must be > 0; given was ", record);
  if (header < 0) fail("`header_bytes` must be >= 0; given was ", header);
  if (footer < 0) fail("`footer_bytes` must be >= 0; given was ", footer);
  const auto of = [](int64_t bytes) { return static_cast<uint64_t>(bytes); };
  return generated(
      [files = std::move(files), record = of(record), header = of(header),
       footer = of(footer)]() -> std::unique_ptr<Iterator> {
        return std::make_unique<FixedRecords>(files, record, header, footer);
      },
      kUnknown, "FixedLengthRecordDataset");
}

DatasetRef elements_in_file(std::string file, int64_t count) {
  const DatasetRef records = tf_records({std::move(file)});
  return generated(
      [records]() -> std::unique_ptr<Iterator> {
        return std::make_unique<Decoded>(records->iterate());
      },
      count, "load");
}

DatasetRef cache_in_file(DatasetRef of, std::string file) {
  return std::make_shared<CachedInFile>(std::move(of), std::move(file));
}

int64_t write_elements(const Dataset& of, const std::string& file) {
  RecordWriter writer(file);
  int64_t count = 0;
  Element one;
  for (const auto it = of.iterate(); it->next(one); ++count) {
    writer.add(encode(one));
    one.clear();
  }
  writer.finish();
  return count;
}

}  // namespace tidemark::data
