// ProbePlan <-> JSON, schema bulkhead.probe/1. Probes one a line, written by hand: a pod has
// hundreds of thousands, and a tree of them in memory would cost a gigabyte.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/probe_plan.h"

namespace bulkhead::compiler {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "bulkhead.probe/1";

std::string json_text(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string end_text(const ProbeEnd& end, const Site& site) {
  std::string text = fmt::format(R"({{"class":{},"host":{},"nic":{},"addr":"{}")",
                                 json_text(site.matrix.universe.classes[end.cls].name),
                                 json_text(end.host), json_text(end.nic), end.address.str());
  if (end.agentless)
    text += R"(,"agentless":true)";
  if (!end.stands_for.empty())
    text += R"(,"stands_for":)" + json_text(end.stands_for);
  return text + "}";
}

std::string detour_text(const Detour& detour) {
  if (detour.host.empty())
    return {};
  return fmt::format(R"(,"detour":{{"host":{},"nic":{}}})", json_text(detour.host),
                     json_text(detour.nic));
}

std::string probe_text(const Probe& probe, const Site& site) {
  return fmt::format(
      R"({{"id":"{}","from":{},"to":{},"transport":"{}","payload":"{}","port":{},"sport":{},"size":{},)"
      R"("expect":"{}","cause":"{}","enforcer":{},"rule":{}{}}})",
      probe.id, end_text(probe.from, site), end_text(probe.to, site), to_string(probe.transport),
      to_string(probe.payload), probe.port, probe.sport, probe.size, to_string(probe.expect),
      to_string(probe.cause), json_text(probe.enforcer), json_text(probe.rule),
      detour_text(probe.detour));
}

std::string unprobed_text(const Unprobed& cell, const Site& site) {
  return fmt::format(R"({{"from":{},"to":{},"what":{},"reason":{},"vacuous":{},"not_asked":{}}})",
                     json_text(site.matrix.universe.classes[cell.from].name),
                     json_text(site.matrix.universe.classes[cell.to].name), json_text(cell.what),
                     json_text(cell.reason), cell.vacuous, cell.not_asked);
}

template <class Item, class Print>
void append_list(std::string& out, const std::vector<Item>& items, Print print) {
  for (std::size_t i = 0; i < items.size(); ++i)
    out += (i == 0 ? "\n" : ",\n") + print(items[i]);
}

// Throws json::exception or std::string (what is wrong); plan_from_json catches both.
class Reader {
 public:
  explicit Reader(const Site& site) : universe_(site.matrix.universe) {}

  Probe probe(const json& in) const {
    only(in, {"id", "from", "to", "transport", "payload", "port", "sport", "size", "expect",
              "cause", "enforcer", "rule", "detour"});
    Probe out;
    out.id = in.at("id").get<std::string>();
    out.from = end(in.at("from"));
    out.to = end(in.at("to"));
    out.transport = named(in.at("transport"), {Transport::Tcp, Transport::Udp, Transport::Icmp});
    out.payload =
        named(in.at("payload"), {Payload::Token, Payload::RoceRequest, Payload::RoceAcknowledge});
    out.port = number(in.at("port"));
    out.sport = number(in.at("sport"));
    out.size = number(in.at("size"));
    out.expect = named(in.at("expect"), {Expect::Allow, Expect::Deny});
    out.cause = named(in.at("cause"),
                      {Cause::None, Cause::Rule, Cause::Route, Cause::Partition, Cause::External});
    out.enforcer = in.at("enforcer").get<std::string>();
    out.rule = in.at("rule").get<std::string>();
    if (const auto detour = in.find("detour"); detour != in.end()) {
      only(*detour, {"host", "nic"});
      out.detour = {detour->at("host").get<std::string>(), detour->at("nic").get<std::string>()};
    }
    if (out.from.address.family != out.to.address.family)
      throw std::string("probe " + out.id + " mixes address families");
    return out;
  }

  Unprobed unprobed(const json& in) const {
    only(in, {"from", "to", "what", "reason", "vacuous", "not_asked"});
    return {cls(in.at("from")),
            cls(in.at("to")),
            in.at("what").get<std::string>(),
            in.at("reason").get<std::string>(),
            in.at("vacuous").get<bool>(),
            in.at("not_asked").get<bool>()};
  }

  static void only(const json& in, std::initializer_list<std::string_view> known) {
    for (const auto& [name, value] : in.get_ref<const json::object_t&>()) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw std::string("unknown field `" + name + "`");
    }
  }

 private:
  policy::ClassId cls(const json& in) const {
    const auto& name = in.get_ref<const std::string&>();
    const policy::Class* found = universe_.find(name);
    if (!found)
      throw std::string("class `" + name + "` is not of this site");
    return static_cast<policy::ClassId>(found - universe_.classes.data());
  }

  ProbeEnd end(const json& in) const {
    only(in, {"class", "host", "nic", "addr", "agentless", "stands_for"});
    const auto& text = in.at("addr").get_ref<const std::string&>();
    const auto address = Address::parse(text);
    if (!address)
      throw std::string("`" + text + "` is no address");
    return {cls(in.at("class")),
            in.at("host").get<std::string>(),
            in.at("nic").get<std::string>(),
            *address,
            in.value("agentless", false),
            in.value("stands_for", std::string())};
  }

  static std::uint16_t number(const json& in) {
    const auto value = in.get<std::int64_t>();
    if (!in.is_number_integer() || value < 0 || value > 65535)
      throw std::string("a number is out of range");
    return static_cast<std::uint16_t>(value);
  }

  template <class Enum>
  static Enum named(const json& in, std::initializer_list<Enum> all) {
    const auto& text = in.get_ref<const std::string&>();
    for (const Enum value : all) {
      if (to_string(value) == text)
        return value;
    }
    throw std::string("unknown word `" + text + "`");
  }

  const policy::Universe& universe_;
};

}  // namespace

std::string to_json(const ProbePlan& plan, const Site& site) {
  std::string out =
      fmt::format(R"({{"schema":"{}","site":{},"probes":[)", kSchema, json_text(site.policy.name));
  append_list(out, plan.probes, [&](const Probe& probe) { return probe_text(probe, site); });
  out += "\n],\"unprobed\":[";
  append_list(out, plan.unprobed, [&](const Unprobed& cell) { return unprobed_text(cell, site); });
  return out + "\n]}\n";
}

Result<ProbePlan> plan_from_json(std::string_view text, const Site& site) {
  const auto refuse = [](const std::string& why) {
    return fail(ErrorKind::Usage, "this is no probe plan of this site: " + why);
  };
  try {
    const json document = json::parse(text);
    if (!document.is_object() || document.value("schema", "") != kSchema)
      return refuse("its schema is not " + std::string(kSchema));
    Reader::only(document, {"schema", "site", "probes", "unprobed"});
    const Reader reader(site);
    ProbePlan plan;
    for (const json& probe : document.at("probes"))
      plan.probes.push_back(reader.probe(probe));
    for (const json& cell : document.at("unprobed"))
      plan.unprobed.push_back(reader.unprobed(cell));
    return plan;
  } catch (const json::exception& mistake) {
    return refuse(mistake.what());
  } catch (const std::string& mistake) {
    return refuse(mistake);
  }
}

}  // namespace bulkhead::compiler
