#include "policy/support/diagnostic.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "policy/support/text.h"

namespace bulkhead {

namespace {

constexpr std::size_t kShownWidth = 100;

constexpr std::string_view kReset = "\033[0m";
constexpr std::string_view kBold = "\033[1m";

struct Look {
  std::string_view word;
  std::string_view color;
};
Look look_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return {"error", "\033[1;31m"};
    case Severity::Warning:
      return {"warning", "\033[1;33m"};
    case Severity::Note:
      break;
  }
  return {"note", "\033[1;36m"};
}

bool is_continuation(char c) {  // of a UTF-8 sequence
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// As many bytes, with '?' for each of a control character and for what is not UTF-8: a terminal
// would obey the one and choke on the other.
std::string printable_bytes(std::string_view line) {
  std::string out(line);
  for (std::size_t bad = first_bad_utf8(out); bad != std::string::npos; bad = first_bad_utf8(out))
    out[bad] = '?';
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<unsigned char>(out[i]);
    if (c == '\t')
      out[i] = ' ';
    else if (c < 0x20 || c == 0x7f)
      out[i] = '?';
    else if (c == 0xc2 && static_cast<unsigned char>(out[i + 1]) < 0xa0)  // U+0080 to U+009F
      out[i] = out[i + 1] = '?';
  }
  return out;
}

// The part of the line around the column, printable, and where the caret goes in it.
struct Excerpt {
  std::string text;
  std::size_t caret = 0;
};
Excerpt excerpt(std::string_view line, std::uint32_t column) {
  std::size_t at = column == 0 ? 0 : column - 1;
  at = std::min(at, line.size());
  std::size_t start = 0;
  if (line.size() > kShownWidth && at > kShownWidth / 2)
    start = at - kShownWidth / 2;
  // Never begin inside a UTF-8 sequence, which has three bytes after its first.
  for (int i = 0; i < 3 && start > 0 && is_continuation(line[start]); ++i)
    --start;
  Excerpt out;
  if (start > 0)
    out.text = "...";
  std::size_t end = std::min(line.size(), start + kShownWidth);
  for (int i = 0; i < 3 && end < line.size() && is_continuation(line[end]); ++i)
    ++end;
  const std::string shown = printable_bytes(line.substr(start, end - start));
  if (at < end)
    out.caret = out.text.size() + (at - start);
  out.text += shown;
  if (at >= end)
    out.caret = out.text.size();
  if (end < line.size())
    out.text += "...";
  // The caret stands under a character: count code points before it, not bytes.
  out.caret = static_cast<std::size_t>(
      std::count_if(out.text.begin(), out.text.begin() + static_cast<std::ptrdiff_t>(out.caret),
                    [](char c) { return !is_continuation(c); }));
  return out;
}

void append_place(std::string& out, const SourceMap& sources, SourcePos at, Severity severity,
                  std::string_view message, std::string_view code, bool color) {
  const Look look = look_of(severity);
  const std::string place = sources.place(at);
  if (color) {
    out += fmt::format("{}{}{}{}: {}{}{}", kBold, place, place.empty() ? "" : ": ", kReset,
                       look.color, look.word, kReset);
  } else {
    out += fmt::format("{}{}{}", place, place.empty() ? "" : ": ", look.word);
  }
  out += fmt::format(": {}", message);
  if (!code.empty())
    out += fmt::format(" [{}]", code);
  out += '\n';
  if (at.line == 0 || at.file >= sources.size())
    return;
  const Excerpt shown = excerpt(sources.line(at), at.column);
  out += fmt::format("{:>5} | {}\n      | {:>{}}{}{}{}\n", at.line, shown.text, "", shown.caret,
                     color ? look.color : "", "^", color ? kReset : "");
}

}  // namespace

Diagnostic& Diagnostics::error(std::string code, SourcePos at, std::string message,
                               std::string hint) {
  ++errors_;
  return items_.emplace_back(
      Diagnostic{Severity::Error, std::move(code), at, std::move(message), std::move(hint), {}});
}

Diagnostic& Diagnostics::warning(std::string code, SourcePos at, std::string message,
                                 std::string hint) {
  return items_.emplace_back(
      Diagnostic{Severity::Warning, std::move(code), at, std::move(message), std::move(hint), {}});
}

Diagnostic& Diagnostics::note(std::string code, SourcePos at, std::string message,
                              std::string hint) {
  return items_.emplace_back(
      Diagnostic{Severity::Note, std::move(code), at, std::move(message), std::move(hint), {}});
}

void Diagnostics::sort() {
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.at < b.at; });
  // A line that stands for many things, such as a hostlist, is told once of what is wrong with all.
  std::set<std::tuple<SourcePos, std::string, std::string>> told;
  std::erase_if(items_, [&](const Diagnostic& item) {
    return !told.emplace(item.at, item.code, item.message).second;
  });
  errors_ = static_cast<std::size_t>(
      std::count_if(items_.begin(), items_.end(),
                    [](const Diagnostic& item) { return item.severity == Severity::Error; }));
}

std::string render(const Diagnostic& diagnostic, const SourceMap& sources, bool color) {
  std::string out;
  append_place(out, sources, diagnostic.at, diagnostic.severity, diagnostic.message,
               diagnostic.code, color);
  for (const auto& related : diagnostic.related) {
    append_place(out, sources, related.at, Severity::Note, related.message, {}, color);
  }
  if (!diagnostic.hint.empty())
    out += fmt::format("      = hint: {}\n", diagnostic.hint);
  return out;
}

std::string render(const Diagnostics& diagnostics, const SourceMap& sources, bool color) {
  std::string out;
  for (const auto& diagnostic : diagnostics.all())
    out += render(diagnostic, sources, color);
  return out;
}

namespace {

// How many letters to add, to drop, to replace or to swap with their neighbour make the one of the
// other (optimal string alignment).
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j < last.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last.back();
}

// "internet" for "inet", "mgmt" for "management": the letters of the one in the order of the other.
bool is_short_for(std::string_view brief, std::string_view full) {
  if (brief.size() < 3 || brief.size() * 3 < full.size() || brief[0] != full[0])
    return false;
  for (const char c : full) {
    if (!brief.empty() && brief[0] == c)
      brief.remove_prefix(1);
  }
  return brief.empty();
}

}  // namespace

std::string_view closest(std::string_view wrong, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLongest = 64;  // beyond that nobody mistyped a name
  if (wrong.empty() || wrong.size() > kLongest)
    return {};
  const std::size_t allowed = std::max<std::size_t>(1, wrong.size() / 3);
  std::string_view best;
  std::size_t best_distance = allowed + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest)
      continue;
    const std::size_t distance = slips_between(wrong, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty())
    return best;
  const auto meant =
      std::find_if(candidates.begin(), candidates.end(), [&](std::string_view candidate) {
        return candidate.size() <= kLongest &&
               (is_short_for(candidate, wrong) || is_short_for(wrong, candidate));
      });
  return meant == candidates.end() ? std::string_view() : *meant;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string_view>& candidates) {
  const std::string_view best = closest(wrong, candidates);
  return best.empty() ? std::string() : fmt::format("did you mean `{}`?", best);
}

}  // namespace bulkhead
