#include "random_words.h"

#include <set>

namespace bulkhead::test {

namespace {

std::string port(Dice& dice) {
  return std::to_string(dice.one_of(kPorts));
}

}  // namespace

std::string port_range(Dice& dice) {
  unsigned a = dice.one_of(kPorts), b = dice.one_of(kPorts);
  if (a > b)
    std::swap(a, b);
  return a == b ? std::to_string(a) : std::to_string(a) + "-" + std::to_string(b);
}

std::string braces(Dice& dice, const std::function<std::string()>& value) {
  std::set<std::string> values;
  for (std::size_t i = 0; i <= dice.below(3); ++i)
    values.insert(value());
  std::string text = "{ ";
  for (const auto& item : values)
    text += (text.size() > 2 ? ", " : "") + item;
  return text + " }";
}

std::string is(Dice& dice) {
  return dice.chance(25) ? "!= " : "";
}

std::string ports(Dice& dice) {
  switch (dice.below(5)) {
    case 0:
      return is(dice) + port(dice);
    case 1:
      return is(dice) + port_range(dice);
    case 2: {
      const char* const kOperators[] = {"< ", "> ", "<= ", ">= "};
      return dice.one_of(kOperators) + std::to_string(1 + dice.one_of(kPorts) % 65534);
    }
    default:
      return is(dice) + braces(dice, [&] { return port(dice); });
  }
}

std::string addresses(Dice& dice, bool v6) {
  const auto one = [&] {
    return std::string(v6 ? dice.one_of(kAddress6) : dice.one_of(kAddress4));
  };
  switch (dice.below(4)) {
    case 0:
      return is(dice) + (v6 ? dice.one_of(kNet6) : dice.one_of(kNet4));
    case 1:
      return is(dice) + braces(dice, one);
    case 2:
      return is(dice) + braces(dice, [&] {
               return std::string(v6 ? dice.one_of(kNet6) : dice.one_of(kNet4));
             });
    default:
      return is(dice) + one();
  }
}

std::string flags(Dice& dice) {
  const char* const kTests[] = {"syn",
                                "! syn",
                                "== syn",
                                "!= ack",
                                "syn,ack",
                                "& (fin|syn|rst|ack) == syn",
                                "& ack != 0",
                                "& (syn|ack) == syn|ack",
                                "{ syn, ack, syn|ack }"};
  return dice.one_of(kTests);
}

}  // namespace bulkhead::test
