// What the workers of a group show each other before anything else.
#pragma once

#include <string>

namespace tidemark::comm {

/// TIDEMARK_SECRET, or else the contents of ~/.cache/tidemark/secret, which is made when it is
/// first needed: processes of one user understand each other, on one machine or with one home
/// directory. Throws InvalidArgumentError for a secret that is short, and where others may read the
/// file.
std::string default_secret();

}  // namespace tidemark::comm
