// Changes a place like a careful engineer: lock, recover what is unfinished, read, write down the
// way back, load in one transaction, read back, prove, and only then stay. Whatever fails on the
// way brings back what was there. Knows nothing of nftables: what to load, and what proves it, is
// the caller's (nft_target.h).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "enforcement/backend.h"
#include "enforcement/journal.h"
#include "enforcement/lock.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

struct Change {
  std::string enforcer, member, bundle, policy, as_of;  // for the record
  std::string text;
  std::map<std::string, std::string> site_files;
  std::optional<std::chrono::seconds> confirm_within;  // none: it stays without being confirmed
  // What the live state must be: that of a plan. None: whatever it is.
  std::optional<std::pair<std::string, std::string>> ours_and_foreign;

  // Asked before anything is written: an error refuses.
  std::function<Status(const Snapshot& live)> may_load;
  // Asked of what was read back: why it is not what it should be; empty where it is.
  std::function<std::vector<std::string>(const Snapshot& read_back)> prove;
  // Somebody who undoes the generation when this process dies; there when it returns.
  std::function<Status(const Generation& generation)> start_watchdog;
  // Once they are loaded: ends connections that they do not allow; what was done, in words.
  std::function<Result<std::vector<std::string>>()> cut;
};

struct Outcome {
  Generation generation;
  std::vector<std::string> notes;   // what people should know, in order
  std::vector<std::string> faults;  // why it was undone: prove()'s
  bool was_in_force = false;        // nothing had to be loaded: `generation` is the one in force
};

// Ends Loaded (to be confirmed), Confirmed, or Undone and Failed with `faults`. Errors leave what
// was there before; only one that says that it could not be undone does not.
[[nodiscard]] Result<Outcome> load(Backend& backend, Journal& journal, Change& change);

// Until the generation is confirmed or undone by somebody; does it itself where its watchdog is
// gone, and when `stop` becomes true.
[[nodiscard]] Result<Generation> wait_for_confirmation(Backend& backend, Journal& journal,
                                                       std::uint64_t number,
                                                       const std::atomic<bool>& stop);

// A usage error where it does not wait for confirmation, an environment error where the rules are
// no longer those that were loaded.
[[nodiscard]] Result<Generation> confirm(Backend& backend, Journal& journal, std::uint64_t number);

// Of one that waits for confirmation.
[[nodiscard]] Result<Generation> give_up(Backend& backend, Journal& journal, std::uint64_t number,
                                         const std::string& why);

}  // namespace bulkhead::enforcement
