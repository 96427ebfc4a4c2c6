// Models as TensorFlow saves them: the bytes are saved_model.pb.
#include "../foreign_model.h"
#include "../run_model.h"
#include "targets.h"

namespace tidemark::fuzz {

namespace {

const std::string& folder() {
  static const MemoryFolder place("foreign");
  return place.path();
}

void take(std::string_view bytes) {
  put_bytes(folder() + "/saved_model.pb", bytes);
  try {
    load_and_run(folder(), std::chrono::seconds(2));
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
  }
}

std::map<std::string, std::string> seeds() { return {{"small", small_model()}}; }

const AddTarget added("foreign_models", {.take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
