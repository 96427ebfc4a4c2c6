#include "tidemark/io/keras/weights.h"

#include <tidemark/handler.h>
#include <tidemark/keras.h>
#include <tidemark/ops.h>

#include <algorithm>
#include <array>
#include <set>

#include "tidemark/io/keras/archive.h"

namespace tidemark::io::keras {

Hdf5File open_weights(const std::string& path) {
  auto input = std::make_shared<const InputFile>(path);
  const bool is_archive = input->size() >= 4 && input->read(0, 2) == "PK";
  if (!is_archive) return Hdf5File(input, 0, input->size());
  const std::optional<Member> member = find_member(*input, "model.weights.h5");
  if (!member) fail_damaged(path, "it has no weights");
  return Hdf5File(input, member->offset, member->bytes);
}

namespace {

/// Where a layer of Keras keeps its own weights: its parts, in the order of the weights here.
constexpr std::array<std::string_view, 6> kParts = {"",          "cell",        "query_dense",
                                                    "key_dense", "value_dense", "output_dense"};

/// Where layers lie in a file of Keras 2's: of weights alone, or of a whole model. Null: in
/// neither.
const char* old_folder(const Hdf5File& file) {
  if (file.texts("", "layer_names")) return "";
  return file.texts("model_weights", "layer_names") ? "model_weights/" : nullptr;
}

std::vector<std::string> arrays_of_layer(const Hdf5File& file, const std::string& layer) {
  std::vector<std::string> out;
  if (const char* folder = old_folder(file)) {
    const std::string group = folder + layer;
    if (const std::vector<std::string>* names = file.texts(group, "weight_names")) {
      for (const std::string& name : *names) {
        out.push_back(group + "/" + name);
        if (!file.arrays().contains(out.back())) {
          fail_damaged(file.path(), message("it has no array ", out.back()));
        }
      }
    }
    return out;
  }
  for (const std::string_view part : kParts) {
    std::string folder = layer;
    for (const std::string_view piece : {part, std::string_view("vars/")}) {
      if (!folder.empty() && !piece.empty()) folder += '/';
      folder += piece;
    }
    for (int i = 0;; ++i) {
      std::string path = message(folder, i);
      if (!file.arrays().contains(path)) break;
      out.push_back(std::move(path));
    }
  }
  return out;
}

std::string owner_of(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

}  // namespace

bool is_of_keras_2(const Hdf5File& file) { return old_folder(file) != nullptr; }

void assign_weights(const Hdf5File& file, const nn::Module& module,
                    const std::function<std::string(const std::string&)>& layer_at) {
  std::map<std::string, std::vector<std::string>> found;
  std::map<std::string, size_t> used;
  std::vector<std::pair<Variable, std::string>> wanted;
  for (const auto& [name, variable] : module.named_variables()) {
    const std::string owner = owner_of(name);
    if (!found.contains(owner)) found[owner] = arrays_of_layer(file, layer_at(owner));
    const std::vector<std::string>& arrays = found[owner];
    const size_t i = used[owner]++;
    if (i >= arrays.size()) {
      fail<NotFoundError>(file.path(), " has no value for ", name, " at ", layer_at(owner),
                          "; nothing was loaded");
    }
    const Shape& shape = file.arrays().find(arrays[i])->second.shape;
    if (shape != variable.value().shape()) {
      fail(file.path(), " has shape ", shape, " for ", name, ", which has ", variable.shape(),
           "; nothing was loaded");
    }
    wanted.emplace_back(variable, arrays[i]);
  }
  for (const auto& [owner, arrays] : found) {
    if (arrays.size() == used[owner]) continue;
    fail(file.path(), " has ", arrays.size(), " weights at ", layer_at(owner), ", the module has ",
         used[owner], " in ", owner.empty() ? "itself" : owner, "; nothing was loaded");
  }
  // All values are read before one changes; of a file that is damaged nothing comes.
  std::vector<Tensor> values;
  for (const auto& [variable, path] : wanted) {
    values.push_back(cast(file.read(path), variable.dtype()));
  }
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i].first.assign(values[i]);
}

namespace {

/// "layers/block/layers/dense" for "block.dense", where the file has it; empty: it has not.
/// `is_it(path, part)`: whether the file's group at this path goes by that name.
using IsNamed = std::function<bool(const std::string& path, const std::string& part)>;

std::string group_of(const std::set<std::string>& groups, const std::string& owner,
                     const IsNamed& is_it) {
  std::string at;
  size_t begin = 0;
  while (begin < owner.size()) {
    const size_t end = std::min(owner.find('.', begin), owner.size());
    const std::string part = owner.substr(begin, end - begin);
    const auto is_child = [&](const std::string& group) {
      const std::string start = at.empty() ? "" : at + "/";
      if (!group.starts_with(start)) return false;
      std::string_view rest = std::string_view(group).substr(start.size());
      if (rest.starts_with("layers/")) rest.remove_prefix(7);
      return !rest.empty() && rest.find('/') == std::string_view::npos && is_it(group, part);
    };
    const auto found = std::find_if(groups.begin(), groups.end(), is_child);
    if (found == groups.end()) return "";
    at = *found;
    begin = end + 1;
  }
  return at;
}

}  // namespace

}  // namespace tidemark::io::keras

namespace tidemark::keras {

void load_weights(const std::string& path, const nn::Module& module) {
  const NoHandlers outside;
  const io::keras::Hdf5File file = io::keras::open_weights(path);
  if (io::keras::is_of_keras_2(file)) {
    // Layers have names of their own there, which members of the module have to be called by.
    return io::keras::assign_weights(file, module, [](const std::string& owner) { return owner; });
  }
  std::set<std::string> groups;
  for (const auto& [array, info] : file.arrays()) {
    for (size_t at = array.find('/'); at != std::string::npos; at = array.find('/', at + 1)) {
      groups.insert(array.substr(0, at));
    }
  }
  const io::keras::IsNamed by_place = [](const std::string& group, const std::string& part) {
    return group.substr(group.rfind('/') + 1) == part;
  };
  const io::keras::IsNamed by_name = [&](const std::string& group, const std::string& part) {
    const auto found = file.names().find(group + "/vars");
    return found != file.names().end() && found->second == part;
  };
  std::set<std::string> owners;
  for (const auto& one : module.named_variables()) {
    owners.insert(io::keras::owner_of(one.name));
  }
  // One rule for all layers: names such as "dense_1" mean something else in the other.
  const auto finds_all = [&](const io::keras::IsNamed& rule) {
    return std::all_of(owners.begin(), owners.end(), [&](const std::string& owner) {
      return owner.empty() || !io::keras::group_of(groups, owner, rule).empty();
    });
  };
  const bool takes_places = finds_all(by_place);
  if (!takes_places && !finds_all(by_name)) {
    std::string there, wanted;
    for (const std::string& group : groups) {
      if (groups.contains(group + "/vars")) there += (there.empty() ? "" : ", ") + group;
    }
    for (const std::string& owner : owners) wanted += (wanted.empty() ? "" : ", ") + owner;
    fail<NotFoundError>(path, " has the layers ", there, "; the module has ", wanted,
                        ". Give its members the names of Keras's layers; nothing was loaded");
  }
  const io::keras::IsNamed& rule = takes_places ? by_place : by_name;
  io::keras::assign_weights(file, module, [&](const std::string& owner) {
    return io::keras::group_of(groups, owner, rule);
  });
}

}  // namespace tidemark::keras
