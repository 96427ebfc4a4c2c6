#include "tidemark/io/tflite/flatbuffer.h"

#include <tidemark/error.h>

#include "tidemark/io/input_file.h"

namespace tidemark::io::tflite {

void Flatbuffer::damaged(std::string_view what) const { fail_damaged(path_, what); }

std::string_view Flatbuffer::part(uint64_t place, uint64_t count) const {
  if (place > bytes_.size() || count > bytes_.size() - place) {
    damaged("it refers to what lies behind its end");
  }
  return bytes_.substr(place, count);
}

void Flatbuffer::spend(uint64_t items) const {
  if (items > left_) damaged("its tables refer to more than a file of its size can hold");
  left_ -= items;
}

Table Flatbuffer::root(std::string_view identifier) const {
  if (bytes_.size() < 8 || bytes_.substr(4, identifier.size()) != identifier) {
    damaged(message("it does not begin as a file of the kind ", identifier));
  }
  return {*this, at<uint32_t>(0)};
}

Table::Table(const Flatbuffer& file, uint64_t at) : file_(&file), at_(at) {
  file.spend(1);
  const int64_t fields = static_cast<int64_t>(at) - file.at<int32_t>(at);
  if (fields < 0) file.damaged("a table's list of fields lies before its beginning");
  fields_ = static_cast<uint64_t>(fields);
  fields_bytes_ = file.at<uint16_t>(fields_);
  (void)file.part(fields_, fields_bytes_);
}

uint64_t Table::place_of(int field) const {
  const auto entry = static_cast<uint64_t>(4 + 2 * field);
  if (entry + 2 > fields_bytes_) return 0;
  const auto offset = file_->at<uint16_t>(fields_ + entry);
  return offset == 0 ? 0 : at_ + offset;
}

uint64_t Table::target_of(int field) const {
  const uint64_t place = place_of(field);
  return place == 0 ? 0 : place + file_->at<uint32_t>(place);
}

std::pair<uint64_t, uint64_t> Table::vector_of(int field, uint64_t width) const {
  const uint64_t place = target_of(field);
  if (place == 0) return {0, 0};
  const uint64_t count = file_->at<uint32_t>(place);
  (void)file_->part(place + 4, count * width);
  file_->spend(width == 1 ? 1 : count);  // bytes are looked at where they lie
  return {place + 4, count};
}

std::string_view Table::bytes(int field) const {
  const auto [place, count] = vector_of(field, 1);
  return count == 0 ? std::string_view() : file_->part(place, count);
}
std::string_view Table::text(int field) const { return bytes(field); }

std::optional<Table> Table::table(int field) const {
  const uint64_t place = target_of(field);
  if (place == 0) return std::nullopt;
  return Table(*file_, place);
}

std::vector<Table> Table::tables(int field) const {
  const auto [place, count] = vector_of(field, 4);
  std::vector<Table> out;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t entry = place + i * 4;
    out.emplace_back(*file_, entry + file_->at<uint32_t>(entry));
  }
  return out;
}

std::vector<float> Table::reals(int field) const {
  const auto [place, count] = vector_of(field, 4);
  std::vector<float> out(count);
  if (count > 0) std::memcpy(out.data(), file_->part(place, count * 4).data(), count * 4);
  return out;
}

}  // namespace tidemark::io::tflite
