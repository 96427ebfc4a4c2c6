#include <tensorflow_serving.grpc.pb.h>

#include "tidemark/serve/grpc/call.h"
#include "tidemark/serve/grpc/tensor_proto.h"

namespace tidemark::serve {

namespace {

using namespace tensorflow::serving;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

int64_t version_of(const Context& context, const ModelSpec& spec) {
  if (spec.name().empty()) refuse(Code::invalid_argument, "the request's ModelSpec has no name");
  if (spec.version_choice_case() == ModelSpec::kVersionLabel) {
    return context.store.version_of_label(spec.name(), spec.version_label());
  }
  if (spec.version_choice_case() != ModelSpec::kVersion) return -1;
  if (spec.version().value() < 0) refuse(Code::invalid_argument, "a version cannot be negative");
  return spec.version().value();
}

void tell_spec(const Servable& servable, std::string_view signature, ModelSpec& spec) {
  spec.set_name(servable.name);
  spec.mutable_version()->set_value(servable.version);
  spec.set_signature_name(std::string(signature));
}

std::vector<Tensor> inputs_of(const SignatureSpec& signature, const PredictRequest& request,
                              size_t most_bytes) {
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : signature.inputs) {
    const auto found = request.inputs().find(spec.name);
    if (found == request.inputs().end()) {
      refuse(Code::invalid_argument, "input '", spec.name, "' of signature '", signature.name,
             "' is missing");
    }
    inputs.push_back(tensor_from(found->second, spec.dtype, spec.name, most_bytes));
  }
  if (request.inputs().size() != inputs.size()) {
    refuse(Code::invalid_argument, "signature '", signature.name, "' has ", inputs.size(),
           " inputs; ", request.inputs().size(), " were given");
  }
  return inputs;
}

/// The outputs asked for: true each.
std::vector<bool> wanted_outputs(const SignatureSpec& signature, const PredictRequest& request) {
  std::vector<bool> wanted(signature.outputs.size(), request.output_filter().empty());
  for (const std::string& name : request.output_filter()) {
    size_t at = 0;
    while (at < wanted.size() && signature.outputs[at].name != name) ++at;
    if (at == wanted.size()) {
      refuse(Code::invalid_argument, "output_filter: signature '", signature.name,
             "' has no output '", name, "'");
    }
    wanted[at] = true;
  }
  return wanted;
}

void tell_signature(const SignatureSpec& signature, tensorflow::SignatureDef& out) {
  out.set_method_name("tensorflow/serving/predict");
  const auto tell = [](const std::vector<TensorSpec>& specs, auto& map) {
    for (const TensorSpec& spec : specs) {
      tensorflow::TensorInfo& info = map[spec.name];
      info.set_name(spec.name);
      info.set_dtype(static_cast<tensorflow::DataType>(spec.dtype));
      to_proto(spec.shape, *info.mutable_tensor_shape());
    }
  };
  tell(signature.inputs, *out.mutable_inputs());
  tell(signature.outputs, *out.mutable_outputs());
}

class Prediction final : public PredictionService::CallbackService {
 public:
  explicit Prediction(Context& context) : context_(context) {}

  ServerUnaryReactor* Predict(CallbackServerContext* call, const PredictRequest* request,
                              PredictResponse* response) override {
    return answer_later(context_, call, [&](const Finish& finish) {
      const ModelSpec& spec = request->model_spec();
      const auto servable = context_.store.find(spec.name(), version_of(context_, spec));
      const std::string& name =
          spec.signature_name().empty() ? "serving_default" : spec.signature_name();
      const SignatureSpec* signature = servable->model.find(name);
      if (!signature) {
        refuse(Code::failed_precondition, "Serving signature key \"", name, "\" not found.");
      }
      const size_t most = context_.options.http.max_body_bytes;
      run_call(context_, call, request->ByteSizeLong(), servable, *signature,
               inputs_of(*signature, *request, most), finish, seconds_left(*call),
               [servable, signature, response,
                wanted = wanted_outputs(*signature, *request)](std::vector<Tensor>&& outputs) {
                 tell_spec(*servable, signature->name, *response->mutable_model_spec());
                 for (size_t i = 0; i < outputs.size(); ++i) {
                   if (!wanted[i]) continue;
                   to_proto(outputs[i], (*response->mutable_outputs())[signature->outputs[i].name]);
                 }
               });
    });
  }

  ServerUnaryReactor* GetModelMetadata(CallbackServerContext* call,
                                       const GetModelMetadataRequest* request,
                                       GetModelMetadataResponse* response) override {
    return answer_now(context_, call, [&] {
      const ModelSpec& spec = request->model_spec();
      const auto servable = context_.store.find(spec.name(), version_of(context_, spec));
      if (request->metadata_field().empty()) {
        refuse(Code::invalid_argument,
               "GetModelMetadataRequest must specify at least one "
               "metadata_field: signature_def");
      }
      for (const std::string& field : request->metadata_field()) {
        if (field != "signature_def") {
          refuse(Code::invalid_argument, "Metadata field ", field, " is not supported");
        }
      }
      tell_spec(*servable, "", *response->mutable_model_spec());
      SignatureDefMap signatures;
      for (const SignatureSpec& signature : servable->model.signatures()) {
        tell_signature(signature, (*signatures.mutable_signature_def())[signature.name]);
      }
      (*response->mutable_metadata())["signature_def"].PackFrom(signatures);
    });
  }

 private:
  Context& context_;
};

ModelVersionStatus::State state_of(VersionState state) {
  switch (state) {
    case VersionState::loading:
      return ModelVersionStatus::LOADING;
    case VersionState::available:
      return ModelVersionStatus::AVAILABLE;
    case VersionState::unloading:
      return ModelVersionStatus::UNLOADING;
    case VersionState::failed:
      return ModelVersionStatus::END;
  }
  return ModelVersionStatus::UNKNOWN;
}

class Models final : public ModelService::CallbackService {
 public:
  explicit Models(Context& context) : context_(context) {}

  ServerUnaryReactor* GetModelStatus(CallbackServerContext* call,
                                     const GetModelStatusRequest* request,
                                     GetModelStatusResponse* response) override {
    return answer_now(context_, call, [&] {
      const ModelSpec& spec = request->model_spec();
      const int64_t wanted = version_of(context_, spec);
      for (const VersionStatus& each : context_.store.status_of(spec.name())) {
        if (wanted >= 0 && each.version != wanted) continue;
        ModelVersionStatus& out = *response->add_model_version_status();
        out.set_version(each.version);
        out.set_state(state_of(each.state));
        StatusProto& status = *out.mutable_status();
        if (!each.error.empty()) status.set_error_code(static_cast<int>(each.code));
        status.set_error_message(each.error);
      }
      if (response->model_version_status().empty()) {
        refuse(Code::not_found, "Could not find version ", wanted, " of model ", spec.name());
      }
    });
  }

 private:
  Context& context_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_prediction_service(Context& context) {
  return std::make_unique<Prediction>(context);
}
std::unique_ptr<grpc::Service> make_model_service(Context& context) {
  return std::make_unique<Models>(context);
}

}  // namespace tidemark::serve
