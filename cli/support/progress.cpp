#include "cli/support/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/support/terminal.h"

namespace bulkhead::cli {
namespace {

constexpr std::size_t kBarColumns = 24;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::milliseconds kEstimateAfter{1000};

}  // namespace

std::string progress_text(const std::string& stage, std::size_t done, std::size_t total,
                          std::chrono::milliseconds elapsed) {
  if (total == 0)
    return stage;
  done = std::min(done, total);
  const std::size_t filled = done * kBarColumns / total;
  std::string bar;
  for (std::size_t i = 0; i < kBarColumns; ++i)
    bar += i < filled ? "█" : " ";
  std::string text =
      fmt::format("{} ▕{}▏ {:3} %  {}/{}", stage, bar, done * 100 / total, done, total);
  if (done > 0 && done < total && elapsed >= kEstimateAfter) {
    const auto left = elapsed * static_cast<long long>(total - done) / static_cast<long long>(done);
    text += fmt::format("  {} s left", (left.count() + 999) / 1000);
  }
  return text;
}

Progress::Progress(bool shown) : shown_(shown && is_terminal(STDERR_FILENO)) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (drawn_)
    std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Progress::stage(const std::string& name) {
  stage_ = name;
  started_ = std::chrono::steady_clock::now();
  draw(name + " ...");
}

void Progress::update(std::size_t done, std::size_t total) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < kRedraw && done < total)
    return;
  draw(progress_text(stage_, done, total,
                     std::chrono::duration_cast<std::chrono::milliseconds>(now - started_)));
}

void Progress::draw(const std::string& text) {
  if (!shown_)
    return;
  last_drawn_ = std::chrono::steady_clock::now();
  drawn_ = true;
  const int width = terminal_width(STDERR_FILENO);
  const std::string line = shorten(text, static_cast<std::size_t>(std::max(width - 1, 10)));
  std::fputs(("\r\033[K" + line).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace bulkhead::cli
