// Something with a state that is read, and replaced as a whole: the rules of one place. A new one
// is a file of backends/ and a row of the contract test (tests/lab/enforcement), which says what
// all of them promise:
//
//   - apply() makes all of a change or nothing of it, whenever the process ends;
//   - check() and read() change nothing; what check() accepts, apply() does, unless others wrote;
//   - what others own is never changed, and is told apart by `foreign`;
//   - undo() of a state, applied at any later time, brings back just that state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "enforcement/backends/nft_listing.h"
#include "enforcement/connection.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct Snapshot {
  std::string ours;              // digest of what our part does; kNothing where there is none
  std::string foreign;           // of everything else that may decide
  std::uint64_t generation = 0;  // moves with every change of anybody
  NftListing listing;            // of nftables: what a proof reads
};
inline constexpr const char* kNothing = "nothing";

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual Result<Snapshot> read() = 0;
  // The change that brings back the state of `snapshot`, checked. An error where that state is no
  // longer the live one.
  [[nodiscard]] virtual Result<std::string> undo(const Snapshot& snapshot) = 0;
  [[nodiscard]] virtual Status check(const std::string& change) = 0;
  [[nodiscard]] virtual Status apply(const std::string& change) = 0;

  // Connections that live there, which a new state may not allow any more.
  [[nodiscard]] virtual Result<std::vector<Connection>> connections() = 0;
  [[nodiscard]] virtual Status cut(const std::vector<Connection>& connections) = 0;
};

}  // namespace bulkhead::enforcement
