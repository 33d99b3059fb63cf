#include "probes/agent/agent.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "probes/agent/facts.h"
#include "probes/identity.h"
#include "probes/next_hop.h"
#include "probes/nft_query.h"
#include "probes/transports/whole_packet.h"

namespace bulkhead::probes {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestLine = std::size_t{16} << 20;

// With fewer a listener could not accept what arrives, which would look like a reply that is
// blocked.
constexpr std::size_t kFewestFiles = 128;

// As many as the system lets us have.
std::size_t most_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 1024;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// Half of them for dialling, the rest for listeners and what they accept.
std::size_t most_in_flight() {
  return std::clamp<std::size_t>(most_files() / 2, 100, 50'000);
}

// Ends the loop's wait for a signal.
class StopSignal final : public Watcher {
 public:
  void on_ready(std::uint32_t) override { came = true; }
  bool came = false;
};

}  // namespace

Agent::Agent(EventLoop& loop, int input, int output)
    : loop_(loop),
      input_(input),
      output_(loop, output),
      dials_(
          loop,
          {[this](std::uint32_t round, const DialTry& what, const Ending& ending,
                  std::chrono::microseconds elapsed) { report_try(round, what, ending, elapsed); },
           [this](std::uint32_t round, Phase phase) {
             send(Dialed{round, phase});
           }},
          most_in_flight()) {
  for (const TransportRow& row : transports())
    answerers_.emplace_back(row.transport, row.make_answerer(loop, *this));
}

Agent::~Agent() {
  loop_.forget(*this);
}

int Agent::run(int stop_fd) {
  ::fcntl(input_, F_SETFL, ::fcntl(input_, F_GETFL) | O_NONBLOCK);
  StopSignal stop;
  if (!loop_.watch(input_, EPOLLIN, *this) || !loop_.watch(stop_fd, EPOLLIN, stop)) {
    give_up("standard input is neither a pipe nor a socket");
    return 1;
  }
  while (!exit_ && !stop.came && !output_.broken()) {
    const bool more = dials_.pump();
    const bool hurry = more || !collects_.empty();
    const std::size_t handled = loop_.run_once(hurry ? 0ms : 1000ms);
    if (!collects_.empty() && (handled == 0 || EventLoop::Clock::now() > collect_latest_))
      finish_collect();
    output_.flush();
  }
  output_.flush_all();
  return exit_.value_or(0);
}

void Agent::on_ready(std::uint32_t) {
  std::array<char, 65536> chunk;
  const ssize_t got = ::read(input_, chunk.data(), chunk.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (got <= 0) {  // the operator is gone: nobody reads what we would say
    exit_ = 0;
    return;
  }
  std::size_t start = 0;
  const std::size_t before = buffer_.size();
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  for (std::size_t end = buffer_.find('\n', before); end != std::string::npos && !exit_;
       end = buffer_.find('\n', start)) {
    take_line(std::string_view(buffer_).substr(start, end - start));
    start = end + 1;
  }
  buffer_.erase(0, start);
  if (buffer_.size() > kLongestLine)
    give_up("line longer than 16 MiB");
}

void Agent::take_line(std::string_view line) {
  auto message = to_agent_from_json(line);
  if (!message) {
    // An operator of another version most likely: its user needs to know which one this is.
    return give_up(std::string("bulkhead-agent " BULKHEAD_VERSION " does not understand: ") +
                   message.error().message);
  }
  const bool first = std::holds_alternative<Hello>(*message);
  if (first == met_)
    return give_up(met_ ? "a second hello" : "the first message is not hello");
  std::visit([this](auto&& content) { on(std::move(content)); }, *std::move(message));
}

void Agent::on(const Hello& hello) {
  me_ = hello;
  met_ = true;
  Ready ready{BULKHEAD_VERSION, read_facts()};
  if (hello.enforcer) {
    // Every probe arrives at an enforcer's NIC, so a capture there would prove nothing.
    auto tracer = Tracer::open(loop_, expectations_,
                               [this](const LastWord& word) { report_last_word(word); });
    if (!tracer)
      return give_up(tracer.error().message);
    tracer_ = *std::move(tracer);
  } else {
    auto capture = Capture::open(loop_, expectations_, hello.nics,
                                 [this](const Sighting& sighting) { report_sighting(sighting); });
    if (!capture)
      return give_up(capture.error().message);
    capture_ = *std::move(capture);
  }
  send(ready);
}

void Agent::on(const Listen& listen) {
  if (const std::size_t files = most_files(); files < listen.listeners.size() + kFewestFiles)
    return give_up("the system lets it open " + std::to_string(files) +
                   " files, too few to listen and to answer (ulimit -n)");
  Listening listening;
  for (const Listener& listener : listen.listeners) {
    const auto answerer =
        std::find_if(answerers_.begin(), answerers_.end(),
                     [&](const auto& entry) { return entry.first == listener.transport; });
    Opened opened = answerer->second->open(listener);
    if (opened.state == OpenState::Opened)
      ++listening.opened;
    else if (opened.state == OpenState::Passive)
      listening.passive.push_back({listener, std::move(opened.reason)});
    else
      listening.failed.push_back({listener, std::move(opened.reason)});
  }
  send(listening);
}

void Agent::on(const Expect& expect) {
  expectations_.add(expect);
  if (tracer_) {
    tracer_->forget_chains();
    generation_ = ruleset_generation();
  }
  send(Expecting{expect.round});
}

void Agent::on(Dial dial) {
  dials_.dial(std::move(dial));
}

void Agent::on(const Collect& collect) {
  dials_.end_round(collect.round);
  collects_.push_back(collect);
  collect_latest_ = EventLoop::Clock::now() + 200ms;
}

void Agent::on(const Stop&) {
  send(Bye{});
  exit_ = 0;
}

void Agent::finish_collect() {
  std::uint64_t lost = 0;
  if (capture_) {
    capture_->drain();
    lost += capture_->take_lost();
  }
  if (tracer_) {
    tracer_->drain();
    lost += tracer_->take_lost();
    generation_ = ruleset_generation();
  }
  for (const Collect& collect : std::exchange(collects_, {}))
    send(Collected{collect.round, generation_, lost});
}

std::optional<Token> Agent::arrived(compiler::Transport transport, const Token& token,
                                    const Tuple& tuple) {
  ExpectedTry* expected = expectations_.by_token(token);
  if (expected == nullptr || expected->what.transport != transport)
    return std::nullopt;
  expected->arrival_reported = true;
  Evidence evidence = evidence_of(expected->what, expected->round, End::Listener);
  evidence.outcome = Outcome::TokenSeen;
  evidence.tuple = tuple;
  evidence.token = to_hex(token);
  send(evidence);
  // A RoCE packet is answered by hardware or not at all.
  if (expected->what.payload != compiler::Payload::Token)
    return std::nullopt;
  return answer_to(me_.key, token);
}

void Agent::report_try(std::uint32_t round, const DialTry& what, const Ending& ending,
                       std::chrono::microseconds elapsed) {
  Evidence evidence = evidence_of(what.what, round, End::Dialer);
  evidence.outcome = ending.outcome;
  evidence.error = ending.error;
  evidence.elapsed = elapsed;
  evidence.tuple = what.what.tuple;
  evidence.token = to_hex(what.what.token);
  if (ending.answer)
    evidence.answer = to_hex(*ending.answer);
  if (ending.icmp) {
    evidence.icmp_type = ending.icmp->type;
    evidence.icmp_code = ending.icmp->code;
    evidence.icmp_from = ending.icmp->from;
  }
  evidence.detail = ending.detail;
  if (what.what.transport == compiler::Transport::Tcp && !what.frame &&
      ending.outcome == Outcome::Timeout && ending.error == 0)
    ask_own_rules(what, evidence);
  const bool silence = ending.outcome == Outcome::Timeout ||
                       (ending.icmp && ending.icmp->from == what.what.tuple.from);
  if (silence && !what.frame)
    evidence.next_hop = next_hop_of(what.what.tuple.from, what.what.tuple.to);
  send(evidence);
}

// connect() does not say that a rule of this host dropped its SYNs; a raw socket does. So the same
// SYN is sent once more, as TCP itself would.
void Agent::ask_own_rules(const DialTry& what, Evidence& evidence) {
  if (send_whole(what.what.tuple.from, what) != EPERM)
    return;
  evidence.error = EPERM;
  evidence.detail = kRefusedHere;
}

void Agent::report_sighting(const Sighting& sighting) {
  // Whose it is that is for somebody else, the operator knows.
  Evidence evidence = sighting.expected ? evidence_of(sighting.expected->what,
                                                      sighting.expected->round, End::Listener)
                                        : evidence_of({}, 0, End::Bystander);
  evidence.outcome = sighting.outcome;
  evidence.tuple = sighting.tuple;
  evidence.interface = sighting.interface;
  evidence.token = sighting.token;
  if (sighting.token.empty())
    evidence.detail = "known by its 5-tuple, the sequence number is another";
  send(evidence);
}

void Agent::report_last_word(const LastWord& word) {
  Evidence evidence = evidence_of(word.expected->what, word.expected->round, End::Enforcer);
  evidence.outcome = word.outcome;
  evidence.tuple = word.tuple;
  evidence.hook = word.hook;
  evidence.table = word.table;
  evidence.chain = word.chain;
  evidence.verdict = word.verdict;
  evidence.interface = word.interface;
  evidence.handle = word.handle;
  evidence.generation = generation_;
  send(evidence);
}

Evidence Agent::evidence_of(const Expected& what, std::uint32_t round, End end) const {
  Evidence evidence;
  evidence.probe = what.probe;
  evidence.attempt = what.attempt;
  evidence.round = round;
  evidence.end = end;
  evidence.agent = me_.agent;
  evidence.run = me_.run;
  return evidence;
}

void Agent::send(const FromAgent& message) {
  output_.line(to_json_line(message));
}

void Agent::give_up(std::string reason) {
  send(Failed{std::move(reason)});
  exit_ = 1;
}

}  // namespace bulkhead::probes
