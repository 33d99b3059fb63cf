// One question for several provers: is a list of rules, first match wins, equal to a matrix of who
// may reach whom? A thousand rules as people write them: interface, source, destination, protocol
// and port, hosts and prefixes of 50 classes, denies between the allows.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace bulkhead::bench {

struct Span {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

struct QuestionRule {
  std::uint32_t leg = 0;
  Span source, destination;
  std::uint32_t protocol = 6;
  Span ports;
  bool accept = true;
};

// Everything that `allowed` says and no `denied` does; who and where as whole classes.
struct QuestionCell {
  std::uint32_t leg = 0;
  std::vector<Span> sources, destinations;
  std::uint32_t protocol = 6;
  std::vector<Span> ports;
};

struct Question {
  std::vector<QuestionRule> rules;
  std::vector<QuestionCell> allowed, denied;
};

inline constexpr std::uint32_t kLegs = 50;

// The answer is "equal", or, where `one_wrong`, not: one port more in one rule.
inline Question make_question(std::size_t rules, bool one_wrong) {
  std::mt19937 random(1);
  const auto upto = [&](std::uint32_t last) {
    return static_cast<std::uint32_t>(random() % (last + 1));
  };
  std::vector<std::vector<Span>> classes(kLegs);
  for (std::uint32_t leg = 0; leg < kLegs; ++leg) {
    const std::uint32_t base = 0x0a000000 | leg << 16;
    for (std::uint32_t part = 0; part < 3; ++part) {
      const std::uint32_t at = base + part * 4096 + upto(200) * 16;
      classes[leg].push_back(part == 0 ? Span{at, at + 15} : Span{at + 3, at + 3});
    }
  }
  Question out;
  std::vector<QuestionRule> allows;
  while (out.rules.size() + allows.size() < rules) {
    const std::uint32_t from = upto(kLegs - 1), to = upto(kLegs - 1);
    const std::uint32_t protocol = upto(4) == 0 ? 17 : 6;
    const std::uint32_t port = 1024 + upto(20'000);
    const Span ports{port, upto(3) == 0 ? port + upto(100) : port};
    const bool deny = upto(9) == 0;
    (deny ? out.denied : out.allowed)
        .push_back({from, classes[from], classes[to], protocol, {ports}});
    for (const Span& source : classes[from])
      for (const Span& destination : classes[to])
        (deny ? out.rules : allows).push_back({from, source, destination, protocol, ports, !deny});
  }
  out.rules.insert(out.rules.end(), allows.begin(), allows.end());
  if (one_wrong)
    ++out.rules.back().ports.last;
  return out;
}

}  // namespace bulkhead::bench
