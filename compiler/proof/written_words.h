// nft's language as words, as far as bulkhead writes it: below written_text.
#pragma once

#include <string_view>

namespace bulkhead::compiler::proof {

// Views into the text. Lines matter, where a statement ends with one.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { read(); }
  [[nodiscard]] std::string_view peek() const { return word_; }  // without its quotes
  [[nodiscard]] bool is_quoted() const { return kind_ == Kind::Quoted; }
  [[nodiscard]] bool is_line_end() const { return kind_ == Kind::LineEnd; }
  [[nodiscard]] bool is_end() const { return kind_ == Kind::End; }
  [[nodiscard]] std::size_t line() const { return line_; }
  std::string_view take() {
    const std::string_view taken = word_;
    read();
    return taken;
  }
  void skip_lines() {
    while (is_line_end())
      read();
  }

 private:
  enum class Kind { Word, Quoted, LineEnd, End };
  void read();

  std::string_view text_, word_;
  Kind kind_ = Kind::End;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

[[nodiscard]] bool is_meta_word(std::string_view word);                            // "iifname"
[[nodiscard]] bool is_payload(std::string_view protocol, std::string_view field);  // "tcp", "dport"
// A number, an address, a range or a prefix of them; else a word that nft has a number for.
[[nodiscard]] bool is_literal(std::string_view word);

}  // namespace bulkhead::compiler::proof
