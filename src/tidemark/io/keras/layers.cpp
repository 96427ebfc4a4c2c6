#include "tidemark/io/keras/layers.h"

#include <tidemark/call.h>
#include <tidemark/nn.h>
#include <tidemark/ops.h>

#include "tidemark/io/input_file.h"

namespace tidemark::io::keras {

namespace {

/// A layer's options, each with the name that an error needs.
class Options {
 public:
  explicit Options(const Json& entry) : entry_(entry), config_(entry.at("config")) {}

  const std::string& layer() const { return config_.at("name").as_text(); }
  [[noreturn]] void missing(std::string_view what) const {
    fail<UnimplementedError>("the layer \"", layer(), "\" (", entry_.at("class_name").as_text(),
                             ") has ", what,
                             ", which is not known here; load the model in Python, ",
                             "or write it in C++ and use load_weights");
  }
  int64_t integer(std::string_view name) const { return config_.at(name).as_int(); }
  double real(std::string_view name) const { return config_.at(name).as_real(); }
  bool flag(std::string_view name, bool otherwise = false) const {
    const Json* found = config_.find(name);
    return found && !found->is_null() ? found->as_bool() : otherwise;
  }
  std::string text(std::string_view name) const { return config_.at(name).as_text(); }
  const Json* find(std::string_view name) const {
    const Json* found = config_.find(name);
    return found && !found->is_null() ? found : nullptr;
  }
  const Json& at(std::string_view name) const { return config_.at(name); }
  /// Throws where the option is there and not the one that layers here have.
  void must_be(std::string_view name, bool wanted) const {
    if (flag(name, wanted) != wanted) missing(message("`", name, "` = ", !wanted));
  }
  void must_say(std::string_view name, std::string_view wanted) const {
    const Json* found = find(name);
    if (found && found->as_text() != wanted) missing(message("`", name, "` = ", found->as_text()));
  }
  /// One number for all dimensions, or a list.
  nn::Sizes sizes(std::string_view name, int rank) const {
    const Json& given = config_.at(name);
    if (given.is_number()) return given.as_int();
    const Json::List& list = given.as_list();
    if (static_cast<int>(list.size()) != rank) missing(message("`", name, "` of another rank"));
    switch (rank) {
      case 1:
        return {list[0].as_int()};
      case 2:
        return {list[0].as_int(), list[1].as_int()};
      default:
        return {list[0].as_int(), list[1].as_int(), list[2].as_int()};
    }
  }
  nn::Activation activation(std::string_view name = "activation") const {
    const Json* found = find(name);
    if (!found) return {};
    const Json& named = found->is_object() ? found->at("config") : *found;
    if (!named.is_text()) missing(message("an `", name, "` of its own"));
    return nn::Activation(named.as_text());
  }
  /// Only the last dimension is the one that normalisations are about. Gives the axis that has to
  /// be the last one where only a call can tell: Keras 2 does not say what the layer was built for.
  std::optional<int64_t> check_last_axis() const {
    const Json* axis = find("axis");
    if (!axis) return std::nullopt;
    const Json& one = axis->is_list() && axis->as_list().size() == 1 ? axis->as_list()[0] : *axis;
    const Json* built = entry_.find("build_config");
    if (!built && one.is_number() && one.as_int() > 0) return one.as_int();
    const Json* shape = built && built->is_object() ? built->find("input_shape") : nullptr;
    const int64_t last =
        shape && shape->is_list() ? static_cast<int64_t>(shape->as_list().size()) - 1 : -1;
    if (!one.is_number() || (one.as_int() != -1 && one.as_int() != last)) {
      missing("an `axis` other than the last");
    }
    return std::nullopt;
  }

