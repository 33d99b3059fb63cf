// A line of the operator's and the agent's conversation from bytes, read by either side. What is
// accepted must be written and read again the same.
#include <cstdlib>
#include <string_view>

#include "probes/message.h"

namespace {

template <class Message, class Read>
void round_trip(std::string_view line, Read read) {
  const auto message = read(line);
  if (!message)
    return;
  const std::string written = to_json_line(Message(*message));
  const auto again = read(written);
  if (!again || to_json_line(Message(*again)) != written)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace bulkhead::probes;
  const std::string_view line(reinterpret_cast<const char*>(bytes), size);
  round_trip<ToAgent>(line, to_agent_from_json);
  round_trip<FromAgent>(line, from_agent_from_json);
  (void)stranger_version(line);
  return 0;
}
