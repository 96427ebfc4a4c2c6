// tf.io: examples, CSV and sparse tensors as text, and files.
//
//   td::Tensor line = td::constant({"1,2.5,a", "3,,b"});
//   std::vector<td::Tensor> columns =
//       td::io::decode_csv(line, {td::constant(0), td::constant(1.f), td::constant("")});
//   td::io::write_file("out/first.txt", td::constant("text"));
//   td::Tensor names = td::io::matching_files("out/*.txt");
//
//   td::io::Parsed found = td::io::parse_example(examples, {
//       {"place", td::io::FixedLenFeature({2}, td::float32)},
//       {"words", td::io::VarLenFeature(td::DType::string)}});
//   td::Tensor place = found.at("place").dense();                // (examples, 2)
//   td::SparseTensor words = found.at("words").sparse();
#pragma once

#include <tidemark/image.h>
#include <tidemark/ragged.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tidemark {
class Graph;  // <tidemark/session.h>
}  // namespace tidemark

namespace tidemark::io {

using tidemark::read_file;

// --- examples -----------------------------------------------------------------------------------

/// As many values in each example as the shape says. Dtypes of features are float32, int64, string.
struct FixedLenFeature {
  FixedLenFeature(Ints shape, DType dtype, Tensor default_value = {})
      : shape(std::move(shape)), dtype(dtype), default_value(std::move(default_value)) {}
  Ints shape;
  DType dtype;
  Tensor default_value;  // none: it has to be there
};
/// Rows of the shape, any number in each example; filled up with `default_value` to the longest.
struct FixedLenSequenceFeature {
  FixedLenSequenceFeature(Ints shape, DType dtype, bool allow_missing = false,
                          Tensor default_value = {})
      : shape(std::move(shape)),
        dtype(dtype),
        allow_missing(allow_missing),
        default_value(std::move(default_value)) {}
  Ints shape;
  DType dtype;
  bool allow_missing;
  Tensor default_value;
};
/// Any number of values in each example, as a sparse matrix, or as rows.
struct VarLenFeature {
  explicit VarLenFeature(DType dtype) : dtype(dtype) {}
  DType dtype;
};
struct RaggedFeature {
  explicit RaggedFeature(DType dtype, std::string value_key = "")
      : dtype(dtype), value_key(std::move(value_key)) {}
  DType dtype;
  std::string value_key;  // none: the feature's name
};
/// Values at the places that other features name, one for each of `size`.
struct SparseFeature {
  SparseFeature(std::vector<std::string> index_key, std::string value_key, DType dtype, Ints size,
                bool already_sorted = false)
      : index_key(std::move(index_key)),
        value_key(std::move(value_key)),
        dtype(dtype),
        size(std::move(size)),
        already_sorted(already_sorted) {}
  std::vector<std::string> index_key;
  std::string value_key;
  DType dtype;
  Ints size;
  bool already_sorted;
};

using Feature = std::variant<FixedLenFeature, VarLenFeature, RaggedFeature, FixedLenSequenceFeature,
                             SparseFeature>;
using Features = std::map<std::string, Feature>;

/// What a feature was parsed to. Asked for as something else it throws InvalidArgumentError.
class TIDEMARK_API ParsedFeature {
 public:
  template <class T>
  ParsedFeature(T held) : held_(std::move(held)) {}
  const Tensor& dense() const;
  const SparseTensor& sparse() const;
  const RaggedTensor& ragged() const;
  const std::variant<Tensor, SparseTensor, RaggedTensor>& held() const { return held_; }

 private:
  std::variant<Tensor, SparseTensor, RaggedTensor> held_;
};
using Parsed = std::map<std::string, ParsedFeature>;

/// The features of serialized Example messages, a vector of them, or one, a scalar.
TIDEMARK_API Parsed parse_example(const Tensor& serialized, const Features& features);
TIDEMARK_API Parsed parse_single_example(const Tensor& serialized, const Features& features);

struct ParsedSequence {
  Parsed context, feature_lists;
  std::map<std::string, Tensor> feature_list_lengths;  // of lists that are filled up
};
/// The features of SequenceExample messages: of their contexts, and of their lists, a frame each.
TIDEMARK_API ParsedSequence parse_sequence_example(const Tensor& serialized,
                                                   const Features& context_features,
                                                   const Features& sequence_features);
TIDEMARK_API ParsedSequence parse_single_sequence_example(const Tensor& serialized,
                                                          const Features& context_features,
                                                          const Features& sequence_features);

/// Examples, each as protocol buffers write JSON, as the bytes of their messages.
TIDEMARK_API Tensor decode_json_example(const Tensor& json_examples);

// --- text ---------------------------------------------------------------------------------------

struct DecodeCsvOptions {
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value = "";
  Ints select_cols = {};  // none: all
};
/// The columns of CSV records, each of its default's dtype, which stands for empty fields; a
/// default without elements: fields have to be there.
TIDEMARK_API std::vector<Tensor> decode_csv(const Tensor& records,
                                            const std::vector<Tensor>& record_defaults,
                                            const DecodeCsvOptions& options = {});
/// Indices, values and shape, each as a string; and a row of those for each row.
TIDEMARK_API Tensor serialize_sparse(const SparseTensor& sp_input);
TIDEMARK_API Tensor serialize_many_sparse(const SparseTensor& sp_input);
/// Sparse tensors of all rows as the rows of one.
TIDEMARK_API SparseTensor deserialize_many_sparse(const Tensor& serialized_sparse, DType dtype);

// --- files --------------------------------------------------------------------------------------

/// Writes a string to a file, whose folder is made where there is none.
TIDEMARK_API void write_file(const Tensor& filename, const Tensor& contents);
/// The names of the files that match a pattern, or one of several, sorted.
TIDEMARK_API Tensor matching_files(const Tensor& pattern);
struct WriteGraphOptions {
  bool as_text = true;
};
/// Writes a graph's GraphDef into a folder, which is made where there is none; gives the path.
TIDEMARK_API std::string write_graph(const Graph& graph, const std::string& logdir,
                                     const std::string& name,
                                     const WriteGraphOptions& options = {});

}  // namespace tidemark::io
