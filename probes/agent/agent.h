// The agent's side of message.h's conversation: takes each message as it comes, keeps the sockets,
// and turns what they see into evidence. One of it runs as `bulkhead-agent --stdio`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "probes/agent/dial_queue.h"
#include "probes/agent/output.h"
#include "probes/capture.h"
#include "probes/expectations.h"
#include "probes/trace.h"

namespace bulkhead::probes {

class Agent final : public Watcher, private ArrivalSink {
 public:
  Agent(EventLoop& loop, int input, int output);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Until the operator says stop, its stream ends, a message makes no sense, or `stop_fd` is
  // readable. 0: as asked; 1: failed, and said why.
  int run(int stop_fd);

  void on_ready(std::uint32_t events) override;  // input

 private:
  void take_line(std::string_view line);
  void on(const Hello& hello);
  void on(const Listen& listen);
  void on(const Expect& expect);
  void on(Dial dial);
  void on(const Collect& collect);
  void on(const Stop& stop);

  std::optional<Token> arrived(compiler::Transport transport, const Token& token,
                               const Tuple& tuple) override;
  void report_try(std::uint32_t round, const DialTry& what, const Ending& ending,
                  std::chrono::microseconds elapsed);
  static void ask_own_rules(const DialTry& what, Evidence& evidence);
  void report_sighting(const Sighting& sighting);
  void report_last_word(const LastWord& word);
  // What all evidence of this agent has in common.
  [[nodiscard]] Evidence evidence_of(const Expected& what, std::uint32_t round, End end) const;
  void send(const FromAgent& message);
  void finish_collect();
  // Says why, and ends.
  void give_up(std::string reason);

  EventLoop& loop_;
  int input_;
  Output output_;
  std::string buffer_;
  Expectations expectations_;
  DialQueue dials_;
  std::vector<std::pair<compiler::Transport, std::unique_ptr<Answerer>>> answerers_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<Tracer> tracer_;
  Hello me_;
  bool met_ = false;  // hello came
  std::uint32_t generation_ = 0;
  // Asked for; answered once the sockets are read empty, or, on a host that always has more to
  // read, at the latest then.
  std::vector<Collect> collects_;
  EventLoop::Clock::time_point collect_latest_;
  std::optional<int> exit_;
};

}  // namespace bulkhead::probes
