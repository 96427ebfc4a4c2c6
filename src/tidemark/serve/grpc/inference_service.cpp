#include <inference.grpc.pb.h>

#include "tidemark/base/plain_type.h"
#include "tidemark/serve/grpc/call.h"
#include "tidemark/serve/inference_types.h"

namespace tidemark::serve {

namespace {

using namespace inference;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

using InputTensor = ModelInferRequest::InferInputTensor;

std::shared_ptr<const Servable> find_servable(const Context& context, const std::string& name,
                                              const std::string& version) {
  return context.store.find(name, version.empty() ? -1 : version_from_text(version));
}

Shape shape_from(const InputTensor& input) {
  Shape shape;
  for (const int64_t size : input.shape()) {
    if (size < 0 || shape.rank() >= Shape::kMaxRank) {
      refuse(Code::invalid_argument, "input '", input.name(), "': a size is ", size, "; at most ",
             Shape::kMaxRank, " sizes are allowed, none of them negative");
    }
    shape.push_back(size);
  }
  (void)shape.num_elements();  // throws where the product is no number
  return shape;
}

template <class T, class List>
void take_list(const List& list, const InputTensor& input, const Shape& shape, DType dtype,
               Tensor& out) {
  if (list.size() != shape.num_elements()) {
    refuse(Code::invalid_argument, "input '", input.name(), "': ", list.size(),
           " elements were given; shape ", shape, " needs ", shape.num_elements());
  }
  out = Tensor::uninitialized(dtype, shape);
  auto* to = static_cast<T*>(out.mutable_raw_data());
  for (int i = 0; i < list.size(); ++i) to[i] = static_cast<T>(list[i]);
}

Tensor tensor_from_contents(const InputTensor& input, DType dtype, const Shape& shape) {
  const InferTensorContents& contents = input.contents();
  if (dtype == DType::string) {
    if (contents.bytes_contents_size() != shape.num_elements()) {
      refuse(Code::invalid_argument, "input '", input.name(), "': ", contents.bytes_contents_size(),
             " texts were given; shape ", shape, " needs ", shape.num_elements());
    }
    const auto& given = contents.bytes_contents();
    std::vector<std::string_view> texts(given.begin(), given.end());
    return Tensor::of_strings(texts, shape);
  }
  Tensor out;
  with_plain_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto take = [&](const auto& list) { take_list<T>(list, input, shape, dtype, out); };
    if constexpr (std::is_same_v<T, bool>) {
      take(contents.bool_contents());
    } else if constexpr (std::is_same_v<T, float>) {
      take(contents.fp32_contents());
    } else if constexpr (std::is_same_v<T, double>) {
      take(contents.fp64_contents());
    } else if constexpr (std::is_same_v<T, int64_t>) {
      take(contents.int64_contents());
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      take(contents.uint64_contents());
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      take(contents.int_contents());
    } else if constexpr (std::is_integral_v<T>) {
      take(contents.uint_contents());
    } else {
      refuse(Code::invalid_argument, "input '", input.name(), "': ", datatype_of(dtype),
             " must be given in raw_input_contents");
    }
  });
  return out;
}

std::vector<Tensor> inputs_of(const SignatureSpec& signature, const ModelInferRequest& request) {
  const bool is_raw = request.raw_input_contents_size() > 0;
  if (is_raw && request.raw_input_contents_size() != request.inputs_size()) {
    refuse(Code::invalid_argument, "raw_input_contents has ", request.raw_input_contents_size(),
           " entries for ", request.inputs_size(), " inputs");
  }
  std::vector<Tensor> out(signature.inputs.size());
  for (int i = 0; i < request.inputs_size(); ++i) {
    const InputTensor& input = request.inputs(i);
    const DType dtype = dtype_of_datatype(input.datatype());
    Tensor& to = out[find_input(signature, input.name(), dtype)];
    if (to) refuse(Code::invalid_argument, "input '", input.name(), "' is given twice");
    if (is_raw && input.has_contents()) {
      refuse(Code::invalid_argument, "input '", input.name(),
             "' has contents beside raw_input_contents");
    }
    const Shape shape = shape_from(input);
    to = is_raw ? tensor_from_bytes(request.raw_input_contents(i), dtype, shape, input.name())
                : tensor_from_contents(input, dtype, shape);
  }
  check_all_given(signature, out);
  return out;
}

std::vector<size_t> wanted_outputs(const SignatureSpec& signature,
                                   const ModelInferRequest& request) {
  std::vector<size_t> out;
  for (const auto& each : request.outputs()) out.push_back(find_output(signature, each.name()));
  for (size_t i = 0; request.outputs().empty() && i < signature.outputs.size(); ++i) {
    out.push_back(i);
  }
  return out;
}

