#include "tidemark/serve/options.h"

#include <tidemark/bytes.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <fstream>
#include <thread>

namespace tidemark::serve {

const char* const kHelp =
    R"(tidemark serve: answers requests to saved models over HTTP.

  tidemark serve --models DIR                     each folder inside is a model
  tidemark serve --model-name M --model-base-path DIR

A model's folder holds its versions: DIR/1, DIR/2, … as tf.saved_model.save and model.export write
them. TensorFlow Serving's REST API is at /v1, the Open Inference Protocol at /v2, Prometheus's
metrics at /metrics, a page for people at /.

  --host ADDRESS            127.0.0.1; 0.0.0.0 for all
  --port N                  8501 (also --rest-api-port); 0: any free one
  --grpc-port N             gRPC too, where it is built in; 0: any free one
  --versions N              how many of the newest versions answer: 1; all; or which: only:3,7
  --label MODEL:NAME=N      a name for a version
  --bucket MODEL:INPUT=1x8,…  sizes of inputs that requests will have: planned at load; repeat it
  --poll SECONDS            how often folders are looked at: 1
  --reload HOW              serve-through: the old version answers until the new one is there;
                            swap: it goes first, where memory is short
  --slots N                 how many requests are computed at once: the number of cores
  --threads N               that read and write: 2
  --max-batch-size N        requests are put together up to so many rows: 0, they are not
  --batch-timeout-micros N  how long the first of them waits for others: 1000
  --allowed-batch-sizes A,B batches are filled up to one of these
  --max-queue N             requests that wait for a slot: 1024
  --max-queue-bytes SIZE    256MiB
  --max-body SIZE           of one request: 64MiB
  --max-in-flight SIZE      of all requests being read: 256MiB
  --max-connections N       10000
  --request-timeout SECONDS in the queue and in the model: 30
  --read-timeout SECONDS    from a request's first byte to its last: 10
  --idle-timeout SECONDS    between two requests: 60
  --drain-timeout SECONDS   after SIGTERM: 30
  --memory-limit SIZE       of all tensors, weights included
  --max-weights SIZE        of all models' weights: what does not fit is not loaded
  --load-timeout SECONDS    to read a version and warm it up: 300
  --allow-files             models may read files of this machine
  --sandbox                 the kernel lets the server read its models and answer, and nothing else
  --admin WHO               may load and unload models: token (whoever has it), local (clients on
                            this machine too), none
  --allow-host NAME         a name that clients call this server by, beside localhost; repeat it
  --token-file FILE         clients must send its text: Authorization: Bearer …
  --tls-certificate FILE    PEM, with the chain: answers over HTTPS alone; read again when replaced
  --tls-key FILE            the certificate's, PEM
)";

namespace {

/// TensorFlow Serving's names beside ours.
std::string canonical(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  if (out == "rest-api-port") return "port";
  if (out == "file-system-poll-wait-seconds") return "poll";
  if (out == "rest-api-num-threads") return "threads";
  if (out == "bind-address") return "host";
  return out;
}

int64_t number(std::string_view name, std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    fail("--", name, " must be a number from ", least, " to ", most, "; '", text, "' was given");
  }
  return value;
}

double seconds(std::string_view name, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e6) {
    fail("--", name, " must be a number of seconds; '", text, "' was given");
  }
  return value;
}

size_t size(std::string_view text) { return static_cast<size_t>(parse_bytes(std::string(text))); }

std::string first_line(std::string_view path) {
  std::ifstream file{std::string(path)};
  std::string line;
  if (!std::getline(file, line) || line.empty()) fail("--token-file: ", path, " has no text");
  return line;
}

class Reader {
 public:
  Reader() {
    const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    options.executor.slots = cores;
    options.http.threads = std::min(2, cores);
  }

  void set(const std::string& name, std::string_view value) {
    if (!set_http(name, value) && !set_models(name, value) && !set_queue(name, value)) {
      fail("there is no option --", name, "; --help lists all");
    }
  }

