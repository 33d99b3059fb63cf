// One line on stderr that says what runs and how long it will take: only where stderr is a
// terminal and -q was not given. Erased before the answer, so that it stands alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace bulkhead::cli {

class Progress {
 public:
  explicit Progress(bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void stage(const std::string& name);  // "lab up", "probe", ...: restarts the estimate
  void update(std::size_t done, std::size_t total);
  void clear();

 private:
  void draw(const std::string& text);
  bool shown_;
  bool drawn_ = false;
  std::string stage_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_drawn_;
};

// "▕██████    ▏ 61 %  732/1200  4 s left"; the estimate is left out until it means something.
[[nodiscard]] std::string progress_text(const std::string& stage, std::size_t done,
                                        std::size_t total, std::chrono::milliseconds elapsed);

}  // namespace bulkhead::cli
