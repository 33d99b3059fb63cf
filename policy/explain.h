// Which line of the policy decides one flow, the default deny included.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/matrix.h"

namespace bulkhead::policy {

struct Explanation {
  Action action = Action::Deny;
  std::string rule;  // first of `rules`, kRuleDefault or kRuleInside
  std::vector<std::string> rules;
  struct Line {  // what spoke about this flow, decisive or not: hidden allows, expired flows,
                 // nevers
    std::string id;
    SourcePos at;
    std::string text;  // "allows", "denies", "expired on 2026-01-01", "hidden by F9"
  };
  std::vector<Line> lines;
  std::string reason;  // one sentence
};

struct Question {
  ClassId from = 0;
  ClassId to = 0;
  TrafficKey key;
  std::uint16_t port = 0;
  Carriers over = 0xff;  // asked of this family alone: the ends are addresses, not classes
};

[[nodiscard]] Explanation explain(const Policy& policy, const Matrix& matrix,
                                  const Question& question);

}  // namespace bulkhead::policy
