#include "compiler/targets/nft_roce.h"

namespace bulkhead::compiler {

namespace {

// Bits after the start of UDP: 8 bytes UDP, BTH 12 (opcode first, destination QP in bytes 5-7),
// DETH 8, then the management datagram: class in its byte 1, attribute id in bytes 16-17.
constexpr std::string_view kOpcode = "@th,64,8 ";
constexpr std::string_view kQueuePair = "@th,104,24 ";
constexpr std::string_view kManagementClass = "@th,232,8 ";
constexpr std::string_view kAttribute = "@th,352,16 ";

// RC, UC and UD of the InfiniBand specification (vol. 1, 9.2.1) and the congestion notification of
// RoCEv2. Not XRC (0xa0-0xbf): its answers come from another queue pair than its requests go to, so
// a direction would mean nothing.
constexpr std::string_view kRequests = "{ 0x00-0x3f, 0x60-0x7f, 0x81 } ";
// RC read responses and acknowledges, atomic acknowledge; congestion notification.
constexpr std::string_view kAnswers = "{ 0x0d-0x12, 0x81 } ";
// Of connection management: MRA, REJ, REP, DREQ, DREP, SIDR_REP, APR. Not REQ, SIDR_REQ, LAP, which
// ask; not RTU, which only the asking side sends.
constexpr std::string_view kAnsweringAttributes = "{ 0x11-0x13, 0x15-0x16, 0x18, 0x1a } ";

std::string join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const auto part : parts)
    out.append(part);
  return out;
}

}  // namespace

std::size_t roce_rules(NftText& text, NftComments& comments, const ir::RoceTarget& target,
                       const std::string& bound) {
  if (target.everything) {
    text.line(bound + "counter accept comment " + nft_quoted(policy::kRuleInside));
    return 0;
  }
  if (target.requests != nullptr) {
    text.line(join(
        {bound, kOpcode, kRequests, "counter accept comment ", comments.of(*target.requests)}));
    return 1;
  }
  std::size_t rules = 0;
  if (target.answers != nullptr) {
    const std::string ids(comments.of(*target.answers));
    text.line(join({bound, kOpcode, kAnswers, "counter accept comment ", ids}));
    text.line(join({bound, kOpcode, "0x64 ", kQueuePair, "1 ", kManagementClass, "7 ", kAttribute,
                    kAnsweringAttributes, "counter accept comment ", ids}));
    rules += 2;
  }
  if (target.denied != nullptr) {
    text.line(join({bound, "counter drop comment ", comments.of(*target.denied)}));
    ++rules;
  }
  return rules;
}

}  // namespace bulkhead::compiler
