#include "probes/expectations.h"

#include <algorithm>
#include <cstring>

namespace bulkhead::probes {

// Tokens are random already.
std::size_t Expectations::TokenHash::operator()(const Token& token) const {
  std::size_t hash = 0;
  std::memcpy(&hash, token.data(), sizeof hash);
  return hash;
}

std::size_t Expectations::TupleHash::operator()(
    const std::pair<compiler::Transport, Tuple>& key) const {
  std::array<std::uint64_t, 5> words{};
  const Tuple& tuple = key.second;
  std::memcpy(&words[0], tuple.from.bytes.data(), 16);
  std::memcpy(&words[2], tuple.to.bytes.data(), 16);
  words[4] = std::uint64_t{tuple.sport} << 32 | std::uint64_t{tuple.port} << 8 |
             static_cast<std::uint64_t>(key.first);
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words)
    hash = (hash ^ word) * 0x9e3779b97f4a7c15 ^ hash >> 29;
  return hash;
}

void Expectations::add(const Expect& expect) {
  for (const Expected& what : expect.tries) {
    ExpectedTry& entry = tries_.emplace_back(ExpectedTry{what, expect.round});
    tokens_.insert_or_assign(what.token, &entry);
    tuples_.insert_or_assign(std::pair(what.transport, what.tuple), &entry);
    if (what.transport == compiler::Transport::Tcp)
      sequences_.emplace(initial_sequence(what.token), &entry);
  }
  const auto known = static_cast<std::ptrdiff_t>(unwanted_.size());
  unwanted_.insert(unwanted_.end(), expect.unwanted.begin(), expect.unwanted.end());
  std::sort(unwanted_.begin() + known, unwanted_.end());
  std::inplace_merge(unwanted_.begin(), unwanted_.begin() + known, unwanted_.end());
}

ExpectedTry* Expectations::by_token(const Token& token) {
  const auto found = tokens_.find(token);
  return found == tokens_.end() ? nullptr : found->second;
}

ExpectedTry* Expectations::by_tuple(compiler::Transport transport, const Tuple& tuple) {
  const auto found = tuples_.find({transport, tuple});
  return found == tuples_.end() ? nullptr : found->second;
}

ExpectedTry* Expectations::by_sequence(std::uint32_t sequence, const Tuple& tuple) {
  const auto [first, last] = sequences_.equal_range(sequence);
  for (auto it = first; it != last; ++it) {
    const Tuple& planned = it->second->what.tuple;
    const bool same_source = planned.from == tuple.from;
    const bool same_target = planned.to == tuple.to || planned.port == tuple.port;
    if (same_source || same_target)
      return it->second;
  }
  return nullptr;
}

bool Expectations::is_unwanted(std::uint32_t head) const {
  return std::binary_search(unwanted_.begin(), unwanted_.end(), head);
}

}  // namespace bulkhead::probes
