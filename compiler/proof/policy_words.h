// What the policy says of a box: which `never` it crosses, which flow denies or allows it, with the
// line of the policy's files. For reports; the proof itself asks the matrix.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/box.h"
#include "compiler/site.h"

namespace bulkhead::compiler::proof {

struct PolicyWords {
  std::vector<std::string> nevers;   // "never N1 (policy.toml:40)": crossed by packets of the box
  std::vector<std::string> denied;   // "D1 (policy.toml:65)": flows that deny some of it
  std::vector<std::string> allowed;  // "R1 (tenants/red.toml:4)": flows that allow some of it
};

// Sources and destinations of the box are taken as classes that face each other; each list is
// sorted in order of the policy's files.
[[nodiscard]] PolicyWords words_of_policy(const Site& site, const Box& box, Family family);

}  // namespace bulkhead::compiler::proof
