// The Open Inference Protocol, version 2, over HTTP: with JSON and with binary tensors.
#include <algorithm>
#include <charconv>

#include "tidemark/serve/api.h"
#include "tidemark/serve/inference_types.h"
#include "tidemark/serve/json.h"

namespace tidemark::serve {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

void put_shape(std::string& out, const Shape& shape) {
  out += '[';
  for (int i = 0; i < shape.rank(); ++i) out += message(i ? ", " : "", shape[i]);
  out += ']';
}

void put_specs(std::string& out, const std::vector<TensorSpec>& specs) {
  out += '[';
  for (size_t i = 0; i < specs.size(); ++i) {
    out += i ? ", {\"name\": " : "{\"name\": ";
    put_string(out, specs[i].name);
    out += message(", \"datatype\": \"", datatype_of(specs[i].dtype), "\", \"shape\": ");
    put_shape(out, specs[i].shape);
    out += '}';
  }
  out += ']';
}

// --- reading a request ---------------------------------------------------------------------------

/// What one tensor of a request says of itself, and where its bytes are.
struct GivenTensor {
  std::string_view name;
  DType dtype = DType::invalid;
  Shape shape;
  element data;
  bool is_binary = false;
  std::string_view bytes;
};

int64_t integer_of(const element& value, const char* what) {
  int64_t number = 0;
  if (value.get(number)) refuse(Code::invalid_argument, what, " must be an integer");
  return number;
}

Shape shape_from(const element& value) {
  simdjson::dom::array sizes;
  if (value.get(sizes)) refuse(Code::invalid_argument, "\"shape\" must be a list of integers");
  Shape shape;
  for (const element& each : sizes) {
    const int64_t size = integer_of(each, "a size in \"shape\"");
    if (size < 0 || shape.rank() >= Shape::kMaxRank) {
      refuse(Code::invalid_argument, "a size in \"shape\" is ", size, "; sizes cannot be negative");
    }
    shape.push_back(size);
  }
  (void)shape.num_elements();  // throws where the product is no number
  return shape;
}

Tensor tensor_of(const GivenTensor& given) {
  if (given.is_binary) return tensor_from_bytes(given.bytes, given.dtype, given.shape, given.name);
  return tensor_of_shape(given.data, given.dtype, given.shape, given.name);
}

GivenTensor given_tensor(const element& value, std::string_view& binary) {
  object fields;
  if (value.get(fields)) refuse(Code::invalid_argument, "an input must be an object");
  GivenTensor out;
  element found;
  std::string_view datatype;
  if (fields["name"].get(out.name)) refuse(Code::invalid_argument, "an input has no \"name\"");
  if (fields["datatype"].get(datatype)) {
    refuse(Code::invalid_argument, "input '", out.name, "' has no \"datatype\"");
  }
  out.dtype = dtype_of_datatype(datatype);
  if (fields["shape"].get(found)) {
    refuse(Code::invalid_argument, "input '", out.name, "' has no \"shape\"");
  }
  out.shape = shape_from(found);
  object parameters;
  element size;
  if (!fields["parameters"].get(parameters) && !parameters["binary_data_size"].get(size)) {
    const int64_t bytes = integer_of(size, "\"binary_data_size\"");
    if (bytes < 0 || static_cast<uint64_t>(bytes) > binary.size()) {
      refuse(Code::invalid_argument, "input '", out.name,
             "': unexpected size of binary data: ", bytes, " bytes, ", binary.size(), " are left");
    }
    out.is_binary = true;
    out.bytes = binary.substr(0, static_cast<size_t>(bytes));
    binary.remove_prefix(static_cast<size_t>(bytes));
  } else if (fields["data"].get(out.data)) {
    refuse(Code::invalid_argument, "input '", out.name, "' has no \"data\"");
  }
  return out;
}

std::vector<Tensor> read_inputs(const SignatureSpec& signature, const object& document,
                                std::string_view binary) {
  simdjson::dom::array list;
  if (document["inputs"].get(list)) {
    refuse(Code::invalid_argument, "the request has no list \"inputs\"");
  }
  std::vector<Tensor> out(signature.inputs.size());
  for (const element& each : list) {
    const GivenTensor given = given_tensor(each, binary);
    const size_t at = find_input(signature, given.name, given.dtype);
    if (out[at]) refuse(Code::invalid_argument, "input '", given.name, "' is given twice");
    out[at] = tensor_of(given);
  }
  check_all_given(signature, out);
  if (!binary.empty()) {
    refuse(Code::invalid_argument, binary.size(), " bytes of binary data belong to no input");
  }
  return out;
}

struct WantedOutput {
  size_t index;
  bool is_binary;
};

bool flag_of(const object& parameters, std::string_view name, bool fallback) {
  bool value = fallback;
  return parameters[name].get(value) ? fallback : value;
}

std::vector<WantedOutput> read_outputs(const SignatureSpec& signature, const object& document) {
  object parameters;
  const bool all_binary =
      !document["parameters"].get(parameters) && flag_of(parameters, "binary_data_output", false);
  std::vector<WantedOutput> out;
  simdjson::dom::array list;
  if (document["outputs"].get(list)) {
    for (size_t i = 0; i < signature.outputs.size(); ++i) out.push_back({i, all_binary});
    return out;
  }
  for (const element& each : list) {
    std::string_view name;
    object fields;
    if (each.get(fields) || fields["name"].get(name)) {
      refuse(Code::invalid_argument, "an output has no \"name\"");
    }
    const size_t at = find_output(signature, name);
    for (const WantedOutput& before : out) {
      if (before.index == at) {
        refuse(Code::invalid_argument, "output '", name, "' is asked for twice");
      }
    }
    const bool has_own = !fields["parameters"].get(parameters);
    out.push_back({at, has_own ? flag_of(parameters, "binary_data", all_binary) : all_binary});
  }
  return out;
}

// --- writing a response --------------------------------------------------------------------------

void put_flat(std::string& out, const Tensor& t, std::string_view name) {
  out += '[';
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (i > 0) out += ", ";
    if (!is_json_number(t, i)) {
      refuse(Code::invalid_argument, "output '", name,
             "' holds NaN or Infinity, which JSON cannot say: ask for it as binary data");
    }
    put_element(out, t, i, false);
  }
  out += ']';
}

