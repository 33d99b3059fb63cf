// Calendar days as the policy writes them: "2027-06-30". No clock is read anywhere in policy/; what
// day it is comes in as an argument (--as-of).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead::policy {

using Date = std::chrono::year_month_day;

// Exactly YYYY-MM-DD, and a day that exists.
[[nodiscard]] std::optional<Date> parse_date(std::string_view text);
[[nodiscard]] std::string format_date(Date date);

}  // namespace bulkhead::policy