/// Seconds, by the client's deadline and by the parameter that says microseconds.
double timeout_of(const CallbackServerContext& call, const ModelInferRequest& request) {
  const double left = seconds_left(call);
  const auto found = request.parameters().find("timeout");
  if (found == request.parameters().end()) return left;
  const InferParameter& given = found->second;
  const double own = 1e-6 * (given.has_uint64_param() ? static_cast<double>(given.uint64_param())
                                                      : static_cast<double>(given.int64_param()));
  return own <= 0 ? left : left > 0 ? std::min(own, left) : own;
}

inference::DataType config_type_of(DType dtype) {
  const std::string_view name = dtype == DType::string ? "STRING" : datatype_of(dtype);
  inference::DataType out = TYPE_INVALID;
  DataType_Parse("TYPE_" + std::string(name), &out);
  return out;
}

void tell_specs(const std::vector<TensorSpec>& specs,
                google::protobuf::RepeatedPtrField<ModelMetadataResponse::TensorMetadata>& out) {
  for (const TensorSpec& spec : specs) {
    auto& each = *out.Add();
    each.set_name(spec.name);
    each.set_datatype(std::string(datatype_of(spec.dtype)));
    for (int i = 0; i < spec.shape.rank(); ++i) each.add_shape(spec.shape[i]);
  }
}

void tell_duration(uint64_t count, uint64_t micros, StatisticDuration& out) {
  out.set_count(count);
  out.set_ns(micros * 1000);
}

void tell_statistics(const Servable& servable, ModelStatistics& out) {
  const ServableCounters& counters = servable.counters;
  out.set_name(servable.name);
  out.set_version(std::to_string(servable.version));
  out.set_last_inference(counters.last_milliseconds.load());
  out.set_inference_count(counters.rows.load());
  out.set_execution_count(counters.executions.load());
  InferStatistics& stats = *out.mutable_inference_stats();
  tell_duration(counters.successes.load(), counters.total.total(), *stats.mutable_success());
  tell_duration(counters.failures.load(), 0, *stats.mutable_fail());
  tell_duration(counters.waiting.all(), counters.waiting.total(), *stats.mutable_queue());
  tell_duration(counters.computing.all(), counters.computing.total(),
                *stats.mutable_compute_infer());
  MemoryUsage& weights = *out.add_memory_usage();
  weights.set_type("CPU");
  weights.set_byte_size(servable.model.weight_bytes());
}

class Inference final : public GRPCInferenceService::CallbackService {
 public:
  explicit Inference(Context& context) : context_(context) {}

  ServerUnaryReactor* ServerLive(CallbackServerContext* call, const ServerLiveRequest*,
                                 ServerLiveResponse* response) override {
    return answer_now(
        context_, call, [&] { response->set_live(true); }, Token::not_needed);
  }

  ServerUnaryReactor* ServerReady(CallbackServerContext* call, const ServerReadyRequest*,
                                  ServerReadyResponse* response) override {
    return answer_now(
        context_, call,
        [&] { response->set_ready(context_.store.is_ready() && !context_.is_draining.load()); },
        Token::not_needed);
  }

  ServerUnaryReactor* ModelReady(CallbackServerContext* call, const ModelReadyRequest* request,
                                 ModelReadyResponse* response) override {
    return answer_now(context_, call, [&] {
      try {
        find_servable(context_, request->name(), request->version());
        response->set_ready(true);
      } catch (const RequestError& error) {
        if (error.code() != Code::not_found) throw;
      }
    });
  }

  ServerUnaryReactor* ServerMetadata(CallbackServerContext* call, const ServerMetadataRequest*,
                                     ServerMetadataResponse* response) override {
    return answer_now(context_, call, [&] {
      response->set_name("tidemark");
      response->set_version("1");
      for (const char* extension : {"model_configuration", "model_repository", "statistics"}) {
        response->add_extensions(extension);
      }
    });
  }

  ServerUnaryReactor* ModelMetadata(CallbackServerContext* call,
                                    const ModelMetadataRequest* request,
                                    ModelMetadataResponse* response) override {
    return answer_now(context_, call, [&] {
      const auto servable = find_servable(context_, request->name(), request->version());
      response->set_name(servable->name);
      for (const VersionStatus& each : context_.store.status_of(servable->name)) {
        if (each.state != VersionState::available) continue;
        response->add_versions(std::to_string(each.version));
      }
      response->set_platform("tidemark");
      const SignatureSpec& signature = served_signature(*servable);
      tell_specs(signature.inputs, *response->mutable_inputs());
      tell_specs(signature.outputs, *response->mutable_outputs());
    });
  }

