#include <tidemark/attr.h>
#include <tidemark/shape.h>

namespace tidemark {

std::string Attr::to_string() const {
  struct Visitor {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return std::to_string(v); }
    std::string operator()(DType v) const { return std::string(name_of(v)); }
    std::string operator()(const std::string& v) const { return "'" + v + "'"; }
    std::string operator()(const Ints& v) const { return Shape(v).to_brackets(); }
  };
  return std::visit(Visitor{}, value_);
}

}  // namespace tidemark
