#include "compiler/probe_plan.h"

#include "compiler/probe_book.h"

namespace bulkhead::compiler {

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::Tcp:
      return "tcp";
    case Transport::Udp:
      return "udp";
    case Transport::Icmp:
      return "icmp";
    case Transport::Raw:
      return "raw";
  }
  return "tcp";
}

std::string_view to_string(Payload payload) {
  switch (payload) {
    case Payload::Token:
      return "token";
    case Payload::RoceRequest:
      return "roce-request";
    case Payload::RoceAcknowledge:
      return "roce-acknowledge";
    case Payload::LoneAck:
      return "lone-ack";
  }
  return "token";
}

std::string_view to_string(Expect expect) {
  return expect == Expect::Allow ? "allow" : "deny";
}

ProbePlan plan_probes(const Site& site, const PlanOptions& options) {
  return probes_of(make_probe_book(site, options));
}

}  // namespace bulkhead::compiler
