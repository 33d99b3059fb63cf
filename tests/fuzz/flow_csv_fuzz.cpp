// A sheet of flows from bytes. What is read and written again must read the same.
#include <cstdlib>
#include <iterator>

#include "policy/file_reader.h"
#include "policy/flow_csv.h"
#include "policy/parse.h"

namespace {

using bulkhead::policy::Flow;

std::vector<Flow> read(const std::string& text, bool& sound) {
  bulkhead::SourceMap sources;
  bulkhead::Diagnostics diagnostics;
  const auto file = bulkhead::policy::read_source(bulkhead::policy::memory_reader({{"x", text}}),
                                                  "x", "", {}, sources, diagnostics);
  std::vector<Flow> flows;
  if (file)
    flows = bulkhead::policy::parse_flow_csv(*file, sources, diagnostics);
  sound = !diagnostics.has_errors();
  return flows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bool sound = false;
  const auto flows = read({reinterpret_cast<const char*>(bytes), size}, sound);
  const std::string written = to_csv(flows);
  if (to_csv(read(written, sound)) != written || !sound)
    std::abort();
  bulkhead::SourceMap sources;
  bulkhead::Diagnostics diagnostics;
  const auto policy = bulkhead::policy::parse_policy(
      bulkhead::policy::memory_reader({{"policy.toml", "name = \"x\"\n" + to_toml(flows)}}), "",
      sources, diagnostics);
  if (to_csv(policy.flows) != written || diagnostics.has_errors())
    std::abort();
  return 0;
}
