// The files that a site was read from: what a bundle carries along, so that whoever applies it
// derives the same site by itself.
#pragma once

#include <map>
#include <string>

#include "compiler/site.h"

namespace bulkhead::compiler {

// By their paths in the site's folder, without byte-order marks.
[[nodiscard]] std::map<std::string, std::string> files_of(const Site& site);

}  // namespace bulkhead::compiler
