// What `bulkhead query` answers, as text, as JSON (schema bulkhead.query/1) and as JUnit.
#pragma once

#include <string>
#include <vector>

#include "cli/report/formats.h"
#include "compiler/proof/query.h"

namespace bulkhead::cli {

struct QueryReport {
  struct One {
    std::string title;  // "file x.nft", "fw: compiled"
    std::string asked;  // "tcp 22 from red to 10.1.0.1, new connections"
    const compiler::proof::Ruleset* ruleset = nullptr;
    std::optional<compiler::proof::QueryAnswer> answer;  // none: no packet is so
    std::string not_decided;                             // why there is no answer
    bool listing_alone = false;
  };
  std::vector<One> rulesets;
  std::string expect;  // "pass", "block"; empty: nothing
};

[[nodiscard]] std::string query_text(const QueryReport& report, const View& view);
[[nodiscard]] std::string query_json(const QueryReport& report);
[[nodiscard]] std::string query_junit(const QueryReport& report);

// 0: answered, and as expected; 1: not as expected; 4: not known.
[[nodiscard]] int query_exit(const QueryReport& report);

}  // namespace bulkhead::cli
