// One hand at a time on a state folder: two applies at once would each undo the other's.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "policy/support/handle.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

// Held until destruction, or the process's end, however it ends.
class Lock {
 public:
  // `who` is told to others that find it held: "apply". Environment error where it is held for
  // longer than `patience`; it names the holder.
  [[nodiscard]] static Result<Lock> take(const std::filesystem::path& folder,
                                         const std::string& who,
                                         std::chrono::milliseconds patience = {});

 private:
  explicit Lock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace bulkhead::enforcement
