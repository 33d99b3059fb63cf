// A user's mistake, told so that it can be mended: place, source line with caret, what is wrong,
// what to do. Collected, never thrown: one run shows every semantic error of a site (of syntax
// errors the first of each file).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/support/source.h"

namespace bulkhead {

enum class Severity { Error, Warning, Note };

struct Diagnostic {
  struct Related {  // a second place: "the flow is here", "first defined here"
    SourcePos at;
    std::string message;
  };
  Severity severity = Severity::Error;
  std::string code;  // stable, kebab-case: "unknown-name", "host-bits"; tests and docs refer to it
  SourcePos at;
  std::string message;
  std::string hint;  // optional: "did you mean `acme-fe`?"
  std::vector<Related> related;
};

class Diagnostics {
 public:
  Diagnostic& error(std::string code, SourcePos at, std::string message, std::string hint = {});
  Diagnostic& warning(std::string code, SourcePos at, std::string message, std::string hint = {});
  Diagnostic& note(std::string code, SourcePos at, std::string message, std::string hint = {});
  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] std::size_t error_count() const { return errors_; }
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return items_; }
  // Stable order for output: file, line, column, then order of discovery.
  void sort();

 private:
  std::vector<Diagnostic> items_;
  std::size_t errors_ = 0;
};

// "file:line:col: error: message [code]", the source line, a caret, hint, related places. Control
// characters of the source line are shown as '?', very long lines are cut around the caret.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, const SourceMap& sources,
                                 bool color);
[[nodiscard]] std::string render(const Diagnostics& diagnostics, const SourceMap& sources,
                                 bool color);

// Closest candidate within a small edit distance, or empty: for "did you mean".
[[nodiscard]] std::string_view closest(std::string_view wrong,
                                       const std::vector<std::string_view>& candidates);
// "did you mean `x`?" or empty.
[[nodiscard]] std::string did_you_mean(std::string_view wrong,
                                       const std::vector<std::string_view>& candidates);

}  // namespace bulkhead
