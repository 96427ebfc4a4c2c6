// Coverage-guided fuzzing by libFuzzer of what reads bytes of others.
//
//   fuzz_guided TARGET [options of libFuzzer] [folders of inputs]
//   fuzz_guided --seeds FOLDER       writes well-formed inputs into FOLDER/TARGET/
//   fuzz_guided --list
//   fuzz_guided --unguided [what the program fuzz takes]
#include <tidemark/memory.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "targets.h"
#include "tidemark/io/model_writer.h"
#include "tidemark/trace/builder.h"

namespace tidemark::fuzz {

namespace {

const Target* chosen = nullptr;

int write_seeds(const std::string& folder) {
  for (const auto& [name, target] : targets()) {
    const std::string place = folder + "/" + std::string(name);
    std::filesystem::create_directories(place);
    if (target.start) target.start();
    for (const auto& [file, bytes] : target.seeds()) put_bytes(place + "/" + file, bytes);
  }
  return 0;
}

[[noreturn]] void list() {
  for (const auto& [name, target] : targets()) std::printf("%s\n", std::string(name).c_str());
  std::exit(0);
}

}  // namespace

std::map<std::string_view, Target>& targets() {
  static std::map<std::string_view, Target> all;
  return all;
}

const std::string& scratch_folder() {
  static const ScratchFolder folder("fuzz_guided");
  static const std::string path = folder.path();
  return path;
}

void save_model(const std::string& folder) {
  trace::GraphBuilder builder("f");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim, 3});
  const Tensor texts = builder.add_input(DType::string, {kUnknownDim});
  std::vector<Tensor> out;
  {
    const trace::TraceScope scope(builder);
    out = {call("sum", {x}, {{"axis", Ints{1}}}), call("identity", {texts})};
  }
  io::ModelWriter writer;
  writer.add_signature("serving_default", writer.add_function("f", *builder.finish(out)),
                       {"x", "texts"}, {"sum", "texts_bytes"});
  writer.set_objects("[]");
  writer.write(folder);
}

}  // namespace tidemark::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  using namespace tidemark;
  char** const all = *arguments;
  const std::string_view first = *count > 1 ? all[1] : "";
  if (first == "--list") fuzz::list();
  if (first == "--unguided") std::exit(fuzz::run_fuzzer(*count - 1, all + 1));
  if (first == "--seeds" && *count > 2) std::exit(fuzz::write_seeds(all[2]));
  const auto found = fuzz::targets().find(first);
  if (found == fuzz::targets().end()) {
    std::fprintf(stderr, "fuzz_guided TARGET …: --list tells which there are\n");
    std::exit(2);
  }
  // The rest is libFuzzer's.
  for (int i = 1; i + 1 <= *count; ++i) all[i] = all[i + 1];
  --*count;
  memory::set_limit(int64_t{64} << 20);  // inputs may say they are huge
  fuzz::chosen = &found->second;
  if (fuzz::chosen->start) fuzz::chosen->start();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, size_t size) {
  using namespace tidemark;
  const std::string_view given(reinterpret_cast<const char*>(bytes), size);
  fuzz::chosen->take(given);
  return 0;
}