 private:
  const Json& entry_;
  const Json& config_;
};

/// A layer of one tensor.
template <class Layer>
MadeLayer made(Layer layer) {
  return {layer,
          [layer](const std::vector<Tensor>& inputs, const Json&) { return layer(inputs.at(0)); }};
}

/// The layer, which fails where a call's last dimension is not this one.
MadeLayer along_last(MadeLayer layer, std::optional<int64_t> axis, const std::string& name) {
  if (!axis) return layer;
  layer.call = [call = layer.call, axis = *axis, name](const std::vector<Tensor>& inputs,
                                                       const Json& named) {
    if (inputs.at(0).rank() - 1 != axis) {
      fail<UnimplementedError>("the layer \"", name, "\" has an `axis` other than the last, which ",
                               "is not known here");
    }
    return call(inputs, named);
  };
  return layer;
}

MadeLayer function_of(std::function<Tensor(const std::vector<Tensor>&)> function) {
  return {std::nullopt, [function = std::move(function)](const std::vector<Tensor>& inputs,
                                                         const Json&) { return function(inputs); }};
}

/// What all convolutions have.
template <class ConvolutionOptions>
ConvolutionOptions window_options(const Options& of, int rank) {
  of.must_say("data_format", "channels_last");
  ConvolutionOptions out;
  out.strides = of.sizes("strides", rank);
  out.padding = of.text("padding");
  out.activation = of.activation();
  out.use_bias = of.flag("use_bias", true);
  return out;
}

template <class Layer>
MadeLayer convolution(const Options& of, int rank) {
  auto options = window_options<nn::ConvOptions>(of, rank);
  options.dilation_rate = of.sizes("dilation_rate", rank);
  options.groups = of.integer("groups");
  return made(Layer(of.integer("filters"), of.sizes("kernel_size", rank), options));
}

template <class Layer>
MadeLayer transposed_convolution(const Options& of, int rank) {
  if (of.find("output_padding")) of.missing("`output_padding`");
  return made(Layer(of.integer("filters"), of.sizes("kernel_size", rank),
                    window_options<nn::ConvTransposeOptions>(of, rank)));
}

template <class Layer>
MadeLayer depthwise_convolution(const Options& of, int rank) {
  auto options = window_options<nn::DepthwiseConvOptions>(of, rank);
  options.depth_multiplier = of.integer("depth_multiplier");
  options.dilation_rate = of.sizes("dilation_rate", rank);
  return made(Layer(of.sizes("kernel_size", rank), options));
}

template <class Layer>
MadeLayer pooling(const Options& of, int rank) {
  of.must_say("data_format", "channels_last");
  nn::PoolingOptions options;
  options.strides = of.sizes("strides", rank);
  options.padding = of.text("padding");
  return made(Layer(of.sizes("pool_size", rank), options));
}

template <class Layer>
MadeLayer global_pooling(const Options& of) {
  of.must_say("data_format", "channels_last");
  of.must_be("keepdims", false);
  return made(Layer());
}

template <class Layer>
MadeLayer recurrent(const Options& of) {
  for (const char* name : {"return_state", "go_backwards", "stateful"}) of.must_be(name, false);
  of.must_be("reset_after", true);
  nn::RecurrentOptions options;
  options.activation = of.activation();
  options.recurrent_activation = of.activation("recurrent_activation");
  options.use_bias = of.flag("use_bias", true);
  options.return_sequences = of.flag("return_sequences");
  return made(Layer(of.integer("units"), options));
}

MadeLayer attention(const Options& of) {
  of.must_be("use_gate", false);
  const Json* axes = of.find("attention_axes");
  if (axes && (axes->as_list().size() != 1 || axes->as_list()[0].as_int() != 1)) {
    of.missing("`attention_axes` other than the second");
  }
  nn::MultiHeadAttentionOptions options;
  options.use_bias = of.flag("use_bias", true);
  if (of.find("value_dim")) options.value_dim = of.integer("value_dim");
  if (const Json* size = of.find("output_shape")) {
    const bool is_list = size->is_list() && size->as_list().size() == 1;
    options.output_size = (is_list ? size->as_list()[0] : *size).as_int();
  }
  const nn::MultiHeadAttention layer(of.integer("num_heads"), of.integer("key_dim"), options);
  return {layer, [layer](const std::vector<Tensor>& inputs, const Json& named) {
            nn::AttentionCall how;
            const Json* causal = named.is_object() ? named.find("use_causal_mask") : nullptr;
            how.causal = causal && !causal->is_null() && causal->as_bool();
            if (inputs.size() > 2) how.key = inputs[2];
            return layer(inputs.at(0), inputs.at(inputs.size() > 1 ? 1 : 0), how);
          }};
}

MadeLayer relu_layer(const Options& of) {
  const double slope = of.find("negative_slope") ? of.real("negative_slope") : 0;
  const double most = of.find("max_value") ? of.real("max_value") : 0;
  if (of.find("threshold") && of.real("threshold") != 0) of.missing("a `threshold`");
  return function_of([slope, most](const std::vector<Tensor>& inputs) {
    const Tensor& x = inputs.at(0);
    Tensor y = slope != 0 ? leaky_relu(x, slope) : relu(x);
    return most > 0 ? minimum(y, cast(Tensor(static_cast<float>(most)), y.dtype())) : y;
  });
}

MadeLayer zero_padding(const Options& of) {
  of.must_say("data_format", "channels_last");
  std::vector<int64_t> sides = {0, 0};
  for (const Json& both : of.at("padding").as_list()) {
    for (const Json& side : both.as_list()) sides.push_back(side.as_int());
  }
  sides.insert(sides.end(), {0, 0});
  const Tensor paddings =
      Tensor::of(std::span<const int64_t>(sides), {static_cast<int64_t>(sides.size() / 2), 2});
  return function_of([paddings](const std::vector<Tensor>& inputs) {
    const Tensor& x = inputs.at(0);
    return pad(x, paddings, "CONSTANT", cast(Tensor(0.f), x.dtype()));
  });
}

MadeLayer merging(Tensor (*both)(const Tensor&, const Tensor&)) {
  return function_of([both](const std::vector<Tensor>& inputs) {
    Tensor out = inputs.at(0);
    for (size_t i = 1; i < inputs.size(); ++i) out = both(out, inputs[i]);
    return out;
  });
}

MadeLayer normalisation_along_last(std::string_view kind, const Options& of) {
  const bool center = of.flag("center", true), scale = of.flag("scale", true);
  if (kind == "RMSNormalization")
    return made(nn::RMSNormalization({.epsilon = of.real("epsilon")}));
  if (kind == "LayerNormalization") {
    of.must_be("rms_scaling", false);
    return made(
        nn::LayerNormalization({.epsilon = of.real("epsilon"), .center = center, .scale = scale}));
  }
  if (kind == "GroupNormalization") {
    return made(nn::GroupNormalization({.groups = of.integer("groups"),
                                        .epsilon = of.real("epsilon"),
                                        .center = center,
                                        .scale = scale}));
  }
  of.must_be("renorm", false);
  return made(nn::BatchNormalization({.momentum = of.real("momentum"),
                                      .epsilon = of.real("epsilon"),
                                      .center = center,
                                      .scale = scale}));
}

MadeLayer normalisation(std::string_view kind, const Options& of) {
  const std::optional<int64_t> axis = of.check_last_axis();
  return along_last(normalisation_along_last(kind, of), axis, of.layer());
}

MadeLayer reshape_layer(const Options& of) {
  Ints target;
  for (const Json& size : of.at("target_shape").as_list()) target.push_back(size.as_int());
  return made(nn::Reshape(target));
}

using Maker = MadeLayer (*)(const Options&);

constexpr std::pair<std::string_view, Maker> kMakers[] = {
    {"Dense",
     [](const Options& of) {
       return made(nn::Dense(of.integer("units"), {.activation = of.activation(),
                                                   .use_bias = of.flag("use_bias", true)}));
     }},
    {"Conv1D", [](const Options& of) { return convolution<nn::Conv1D>(of, 1); }},
    {"Conv2D", [](const Options& of) { return convolution<nn::Conv2D>(of, 2); }},
    {"Conv3D", [](const Options& of) { return convolution<nn::Conv3D>(of, 3); }},
    {"Conv1DTranspose",
     [](const Options& of) { return transposed_convolution<nn::Conv1DTranspose>(of, 1); }},
    {"Conv2DTranspose",
     [](const Options& of) { return transposed_convolution<nn::Conv2DTranspose>(of, 2); }},
    {"Conv3DTranspose",
     [](const Options& of) { return transposed_convolution<nn::Conv3DTranspose>(of, 3); }},
    {"DepthwiseConv1D",
     [](const Options& of) { return depthwise_convolution<nn::DepthwiseConv1D>(of, 1); }},
    {"DepthwiseConv2D",
     [](const Options& of) { return depthwise_convolution<nn::DepthwiseConv2D>(of, 2); }},
    {"MaxPooling1D", [](const Options& of) { return pooling<nn::MaxPooling1D>(of, 1); }},
    {"MaxPooling2D", [](const Options& of) { return pooling<nn::MaxPooling2D>(of, 2); }},
    {"MaxPooling3D", [](const Options& of) { return pooling<nn::MaxPooling3D>(of, 3); }},
    {"AveragePooling1D", [](const Options& of) { return pooling<nn::AveragePooling1D>(of, 1); }},
    {"AveragePooling2D", [](const Options& of) { return pooling<nn::AveragePooling2D>(of, 2); }},
    {"AveragePooling3D", [](const Options& of) { return pooling<nn::AveragePooling3D>(of, 3); }},
    {"GlobalAveragePooling1D", global_pooling<nn::GlobalAveragePooling>},
    {"GlobalAveragePooling2D", global_pooling<nn::GlobalAveragePooling>},
    {"GlobalAveragePooling3D", global_pooling<nn::GlobalAveragePooling>},
    {"GlobalMaxPooling1D", global_pooling<nn::GlobalMaxPooling>},
    {"GlobalMaxPooling2D", global_pooling<nn::GlobalMaxPooling>},
    {"GlobalMaxPooling3D", global_pooling<nn::GlobalMaxPooling>},
    {"BatchNormalization",
     [](const Options& of) { return normalisation("BatchNormalization", of); }},
    {"LayerNormalization",
     [](const Options& of) { return normalisation("LayerNormalization", of); }},
    {"RMSNormalization", [](const Options& of) { return normalisation("RMSNormalization", of); }},
    {"GroupNormalization",
     [](const Options& of) { return normalisation("GroupNormalization", of); }},
    {"Embedding",
     [](const Options& of) {
       of.must_be("mask_zero", false);
       return made(nn::Embedding(of.integer("input_dim"), of.integer("output_dim")));
     }},
    {"LSTM", recurrent<nn::LSTM>},
    {"GRU", recurrent<nn::GRU>},
    {"MultiHeadAttention", attention},
    {"Dropout", [](const Options& of) { return made(nn::Dropout(of.real("rate"))); }},
    {"Flatten", [](const Options&) { return made(nn::Flatten()); }},
    {"Reshape", reshape_layer},
    {"Activation",
     [](const Options& of) {
       return function_of([activation = of.activation()](const std::vector<Tensor>& inputs) {
         return activation(inputs.at(0));
       });
     }},
    {"ReLU", relu_layer},
    {"Softmax",
     [](const Options& of) {
       return along_last(function_of([](const std::vector<Tensor>& x) { return softmax(x.at(0)); }),
                         of.check_last_axis(), of.layer());
     }},
    {"Rescaling",
     [](const Options& of) {
       const auto scale = static_cast<float>(of.real("scale"));
       const auto offset = static_cast<float>(of.real("offset"));
       return function_of([scale, offset](const std::vector<Tensor>& inputs) {
         return cast(inputs.at(0), DType::float32) * scale + offset;
       });
     }},
    {"ZeroPadding2D", zero_padding},
    {"Add", [](const Options&) { return merging(add); }},
    {"Subtract", [](const Options&) { return merging(subtract); }},
    {"Multiply", [](const Options&) { return merging(multiply); }},
    {"Maximum", [](const Options&) { return merging(maximum); }},
    {"Average",
     [](const Options&) {
       return function_of([](const std::vector<Tensor>& inputs) {
         return add_n(inputs) * (1.f / static_cast<float>(inputs.size()));
       });
     }},
    {"Concatenate",
     [](const Options& of) {
       return function_of([axis = of.integer("axis")](const std::vector<Tensor>& inputs) {
         return concat(inputs, axis);
       });
     }},
};

}  // namespace

MadeLayer make_layer(const Json& entry) {
  const Options options(entry);
  const std::string& kind = entry.at("class_name").as_text();
  for (const auto& [name, maker] : kMakers) {
    if (name == kind) return maker(options);
  }
  options.missing("a class");
}

}  // namespace tidemark::io::keras
