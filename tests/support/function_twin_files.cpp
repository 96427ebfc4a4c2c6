// Functions of tf.io, tf.audio and tf.ragged, and others that take or give strings, which travel as
// rows of bytes filled up with -1, and come back as their hashes.
#include <filesystem>

#include "function_twin.h"

namespace td = tidemark;

namespace function_twin {

namespace {

namespace io = tidemark::io;
namespace rg = tidemark::ragged;
namespace sp = tidemark::sparse;

td::Tensor hashes(const td::Tensor& strings) {
  return td::string_to_hash_bucket_fast(strings, 1 << 20);
}

/// A string for each row of bytes.
td::Tensor strings_of(const td::Tensor& bytes) {
  std::vector<std::string> all;
  for (int64_t row = 0; row < bytes.dim(0); ++row) {
    std::string& text = all.emplace_back();
    for (int64_t i = 0; i < bytes.dim(1); ++i) {
      const int32_t byte = bytes.data<int32_t>()[row * bytes.dim(1) + i];
      if (byte >= 0) text.push_back(static_cast<char>(byte));
    }
  }
  const std::vector<std::string_view> views(all.begin(), all.end());
  return td::Tensor::of_strings(views, {bytes.dim(0)});
}

void add(Tensors& out, const td::Tensor& x) {
  out.push_back(x.dtype() == td::DType::string ? hashes(x) : x);
}
void add(Tensors& out, const td::SparseTensor& x) {
  for (const td::Tensor& part : {x.indices, x.values, x.dense_shape}) add(out, part);
}
void add(Tensors& out, const td::RaggedTensor& x) {
  for (const td::Tensor& part : {x.values, x.row_splits}) add(out, part);
}
template <class... All>
Tensors parts(const All&... all) {
  Tensors out;
  (add(out, all), ...);
  return out;
}
void add(Tensors& out, const io::Parsed& parsed) {
  for (const auto& [key, value] : parsed) {
    std::visit([&](const auto& one) { add(out, one); }, value.held());
  }
}

io::Features features() {
  return {{"f", io::FixedLenFeature({2}, td::float32)},
          {"default", io::FixedLenFeature({}, td::int64, td::Tensor(int64_t{7}))},
          {"i", io::VarLenFeature(td::int64)},
          {"rows", io::RaggedFeature(td::DType::string, "s")},
          {"s", io::FixedLenSequenceFeature({}, td::DType::string, true)},
          {"pairs", io::FixedLenSequenceFeature({2}, td::int64, true, td::Tensor(int64_t{-1}))},
          {"x", io::SparseFeature({"i"}, "v", td::float32, {9})}};
}

Tensors parsed_examples(const Tensors& x) {
  const td::Tensor serialized = strings_of(x[0]);
  Tensors out;
  add(out, io::parse_example(serialized, features()));
  add(out, io::parse_single_example(serialized.rows(0, 1).reshaped({}), features()));
  return out;
}

Tensors parsed_sequences(const Tensors& x) {
  const td::Tensor serialized = strings_of(x[0]);
  const io::Features lists = {{"a", io::FixedLenSequenceFeature({2}, td::float32, true)},
                              {"b", io::VarLenFeature(td::int64)}};
  const io::ParsedSequence found =
      io::parse_sequence_example(serialized, {{"c", io::FixedLenFeature({}, td::int64)}}, lists);
  Tensors out;
  add(out, found.context);
  add(out, found.feature_lists);
  add(out, found.feature_list_lengths.at("a"));
  return out;
}

Tensors columns(const Tensors&) {
  const td::Tensor records = td::constant({"1,2.5,a,9", "-3,,\"b,c\",8", ",1e3,,7"});
  Tensors out;
  const Tensors defaults = {td::constant(5), td::constant(-1.f), td::constant("none"),
                            td::Tensor::uninitialized(td::int64, {0})};
  for (const td::Tensor& one : io::decode_csv(records, defaults)) add(out, one);
  auto traced = td::function([&](td::Tensor lines) {
    return io::decode_csv(lines, {defaults[3]}, {.select_cols = {3}})[0];
  });
  add(out, traced(records));
  return out;
}

Tensors crossed(const Tensors& x) {
  const td::RaggedTensor words = rg::constant({{"a", "b"}, {"c"}});
  const std::vector<rg::Column> all = {words, x[0], sp::from_dense(x[1])};
  return parts(sp::cross(all), sp::cross_hashed(all, {.num_buckets = 1000}), rg::cross(all));
}

Tensors rows(const Tensors& x) {
  const td::RaggedTensor some = rg::constant({{1.f, 2.f}, {}, {3.f}});
  const td::RaggedTensor mask = rg::constant({{true, false}, {}, {true}});
  const td::FilledRows filled = td::ragged_fill_empty_rows(x[0], x[1], 5, -1.f);
  const auto gradients = td::ragged_fill_empty_rows_grad(filled.reverse_index_map, filled.values);
  return parts(some, rg::range({0}, td::constant({3, 0, 2})), rg::range(x[0], 9, 2),
               rg::stack({x[1], x[1] * 2.f}), rg::boolean_mask(some, mask),
               rg::stack_dynamic_partitions(x[1], td::constant({2, 0, 0, 2}), 3),
               rg::row_splits_to_segment_ids(some.row_splits), rg::segment_ids_to_row_splits(x[0]),
               rg::segment_ids_to_row_splits(x[0], 6),
               rg::map_flat_values([](const td::Tensor& v) { return v * 2.f; }, some),
               filled.value_rowids, filled.values, filled.empty_row_indicator,
               filled.reverse_index_map, gradients.first, gradients.second);
}

Tensors files(const Tensors&) {
  const auto folder = std::filesystem::temp_directory_path() / "function_twin_files" /
                      std::to_string(td::timestamp().item<double>());
  io::write_file((folder / "b.txt").c_str(), "text");
  io::write_file((folder / "a.txt").c_str(), "more");
  const td::Tensor names = io::matching_files((folder / "*.txt").c_str());
  Tensors out = parts(io::read_file(std::string(names.string_at(0))), td::size(names));
  std::filesystem::remove_all(folder);
  return out;
}

Tensors as_strings(const Tensors& x) {
  const td::SparseTensor s = sp::from_dense(x[0]);
  const td::Tensor many = io::serialize_many_sparse(s);
  return parts(io::serialize_sparse(s), many, io::deserialize_many_sparse(many, td::float32));
}

Tensors fingerprints(const Tensors& x) {
  const td::Tensor words = td::constant({"a", "bc", "", "d"});
  return {td::fingerprint(x[0]), td::fingerprint(words),
          td::fingerprint(td::reshape(words, td::constant({2, 2})))};
}

}  // namespace

Functions file_functions() {
  return {
      {"io.parse_example", parsed_examples},
      {"io.decode_json_example",
       [](const Tensors& x) {
         const td::Tensor texts = td::constant(
             {R"({"features": {"feature": {"f": {"floatList": {"value": [1.5, "2"]}}}}})",
              R"({"features": {"feature": {"f": {"float_list": {"value": [0, 4]}},
                 "pairs": {"int64List": {"value": ["-9223372036854775807", 4]}},
                 "s": {"bytesList": {"value": ["aGk=", "_-8"]}}}}})"});
         auto step = td::function([](td::Tensor t) { return io::decode_json_example(t); });
         Tensors out;
         add(out, io::parse_example(io::decode_json_example(texts), features()));
         out.push_back(td::cast(td::equal(step(texts), io::decode_json_example(texts)), td::int32));
         try {
           io::decode_json_example(td::constant("{no"));
         } catch (const td::InvalidArgumentError&) {
           out.push_back(x[0]);
         }
         return out;
       }},
      {"io.parse_sequence_example", parsed_sequences},
      {"io.decode_csv", columns},
      {"io.files", files},
      {"io.serialize_sparse", as_strings},
      {"sparse.cross", crossed},
      {"ragged", rows},
      {"fingerprint", fingerprints},
      {"audio",
       [](const Tensors& x) {
         const td::Tensor file = td::audio::encode_wav(x[0], 8000);
         const auto whole = td::audio::decode_wav(file);
         const auto part =
             td::audio::decode_wav(file, {.desired_channels = 1, .desired_samples = 9});
         return parts(file.reshaped({1}), whole.audio, whole.sample_rate, part.audio);
       }},
      {"edit_distance",
       [](const Tensors& x) {
         const td::SparseTensor a = sp::from_dense(x[0]), b = sp::from_dense(x[1]);
         return Tensors{td::edit_distance(a, b), td::edit_distance(a, b, false)};
       }},
      {"sparse.more",
       [](const Tensors& x) {
         const td::SparseTensor s = sp::from_dense(x[0]);
         const auto [filled, is_empty] = sp::fill_empty_rows(s, -1.f);
         const auto halves = sp::split(s, 3, 1);
         const td::IndexedSlices some{x[0], td::constant({4, 7, 1}), td::constant({9, 4})};
         const td::IndexedSlices kept = sp::mask(some, td::constant({7, 3}));
         return parts(kept.values, kept.indices, filled, is_empty, halves[0], halves[1], halves[2],
                      sp::sampled_addmm(s, x[1], x[2], {.beta = 0.5, .alpha = 2}),
                      td::sets::size(sp::from_dense(td::cast(x[0], td::int32))));
       }},
      {"sparse.bincount",
       [](const Tensors& x) {
         return parts(sp::bincount(x[0]), sp::bincount(x[0], {.axis = -1, .minlength = 9}),
                      sp::bincount(x[0], {.axis = -1, .maxlength = 3, .binary_output = true}),
                      sp::bincount(x[0], {.weights = x[1]}),
                      sp::bincount(sp::from_dense(x[0]), {.axis = -1}));
       }},
  };
}

}  // namespace function_twin
