// Kernels written for GPUs, compiled for the host: they give what the CPU's loops give.

#include "tidemark/kernels/cuda/emit.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tidemark/base/backend.h"
#include "tidemark/base/plain_type.h"
#include "tidemark/kernels/cuda/backend.h"
#include "tidemark/kernels/cuda/compiler.h"
#include "tidemark/kernels/cuda/device_testing.h"
#include "tidemark/kernels/cuda/library.h"
#include "tidemark/kernels/cuda/movement.h"
#include "tidemark/kernels/cuda/reduce.h"
#include "tidemark/kernels/cuda/texts.h"
#include "tidemark/kernels/fusion/compiler.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::cuda {
namespace {

using fusion::Builder;
using fusion::FusedProgram;
using fusion::Reduction;
using fusion::Value;

/// What CUDA has and the host's compiler does not: one thread does all.
constexpr const char* kShim = R"(
#include <math.h>
#define __global__
#define __shared__ static
struct Place { unsigned int x; };
static const Place blockIdx = {0}, threadIdx = {0}, blockDim = {1}, gridDim = {1};
static void __syncthreads() {}
)";

struct Case {
  std::string what;
  FusedProgram program;
  std::vector<Shape> shapes;
  /// Of the terms that a result may be a small difference of; 0: it is none.
  double terms = 0;
};

/// Every op over every dtype that a GPU has code for.
std::vector<Case> op_cases() {
  std::vector<Case> cases;
  for (const OpDef* op : OpRegistry::instance().all()) {
    for (int d = 0; d < kDTypeSlots; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!compiler().can_fuse(*op, dtype)) continue;
      Builder b;
      std::vector<Value> args;
      for (size_t i = 0; i < op->inputs().size(); ++i) args.push_back(b.load(dtype));
      b.output(b.map(*op, args, {0.25, 0}));
      // Its approximation is 1 + tanh(…).
      const double terms = op->name().starts_with("gelu") ? 0.5 : 0;
      cases.push_back({op->name() + " of " + std::string(name_of(dtype)), b.finish(),
                       std::vector<Shape>(args.size(), Shape{97}), terms});
    }
  }
  return cases;
}

std::vector<Case> cast_cases() {
  std::vector<Case> cases;
  constexpr DTypeSet kInPrograms = kReal | kBool;
  for (int from = 0; from < kDTypeSlots; ++from) {
    for (int to = 0; to < kDTypeSlots; ++to) {
      const auto in = static_cast<DType>(from), out = static_cast<DType>(to);
      if (!kInPrograms.contains(in) || !kInPrograms.contains(out)) continue;
      Builder b;
      b.output(b.cast(b.load(in), out));
      cases.push_back({message(name_of(in), " to ", name_of(out)), b.finish(), {Shape{97}}});
    }
  }
  return cases;
}

const OpDef& op(const char* name) { return OpRegistry::instance().get(name); }

/// Inputs of unlike shapes, constants, choices.
std::vector<Case> walk_cases() {
  std::vector<Case> cases;
  const std::vector<std::vector<Shape>> shapes = {{{4, 3, 5}, {4, 3, 5}, {}},
                                                  {{4, 3, 5}, {5}, {4, 1, 1}},
                                                  {{4, 1, 5}, {3, 1}, {1}},
                                                  {{2, 1, 3, 1}, {2, 1, 4}, {1}},
                                                  {{2, 3, 4, 5}, {3, 1, 5}, {2, 1, 1, 1}},
                                                  {{0, 3}, {3}, {}}};
  for (const std::vector<Shape>& three : shapes) {
    Builder b;
    const Value x = b.load(DType::float32), y = b.load(DType::float32), z = b.load(DType::float32);
    const Value sum = b.map(op("add"), {x, b.map(op("multiply"), {y, z})});
    const Value is_less = b.map(op("less"), {sum, b.constant(DType::float32, 0.5)});
    b.output(b.select(is_less, sum, y));
    b.output(sum);
    cases.push_back(
        {message("over ", three[0].to_string(), " ", three[1].to_string()), b.finish(), three});
  }
  return cases;
}

FusedProgram softmax(DType dtype) {
  Builder b;
  b.set_row_dims(1);
  const Value x = b.load(dtype);
  const Value e = b.map(op("exp"), {b.map(op("subtract"), {x, b.reduce(Reduction::max, x)})});
  b.output(b.map(op("truediv"), {e, b.reduce(Reduction::sum, e)}));
  return b.finish();
}

