// Every option of every verb: how it is written, what it means, how its value is checked. A new
// option is one row of options.cpp, its name in the verbs that take it, and a test of its effect.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/support/settings.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

struct Option {
  std::string_view name;      // "as-of"
  char letter = 0;            // 'q'; 0: none
  std::string_view argument;  // "DATE"; empty: a switch
  std::string_view help;
  // Takes the value ("" of a switch) into `settings`, or says what is wrong with it.
  Status (*apply)(Settings& settings, const std::string& value) = nullptr;
  std::string_view verb{};  // whose row it is, where verbs mean different things by a name
};

[[nodiscard]] std::span<const Option> options();
// The row for that verb, else the one for all.
[[nodiscard]] const Option* find_option(std::string_view name, std::string_view verb);

}  // namespace bulkhead::cli
