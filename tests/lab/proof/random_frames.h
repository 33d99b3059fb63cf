// Random rules about frames (bridge and ingress chains) and random frames, for RapidCheck: both out
// of the same few addresses, tags, ports and marks.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "compiler/proof/packet.h"

namespace bulkhead::test {

enum class FramePlace : std::uint8_t { Ingress, Prerouting, Forward, Postrouting };
inline constexpr FramePlace kFramePlaces[] = {FramePlace::Ingress, FramePlace::Prerouting,
                                              FramePlace::Forward, FramePlace::Postrouting};

struct FrameRule {
  FramePlace place{};
  std::string text;
};
std::ostream& operator<<(std::ostream& out, const FrameRule& rule);
[[nodiscard]] rc::Gen<FrameRule> frame_rule();
// Chains of those places, each with the policy of its bit in `drops`.
[[nodiscard]] std::string frame_ruleset(const std::vector<FrameRule>& rules, unsigned drops);

struct Frame {
  std::vector<std::uint8_t> link;   // with its tag
  std::vector<std::uint8_t> bytes;  // behind it
  std::uint16_t ethertype = 0;      // of `bytes`
};
std::ostream& operator<<(std::ostream& out, const Frame& frame);
[[nodiscard]] rc::Gen<Frame> any_frame();

}  // namespace bulkhead::test
