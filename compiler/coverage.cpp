#include "compiler/coverage.h"

namespace bulkhead::compiler {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::None: return "none";
    case Cause::Rule: return "rule";
    case Cause::Route: return "route";
    case Cause::Partition: return "partition";
    case Cause::External: return "external";
  }
  return "none";
}

}  // namespace bulkhead::compiler
