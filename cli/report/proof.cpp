#include "cli/report/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/support/exit_code.h"
#include "cli/support/terminal.h"

namespace bulkhead::cli {

namespace {

namespace proof = compiler::proof;
using scenarios::EnforcerProof;

struct Look {
  std::string_view sign;
  std::string_view means;
  Style style;
};
Look look_of(proof::Effect effect) {
  switch (effect) {
    case proof::Effect::Opens:
      return {"OPENS", "denied by the policy, and the rules let it pass", Style::Bad};
    case proof::Effect::MayOpen:
      return {"MAY OPEN", "denied, and a limit or a queue decides", Style::Bad};
    case proof::Effect::Closes:
      return {"CLOSES", "allowed by the policy, and the rules stop it", Style::Warning};
    case proof::Effect::MayClose:
      return {"MAY CLOSE", "allowed, and a limit or a queue decides", Style::Warning};
    case proof::Effect::Unknown:
      return {"UNKNOWN", "a rule outside the model decides", Style::Warning};
  }
  return {"", "", Style::Plain};
}

std::string families_word(const std::vector<Family>& families) {
  if (families.size() > 1)
    return "IPv4 and IPv6";
  return families.front() == Family::V4 ? "IPv4" : "IPv6";
}

std::string difference_text(const proof::Difference& difference, const View& view) {
  const Look look = look_of(difference.effect);
  const proof::NamedBox& box = difference.box;
  std::string out = fmt::format("  {}  {}: {} → {}  {}\n", paint(look.sign, look.style, view.color),
                                proof::to_string(difference.passage), printable(box.from),
                                printable(box.to), printable(box.traffic));
  std::string more = families_word(difference.families);
  for (const std::string* part : {&box.state, &box.interfaces, &box.others})
    if (!part->empty())
      more += "; " + printable(*part);
  out += fmt::format("      {}\n", more);
  out += fmt::format("      {}; for example\n", look.means);
  out += fmt::format("      {}\n", printable(proof::to_string(difference.example)));
  for (std::size_t i = 0; i < difference.rules.size(); ++i)
    if (view.all || i + 3 >= difference.rules.size())
      out += fmt::format("        {} {}\n", i + 1 == difference.rules.size() ? "⇒" : "·",
                         paint(printable(difference.rules[i]), Style::Dim, view.color));
  return out;
}

bool is_equal(const EnforcerProof::Part& part) {
  return part.differences.list.empty();
}

std::string enforcer_text(const EnforcerProof& proven, const View& view) {
  std::string out = fmt::format("{}  {}: {} rules, {} elements\n",
                                paint(proven.enforcer, Style::Bold, view.color),
                                printable(proven.rules), proven.rule_count, proven.element_count);
  if (proven.listing_alone)
    out +=
        "  Read from a listing alone: nft 1.0.6 leaves some matches out of one (ip6 nexthdr, "
        "iiftype, ether type).\n";
  if (!proven.not_proven.empty())
    return out + fmt::format("  {}  {}\n", paint("NOT PROVEN", Style::Warning, view.color),
                             printable(proven.not_proven));
  for (const EnforcerProof::Part& part : proven.parts)
    if (is_equal(part))
      out += fmt::format(
          "  {}  {}: what the rules let pass is what the policy allows, for all "
          "packets\n",
          paint("EQUAL", Style::Good, view.color), proof::to_string(part.passage));
  for (const EnforcerProof::Part& part : proven.parts) {
    for (const proof::Difference& difference : part.differences.list)
      out += difference_text(difference, view);
    if (!part.differences.complete)
      out += fmt::format("  and more in {}\n", proof::to_string(part.passage));
    if (part.unknown_share > 0)
      out += fmt::format("  {:.3g} % of the {} packets are not known\n",
                         static_cast<double>(part.unknown_share * 100),
                         proof::to_string(part.passage));
  }
  for (const std::string& pair : proven.ambiguous)
    out +=
        fmt::format("  {}  {}\n", paint("AMBIGUOUS", Style::Warning, view.color), printable(pair));
  return out;
}

nlohmann::ordered_json difference_json(const proof::Difference& difference) {
  const proof::NamedBox& box = difference.box;
  nlohmann::ordered_json families = nlohmann::ordered_json::array();
  for (const Family family : difference.families)
    families.push_back(to_string(family));
  const proof::Example& example = difference.example;
  nlohmann::ordered_json packet{{"in", example.in},
                                {"out", example.out},
                                {"from", example.facts.from.str()},
                                {"to", example.facts.to.str()},
                                {"protocol", example.facts.protocol},
                                {"sport", example.facts.sport},
                                {"dport", example.facts.dport},
                                {"text", printable(proof::to_string(example))},
                                {"exact", example.is_exact}};
  return {{"effect", proof::to_string(difference.effect)},
          {"passage", proof::to_string(difference.passage)},
          {"families", std::move(families)},
          {"from", printable(box.from)},
          {"to", printable(box.to)},
          {"traffic", printable(box.traffic)},
          {"state", box.state},
          {"interfaces", printable(box.interfaces)},
          {"others", printable(box.others)},
          {"example", std::move(packet)},
          {"rules", difference.rules}};
}

}  // namespace

int proof_exit(const std::vector<EnforcerProof>& proofs) {
  int code = kExitOk;
  for (const EnforcerProof& proven : proofs) {
    if (proven.holds())
      continue;
    if (!proven.is_open_question())
      return kExitFindings;
    code = kExitInconclusive;
  }
  return code;
}

std::string proof_text(const std::vector<EnforcerProof>& proofs, const View& view) {
  std::string out;
  for (const EnforcerProof& proven : proofs)
    out += enforcer_text(proven, view) + "\n";
  switch (proof_exit(proofs)) {
    case kExitOk:
      return out + "exit 0: equal for all packets\n";
    case kExitFindings:
      return out + "exit 1: the rules are not what the policy says\n";
    default:
      return out + "exit 4: not decided\n";
  }
}

std::string proof_json(const std::vector<EnforcerProof>& proofs) {
  nlohmann::ordered_json enforcers = nlohmann::ordered_json::array();
  for (const EnforcerProof& proven : proofs) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    bool complete = true;
    nlohmann::ordered_json unknown;
    for (const EnforcerProof::Part& part : proven.parts) {
      complete &= part.differences.complete;
      unknown[std::string(proof::to_string(part.passage))] =
          static_cast<double>(part.unknown_share);
      for (const proof::Difference& difference : part.differences.list)
        list.push_back(difference_json(difference));
    }
    enforcers.push_back({{"enforcer", proven.enforcer},
                         {"rules", printable(proven.rules)},
                         {"equal", proven.holds()},
                         {"listing_alone", proven.listing_alone},
                         {"not_proven", proven.not_proven},
                         {"differences", std::move(list)},
                         {"complete", complete},
                         {"ambiguous", proven.ambiguous},
                         {"unknown_share", std::move(unknown)}});
  }
  const nlohmann::ordered_json json{{"schema", "bulkhead.proof/1"},
                                    {"exit", proof_exit(proofs)},
                                    {"enforcers", std::move(enforcers)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace bulkhead::cli
