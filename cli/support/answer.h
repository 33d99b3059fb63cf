// Where answers go: stdout, or the file that --output names.
#pragma once

#include <string>

#include "cli/report/formats.h"
#include "cli/support/settings.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

// An answer that cannot be written is an error: a full disk never looks like a clean report.
Status answer(const Settings& settings, const std::string& text);
[[nodiscard]] View view_of(const Settings& settings);

// The formats of a verb that answers in these three. Only the one asked for is made.
template <class Answer>
struct Renderings {
  std::string (*text)(const Answer& answer, const View& view);
  std::string (*json)(const Answer& answer);
  std::string (*junit)(const Answer& answer);
};
template <class Answer>
Status answer(const Settings& settings, const Answer& what, const Renderings<Answer>& as) {
  return answer(settings, settings.format == "json"    ? as.json(what)
                          : settings.format == "junit" ? as.junit(what)
                                                       : as.text(what, view_of(settings)));
}

}  // namespace bulkhead::cli