struct Answer {
  std::shared_ptr<const Servable> servable;
  const SignatureSpec* signature;
  std::vector<WantedOutput> wanted;
  std::string id;

  /// Of the answer, at most.
  size_t bytes(const std::vector<Tensor>& outputs) const {
    size_t bytes = 512 + servable->name.size() * 6 + id.size() * 6;
    for (const WantedOutput& one : wanted) {
      const Tensor& t = outputs[one.index];
      bytes += 512 + (one.is_binary ? binary_bytes(t) : json_bytes(t));
    }
    return bytes;
  }

  HttpResponse operator()(std::vector<Tensor>&& outputs) const {
    HttpResponse response;
    reserve_answer(response, bytes(outputs));
    std::string& out = response.body;
    out = "{\"model_name\": ";
    put_string(out, servable->name);
    out += message(", \"model_version\": \"", servable->version, "\"");
    if (!id.empty()) {
      out += ", \"id\": ";
      put_string(out, id);
    }
    out += ", \"outputs\": [";
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Tensor& t = outputs[wanted[i].index];
      const std::string& name = signature->outputs[wanted[i].index].name;
      out += i ? ", {\"name\": " : "{\"name\": ";
      put_string(out, name);
      out += message(", \"datatype\": \"", datatype_of(t.dtype()), "\", \"shape\": ");
      put_shape(out, t.shape());
      if (wanted[i].is_binary) {
        out += message(", \"parameters\": {\"binary_data_size\": ", binary_bytes(t), "}}");
      } else {
        out += ", \"data\": ";
        put_flat(out, t, name);
        out += '}';
      }
    }
    out += "]}";
    put_binary(response, outputs);
    return response;
  }

  /// After the JSON, in its order.
  void put_binary(HttpResponse& response, const std::vector<Tensor>& outputs) const {
    const auto is_binary = [](const WantedOutput& one) { return one.is_binary; };
    if (std::none_of(wanted.begin(), wanted.end(), is_binary)) return;
    response.content_type = "application/octet-stream";
    response.headers.emplace_back("Inference-Header-Content-Length",
                                  std::to_string(response.body.size()));
    for (const WantedOutput& one : wanted) {
      if (one.is_binary) put_bytes(response.body, outputs[one.index]);
    }
  }
};

