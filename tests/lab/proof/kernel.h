// The kernel as the judge of a ruleset: a network namespace of its own that forwards between two
// devices whose other ends this process holds. A packet that is written to one has passed all hooks
// when the call returns, and is there to be read, or is not. No wait, no other process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/proof/packet.h"
#include "enforcement/backends/nft.h"
#include "policy/support/handle.h"

namespace bulkhead::test {

enum class Side : std::uint8_t { Left, Right, Local };

// Left is `t0`, a tap with 10.1.0.1/16 and fd01::1/64, in group 7: packets come with an Ethernet
// header. Right is `t1`, a tun with 10.2.0.1/16 and fd02::1/64: they come without one.
inline constexpr const char* kLeftName = "t0";
inline constexpr const char* kRightName = "t1";
inline constexpr std::uint32_t kLeftGroup = 7;

struct Seen {
  bool left = false, right = false, local = false;  // where it came out
  std::vector<std::uint8_t> bytes;                  // as it left, from the network header on
  [[nodiscard]] bool anywhere() const { return left || right || local; }
};

class Kernel {
 public:
  // Empty where such a namespace can be made here; else what is missing, for GTEST_SKIP.
  [[nodiscard]] static std::string missing();

  // Moves the calling thread into the new namespace, for good.
  Kernel();

  [[nodiscard]] Status load(const std::string& nft_text);  // instead of what was there
  [[nodiscard]] Result<std::string> list();
  [[nodiscard]] Result<std::string> loads();
  void forget_connections();

  // Sends the packet in at a side, or from this machine. `token` are its last bytes, by which it is
  // known when it comes out.
  [[nodiscard]] Seen inject(Side side, const std::vector<std::uint8_t>& packet,
                            const std::string& token);

  [[nodiscard]] compiler::proof::Device device(Side side) const;
  [[nodiscard]] std::vector<std::uint8_t> link_header(std::uint16_t ethertype) const;

 private:
  void drain();

  UniqueFd left_, right_, send4_, send6_;
  std::vector<UniqueFd> receivers_;  // raw sockets: what is delivered to this machine
  std::unique_ptr<enforcement::Nft> nft_;
};

}  // namespace bulkhead::test
