#include <charconv>

#include "tidemark/serve/api.h"
#include "tidemark/serve/json.h"
#include "tidemark/serve/predict_body.h"

namespace tidemark::serve {

namespace {

using simdjson::dom::element;

/// "models/M[/versions/V|/labels/L][:verb | /metadata]"
struct Target {
  std::string_view verb;
  std::string model;
  int64_t version = -1;
};

[[noreturn]] void malformed(const HttpRequest& request) {
  refuse(Code::invalid_argument, "Malformed request: ", request.method, " ", request.target);
}

int64_t number_from(std::string_view text, const HttpRequest& request) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) malformed(request);
  return number;
}

Target read_target(const Context& context, const HttpRequest& request,
                   const std::vector<std::string>& path) {
  Target target;
  if (path.size() < 3 || path[1] != "models" || path[2].empty()) malformed(request);
  size_t parts = path.size();
  std::string_view last = path.back();
  if (parts > 3 && last == "metadata") {
    target.verb = last;
    last = path[--parts - 1];
  } else if (const size_t colon = last.rfind(':'); colon != std::string_view::npos) {
    target.verb = last.substr(colon + 1);
    last = last.substr(0, colon);
  }
  target.model = parts == 3 ? last : path[2];
  if (target.model.empty()) malformed(request);
  if (parts == 3) return target;
  if (parts != 5) malformed(request);
  if (path[3] == "versions") {
    target.version = number_from(last, request);
  } else if (path[3] == "labels") {
    target.version = context.store.version_of_label(target.model, last);
  } else {
    malformed(request);
  }
  return target;
}

const char* tensorflow_name(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "DT_FLOAT";
    case DType::float64:
      return "DT_DOUBLE";
    case DType::int32:
      return "DT_INT32";
    case DType::uint8:
      return "DT_UINT8";
    case DType::int16:
      return "DT_INT16";
    case DType::int8:
      return "DT_INT8";
    case DType::string:
      return "DT_STRING";
    case DType::complex64:
      return "DT_COMPLEX64";
    case DType::int64:
      return "DT_INT64";
    case DType::bool_:
      return "DT_BOOL";
    case DType::bfloat16:
      return "DT_BFLOAT16";
    case DType::uint16:
      return "DT_UINT16";
    case DType::complex128:
      return "DT_COMPLEX128";
    case DType::float16:
      return "DT_HALF";
    case DType::uint32:
      return "DT_UINT32";
    case DType::uint64:
      return "DT_UINT64";
    default:
      return "DT_INVALID";
  }
}

void put_specs(std::string& out, const std::vector<TensorSpec>& specs) {
  out += '{';
  for (size_t i = 0; i < specs.size(); ++i) {
    out += i ? ", " : "";
    put_string(out, specs[i].name);
    out += ": {\"dtype\": \"";
    out += tensorflow_name(specs[i].dtype);
    out += "\", \"tensor_shape\": {\"dim\": [";
    for (int axis = 0; axis < specs[i].shape.rank(); ++axis) {
      out +=
          message(axis ? ", " : "", "{\"size\": \"", specs[i].shape[axis], "\", \"name\": \"\"}");
    }
    out += message("], \"unknown_rank\": ", !specs[i].shape.has_rank(), "}, \"name\": ");
    put_string(out, specs[i].name);
    out += '}';
  }
  out += '}';
}

HttpResponse metadata(const Servable& servable) {
  HttpResponse response;
  std::string& out = response.body;
  out = "{\"model_spec\": {\"name\": ";
  put_string(out, servable.name);
  out += message(", \"signature_name\": \"\", \"version\": \"", servable.version,
                 "\"}, \"metadata\": {\"signature_def\": {\"signature_def\": {");
  const auto& signatures = servable.model.signatures();
  for (size_t i = 0; i < signatures.size(); ++i) {
    out += i ? ", " : "";
    put_string(out, signatures[i].name);
    out += ": {\"inputs\": ";
    put_specs(out, signatures[i].inputs);
    out += ", \"outputs\": ";
    put_specs(out, signatures[i].outputs);
    out += ", \"method_name\": \"tensorflow/serving/predict\"}";
  }
  out += "}}}}";
  return response;
}

const char* code_name(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return "INVALID_ARGUMENT";
    case Code::not_found:
      return "NOT_FOUND";
    case Code::resource_exhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::data_loss:
      return "DATA_LOSS";
    case Code::unimplemented:
      return "UNIMPLEMENTED";
    default:
      return "UNKNOWN";
  }
}

