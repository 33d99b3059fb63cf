#include "told.h"

#include <sstream>

namespace bulkhead::compiler::proof::test {
namespace {

std::string hex(Value value) {
  std::ostringstream out;
  out << std::hex << static_cast<std::uint64_t>(value >> 64) << ':'
      << static_cast<std::uint64_t>(value);
  return out.str();
}
std::string told(const std::vector<ValueRange>& ranges) {
  std::string out;
  for (const ValueRange& range : ranges)
    out += ' ' + hex(range.first) + '-' + hex(range.last);
  return out;
}
std::string told(const Operands& key) {
  std::string out;
  for (const Operand& operand : key)
    out += ' ' + std::string(info(operand.selector).name) + '&' + hex(operand.mask) + '^' +
           hex(operand.flip);
  return out;
}
std::string told(const Verdict& verdict) {
  return std::string(to_string(verdict.kind)) + ' ' + std::to_string(verdict.chain);
}
std::string told(const Data& data) {
  if (const auto* verdict = std::get_if<Verdict>(&data))
    return told(*verdict);
  const auto* values = std::get_if<std::vector<ValueRange>>(&data);
  return values != nullptr ? told(*values) : "";
}
std::string told(const Set& set) {
  std::string out = set.dynamic ? " dynamic {" : " {";
  for (std::size_t i = 0; i < set.elements.size(); ++i) {
    out += ';' + told(std::vector<ValueRange>(set.key(i).begin(), set.key(i).end())) + " : " +
           told(set.elements[i].data);
    out += set.elements[i].limited ? " limited" : "";
    out += set.elements[i].expires ? " expires" : "";
  }
  return out + '}';
}
struct Tell {
  const Ruleset& ruleset;
  std::string operator()(const Match& m) const {
    return "match" + told(m.key) + (m.negated ? " not in" : " in") +
           (m.set != kNone ? told(ruleset.sets[m.set]) : told(m.ranges));
  }
  std::string operator()(const Decide& d) const { return told(d.verdict); }
  std::string operator()(const VerdictMap& m) const {
    return "vmap" + told(m.key) + told(ruleset.sets[m.set]);
  }
  std::string operator()(const Assign& a) const {
    std::string out = std::string(info(a.target).name) + " set";
    if (const auto* lookup = std::get_if<Lookup>(&a.value))
      return out + told(lookup->key) + told(ruleset.sets[lookup->set]);
    if (const auto* operand = std::get_if<Operand>(&a.value))
      return out + told(Operands{*operand});
    return out + told(std::get<std::vector<ValueRange>>(a.value));
  }
  std::string operator()(const Nat& n) const {
    return "nat " + std::to_string(static_cast<int>(n.kind));
  }
  std::string operator()(const Maybe&) const { return "maybe"; }
  std::string operator()(const Notrack&) const { return "notrack"; }
  std::string operator()(const Unmodelled& u) const {
    return u.kind == Unmodelled::Kind::Effect ? "unmodelled effect" : "unmodelled condition";
  }
  std::string operator()(const auto&) const { return "?"; }
};

}  // namespace

std::string told(const Ruleset& ruleset) {
  std::string out;
  for (const Chain& chain : ruleset.chains) {
    out += "chain " + chain.name;
    if (chain.base)
      out += ' ' + std::string(to_string(chain.base->hook)) + ' ' +
             std::to_string(chain.base->priority) + (chain.base->policy_drop ? " drop" : "") +
             (chain.base->type == ChainType::Nat ? " nat" : "");
    for (const Rule& rule : chain.rules) {
      out += "\n ";
      for (const Statement& statement : rule.statements)
        out += " | " + std::visit(Tell{ruleset}, statement);
    }
    out += '\n';
  }
  return out;
}

std::string told(const Ruleset& ruleset, const Packet& packet, const Answer& answer) {
  std::ostringstream out;
  out << "state " << int{packet.ct_state} << " mark " << packet.mark << " bytes";
  for (const std::uint8_t byte : packet.bytes)
    out << ' ' << int{byte};
  for (const Run& run : answer.runs) {
    out << "\n  " << to_string(run.outcome);
    for (const Step& step : run.steps)
      out << "\n    " << to_string(step.hook) << ' ' << chain_name(ruleset, step.chain) << ' '
          << static_cast<int>(step.rule) << ' ' << step.what;
    for (const std::string& why : run.because)
      out << "\n    because " << why;
  }
  return out.str();
}

}  // namespace bulkhead::compiler::proof::test
