#include "tidemark/io/tflite/contents.h"

#include <tidemark/error.h>

#include "tidemark/io/tflite/flatbuffer.h"
#include "tidemark/io/tflite/kinds.h"

namespace tidemark::io::tflite {

namespace {

constexpr int kMostDims = 16;

/// The numbers of the format's element types, in order; 13 and 14 are resources and variants.
constexpr Element kElements[] = {
    Element::float32, Element::float16,    Element::int32,  Element::uint8,     Element::int64,
    Element::string,  Element::boolean,    Element::int16,  Element::complex64, Element::int8,
    Element::float64, Element::complex128, Element::uint64, Element::undefined, Element::undefined,
    Element::uint32,  Element::uint16,     Element::int4,   Element::bfloat16,  Element::int2,
    Element::uint4};
constexpr int kResource = 13, kVariant = 14;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path) : file_(bytes, path) {}

  Contents read() {
    const Table model = file_.root(kIdentifier);
    if (model.number<uint32_t>(0) != 3) file_.damaged("only version 3 of the format is read");
    for (const Table& buffer : model.tables(4)) buffers_.push_back(data_of(buffer));
    for (const Table& code : model.tables(1)) codes_.push_back(read_code(code));
    Contents out;
    out.description = model.text(3);
    const std::vector<Table> graphs = model.tables(2);
    if (graphs.empty()) file_.damaged("it has no graph");
    num_graphs_ = static_cast<int64_t>(graphs.size());
    for (const Table& graph : graphs) out.graphs.push_back(read_graph(graph));
    for (const Table& signature : model.tables(7)) {
      out.signatures.push_back(read_signature(signature, out.graphs));
    }
    return out;
  }

 private:
  struct Code {
    std::string name;
    const OperatorKind* kind = nullptr;
  };

  std::string_view data_of(const Table& buffer) const {
    // Files of more than 2 GB have their data behind the tables.
    const auto offset = buffer.number<uint64_t>(1), size = buffer.number<uint64_t>(2);
    if (offset > 1) return file_.part(offset, size);
    return buffer.bytes(0);
  }

  Code read_code(const Table& code) const {
    const auto old = buffer_code(code), wide = code.number<int32_t>(3);
    const int32_t number = std::max(old, wide);
    constexpr int32_t kCustom = 32;
    if (number == kCustom) return {std::string(code.text(1)), nullptr};
    const std::string_view known = name_of_code(number);
    return {known.empty() ? message("operator ", number) : std::string(known), find_kind(number)};
  }
  static int32_t buffer_code(const Table& code) { return code.number<int8_t>(0); }

  void check_index(int64_t index, size_t count, std::string_view what) const {
    if (index < 0 || static_cast<uint64_t>(index) >= count) {
      file_.damaged(message("it refers to ", what, " ", index, " of ", count));
    }
  }

  TensorInfo read_tensor(const Table& table) const {
    TensorInfo out;
    out.name = table.text(3);
    out.shape = table.numbers<int32_t>(0);
    out.signature = table.numbers<int32_t>(7);
    if (out.signature.size() != out.shape.size()) out.signature = out.shape;
    if (out.shape.size() > kMostDims) {
      file_.damaged(message("a tensor has ", out.shape.size(), " dimensions"));
    }
    for (const int64_t size : out.shape) {
      if (size < 0) file_.damaged(message("a tensor has the size ", size));
    }
    for (const int64_t size : out.signature) {
      if (size < -1) file_.damaged(message("a tensor has the size ", size));
    }
    const int type = table.number<int8_t>(1);
    if (type < 0 || type >= static_cast<int>(std::size(kElements))) {
      file_.damaged(message("it has a tensor of the unknown type ", type));
    }
    out.element = kElements[type];
    out.is_resource = type == kResource || type == kVariant;
    out.is_variable = table.number<uint8_t>(5) != 0;
    out.is_sparse = table.has(6);
    const auto buffer = table.number<uint32_t>(2);
    check_index(buffer, buffers_.size(), "buffer");
    out.data = buffers_[buffer];
    int64_t count = 1;
    for (const int64_t size : out.shape) count *= size != 0;
    out.is_constant = buffer != 0 && !out.is_variable && (!out.data.empty() || count == 0);
    if (const std::optional<Table> given = table.table(4)) {
      out.quantisation = read_quantisation(*given, out);
    }
    return out;
  }