HttpResponse model_status(const Context& context, const Target& target) {
  HttpResponse response;
  std::string& out = response.body;
  out = "{\"model_version_status\": [";
  bool any = false;
  for (const VersionStatus& version : context.store.status_of(target.model)) {
    if (target.version >= 0 && version.version != target.version) continue;
    out +=
        message(any ? ", " : "", "{\"version\": \"", version.version, "\", \"state\": \"",
                name_of(version.state), "\", \"status\": {\"error_code\": \"",
                version.error.empty() ? "OK" : code_name(version.code), "\", \"error_message\": ");
    put_string(out, version.error);
    out += "}}";
    any = true;
  }
  if (!any) {
    refuse(Code::not_found, "Could not find version ", target.version, " of model ", target.model);
  }
  out += "]}";
  return response;
}

const TensorSpec* spec_named(const SignatureSpec& signature, std::string_view name) {
  for (const TensorSpec& spec : signature.inputs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

bool is_base64(const element& value) {
  return value.is_object() && value.get_object().size() == 1 && !value.get_object()["b64"].error();
}

void check_names(const SignatureSpec& signature, const simdjson::dom::object& given,
                 const char* format) {
  for (const auto& field : given) {
    if (spec_named(signature, field.key)) continue;
    refuse(Code::invalid_argument, format, ": there is no input '", field.key, "' in signature '",
           signature.name, "'");
  }
}

/// {"inputs": value} or {"inputs": {name: value}}
std::vector<Tensor> from_columns(const SignatureSpec& signature, const element& inputs) {
  std::vector<Tensor> out;
  const bool is_named = inputs.is_object() && !is_base64(inputs);
  if (!is_named) {
    if (signature.inputs.size() != 1) {
      refuse(Code::invalid_argument, "\"inputs\" must be an object with the ",
             signature.inputs.size(), " inputs of signature '", signature.name, "'");
    }
    out.push_back(tensor_from(inputs, signature.inputs[0].dtype, signature.inputs[0].name));
    return out;
  }
  const simdjson::dom::object given = inputs.get_object();
  check_names(signature, given, "inputs");
  for (const TensorSpec& spec : signature.inputs) {
    element value;
    if (given[spec.name].get(value)) {
      refuse(Code::invalid_argument, "Missing named input: ", spec.name);
    }
    out.push_back(tensor_from(value, spec.dtype, spec.name));
  }
  return out;
}

/// {"instances": [value, …]} or {"instances": [{name: value}, …]}
std::vector<Tensor> from_rows(const SignatureSpec& signature, const element& instances) {
  simdjson::dom::array rows;
  if (instances.get(rows)) {
    refuse(Code::invalid_argument, "Request format: \"instances\" must be a list");
  }
  if (rows.begin() == rows.end()) {
    refuse(Code::invalid_argument, "\"instances\" is an empty list");
  }
  const element first = *rows.begin();
  std::vector<Tensor> out;
  if (!first.is_object() || is_base64(first)) {
    if (signature.inputs.size() != 1) {
      refuse(Code::invalid_argument,
             "instances is a plain list, but expecting a list of objects: ", "signature '",
             signature.name, "' has ", signature.inputs.size(), " inputs");
    }
    out.push_back(tensor_from(instances, signature.inputs[0].dtype, signature.inputs[0].name));
    return out;
  }
  for (const TensorSpec& spec : signature.inputs) {
    const auto field_of = [&](const element& row, int64_t i) {
      simdjson::dom::object given;
      if (row.get(given)) {
        refuse(Code::invalid_argument, "instances: item ", i, " is no object, others are");
      }
      if (given.size() != signature.inputs.size()) check_names(signature, given, "instances");
      element value;
      if (given[spec.name].get(value)) {
        refuse(Code::invalid_argument, "Failed to process element: ", i, ": missing input '",
               spec.name, "'");
      }
      return value;
    };
    out.push_back(tensor_from_rows(rows, field_of, spec.dtype, spec.name));
  }
  return out;
}

bool is_bytes_name(std::string_view name) { return name.ends_with("_bytes"); }

/// Of an answer that names the outputs so often, at most.
size_t bytes_of(const SignatureSpec& signature, const std::vector<Tensor>& outputs, int64_t times) {
  size_t bytes = 64;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t name = outputs.size() > 1 ? 6 * signature.outputs[i].name.size() + 16 : 0;
    bytes += json_bytes(outputs[i]) + static_cast<size_t>(times) * name;
  }
  return bytes;
}

HttpResponse as_rows(const SignatureSpec& signature, const std::vector<Tensor>& outputs,
                     int64_t rows) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].rank() == 0 || outputs[i].dim(0) != rows) {
      refuse(Code::invalid_argument, "Tensor name: ", signature.outputs[i].name,
             " has inconsistent batch size: its shape is ", outputs[i].shape(), ", the batch ",
             rows, ". Use the column format (\"inputs\")");
    }
  }
  HttpResponse response;
  reserve_answer(response, bytes_of(signature, outputs, rows));
  std::string& out = response.body;
  out = "{\"predictions\": [";
  for (int64_t row = 0; row < rows; ++row) {
    if (row > 0) out += ", ";
    if (outputs.size() == 1) {
      put_row(out, outputs[0], row, is_bytes_name(signature.outputs[0].name));
      continue;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      out += i ? ", " : "{";
      put_string(out, signature.outputs[i].name);
      out += ": ";
      put_row(out, outputs[i], row, is_bytes_name(signature.outputs[i].name));
    }
    out += '}';
  }
  out += "]}";
  return response;
}