  ServerOptions finish() {
    if (!model_folder.empty()) {
      ModelOptions model = options.store.defaults;
      model.name = model_name.empty() ? "model" : model_name;
      model.folder = model_folder;
      options.store.models.push_back(std::move(model));
    } else if (options.store.models_folder.empty()) {
      fail("--models DIR or --model-base-path DIR must be given; --help tells more");
    }
    for (const auto& [model, name, version] : labels) {
      for (ModelOptions& known : options.store.models) {
        if (known.name == model) known.labels[name] = version;
      }
      options.store.labels[model][name] = version;
    }
    for (ModelOptions& known : options.store.models) {
      const auto buckets = options.store.buckets.find(known.name);
      if (buckets != options.store.buckets.end()) known.buckets = buckets->second;
    }
    if (options.is_sandboxed && options.store.allows_files) {
      fail("--sandbox and --allow-files do not go together: one of them must be left out");
    }
    options.store.slots = options.executor.slots;
    return std::move(options);
  }

  ServerOptions options;
  int64_t memory_limit = 0;

 private:
  bool set_http(const std::string& name, std::string_view value) {
    HttpOptions& http = options.http;
    if (name == "host") {
      http.address = value;
    } else if (name == "port") {
      http.port = static_cast<uint16_t>(number(name, value, 0, 65535));
    } else if (name == "grpc-port") {
      options.grpc_port = static_cast<int>(number(name, value, 0, 65535));
    } else if (name == "threads") {
      http.threads = static_cast<int>(number(name, value, 1, 256));
    } else if (name == "max-body") {
      http.max_body_bytes = size(value);
    } else if (name == "max-in-flight") {
      http.max_bytes_in_flight = size(value);
    } else if (name == "max-connections") {
      http.max_connections = static_cast<size_t>(number(name, value, 1, 1000000));
    } else if (name == "read-timeout") {
      http.request_seconds = static_cast<int>(number(name, value, 1, 86400));
    } else if (name == "idle-timeout") {
      http.idle_seconds = static_cast<int>(number(name, value, 1, 86400));
    } else if (name == "tls-certificate") {
      http.tls_certificate = value;
    } else if (name == "tls-key") {
      http.tls_key = value;
    } else if (name == "token-file") {
      options.token = first_line(value);
    } else if (name == "admin") {
      if (value != "token" && value != "local" && value != "none") {
        fail("--admin is token, local or none; '", value, "' was given");
      }
      options.admin = value == "token"   ? Admin::with_token
                      : value == "local" ? Admin::local
                                         : Admin::nobody;
    } else if (name == "allow-host") {
      options.hosts.emplace_back(value);
    } else {
      return false;
    }
    return true;
  }

  bool set_models(const std::string& name, std::string_view value) {
    StoreOptions& store = options.store;
    if (name == "models") {
      store.models_folder = value;
    } else if (name == "model-name") {
      model_name = value;
    } else if (name == "model-base-path") {
      model_folder = value;
    } else if (name == "versions") {
      set_versions(value);
    } else if (name == "poll") {
      store.poll_seconds = seconds(name, value);
    } else if (name == "reload") {
      if (value != "swap" && value != "serve-through") {
        fail("--reload is serve-through or swap; '", value, "' was given");
      }
      store.reload = value == "swap" ? Reload::swap : Reload::serve_through;
    } else if (name == "load-timeout") {
      store.load_seconds = seconds(name, value);
    } else if (name == "max-weights") {
      store.max_weight_bytes = size(value);
    } else if (name == "memory-limit") {
      memory_limit = static_cast<int64_t>(size(value));
    } else if (name == "label") {
      add_label(value);
    } else if (name == "bucket") {
      add_bucket(value);
    } else {
      return false;
    }
    return true;
  }