FusedProgram moments(int row_dims) {
  Builder b;
  b.set_row_dims(row_dims);
  const Value x = b.load(DType::float32), shift = b.load(DType::float32);
  const Value mean = b.reduce(Reduction::mean, x);
  const Value far = b.map(op("squared_difference"), {x, mean});
  const Value root =
      b.map(op("rsqrt"),
            {b.map(op("add"), {b.reduce(Reduction::mean, far), b.constant(DType::float32, 1e-3)})});
  b.output(mean, true);
  b.output(root);
  b.output(
      b.map(op("add"), {b.map(op("multiply"), {b.map(op("subtract"), {x, mean}), root}), shift}));
  return b.finish();
}

FusedProgram extremes(DType dtype) {
  Builder b;
  b.set_row_dims(1);
  const Value x = b.load(dtype);
  b.output(b.reduce(Reduction::max, x), true);
  b.output(b.reduce(Reduction::min, x), true);
  b.output(b.reduce(Reduction::sum, x));
  return b.finish();
}

std::vector<Case> row_cases() {
  std::vector<Case> cases;
  for (const DType d : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    cases.push_back({message("softmax of ", name_of(d)), softmax(d), {Shape{6, 11}}});
  }
  for (const DType d : {DType::float32, DType::bfloat16, DType::int32, DType::uint8}) {
    cases.push_back({message("extremes of ", name_of(d)), extremes(d), {Shape{2, 3, 7}}});
  }
  cases.push_back({"moments of rows", moments(1), {Shape{5, 4, 9}, Shape{9}}, 0.5});
  cases.push_back({"moments of matrices", moments(2), {Shape{5, 4, 9}, Shape{4, 1}}, 0.5});
  cases.push_back({"moments of all", moments(FusedProgram::kAllDims), {Shape{5, 9}, Shape{}}, 0.5});
  return cases;
}

std::string name_of_kernel(size_t i) { return "kernel" + std::to_string(i); }

std::string source_of(const std::vector<Case>& cases) {
  std::string source;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Walk walk(cases[i].program, cases[i].shapes);
    source += emit_kernel(cases[i].program, walk, name_of_kernel(i));
  }
  return source;
}

