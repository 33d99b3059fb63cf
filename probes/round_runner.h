// One round: arm the trace, tell everybody what to expect, controls, the probes themselves,
// controls again, collect. What everybody saw goes into the book; whether the round was good is
// written into each of its tries.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "probes/case_book.h"
#include "probes/conduct.h"
#include "probes/crew.h"

namespace bulkhead::probes {

// Random tokens, of which no two of a run begin with the same four bytes: these are a SYN's
// sequence number, and alone must name the try.
class TokenSource {
 public:
  [[nodiscard]] Token fresh();

 private:
  std::unordered_set<std::uint32_t> used_;
};

struct RoundSettings {
  std::chrono::milliseconds try_timeout{1000};
  std::chrono::milliseconds patience{15000};
  std::uint32_t max_pps = 0;        // of all agents together; 0: no limit
  std::set<std::string> enforcers;  // members that trace
  std::function<void(const std::string& line)> evidence_line;
};

struct RoundResult {
  bool cut_short = false;        // a signal or the deadline came in the middle of it: void
  bool worth_repeating = false;  // void, or events were lost, on the path of some probe
  bool voided = false;           // a ruleset changed
  std::uint64_t sent = 0;
  std::vector<std::string> stray;  // evidence that belongs to no try of the run
};

[[nodiscard]] RoundResult run_round(const Round& round, Crew& crew, PathWatch& watch,
                                    CaseBook& book, TokenSource& tokens,
                                    const RoundSettings& settings);

struct LateArrivals {
  bool cut_short = false;
  std::vector<std::string> stray;
};
// After the last round: waits for packets that are still under way, and asks every agent once more.
// A denied probe whose listener can no longer be asked, or lost events, is told so in its last try.
[[nodiscard]] LateArrivals collect_late(std::uint32_t number, Crew& crew, PathWatch& watch,
                                        CaseBook& book, const RoundSettings& settings);

}  // namespace bulkhead::probes
