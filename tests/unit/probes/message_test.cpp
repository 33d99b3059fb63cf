// The lines between operator and agent: what is written is read back the same, and what is not
// exactly right is refused.
#include "probes/message.h"

#include <gtest/gtest.h>

#include "probes/identity.h"

namespace bulkhead::probes {
namespace {

using compiler::Transport;

Address address(const char* text) {
  return Address::parse(text).value();
}

Expected expected() {
  Expected out;
  out.probe = "p-000317";
  out.attempt = 2;
  out.transport = Transport::Udp;
  out.tuple = {address("fd01::2"), 40123, address("fd02::2"), 4791};
  out.token = *token_from_hex("00112233445566778899aabbccddeeff");
  out.payload = compiler::Payload::RoceRequest;
  return out;
}

Evidence evidence() {
  Evidence out;
  out.probe = "p-000317";
  out.round = 4;
  out.agent = "r1g01";
  out.run = "x1";
  out.outcome = Outcome::Unreachable;
  out.error = 113;
  out.elapsed = std::chrono::microseconds(1000210);
  out.tuple = {address("10.1.0.11"), 40123, address("10.9.0.11"), 22};
  out.token = "00112233445566778899aabbccddeeff";
  out.icmp_type = 3;
  out.icmp_code = 13;
  out.icmp_from = address("10.1.0.1");
  return out;
}

TEST(unit_probes_message, ToAgentRoundTrips) {
  const std::vector<ToAgent> messages = {
      Hello{"run-1", "r1g01", random_key(), true},
      Hello{"run-1", "r1g01", random_key(), false, {"eth0", "ib\"0"}},
      Listen{{{Transport::Tcp, address("10.0.0.1"), 22},
              {Transport::Icmp, address("fd00::1"), 0},
              {Transport::Raw, address("fd00::1"), 47}}},
      Expect{3, {expected(), expected()}},
      Expect{3, {}},
      Expect{3, {}, {0, 0x00112233, 0xffffffff}},
      Dial{3, Phase::After, 500, std::chrono::milliseconds(250), {{expected(), 4000}}},
      Dial{3, Phase::Main, 0, {}, {{expected(), 48, Frame{{2, 0, 0, 0, 0xab, 1}, "eth0", true}}}},
      Collect{7},
      Stop{},
  };
  for (const ToAgent& message : messages) {
    const std::string line = to_json_line(message);
    const auto back = to_agent_from_json(line);
    ASSERT_TRUE(back) << line << "\n" << back.error().message;
    EXPECT_EQ(back->index(), message.index());
    EXPECT_EQ(to_json_line(*back), line);
  }
}

TEST(unit_probes_message, FromAgentRoundTrips) {
  const std::vector<FromAgent> messages = {
      Ready{"0.1.0", {"6.18", true, false, {"lo", "eth\"0"}, true, {Mac{}, Mac{2, 1}}}},
      Listening{3,
                {{{Transport::Tcp, address("10.0.0.1"), 22}, "in use"}},
                {{{Transport::Udp, address("::1"), 53}, "why"}}},
      Expecting{3},
      evidence(),
      Dialed{3, Phase::Before},
      Collected{3, 812, 5},
      Bye{},
      Failed{"no \n capability"},
  };
  for (const FromAgent& message : messages) {
    const std::string line = to_json_line(message);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto back = from_agent_from_json(line);
    ASSERT_TRUE(back) << line << "\n" << back.error().message;
    EXPECT_EQ(back->index(), message.index());
    EXPECT_EQ(to_json_line(*back), line);
  }
}

TEST(unit_probes_message, EvidenceHasTheLettersOfTheContract) {
  EXPECT_EQ(to_json_line(evidence()),
            R"({"schema":"bulkhead.evidence/1","probe":"p-000317","try":1,"round":4,)"
            R"("end":"dialer","agent":"r1g01","run":"x1","outcome":"unreachable","errno":113,)"
            R"("elapsed_us":1000210,"tuple":["10.1.0.11",40123,"10.9.0.11",22],)"
            R"("carrier":"ethernet","token":"00112233445566778899aabbccddeeff","icmp_type":3,)"
            R"("icmp_code":13,"icmp_from":"10.1.0.1"})");
  Evidence dropped = evidence();
  dropped.end = End::Enforcer;
  dropped.outcome = Outcome::Dropped;
  dropped.hook = "forward";
  dropped.table = "inet bulkhead";
  dropped.chain = "c_acme";
  dropped.verdict = "drop";
  dropped.handle = 18446744073709551615U;
  dropped.generation = 812;
  dropped.detail = "bad byte \xff, quote \", \xc3\xa9";
  const auto back = evidence_from_json(to_json_line(dropped));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->handle, dropped.handle);
  EXPECT_EQ(back->generation, 812U);
  EXPECT_EQ(back->detail, "bad byte ?, quote \", \xc3\xa9");
}

TEST(unit_probes_message, EveryOutcomeHasAWordOfItsOwn) {
  for (int i = 0; i <= static_cast<int>(Outcome::Delivered); ++i) {
    Evidence one = evidence();
    one.outcome = static_cast<Outcome>(i);
    const auto back = evidence_from_json(to_json_line(one));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->outcome, one.outcome);
  }
}

struct Bad {
  const char* line;
  const char* says;  // part of the error
};

