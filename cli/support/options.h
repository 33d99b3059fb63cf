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
};

[[nodiscard]] std::span<const Option> options();
[[nodiscard]] const Option* find_option(std::string_view name);

}  // namespace bulkhead::cli