  ServerUnaryReactor* ModelInfer(CallbackServerContext* call, const ModelInferRequest* request,
                                 ModelInferResponse* response) override {
    return answer_later(context_, call, [&](const Finish& finish) {
      const auto servable =
          find_servable(context_, request->model_name(), request->model_version());
      const SignatureSpec& signature = served_signature(*servable);
      response->set_id(request->id());
      run_call(context_, call, request->ByteSizeLong(), servable, signature,
               inputs_of(signature, *request), finish, timeout_of(*call, *request),
               [servable, &signature, response,
                wanted = wanted_outputs(signature, *request)](std::vector<Tensor>&& outputs) {
                 response->set_model_name(servable->name);
                 response->set_model_version(std::to_string(servable->version));
                 for (const size_t index : wanted) {
                   const Tensor& t = outputs[index];
                   auto& out = *response->add_outputs();
                   out.set_name(signature.outputs[index].name);
                   out.set_datatype(std::string(datatype_of(t.dtype())));
                   for (int i = 0; i < t.rank(); ++i) out.add_shape(t.dim(i));
                   put_bytes(*response->add_raw_output_contents(), t);
                 }
               });
    });
  }

  ServerUnaryReactor* ModelConfig(CallbackServerContext* call, const ModelConfigRequest* request,
                                  ModelConfigResponse* response) override {
    return answer_now(context_, call, [&] {
      const auto servable = find_servable(context_, request->name(), request->version());
      inference::ModelConfig& config = *response->mutable_config();
      config.set_name(servable->name);
      config.set_platform("tidemark");
      config.set_backend("tidemark");
      const int64_t most = servable->batching.max_batch_size;
      config.set_max_batch_size(most > 1 ? static_cast<int>(most) : 0);
      const auto tell = [](const TensorSpec& spec, auto& out) {
        out.set_name(spec.name);
        out.set_data_type(config_type_of(spec.dtype));
        for (int i = 0; i < spec.shape.rank(); ++i) out.add_dims(spec.shape[i]);
      };
      const SignatureSpec& signature = served_signature(*servable);
      for (const TensorSpec& spec : signature.inputs) tell(spec, *config.add_input());
      for (const TensorSpec& spec : signature.outputs) tell(spec, *config.add_output());
    });
  }

  ServerUnaryReactor* ModelStatistics(CallbackServerContext* call,
                                      const ModelStatisticsRequest* request,
                                      ModelStatisticsResponse* response) override {
    return answer_now(context_, call, [&] {
      if (request->name().empty()) {
        for (const auto& each : context_.store.loaded()) {
          tell_statistics(*each, *response->add_model_stats());
        }
        return;
      }
      const auto servable = find_servable(context_, request->name(), request->version());
      tell_statistics(*servable, *response->add_model_stats());
    });
  }

  ServerUnaryReactor* RepositoryIndex(CallbackServerContext* call,
                                      const RepositoryIndexRequest* request,
                                      RepositoryIndexResponse* response) override {
    return answer_now(context_, call, [&] {
      for (const std::string& name : context_.store.names()) {
        for (const VersionStatus& each : context_.store.status_of(name)) {
          const bool is_there = each.state == VersionState::available;
          if (request->ready() && !is_there) continue;
          auto& out = *response->add_models();
          out.set_name(name);
          out.set_version(std::to_string(each.version));
          out.set_state(is_there                              ? "READY"
                        : each.state == VersionState::loading ? "LOADING"
                                                              : "UNAVAILABLE");
          out.set_reason(each.error);
        }
      }
    });
  }

  ServerUnaryReactor* RepositoryModelLoad(CallbackServerContext* call,
                                          const RepositoryModelLoadRequest* request,
                                          RepositoryModelLoadResponse*) override {
    return change_store(call, [this, name = request->model_name()] { context_.store.load(name); });
  }

  ServerUnaryReactor* RepositoryModelUnload(CallbackServerContext* call,
                                            const RepositoryModelUnloadRequest* request,
                                            RepositoryModelUnloadResponse*) override {
    return change_store(call,
                        [this, name = request->model_name()] { context_.store.unload(name); });
  }

 private:
  /// Reading a model takes long: calls are answered meanwhile.
  ServerUnaryReactor* change_store(CallbackServerContext* call, std::function<void()> change) {
    return answer_later(context_, call, [&](const Finish& finish) {
      const std::string peer = call->peer();  // "ipv4:127.0.0.1:4242", "ipv6:%5B::1%5D:4242"
      check_admin(context_.options,
                  peer.starts_with("ipv4:127.") || peer.starts_with("ipv6:%5B::1%5D") ||
                      peer.starts_with("ipv6:[::1]") || peer.starts_with("unix:"));
      context_.store.run_later([finish, change = std::move(change)] {
        std::exception_ptr error;
        try {
          change();
        } catch (...) {
          error = std::current_exception();
        }
        finish(error);
      });
    });
  }

  Context& context_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_inference_service(Context& context) {
  return std::make_unique<Inference>(context);
}

}  // namespace tidemark::serve
