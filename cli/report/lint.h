// What `bulkhead lint` finds, as text, as JSON (schema bulkhead.lint/1) and as JUnit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/report/formats.h"
#include "compiler/lint/lint.h"

namespace bulkhead::cli {

struct LintReport {
  struct One {
    std::string title;  // "file x.nft", "fw: compiled"
    std::string file;   // that findings have lines of; empty: none
    const compiler::proof::Ruleset* ruleset = nullptr;
    compiler::lint::Answer answer;
    bool listing_alone = false;
    std::map<std::string, std::size_t> ignored;  // --ignore: how many of each code
  };
  std::vector<One> rulesets;
};

[[nodiscard]] std::string lint_text(const LintReport& report, const View& view);
[[nodiscard]] std::string lint_json(const LintReport& report);
[[nodiscard]] std::string lint_junit(const LintReport& report);

// 0: nothing but notes; 1: errors or warnings; 4: some checks were too large, and the others found
// nothing.
[[nodiscard]] int lint_exit(const LintReport& report);

}  // namespace bulkhead::cli
