#include "policy/support/hostlist.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace bulkhead {

namespace {

// "01-08,12" -> {"01",...,"08","12"}
Result<std::vector<std::string>> expand_brackets(std::string_view inside, std::string_view whole,
                                                 std::size_t limit) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorKind::Usage, fmt::format("hostlist `{}`: {}", whole, why));
  };
  std::vector<std::string> out;
  while (true) {
    const std::size_t comma = inside.find(',');
    const std::string_view item = inside.substr(0, comma);
    const std::size_t dash = item.find('-');
    const std::string_view from = item.substr(0, dash);
    const std::string_view to = dash == std::string_view::npos ? from : item.substr(dash + 1);
    const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
      std::uint64_t value = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (digits.empty() || digits.size() > 9)
        return std::nullopt;
      if (error != std::errc{} || end != digits.data() + digits.size())
        return std::nullopt;
      return value;
    };
    const auto first = number(from);
    const auto last = number(to);
    if (!first || !last)
      return bad("a range in brackets is digits, e.g. [01-08,12]");
    if (*last < *first)
      return bad("a range runs upwards");
    if (*last - *first >= limit || out.size() + (*last - *first) >= limit) {
      return bad(fmt::format("more than {} names", limit));
    }
    for (std::uint64_t value = *first; value <= *last; ++value) {
      out.push_back(fmt::format("{:0{}}", value, from.size()));
    }
    if (comma == std::string_view::npos)
      break;
    inside.remove_prefix(comma + 1);
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t limit) {
  std::vector<std::string> names{""};
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('[');
    const std::string_view plain = rest.substr(0, open);
    if (plain.find(']') != std::string_view::npos) {
      return fail(ErrorKind::Usage, fmt::format("hostlist `{}`: `]` without `[`", text));
    }
    for (auto& name : names)
      name += plain;
    if (open == std::string_view::npos)
      break;
    const std::size_t close = rest.find(']', open);
    if (close == std::string_view::npos) {
      return fail(ErrorKind::Usage, fmt::format("hostlist `{}`: `[` without `]`", text));
    }
    const auto items = expand_brackets(rest.substr(open + 1, close - open - 1), text, limit);
    if (!items)
      return fail(items.error());
    if (names.size() * items->size() > limit) {
      return fail(ErrorKind::Usage, fmt::format("hostlist `{}`: more than {} names", text, limit));
    }
    std::vector<std::string> longer;
    longer.reserve(names.size() * items->size());
    for (const auto& name : names) {
      for (const auto& item : *items)
        longer.push_back(name + item);
    }
    names = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return names;
}

std::string fold_hostlist(const std::vector<std::string>& names) {
  const auto split = [](std::string_view name) {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
      --digits;
    if (name.size() - digits > 9)
      digits = name.size();  // too long for a counter: plain text
    return digits;
  };
  const auto value_of = [](std::string_view digits) {
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  };
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    const std::size_t cut = split(names[i]);
    const std::string_view stem = std::string_view(names[i]).substr(0, cut);
    const std::string_view first = std::string_view(names[i]).substr(cut);
    std::size_t j = i + 1;
    while (!first.empty() && j < names.size() && split(names[j]) == cut &&
           names[j].size() == names[i].size() && names[j].starts_with(stem) &&
           value_of(std::string_view(names[j]).substr(cut)) == value_of(first) + (j - i)) {
      ++j;
    }
    if (!out.empty())
      out += ',';
    if (j - i > 1) {
      out += fmt::format("{}[{}-{}]", stem, first, std::string_view(names[j - 1]).substr(cut));
    } else {
      out += names[i];
    }
    i = j;
  }
  return out;
}

}  // namespace bulkhead
