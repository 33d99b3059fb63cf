// The kernel as the judge of rules about frames: a network namespace of its own with a bridge
// between two taps whose other ends this process holds. What is written to the first has passed all
// hooks when the call returns, and is there to be read from the second, or is not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/proof/packet.h"
#include "enforcement/backends/nft.h"
#include "policy/support/handle.h"

namespace bulkhead::test {

class BridgeKernel {
 public:
  // Moves the calling thread into the new namespace, for good. Kernel::missing() says whether that
  // is possible.
  BridgeKernel();

  [[nodiscard]] Status load(const std::string& nft_text);  // instead of what was there
  [[nodiscard]] Result<std::string> list();
  [[nodiscard]] Result<std::string> loads();
  // Whether the frame comes out, as it is.
  [[nodiscard]] bool passes(const std::vector<std::uint8_t>& frame);

  [[nodiscard]] static compiler::proof::Device in();
  [[nodiscard]] static compiler::proof::Device out();

 private:
  UniqueFd in_, out_;
  std::unique_ptr<enforcement::Nft> nft_;
};

}  // namespace bulkhead::test