  bool set_queue(const std::string& name, std::string_view value) {
    Batching& batching = options.store.defaults.batching;
    if (name == "slots") {
      options.executor.slots = static_cast<int>(number(name, value, 1, 1024));
    } else if (name == "max-queue") {
      options.executor.max_queued = static_cast<size_t>(number(name, value, 1, 1000000));
    } else if (name == "max-queue-bytes") {
      options.executor.max_queued_bytes = size(value);
    } else if (name == "request-timeout") {
      options.request_seconds = seconds(name, value);
    } else if (name == "drain-timeout") {
      options.drain_seconds = static_cast<int>(seconds(name, value));
    } else if (name == "max-batch-size") {
      batching.max_batch_size = number(name, value, 0, 1000000);
    } else if (name == "batch-timeout-micros") {
      batching.timeout_micros = number(name, value, 0, 60000000);
    } else if (name == "allowed-batch-sizes") {
      batching.allowed_sizes = numbers(name, value, 1, 1000000);
    } else {
      return false;
    }
    return true;
  }

  static std::vector<int64_t> numbers(std::string_view name, std::string_view list, int64_t least,
                                      int64_t most) {
    std::vector<int64_t> out;
    while (!list.empty()) {
      const size_t comma = std::min(list.find(','), list.size());
      out.push_back(number(name, list.substr(0, comma), least, most));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  void set_versions(std::string_view value) {
    constexpr std::string_view kOnly = "only:";
    ModelOptions& model = options.store.defaults;
    if (value == "all") {
      model.num_versions = INT_MAX;
    } else if (value.starts_with(kOnly) && value.size() > kOnly.size()) {
      model.only_versions = numbers("versions", value.substr(kOnly.size()), 0, INT64_MAX);
    } else {
      model.num_versions = static_cast<int>(number("versions", value, 1, 1000));
    }
  }

  void add_label(std::string_view text) {
    const size_t equals = text.rfind('='), colon = text.find(':');
    if (equals == std::string_view::npos || colon == std::string_view::npos || colon > equals) {
      fail("--label is MODEL:NAME=VERSION; '", text, "' was given");
    }
    labels.push_back({std::string(text.substr(0, colon)),
                      std::string(text.substr(colon + 1, equals - colon - 1)),
                      number("label", text.substr(equals + 1), 0, INT64_MAX)});
  }

  /// MODEL:INPUT=SIZExSIZE,INPUT=…
  void add_bucket(std::string_view text) {
    const size_t colon = text.find(':');
    Bucket bucket;
    for (std::string_view rest = text.substr(std::min(colon, text.size() - 1) + 1);
         !rest.empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view one = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      const size_t equals = one.rfind('=');
      if (equals == std::string_view::npos || equals == 0) break;
      bucket[std::string(one.substr(0, equals))] = shape_from(one.substr(equals + 1));
    }
    if (colon == std::string_view::npos || bucket.empty()) {
      fail("--bucket is MODEL:INPUT=8x128,INPUT=8; '", text, "' was given");
    }
    options.store.buckets[std::string(text.substr(0, colon))].push_back(std::move(bucket));
  }

  static Shape shape_from(std::string_view text) {
    Shape shape;
    while (!text.empty()) {
      const size_t end = std::min(text.find('x'), text.size());
      if (shape.rank() == Shape::kMaxRank) fail("--bucket: too many sizes");
      shape.push_back(number("bucket", text.substr(0, end), 1, 1 << 30));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    (void)shape.num_elements();  // throws where the product is no number
    return shape;
  }

  struct Label {
    std::string model, name;
    int64_t version;
  };
  std::vector<Label> labels;
  std::string model_name, model_folder;
};

}  // namespace

ServerOptions parse_options(std::span<const std::string_view> arguments, int64_t& memory_limit) {
  Reader reader;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view text = arguments[i];
    if (!text.starts_with("--")) fail("'", text, "' is no option; --help lists all");
    text.remove_prefix(2);
    const size_t equals = text.find('=');
    if (canonical(text) == "allow-files") {  // it and the next have no value
      reader.options.store.allows_files = true;
    } else if (canonical(text) == "sandbox") {
      reader.options.is_sandboxed = true;
    } else if (equals != std::string_view::npos) {
      reader.set(canonical(text.substr(0, equals)), text.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      reader.set(canonical(text), arguments[++i]);
    } else {
      fail("--", text, " needs a value");
    }
  }
  memory_limit = reader.memory_limit;
  return reader.finish();
}

}  // namespace tidemark::serve
