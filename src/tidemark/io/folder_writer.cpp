#include "tidemark/io/folder_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <tidemark/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "tidemark/io/file_system.h"
#include "tidemark/io/file_writer.h"

namespace tidemark::io {

namespace {

namespace fs = std::filesystem;

/// The folder itself, not a link to it, without "." or a slash at the end.
std::string resolved(const std::string& target) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(fs::path(target)), error);
  if (error) fail<FailedPreconditionError>("cannot use ", target, ": ", error.message());
  if (!path.has_filename()) path = path.parent_path();
  return path.string();
}

bool is_folder(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) fail_at(path, "make", errno);
}

/// Gives an entry a second name, with all that is in it.
void link_tree(const std::string& from, const std::string& to) {
  if (!is_folder(from)) {
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) != 0 && errno != EEXIST) {
      fail_at(from, "keep", errno);
    }
    return;
  }
  make_folder(to);
  for (const std::string& name : names_in(from)) link_tree(from + "/" + name, to + "/" + name);
}

/// Entry by entry, the file by which a model is known last.
void move_entries(const std::string& from, const std::string& to,
                  const std::set<std::string>& replaced) {
  for (const std::string& name : replaced) remove_tree(to + "/" + name);
  std::vector<std::string> names = names_in(from);
  const auto is_file = [&](const std::string& name) { return !is_folder(from + "/" + name); };
  std::stable_partition(names.begin(), names.end(), [&](const auto& n) { return !is_file(n); });
  for (const std::string& name : names) {
    const std::string source = from + "/" + name, place = to + "/" + name;
    if (::rename(source.c_str(), place.c_str()) != 0 && !fs::exists(place)) {
      fail_at(place, "rename to", errno);
    }
  }
}

}  // namespace

void remove_tree(const std::string& path) {
  std::error_code ignored;
  if (is_folder(path)) {
    for (const std::string& name : names_in(path, ignored)) remove_tree(path + "/" + name);
    ::rmdir(path.c_str());
  } else {
    ::unlink(path.c_str());
  }
}

FolderWriter::FolderWriter(const std::string& target, std::set<std::string> replaced)
    : target_(resolved(target)), replaced_(std::move(replaced)) {
  std::error_code error;
  fs::create_directories(fs::path(target_).parent_path(), error);
  if (error) fail<FailedPreconditionError>("cannot make ", target_, ": ", error.message());
  remove_abandoned(target_);
  path_ = name_while_written(target_);
  if (::mkdir(path_.c_str(), 0777) != 0) fail_at(target_, "write", errno);
}

FolderWriter::~FolderWriter() {
  if (!is_done_) remove_tree(path_);
}

void FolderWriter::commit() {
  sync_folder_of(path_ + "/.");
  if (!is_folder(target_)) {
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail_at(target_, "rename to", errno);
  } else {
    for (const std::string& name : names_in(target_)) {
      if (!replaced_.contains(name)) link_tree(target_ + "/" + name, path_ + "/" + name);
    }
    const int result =
        ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE);
    if (result != 0) move_entries(path_, target_, replaced_);
    remove_tree(path_);  // the old one, or what is left of the new
  }
  is_done_ = true;
  sync_folder_of(target_);
}

}  // namespace tidemark::io
