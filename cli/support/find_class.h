// What a person calls an endpoint -> its class.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

struct Found {
  policy::ClassId cls = 0;
  policy::Carriers over = 0;  // what the one named has of the class: an address has one family
};

// A class by its name, an address, or a host of the inventory that has one class only; a segment, a
// partition, SEGMENT.LABEL or tenant:NAME stands for its classes, as in a flow. Never empty. Errors
// name the near misses or the several classes.
[[nodiscard]] Result<std::vector<Found>> find_classes(const compiler::Site& site,
                                                      std::string_view text);

}  // namespace bulkhead::cli
