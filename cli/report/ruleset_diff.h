// What `bulkhead diff` answers, as text, JSON (schema bulkhead.diff/1) and JUnit (a testcase for
// each enforcer and passage). All are rendered from the same finished value.
#pragma once

#include <string>
#include <vector>

#include "cli/report/formats.h"
#include "compiler/proof/ruleset_diff.h"

namespace bulkhead::cli {

struct DiffReport {
  struct Part {
    std::string enforcer;       // empty: no side says whose rules these are
    std::string before, after;  // "compiled", "live fw-a"
    compiler::proof::RulesetDiff diff;
    bool listing_alone = false;  // of a side only nft's listing was there
  };
  std::string before, after;                // as on the command line
  std::vector<std::string> added, removed;  // enforcers that only one site has
  std::vector<Part> parts;
  bool fail_on_opened = true, fail_on_closed = true;
  // Made by finish().
  std::size_t opened = 0, closed = 0, redirected = 0, open_questions = 0;
  int exit_code = 0;
  std::string conclusion;
};

// Counts, and decides. An enforcer that is gone stops nothing any more: something opened.
void finish(DiffReport& report);

[[nodiscard]] std::string diff_text(const DiffReport& report, const View& view);
[[nodiscard]] std::string diff_json(const DiffReport& report);
[[nodiscard]] std::string diff_junit(const DiffReport& report);

}  // namespace bulkhead::cli