/// The kernels as a library of the host's.
class HostKernels {
 public:
  /// What stands behind device/elements.h.
  explicit HostKernels(const std::string& source)
      : path_(std::filesystem::temp_directory_path() /
              ("tidemark-emitted-" + std::to_string(getpid()))) {
    std::ofstream(path_.string() + ".cpp") << kShim << with_texts(source);
    const std::string command =
        message("${CXX:-c++} -std=c++17 -w -shared -fPIC -fno-gnu-unique -o ", path_.string(),
                ".so ", path_.string(), ".cpp");
    if (std::system(command.c_str()) == 0) {
      library_ = dlopen((path_.string() + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
  ~HostKernels() {
    if (library_) dlclose(library_);
    std::filesystem::remove(path_.string() + ".cpp");
    std::filesystem::remove(path_.string() + ".so");
  }
  bool is_there() const { return library_ != nullptr; }

  /// A kernel takes its arguments as a struct by value: larger ones lie on the stack, as an array
  /// of as many words does.
  void run(const std::string& name, const std::vector<uint64_t>& words) const {
    struct Words {
      uint64_t all[64];
    };
    ASSERT_LE(words.size(), std::size(Words().all));
    Words arguments{};
    std::copy(words.begin(), words.end(), arguments.all);
    reinterpret_cast<void (*)(Words)>(dlsym(library_, name.c_str()))(arguments);
  }

 private:
  std::filesystem::path path_;
  void* library_ = nullptr;
};

void compare(const std::vector<Case>& cases) {
  const HostKernels kernels(source_of(cases));
  ASSERT_TRUE(kernels.is_there()) << "the emitted source does not compile";
  std::mt19937 random(7);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [what, program, shapes, terms] = cases[i];
    std::vector<Tensor> inputs, wanted(program.outputs.size()), given;
    for (size_t k = 0; k < shapes.size(); ++k) {
      inputs.push_back(random_tensor(program.inputs[k], shapes[k], random));
    }
    std::vector<Tensor> read = inputs;
    backend_of(Device()).fusion().make_group(program, shapes)->run(read, wanted);
    const Walk walk(program, shapes);
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const Tensor& t : inputs) in.push_back(t.raw_data());
    for (const Tensor& t : wanted) {
      given.push_back(new_tensor(t.dtype(), t.shape()));
      out.push_back(given.back().mutable_raw_data());
    }
    kernels.run(name_of_kernel(i), kernel_arguments(program, walk, in, out));
    for (size_t o = 0; o < wanted.size(); ++o) expect_near(wanted[o], given[o], what, terms);
  }
}

TEST(Emit, OpsAreWhatTheyAreOnTheCpu) {
  const std::vector<Case> cases = op_cases();
  EXPECT_GT(cases.size(), 300u) << "most elementwise ops have code";
  compare(cases);
}

TEST(Emit, CastsAreWhatTheyAreOnTheCpu) { compare(cast_cases()); }
TEST(Emit, InputsAreBroadcast) { compare(walk_cases()); }
TEST(Emit, RowsAreReduced) { compare(row_cases()); }

/// A reduction of a tensor over some axes, whole or cut into parts.
struct ReductionCase {
  const char* op;
  DType dtype;
  Shape shape;
  std::vector<int64_t> axes;

  std::vector<bool> flags() const {
    std::vector<bool> flags(static_cast<size_t>(shape.rank()));
    for (const int64_t a : axes) flags[static_cast<size_t>(a)] = true;
    return flags;
  }
};

std::vector<ReductionCase> reduction_cases() {
  std::vector<ReductionCase> cases;
  for (const char* op : {"sum", "mean", "prod", "max", "min", "any", "all", "euclidean_norm",
                         "logsumexp", "variance", "std"}) {
    for (int d = 0; d < kDTypeSlots; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!kPlain.contains(dtype) || reduction_class(op, dtype).empty()) continue;
      cases.push_back({op, dtype, {3, 4, 5}, {1}});
      cases.push_back({op, dtype, {3, 4, 5}, {0, 2}});
    }
    if (reduction_class(op, DType::float32).empty()) continue;
    cases.push_back({op, DType::float32, {3, 40000}, {1}});
    cases.push_back({op, DType::float32, {40000, 3}, {0}});
    cases.push_back({op, DType::float32, {200, 300}, {0, 1}});
    cases.push_back({op, DType::float32, {3, 0}, {1}});
  }
  return cases;
}

TEST(Emit, ReductionsAreWhatTheyAreOnTheCpu) {
  const std::vector<ReductionCase> cases = reduction_cases();
  std::string source;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& c = cases[i];
    const std::string name = name_of_kernel(i), reduction = reduction_class(c.op, c.dtype);
    source += emit_reduction(reduction, c.dtype, {c.shape, c.flags()}, name);
    source += emit_join(reduction, c.dtype, name + "_join");
  }
  const HostKernels kernels(source);
  ASSERT_TRUE(kernels.is_there()) << "the emitted source does not compile";
  std::mt19937 random(11);
  bool has_parts = false;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [op, dtype, shape, axes] = cases[i];
    const std::string what =
        message(op, " of ", name_of(dtype), " ", shape.to_string(), " over ", axes[0]);
    const Tensor x = random_tensor(dtype, shape, random);
    const Tensor wanted = call(op, {x}, {{"axis", axes}});
    const Tensor given = new_tensor(wanted.dtype(), wanted.shape());
    const ReduceWalk walk(shape, cases[i].flags());
    ASSERT_EQ(walk.kept.count, wanted.num_elements()) << what;
    const bool is_cut = walk.parts > 1;
    has_parts = has_parts || is_cut;
    std::vector<double> partials(static_cast<size_t>(3 * walk.kept.count * walk.parts));
    void* first = is_cut ? partials.data() : given.mutable_raw_data();
    kernels.run(name_of_kernel(i), reduction_arguments(walk, x.raw_data(), first));
    if (is_cut) {
      kernels.run(
          name_of_kernel(i) + "_join",
          {reinterpret_cast<uint64_t>(first), reinterpret_cast<uint64_t>(given.mutable_raw_data()),
           static_cast<uint64_t>(walk.kept.count), static_cast<uint64_t>(walk.parts),
           static_cast<uint64_t>(walk.reduced.count)});
    }
    expect_near(wanted, given, what);
  }
  EXPECT_TRUE(has_parts);
}

