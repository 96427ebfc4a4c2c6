#include "tidemark/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tidemark/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tidemark/base/interrupt.h"
#include "tidemark/io/file_system.h"
#include "tidemark/io/input_file.h"

namespace tidemark::io {

namespace {

struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

/// A FIFO is told, not waited for.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

[[noreturn]] void fail_open(const std::string& path, int error) {
  if (error == ENOENT) fail<NotFoundError>("there is no file ", path);
  fail_at(path, "open", error);
}

Tensor copy_of(const std::string& path, int descriptor, size_t size) {
  Tensor out = Tensor::uninitialized(DType::uint8, Shape{static_cast<int64_t>(size)});
  auto* to = static_cast<char*>(out.mutable_raw_data());
  for (size_t at = 0; at < size;) {
    check_interrupt();
    constexpr size_t kPiece = size_t{4} << 20;
    const ssize_t got =
        ::pread(descriptor, to + at, std::min(kPiece, size - at), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_at(path, "read", errno);
    if (got == 0) fail_damaged(path, "it is shorter than it was");
    at += static_cast<size_t>(got);
  }
  return out;
}

}  // namespace

MappedFile::MappedFile(std::string path, int descriptor, bool one_link, How how)
    : path_(std::move(path)) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) fail_open(path_, errno);
  if (!S_ISREG(info.st_mode)) fail(path_, " is no plain file");
  if (one_link && info.st_nlink > 1) {
    fail(path_, " has a second name (a hard link), which a model's data must not have. Copy it");
  }
  size_ = static_cast<size_t>(info.st_size);
  if (how == How::copied) {
    copy_ = copy_of(path_, descriptor, size_);
    data_ = static_cast<char*>(copy_.mutable_raw_data());
    return;
  }
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapped == MAP_FAILED) fail_open(path_, errno);
  data_ = static_cast<char*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ && !copy_) ::munmap(data_, size_);
}

void MappedFile::forget_pages() const noexcept {
  if (data_ && !copy_) ::madvise(data_, size_, MADV_DONTNEED);
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path, How how) {
  const Descriptor file{::open(path.c_str(), kReading)};
  if (file.number < 0) fail_open(path, errno);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, file.number, false, how));
}

std::shared_ptr<const MappedFile> MappedFile::open_inside(const std::string& folder,
                                                          std::string_view location, How how) {
  const std::string whole = folder + "/" + std::string(location);
  if (location.empty() || location.front() == '/' || location.find('\0') != location.npos) {
    fail("the model names the data file \"", location,
         "\"; only files in the model's own folder are read");
  }
  Descriptor here{
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (here.number < 0) fail_open(folder, errno);
  for (;;) {
    const size_t slash = location.find('/');
    const std::string part(location.substr(0, slash));
    if (part == "..") {
      fail("the model names the data file ", whole,
           ", which is outside of the model's folder; such files are not read");
    }
    const bool is_last = slash == location.npos;
    const int flags = kReading | O_NOFOLLOW | (is_last ? 0 : O_DIRECTORY);
    const int next = ::openat(here.number, part.empty() ? "." : part.c_str(), flags);
    if (next < 0 && errno == ELOOP) {
      fail(whole, " is a symbolic link; a model's data must be a plain file in its folder");
    }
    if (next < 0) fail_open(whole, errno);
    ::close(here.number);
    here.number = next;
    if (is_last) break;
    location.remove_prefix(slash + 1);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(whole, here.number, true, how));
}

}  // namespace tidemark::io