void infer(Context& context, const HttpRequest& request,
           const std::shared_ptr<const Servable>& servable, const ResponderRef& to) {
  std::string_view json = request.body, binary;
  if (!request.json_length.empty()) {
    size_t length = 0;
    const std::string_view text = request.json_length;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc() || end != text.data() + text.size() || length > json.size()) {
      refuse(Code::invalid_argument, "Inference-Header-Content-Length is '", text,
             "'; the body has ", json.size(), " bytes");
    }
    binary = json.substr(length);
    json = json.substr(0, length);
  }
  const JsonDocument parsed(json);
  object document;
  if (parsed.root().get(document))
    refuse(Code::invalid_argument, "the request must be a JSON object");
  const SignatureSpec& signature = served_signature(*servable);
  Answer answer{servable, &signature, read_outputs(signature, document), {}};
  std::string_view id;
  if (!document["id"].get(id)) answer.id = id;
  double timeout = 0;
  object parameters;
  int64_t micros = 0;
  if (!document["parameters"].get(parameters) && !parameters["timeout"].get(micros) && micros > 0) {
    timeout = static_cast<double>(micros) * 1e-6;
  }
  run_signature(context, servable, signature, read_inputs(signature, document, binary), to,
                std::move(answer), timeout);
}

// --- about models --------------------------------------------------------------------------------

