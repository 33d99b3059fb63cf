#include "compiler/lint/rule_lines.h"

#include <algorithm>
#include <array>

namespace bulkhead::compiler::lint {

namespace {

// What begins a line of a chain that is no rule.
constexpr std::array<std::string_view, 5> kNoRule{"type", "policy", "comment", "device", "devices"};
constexpr std::array<std::string_view, 6> kFamilies{"ip", "ip6", "inet", "bridge", "netdev", "arp"};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  RuleLines scan() {
    while (at_ < text_.size()) {
      const Statement statement = next(true);
      if (!statement.opens)
        continue;
      const auto words = split(statement.text);
      if (!words.empty() && words.front() == "table")
        table(words);
      else
        skip_block();
    }
    return std::move(out_);
  }

 private:
  struct Statement {
    std::string text;
    std::uint32_t line = 0;  // of its first word
    bool opens = false;      // a block follows
    bool closes = false;     // the block around ends here
  };

  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
      if (!is_space(c))
        words.back() += c;
      else if (!words.back().empty())
        words.emplace_back();
    }
    if (words.back().empty())
      words.pop_back();
    return words;
  }

  void comment() {
    while (at_ < text_.size() && text_[at_] != '\n')
      ++at_;
  }

  // Up to the end of a statement. `blocks`: a brace opens a block, else it is a set in a rule.
  Statement next(bool blocks) {
    Statement out;
    int depth = 0;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n')
        ++line_;
      if (quoted) {
        quoted = c != '"';
        continue;
      }
      if (c == '#') {
        comment();
        --at_;
        continue;
      }
      if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        ++at_;
        ++line_;
        continue;
      }
      if (c == '{' && blocks) {
        ++at_;
        out.opens = true;
        return out;
      }
      if (c == '}' && depth == 0) {
        ++at_;
        out.closes = true;
        return out;
      }
      if (depth == 0 && (c == '\n' || c == ';')) {
        ++at_;
        return out;
      }
      quoted = c == '"';
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (out.text.empty() && !is_space(c))
        out.line = line_;
      if (!out.text.empty() || !is_space(c))
        out.text += c;
    }
    out.closes = true;
    return out;
  }

  void skip_block() {
    for (int depth = 1; at_ < text_.size() && depth > 0;) {
      const Statement statement = next(true);
      depth += statement.opens ? 1 : statement.closes ? -1 : 0;
    }
  }

  void table(const std::vector<std::string>& words) {
    const bool says_family = words.size() > 2 && std::find(kFamilies.begin(), kFamilies.end(),
                                                           words[1]) != kFamilies.end();
    const std::string name =
        (says_family ? words[1] + ' ' + words[2] : "ip " + (words.size() > 1 ? words[1] : ""));
    while (at_ < text_.size()) {
      const Statement statement = next(true);
      if (statement.opens) {
        const auto inner = split(statement.text);
        if (inner.size() == 2 && inner.front() == "chain")
          chain(name + ' ' + inner[1]);
        else
          skip_block();
      } else if (statement.closes) {
        return;
      }
    }
  }

  void chain(const std::string& name) {
    auto& lines = out_[name];
    while (at_ < text_.size()) {
      const Statement statement = next(false);
      const std::string first = statement.text.substr(0, statement.text.find_first_of(" \t="));
      if (!first.empty() && std::find(kNoRule.begin(), kNoRule.end(), first) == kNoRule.end())
        lines.push_back(statement.line);
      if (statement.closes)
        return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  RuleLines out_;
};

}  // namespace

RuleLines rule_lines(std::string_view nft_text) {
  return Scanner(nft_text).scan();
}

}  // namespace bulkhead::compiler::lint
