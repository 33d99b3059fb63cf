#include "compiler/proof/written_words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bulkhead::compiler::proof {

namespace {

constexpr std::string_view kSpace = " \t\r";
constexpr std::string_view kSigns = "{},;=";
constexpr std::string_view kEndOfWord = " \t\r\n{},;=\"#";

constexpr std::array<std::string_view, 6> kMeta{"iifname", "oifname", "oif",
                                                "l4proto", "nfproto", "sdifname"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kPayload{{
    {"ip", "saddr"},
    {"ip", "daddr"},
    {"ip6", "saddr"},
    {"ip6", "daddr"},
    {"ip6", "hoplimit"},
    {"icmp", "type"},
    {"icmpv6", "type"},
    {"tcp", "sport"},
    {"tcp", "dport"},
    {"udp", "sport"},
    {"udp", "dport"},
    {"sctp", "sport"},
    {"sctp", "dport"},
    {"th", "dport"},
}};

}  // namespace

void Words::read() {
  if (kind_ == Kind::LineEnd)
    ++line_;
  while (at_ < text_.size()) {
    if (kSpace.find(text_[at_]) != std::string_view::npos)
      ++at_;
    else if (text_[at_] == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else
      break;
  }
  word_ = {};
  if (at_ == text_.size()) {
    kind_ = Kind::End;
    return;
  }
  const char first = text_[at_];
  if (first == '\n') {
    kind_ = Kind::LineEnd;
    ++at_;
    return;
  }
  std::size_t end = at_ + 1;
  kind_ = Kind::Word;
  if (first == '"') {
    end = text_.find_first_of("\"\n", at_ + 1);
    // Quotes that do not close are no word: nobody expects this one.
    if (end == std::string_view::npos || text_[end] == '\n')
      end = text_.size();
    else
      kind_ = Kind::Quoted;
    word_ = text_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, text_.size());
    return;
  }
  if (kSigns.find(first) == std::string_view::npos)
    end = std::min(text_.find_first_of(kEndOfWord, at_ + 1), text_.size());
  word_ = text_.substr(at_, end - at_);
  at_ = end;
}

bool is_meta_word(std::string_view word) {
  return std::find(kMeta.begin(), kMeta.end(), word) != kMeta.end();
}

bool is_payload(std::string_view protocol, std::string_view field) {
  return std::find(kPayload.begin(), kPayload.end(), std::pair{protocol, field}) != kPayload.end();
}

bool is_literal(std::string_view word) {
  return !word.empty() &&
         ((word.front() >= '0' && word.front() <= '9') || word.find(':') != std::string_view::npos);
}

}  // namespace bulkhead::compiler::proof