TEST(unit_probes_message, WhatIsNotExactlyRightIsRefused) {
  const Bad cases[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"[]", "not a JSON object"},
      {"\xff\xfe", "not JSON"},
      {R"({"type":"stop"})", "`schema` is missing"},
      {R"({"schema":"bulkhead.agent/2","type":"stop"})", "bulkhead.agent/2"},
      {R"({"schema":"bulkhead.agent/1"})", "`type` is missing"},
      {R"({"schema":"bulkhead.agent/1","type":"fly"})", "unknown message type `fly`"},
      {R"({"schema":"bulkhead.agent/1","type":"stop","now":1})", "a field is unknown"},
      {R"({"schema":"bulkhead.agent/1","type":"collect"})", "`round` is missing"},
      {R"({"schema":"bulkhead.agent/1","type":"collect","round":-1})", "`round`"},
      {R"({"schema":"bulkhead.agent/1","type":"collect","round":1.5})", "`round`"},
      {R"({"schema":"bulkhead.agent/1","type":"collect","round":4294967296})", "`round`"},
      {R"({"schema":"bulkhead.agent/1","type":"collect","round":"1"})", "`round`"},
      {R"({"schema":"bulkhead.agent/1","type":"hello","run":"r","agent":"a","key":"12",)"
       R"("enforcer":true})",
       "`key`"},
      {R"({"schema":"bulkhead.agent/1","type":"listen","listeners":[{"transport":"sctp",)"
       R"("address":"10.0.0.1","port":1}]})",
       "unknown value `sctp`"},
      {R"({"schema":"bulkhead.agent/1","type":"listen","listeners":[{"transport":"tcp",)"
       R"("address":"10.0.0.256","port":1}]})",
       "no IP address"},
      {R"({"schema":"bulkhead.agent/1","type":"listen","listeners":[7]})", "expected an object"},
      {R"({"schema":"bulkhead.agent/1","type":"listen","listeners":{}})", "not a list"},
      {R"({"schema":"bulkhead.agent/1","type":"expect","round":1,"tries":[{"probe":"p","try":1,)"
       R"("transport":"tcp","tuple":["10.0.0.1",1,"fd00::1",2],)"
       R"("token":"00112233445566778899aabbccddeeff"}]})",
       "mixes address families"},
      {R"({"schema":"bulkhead.agent/1","type":"expect","round":1,"tries":[{"probe":"p","try":1,)"
       R"("transport":"tcp","tuple":["10.0.0.1",65536,"10.0.0.2",2],)"
       R"("token":"00112233445566778899aabbccddeeff"}]})",
       "no port"},
      {R"({"schema":"bulkhead.agent/1","type":"expect","round":1,"tries":[{"probe":"p","try":1,)"
       R"("transport":"tcp","tuple":["10.0.0.1",1,"10.0.0.2",2],"token":"0011"}]})",
       "`token`"},
  };
  for (const Bad& bad : cases) {
    const auto message = to_agent_from_json(bad.line);
    ASSERT_FALSE(message) << bad.line;
    EXPECT_NE(message.error().message.find(bad.says), std::string::npos) << bad.line << "\n"
                                                                         << message.error().message;
  }
}

TEST(unit_probes_message, AStrangersVersionIsReadFromWhatItSays) {
  EXPECT_EQ(stranger_version(R"({"schema":"bulkhead.agent/9","type":"ready","version":"9.1"})"),
            "9.1");
  EXPECT_EQ(stranger_version(R"({"schema":"bulkhead.agent/1","type":"failed","why":[]})"),
            "unknown");
  EXPECT_EQ(stranger_version(R"({"schema":"bulkhead.agent/1","type":"ready","version":7})"),
            "unknown");
  for (const char* noise : {"Welcome!", "{}", "[]", R"({"type":"ready","version":"1"})",
                            R"({"schema":"bulkhead.agent/1","type":"listening"})"})
    EXPECT_EQ(stranger_version(noise), std::nullopt) << noise;
}

TEST(unit_probes_message, NeitherHugeNorDeepLinesAreParsed) {
  const auto huge = to_agent_from_json(std::string((std::size_t{16} << 20) + 1, '1'));
  ASSERT_FALSE(huge);
  EXPECT_NE(huge.error().message.find("16 MiB"), std::string::npos);
  const auto deep = from_agent_from_json(std::string(1 << 20, '['));
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().message.find("too deeply"), std::string::npos);
}

TEST(unit_probes_message, CutEvidenceIsNoEvidence) {
  const std::string line = to_json_line(evidence());
  for (std::size_t length = 0; length < line.size(); ++length)
    EXPECT_FALSE(evidence_from_json(std::string_view(line).substr(0, length))) << length;
}

TEST(unit_probes_identity, AnswerIsHmacOfTheToken) {
  // python3: hmac.new(bytes(range(32)), bytes.fromhex("00112233..ff"), "sha256").hexdigest()[:32]
  AgentKey key{};
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<std::uint8_t>(i);
  const Token token = *token_from_hex("00112233445566778899aabbccddeeff");
  EXPECT_EQ(to_hex(answer_to(key, token)), "5375b32096586fcb78041e630dafe336");
  EXPECT_FALSE(token_from_hex("00112233445566778899AABBCCDDEEFF")) << "lower case only";
  EXPECT_FALSE(token_from_hex("0011223344556677"));
}

}  // namespace
}  // namespace bulkhead::probes
