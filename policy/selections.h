// Which classes a list of selectors names. Policies of a hundred thousand flows repeat few
// selectors, so each distinct one is looked up among the classes once.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "policy/class.h"
#include "policy/model.h"

namespace bulkhead::policy {

class Selections {
 public:
  explicit Selections(const Universe& universe) : universe_(universe) {}

  // Ascending, each class once.
  [[nodiscard]] std::vector<ClassId> of(const std::vector<Selector>& selectors);
  // Stays valid as long as this object.
  [[nodiscard]] const std::vector<ClassId>& of(const Selector& selector);

 private:
  const Universe& universe_;
  std::unordered_map<std::string, std::vector<ClassId>> known_;
};

}  // namespace bulkhead::policy