TEST(Emit, MovedElementsAreWhatTheyAreOnTheCpu) {
  std::mt19937 random(13);
  struct Moved {
    std::string what;
    Tensor from, wanted;
    CopyBox box;
  };
  std::vector<Moved> cases;
  const auto sizes = [](std::vector<int32_t> values) {
    return Tensor::of<int32_t>(values, {static_cast<int64_t>(values.size())});
  };
  for (const DType d : {DType::uint8, DType::float16, DType::int32, DType::float64}) {
    const Tensor x = random_tensor(d, {4, 1, 3, 5}, random);
    cases.push_back({"transpose", x,
                     call("transpose", {x}, {{"perm", std::vector<int64_t>{2, 0, 3, 1}}}),
                     box_of_transpose(x.shape(), {2, 0, 3, 1})});
    cases.push_back({"broadcast_to", x, call("broadcast_to", {x, sizes({2, 4, 6, 3, 5})}),
                     box_of_broadcast(x.shape(), {2, 4, 6, 3, 5})});
    cases.push_back(
        {"tile", x, call("tile", {x, sizes({2, 3, 1, 2})}), box_of_tile(x.shape(), {8, 3, 3, 10})});
    const Tensor wide = random_tensor(d, {3, 4, 24}, random);
    cases.push_back({"wide", wide,
                     call("transpose", {wide}, {{"perm", std::vector<int64_t>{1, 0, 2}}}),
                     box_of_transpose(wide.shape(), {1, 0, 2})});
    cases.push_back({"slice", x, call("slice", {x, sizes({0, 0, 0, 0}), sizes({2, 1, 3, 4})}),
                     box_of_part(x.shape(), {2, 1, 3, 4}, false)});
  }
  std::string source;
  std::vector<Tensor> given;
  std::vector<CopyBox> boxes;
  bool has_wider = false;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [what, from, wanted, box] = cases[i];
    given.push_back(new_tensor(wanted.dtype(), wanted.shape()));
    ASSERT_EQ(box.count, wanted.num_elements()) << what;
    size_t element = size_of(from.dtype());
    boxes.push_back(widened(box, element, from.raw_data(), given[i].raw_data()));
    has_wider = has_wider || element > size_of(from.dtype());
    source += emit_copy(element, boxes[i].sizes.size(), i % 2 == 0, name_of_kernel(i));
  }
  EXPECT_TRUE(has_wider);
  const HostKernels kernels(source);
  ASSERT_TRUE(kernels.is_there()) << "the emitted source does not compile";
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [what, from, wanted, box] = cases[i];
    kernels.run(name_of_kernel(i),
                copy_arguments(boxes[i], from.raw_data(), given[i].mutable_raw_data()));
    EXPECT_EQ(std::memcmp(wanted.raw_data(), given[i].raw_data(), wanted.nbytes()), 0) << what;
  }
}

TEST(Emit, OneKernelServesAllSizesThatAreWalkedAlike) {
  Builder b;
  b.output(b.map(op("add"), {b.load(DType::float32), b.load(DType::float32)}));
  const FusedProgram p = b.finish();
  const auto source = [&](std::vector<Shape> shapes) {
    return emit_kernel(p, Walk(p, shapes), "k");
  };
  EXPECT_EQ(source({{4, 5}, {4, 5}}), source({{7}, {7}}));
  EXPECT_EQ(source({{4, 5}, {5}}), source({{2, 3, 9}, {9}})) << "two dimensions are walked as one";
  EXPECT_NE(source({{4, 5}, {5}}), source({{4, 5}, {4, 5}}));
}

TEST(Emit, TheCompilerForGpusTakesIt) {
  std::vector<Case> some = walk_cases();
  for (const auto& cases : {op_cases(), row_cases()}) {
    for (const Case& one : cases) {
      const DType dtype = one.program.inputs[0];
      if (dtype == DType::bfloat16 || dtype == DType::int32) some.push_back(one);
    }
  }
  const SourceCompiler* nvrtc = nullptr;
  try {
    nvrtc = &installed_compiler();
  } catch (const FailedPreconditionError& error) {
    GTEST_SKIP() << error.what();
  }
  const CompiledCode code = nvrtc->compile(with_texts(source_of(some)).c_str(), "some", 90);
  EXPECT_GT(code.bytes, 0u) << code.text;
  nvrtc->release(code);
}

}  // namespace
}  // namespace tidemark::cuda
