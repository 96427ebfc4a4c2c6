// ONNX and TFLite models: told what is in them, read, traced and run on zeros.
#include <tidemark/create.h>

#include "targets.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/io/inspect.h"
#include "tidemark/io/onnx/model.h"

namespace tidemark::fuzz {

namespace {

using namespace io::onnx;

/// False: it is more than a model of this size should be asked.
bool make_inputs(const std::vector<Port>& ports, std::vector<Value>& inputs) {
  for (const Port& port : ports) {
    if (port.type.kind != Type::Kind::tensor || storage_of(port.type.element) == DType::invalid) {
      return false;
    }
    Shape shape;
    for (const int64_t dim : port.type.dims) {
      if (dim > 64) return false;
      shape.push_back(dim < 0 ? 2 : dim);
    }
    if (storage_of(port.type.element) == DType::string) return false;
    inputs.emplace_back(zeros(shape, storage_of(port.type.element)), port.type.element);
  }
  return true;
}

void take(std::string_view bytes, const std::string& path) {
  put_bytes(path, bytes);
  const Interrupt soon{.deadline = Interrupt::Clock::now() + std::chrono::seconds(2)};
  const InterruptScope bounded(soon);
  try {
    if (io::inspect(path).format.empty()) found("a file of no format");
    LoadedModel model(path, {});
    std::vector<Value> inputs;
    if (make_inputs(model.inputs(), inputs)) (void)model.call(inputs);
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
  }
}

void take_onnx(std::string_view bytes) { take(bytes, scratch_folder() + "/fuzzed.onnx"); }
void take_tflite(std::string_view bytes) { take(bytes, scratch_folder() + "/fuzzed.tflite"); }

/// ir_version 8, opset 13, no nodes; the folder of inputs has real ones.
std::map<std::string, std::string> seeds() {
  return {{"empty", std::string("\x08\x08\x3a\x00\x42\x02\x10\x0d", 8)}};
}

/// A model without a graph; the folder of inputs has real ones.
std::map<std::string, std::string> tflite_seeds() {
  return {{"empty", std::string("\x10\0\0\0TFL3\0\0\0\0\x04\0\x04\0\x04\0\0\0", 20)}};
}

const AddTarget onnx("onnx", {.take = take_onnx, .seeds = seeds});
const AddTarget tflite("tflite", {.take = take_tflite, .seeds = tflite_seeds});

}  // namespace

}  // namespace tidemark::fuzz
