#include "generated_site.h"

#include <fmt/format.h>

#include <iterator>

namespace bulkhead::bench {

namespace {

constexpr std::size_t kSegments = 50;
constexpr std::size_t kLabels = 5;

// One tenant, one enforcer, segments s0.. on legs l0.. with 10.<n>.0.0/16 and fd00:<n>::/64.
class Writer {
 public:
  Writer() {
    policy_ += "name = \"generated\"\n[tenant.t]\nowner = \"t\"\n";
    inventory_ += "[enforcer.fw]\nkind = \"router\"\nmanage = \"bulkhead\"\n[enforcer.fw.legs]\n";
  }
  void segment(std::size_t n) {
    fmt::format_to(std::back_inserter(policy_),
                   "[segment.s{0}]\ntenant = \"t\"\nv4 = \"10.{0}.0.0/16\"\n"
                   "v6 = \"fd00:{0}::/64\"\ngateway = \"fw\"\ninside = \"open\"\n",
                   n);
    fmt::format_to(std::back_inserter(inventory_),
                   "\"l{0}\" = {{ segment = \"s{0}\", v4 = \"10.{0}.0.1/16\", "
                   "v6 = \"fd00:{0}::1/64\" }}\n",
                   n);
  }
  // Host number `host` of the segment: 10.<n>.<1 + host / 250>.<1 + host % 250>.
  void host(std::size_t n, std::size_t host, const std::string& label) {
    fmt::format_to(std::back_inserter(hosts_),
                   "[host.h{0}-{1}]\nlabels = [\"{2}\"]\nnic.e0 = {{ segment = \"s{0}\", "
                   "v4 = \"10.{0}.{3}.{4}\", v6 = \"fd00:{0}::{3:x}:{4:x}\" }}\n",
                   n, host, label, 1 + host / 250, 1 + host % 250);
  }
  void service(const std::string& name, const std::string& terms) {
    fmt::format_to(std::back_inserter(policy_), "[service.{}]\n{}\n", name, terms);
  }
  void flow(std::size_t id, const std::string& from, const std::string& to,
            const std::string& service) {
    fmt::format_to(std::back_inserter(policy_),
                   "[[flow]]\nid = \"F{}\"\nfrom = \"{}\"\nto = \"{}\"\nservices = [\"{}\"]\n"
                   "why = \"measured\"\n",
                   id, from, to, service);
  }
  Generated done() { return {{{"policy.toml", policy_}, {"inventory.toml", inventory_ + hosts_}}}; }

 private:
  std::string policy_, inventory_, hosts_;
};

std::string member(std::size_t segment, std::size_t label) {
  return fmt::format("s{}.k{}", segment, label);
}

}  // namespace

policy::FileReader Generated::reader() const {
  return [this](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end())
      return fail(ErrorKind::Environment, path + ": no such file");
    return found->second;
  };
}

Generated many_flows(std::size_t flows, std::size_t per_pair) {
  Writer out;
  for (std::size_t n = 0; n < kSegments; ++n) {
    out.segment(n);
    for (std::size_t label = 0; label < kLabels; ++label)
      for (std::size_t host = 0; host < 2; ++host)
        out.host(n, label * 2 + host, fmt::format("k{}", label));
  }
  // The measured packets, s0.k0 -> s1.k0 with udp 5000, meet the last rule of their pair.
  for (std::size_t k = 0; k < per_pair; ++k)
    out.service(fmt::format("p{}", k), fmt::format("udp = [{}]", 5000 - 2 * k));
  constexpr std::size_t kClasses = kSegments * kLabels;
  std::size_t pair = 0;
  for (std::size_t flow = 0; flow < flows; ++pair) {
    const std::size_t from = pair % kClasses;
    const std::size_t from_segment = from % kSegments;
    const std::size_t step = pair / kClasses;
    const std::size_t to_segment = (from_segment + 1 + step % (kSegments - 1)) % kSegments;
    const std::size_t to_label = (from / kSegments + step / (kSegments - 1)) % kLabels;
    for (std::size_t k = 0; k < per_pair && flow < flows; ++k, ++flow)
      out.flow(flow, member(from_segment, from / kSegments), member(to_segment, to_label),
               fmt::format("p{}", k));
  }
  return out.done();
}

Generated many_sources(std::size_t sources) {
  Writer out;
  out.segment(0);
  out.segment(1);
  // Odd hosts only hold the label, so that no two neighbours merge into one range.
  for (std::size_t host = 0; host < sources; ++host)
    out.host(0, host, host % 2 == 0 ? "k0" : "k1");
  out.host(1, 0, "k0");
  out.service("p0", "udp = [5000]");
  out.flow(0, "s0.k0", "s1.k0", "p0");
  out.flow(1, "s0.k1", "s1.k0", "p0");
  return out.done();
}

Generated many_ports(std::size_t ports) {
  Writer out;
  out.segment(0);
  out.segment(1);
  out.host(0, 0, "k0");
  out.host(1, 0, "k0");
  std::string list;
  for (std::size_t k = 0; k < ports; ++k)
    fmt::format_to(std::back_inserter(list), "{}{}", k == 0 ? "" : ", ", 5000 + 2 * k);
  out.service("p0", fmt::format("udp = [{}, \"4000-4003\"]", list));
  out.flow(0, "s0.k0", "s1.k0", "p0");
  return out.done();
}

Generated many_prefixes(std::size_t prefixes) {
  Writer out;
  out.segment(0);
  out.segment(1);
  out.host(0, 0, "k0");
  for (std::size_t host = 0; host < prefixes; ++host)
    out.host(1, host, host % 2 == 0 ? "k0" : "k1");
  out.service("p0", "udp = [5000]");
  out.flow(0, "s0.k0", "s1.k0", "p0");
  out.flow(1, "s0.k0", "s1.k1", "p0");
  return out.done();
}

}  // namespace bulkhead::bench