HttpResponse json_response(std::string body, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

HttpResponse model_metadata(const Context& context, const Servable& servable) {
  std::string out = "{\"name\": ";
  put_string(out, servable.name);
  out += ", \"versions\": [";
  bool any = false;
  for (const VersionStatus& each : context.store.status_of(servable.name)) {
    if (each.state != VersionState::available) continue;
    out += message(any ? ", " : "", "\"", each.version, "\"");
    any = true;
  }
  const SignatureSpec& signature = served_signature(servable);
  out += "], \"platform\": \"tidemark\", \"inputs\": ";
  put_specs(out, signature.inputs);
  out += ", \"outputs\": ";
  put_specs(out, signature.outputs);
  return json_response(out + "}");
}

HttpResponse model_config(const Servable& servable) {
  std::string out = "{\"name\": ";
  put_string(out, servable.name);
  out += message(", \"platform\": \"tidemark\", \"backend\": \"tidemark\", \"max_batch_size\": ",
                 servable.batching.max_batch_size > 1 ? servable.batching.max_batch_size : 0);
  const SignatureSpec& signature = served_signature(servable);
  for (const bool is_input : {true, false}) {
    out += is_input ? ", \"input\": [" : ", \"output\": [";
    const auto& specs = is_input ? signature.inputs : signature.outputs;
    for (size_t i = 0; i < specs.size(); ++i) {
      out += i ? ", {\"name\": " : "{\"name\": ";
      put_string(out, specs[i].name);
      const std::string_view type = datatype_of(specs[i].dtype);
      out +=
          message(", \"data_type\": \"TYPE_", type == "BYTES" ? "STRING" : type, "\", \"dims\": ");
      put_shape(out, specs[i].shape);
      out += '}';
    }
    out += ']';
  }
  return json_response(out + "}");
}

void put_duration(std::string& out, const char* name, uint64_t count, uint64_t micros) {
  out += message("\"", name, "\": {\"count\": ", count, ", \"ns\": ", micros * 1000, "}");
}

void put_statistics(std::string& out, const Servable& servable) {
  const ServableCounters& counters = servable.counters;
  out += "{\"name\": ";
  put_string(out, servable.name);
  out += message(", \"version\": \"", servable.version,
                 "\", \"last_inference\": ", counters.last_milliseconds.load(),
                 ", \"inference_count\": ", counters.rows.load(),
                 ", \"execution_count\": ", counters.executions.load(), ", \"inference_stats\": {");
  put_duration(out, "success", counters.successes.load(), counters.total.total());
  out += ", ";
  put_duration(out, "fail", counters.failures.load(), 0);
  out += ", ";
  put_duration(out, "queue", counters.waiting.all(), counters.waiting.total());
  out += ", ";
  put_duration(out, "compute_input", counters.executions.load(), 0);
  out += ", ";
  put_duration(out, "compute_infer", counters.computing.all(), counters.computing.total());
  out += ", ";
  put_duration(out, "compute_output", counters.executions.load(), 0);
  out += "}, \"batch_stats\": []}";
}

HttpResponse statistics(const std::vector<std::shared_ptr<const Servable>>& servables) {
  std::string out = "{\"model_stats\": [";
  for (size_t i = 0; i < servables.size(); ++i) {
    out += i ? ", " : "";
    put_statistics(out, *servables[i]);
  }
  return json_response(out + "]}");
}

HttpResponse repository_index(const Context& context) {
  std::string out = "[";
  for (const std::string& name : context.store.names()) {
    for (const VersionStatus& version : context.store.status_of(name)) {
      out += out.size() > 1 ? ", {\"name\": " : "{\"name\": ";
      put_string(out, name);
      const bool is_there = version.state == VersionState::available;
      out += message(", \"version\": \"", version.version, "\", \"state\": \"",
                     is_there                                 ? "READY"
                     : version.state == VersionState::loading ? "LOADING"
                                                              : "UNAVAILABLE",
                     "\", \"reason\": ");
      put_string(out, version.error);
      out += '}';
    }
  }
  return json_response(out + "]");
}

bool handle_models(Context& context, const HttpRequest& request, std::vector<std::string> path,
                   const ResponderRef& to) {
  const bool is_get = request.method == "GET", is_post = request.method == "POST";
  if (path.size() == 3 && path[2] == "stats" && is_get) {
    to->send(statistics(context.store.loaded()));
    return true;
  }
  if (path.size() < 3) return false;
  int64_t version = -1;
  if (path.size() >= 5 && path[3] == "versions") {
    version = version_from_text(path[4]);
    path.erase(path.begin() + 3, path.begin() + 5);
  }
  const std::string verb = path.size() == 4 ? path[3] : std::string();
  if (path.size() > 4) return false;
  const auto servable = context.store.find(path[2], version);
  if (is_post && verb == "infer") {
    infer(context, request, servable, to);
  } else if (is_get && verb.empty()) {
    to->send(model_metadata(context, *servable));
  } else if (is_get && verb == "ready") {
    to->send(json_response(""));
  } else if (is_get && verb == "config") {
    to->send(model_config(*servable));
  } else if (is_get && verb == "stats") {
    to->send(statistics({servable}));
  } else {
    return false;
  }
  return true;
}

bool handle_repository(Context& context, const HttpRequest& request,
                       const std::vector<std::string>& path, const ResponderRef& to) {
  if (request.method != "POST") return false;
  if (path.size() == 3 && path[2] == "index") {
    to->send(repository_index(context));
    return true;
  }
  if (path.size() != 5 || path[2] != "models") return false;
  if (path[4] != "load" && path[4] != "unload") return false;
  check_admin(context.options, request.is_from_here);
  // Reading a model takes long; connections are served meanwhile.
  context.store.run_later([&context, to, name = path[3], is_load = path[4] == "load"] {
    try {
      is_load ? context.store.load(name) : context.store.unload(name);
      to->send(json_response(""));
    } catch (...) {
      to->send(error_response(std::current_exception()));
    }
  });
  return true;
}

}  // namespace

bool handle_inference_protocol(Context& context, const HttpRequest& request,
                               const std::vector<std::string>& path, const ResponderRef& to) {
  if (path.empty() || path[0] != "v2") return false;
  if (path.size() == 1 && request.method == "GET") {
    to->send(json_response(
        "{\"name\": \"tidemark\", \"version\": \"1\", \"extensions\": [\"binary_tensor_data\", "
        "\"model_configuration\", \"model_repository\", \"statistics\"]}"));
    return true;
  }
  if (path.size() < 2) return false;
  if (path[1] == "health" && path.size() == 3 && request.method == "GET") {
    const bool is_ready = context.store.is_ready() && !context.is_draining.load();
    if (path[2] == "live") {
      to->send(json_response(""));
    } else if (path[2] == "ready") {
      to->send(json_response("", is_ready ? 200 : 503));
    } else {
      return false;
    }
    return true;
  }
  if (path[1] == "models") return handle_models(context, request, path, to);
  if (path[1] == "repository") return handle_repository(context, request, path, to);
  return false;
}

}  // namespace tidemark::serve
