#include "policy/date.h"

#include <charconv>

#include <fmt/format.h>

namespace bulkhead::policy {

std::optional<Date> parse_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-')
    return std::nullopt;
  const auto number = [](std::string_view digits) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size() ? value : 9999U;
  };
  const Date date{std::chrono::year(static_cast<int>(number(text.substr(0, 4)))),
                  std::chrono::month(number(text.substr(5, 2))),
                  std::chrono::day(number(text.substr(8, 2)))};
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::string format_date(Date date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace bulkhead::policy
