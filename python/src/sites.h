// Which line of the user's program is asking: the first frame outside of the package, as a Site.
#pragma once

#include <utility>

#include "tidemark/memory/context.h"

#include "frames.h"

namespace tidemark::python {

/// Whether op calls look for their source line. On from the start.
extern bool source_lines;

/// The site of `place` or, where that lies inside the package, of its nearest caller outside.
/// Null when there is none. Needs the GIL.
memory::Site* site_at(Place place);

/// True iff a value that the instruction `from` of this frame left on the stack can be taken by the
/// binary operator at `place` alone. Remembered per place.
bool is_sole_consumer(const Place& place, int from);

/// Looks up the place and the site of the running frame, and names the site to memory/ until the
/// end of the scope; the outermost scope of a thread wins.
class SourceLine {
 public:
  SourceLine() {
    if (!innermost_place(place_)) place_ = {};
    if (source_lines && memory::thread_context.site == nullptr && place_.code) {
      memory::thread_context.site = site_at(place_);
      is_outermost_ = true;
    }
  }
  ~SourceLine() {
    if (is_outermost_) memory::thread_context.site = nullptr;
  }
  SourceLine(const SourceLine&) = delete;
  SourceLine& operator=(const SourceLine&) = delete;

  const Place& place() const { return place_; }

 private:
  Place place_;
  bool is_outermost_ = false;
};

/// Around Python code of the program's that native code calls: its ops have lines of their own.
class OwnLines {
 public:
  OwnLines() : outer_(std::exchange(memory::thread_context.site, nullptr)) {}
  ~OwnLines() { memory::thread_context.site = outer_; }
  OwnLines(const OwnLines&) = delete;
  OwnLines& operator=(const OwnLines&) = delete;

 private:
  memory::Site* outer_;
};

extern PyMethodDef site_methods[];

/// Frames of files under the extension's own folder count as inside the package.
void initialize_sites();

}  // namespace tidemark::python
