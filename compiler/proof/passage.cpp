#include "compiler/proof/passage.h"

namespace bulkhead::compiler::proof {

std::string_view to_string(Passage passage) {
  switch (passage) {
    case Passage::Input:
      return "input";
    case Passage::Forward:
      return "forward";
    case Passage::Output:
      return "output";
  }
  return "";
}

std::vector<Station> stations(Passage passage) {
  switch (passage) {
    case Passage::Input:
      return input_way(TableFamily::Inet);
    case Passage::Forward:
      return forward_way(TableFamily::Inet);
    case Passage::Output:
      return output_way(TableFamily::Inet);
  }
  return {};
}

}  // namespace bulkhead::compiler::proof