HttpResponse as_columns(const SignatureSpec& signature, const std::vector<Tensor>& outputs) {
  HttpResponse response;
  reserve_answer(response, bytes_of(signature, outputs, 1));
  std::string& out = response.body;
  out = "{\"outputs\": ";
  if (outputs.size() == 1) {
    put_elements(out, outputs[0], is_bytes_name(signature.outputs[0].name));
    out += '}';
    return response;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out += i ? ", " : "{";
    put_string(out, signature.outputs[i].name);
    out += ": ";
    put_elements(out, outputs[i], is_bytes_name(signature.outputs[i].name));
  }
  out += "}}";
  return response;
}

void predict(Context& context, const HttpRequest& request, const Target& target,
             const ResponderRef& to) {
  std::shared_ptr<const Servable> servable = context.store.find(target.model, target.version);
  PredictBody body = read_predict_body(servable->model, request.body);
  const SignatureSpec* signature = body.signature;
  if (!body.is_rows) {
    run_signature(context, servable, *signature, std::move(body.inputs), to,
                  [signature](std::vector<Tensor>&& out) { return as_columns(*signature, out); });
    return;
  }
  const int64_t rows = body.inputs.empty() ? 0 : body.inputs[0].dim(0);
  run_signature(
      context, servable, *signature, std::move(body.inputs), to,
      [signature, rows](std::vector<Tensor>&& out) { return as_rows(*signature, out, rows); });
}

}  // namespace

PredictBody read_predict_body(const SavedModel& model, std::string_view text) {
  const JsonDocument parsed(text);
  const element& document = parsed.root();
  if (!document.is_object()) {
    refuse(Code::invalid_argument, "Request payload should be a JSON object");
  }
  const simdjson::dom::object object = document.get_object();
  std::string_view name = "serving_default";
  element value;
  if (!object["signature_name"].get(value) && value.get(name)) {
    refuse(Code::invalid_argument, "\"signature_name\" must be a string");
  }
  PredictBody body;
  body.signature = model.find(name.empty() ? "serving_default" : name);
  if (!body.signature) {
    refuse(Code::invalid_argument, "Serving signature name: \"", name,
           "\" not found in signature def");
  }
  element inputs, instances;
  const bool has_inputs = !object["inputs"].get(inputs);
  body.is_rows = !object["instances"].get(instances);
  if (has_inputs == body.is_rows) {
    refuse(Code::invalid_argument, has_inputs
                                       ? "Only one of \"inputs\" and \"instances\" may be given"
                                       : "Missing 'inputs' or 'instances' key");
  }
  body.inputs =
      has_inputs ? from_columns(*body.signature, inputs) : from_rows(*body.signature, instances);
  return body;
}

bool handle_tensorflow(Context& context, const HttpRequest& request,
                       const std::vector<std::string>& path, const ResponderRef& to) {
  if (path.empty() || path[0] != "v1") return false;
  const Target target = read_target(context, request, path);
  if (request.method == "GET" && target.verb == "metadata") {
    to->send(metadata(*context.store.find(target.model, target.version)));
  } else if (request.method == "GET" && target.verb.empty()) {
    to->send(model_status(context, target));
  } else if (request.method == "POST" && target.verb == "predict") {
    predict(context, request, target, to);
  } else if (request.method == "POST" && (target.verb == "classify" || target.verb == "regress")) {
    refuse(Code::unimplemented, target.verb,
           " is not offered: models have predict signatures. Use :predict");
  } else {
    malformed(request);
  }
  return true;
}

}  // namespace tidemark::serve