  Quantisation read_quantisation(const Table& table, const TensorInfo& tensor) const {
    Quantisation out{table.reals(2), table.numbers<int64_t>(3), table.number<int32_t>(6)};
    if (out.scales.empty()) return {};
    if (out.zeros.empty()) out.zeros.assign(out.scales.size(), 0);
    if (out.zeros.size() == 1) out.zeros.resize(out.scales.size(), out.zeros[0]);
    const auto rank = static_cast<int64_t>(tensor.shape.size());
    if (out.scales.size() == 1) return out;
    if (out.zeros.size() != out.scales.size() || out.axis < 0 || out.axis >= rank ||
        tensor.shape[static_cast<size_t>(out.axis)] != static_cast<int64_t>(out.scales.size())) {
      file_.damaged(message("the scales of the tensor '", tensor.name, "' do not fit its shape"));
    }
    return out;
  }

  Attribute read_option(const Table& options, const Option& option) const {
    Attribute out;
    out.name = option.name;
    const int64_t usual = option.unless_given;
    switch (option.form) {
      case OptionForm::flag:
        out.integer = options.number<uint8_t>(option.field, static_cast<uint8_t>(usual)) != 0;
        break;
      case OptionForm::byte:
        out.integer = options.number<int8_t>(option.field, static_cast<int8_t>(usual));
        break;
      case OptionForm::int32:
        out.integer = options.number<int32_t>(option.field, static_cast<int32_t>(usual));
        break;
      case OptionForm::int64:
        out.integer = options.number<int64_t>(option.field, usual);
        break;
      case OptionForm::graph:
        out.integer = options.number<int32_t>(option.field);
        if (out.integer < 0 || out.integer >= num_graphs_) file_.damaged("it calls no graph of it");
        break;
      case OptionForm::real:
        out.real = options.number<float>(option.field);
        break;
      case OptionForm::int32s:
        out.integers = options.numbers<int32_t>(option.field);
        break;
      case OptionForm::reals:
        out.reals = options.reals(option.field);
        break;
      case OptionForm::text:
        out.text = options.text(option.field);
        break;
    }
    return out;
  }

  Operator read_operator(const Table& table, size_t num_tensors) const {
    const auto code = table.number<uint32_t>(0);
    check_index(code, codes_.size(), "operator code");
    Operator out;
    out.name = codes_[code].name;
    out.kind = codes_[code].kind;
    out.inputs = table.numbers<int32_t>(1);
    out.outputs = table.numbers<int32_t>(2);
    for (const int64_t i : out.inputs) {
      if (i != -1) check_index(i, num_tensors, "tensor");
    }
    for (const int64_t i : out.outputs) check_index(i, num_tensors, "tensor");
    if (!out.kind || out.kind->options.empty()) return out;
    const std::optional<Table> options = table.table(4);
    const auto type = table.number<uint8_t>(3);
    const bool is_there = options && type != 0;
    if (is_there && type != out.kind->options_type) {
      file_.damaged(message("a ", out.name, " has the options of another operator"));
    }
    for (const Option& option : out.kind->options) {
      if (is_there) {
        out.attributes.push_back(read_option(*options, option));
      } else if (option.form == OptionForm::graph) {
        file_.damaged(message("a ", out.name, " does not say what it calls"));
      }
    }
    return out;
  }

  GraphInfo read_graph(const Table& table) const {
    GraphInfo out;
    out.name = table.text(4);
    for (const Table& tensor : table.tables(0)) out.tensors.push_back(read_tensor(tensor));
    out.inputs = table.numbers<int32_t>(1);
    out.outputs = table.numbers<int32_t>(2);
    for (const int64_t i : out.inputs) check_index(i, out.tensors.size(), "tensor");
    for (const int64_t i : out.outputs) check_index(i, out.tensors.size(), "tensor");
    for (const Table& op : table.tables(3)) {
      out.operators.push_back(read_operator(op, out.tensors.size()));
    }
    return out;
  }

  SignatureInfo read_signature(const Table& table, const std::vector<GraphInfo>& graphs) const {
    SignatureInfo out;
    out.key = table.text(2);
    out.graph = table.number<uint32_t>(4);
    check_index(out.graph, graphs.size(), "graph");
    const size_t tensors = graphs[static_cast<size_t>(out.graph)].tensors.size();
    const auto read = [&](int field) {
      std::vector<std::pair<std::string_view, int64_t>> names;
      for (const Table& entry : table.tables(field)) {
        const auto tensor = entry.number<uint32_t>(1);
        check_index(tensor, tensors, "tensor");
        names.emplace_back(entry.text(0), tensor);
      }
      return names;
    };
    out.inputs = read(0);
    out.outputs = read(1);
    return out;
  }

  Flatbuffer file_;
  std::vector<std::string_view> buffers_;
  std::vector<Code> codes_;
  int64_t num_graphs_ = 0;
};

}  // namespace

Contents read_contents(std::string_view bytes, const std::string& path) {
  return Reader(bytes, path).read();
}

}  // namespace tidemark::io::tflite
