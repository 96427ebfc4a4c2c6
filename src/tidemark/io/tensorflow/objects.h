// SavedObjectGraph: the objects of a saved model, its functions' arguments and results.
#pragma once

#include <tidemark/shape.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tidemark/io/tensorflow/messages.h"

namespace tidemark::io::tensorflow {

/// A StructuredValue: arguments and results as Python has them.
struct Structured {
  enum class Kind : uint8_t {
    none,
    real,
    number,
    text,
    boolean,
    shape,
    dtype,
    spec,
    list,
    tuple,
    dict,
    named_tuple,
    other
  };
  Kind kind = Kind::none;
  double real = 0;
  int64_t number = 0;  // a number, a bool, a dtype
  std::string text;    // a string; the name of a spec, of a named tuple or of what is not known
  Shape shape;
  std::vector<std::string> names;  // of a dictionary's or named tuple's items
  std::vector<Structured> items;
};

/// A tensor among the arguments of a function.
struct SpecMessage {
  std::string name;
  uint64_t dtype = 0;
  Shape shape;
};

struct ObjectGraph {
  enum class Kind : uint8_t {
    object,
    asset,
    function,
    variable,
    concrete_function,
    constant,
    resource,
    captured
  };
  struct Object {
    Kind kind = Kind::object;
    std::vector<std::pair<std::string, int>> children;
    std::string text;        // identifier of an object, name of a variable, node of a constant
    uint64_t number = 0;     // index of an asset, dtype of a variable
    Shape shape;             // of a variable
    bool trainable = false;  // a variable
    std::vector<std::string> functions;  // of a function, or the one
    std::vector<std::string> keywords;   // of a concrete function's arguments
    uint64_t positional = 0;             // how many of them may be given without
    Structured parameters;               // of a function: its FullArgSpec
    bool is_method = false;
  };
  struct Function {
    std::vector<int> bound;  // objects that it captured, in the order of its last arguments
    Structured arguments, results;
    std::vector<SpecMessage> inputs;  // the tensors among the arguments
  };
  std::vector<Object> objects;  // the first is the root
  std::map<std::string, Function> functions;
};

/// Throws DataLossError for what is no graph of objects.
ObjectGraph read_objects(std::string_view bytes);

/// The key of each variable in a checkpoint, by number, as the checkpoint's own graph of objects
/// names them: found by walking both from the root.
TIDEMARK_API std::map<int, std::string> keys_of_variables(const ObjectGraph& objects,
                                                          std::string_view checkpoint_objects);

}  // namespace tidemark::io::tensorflow
