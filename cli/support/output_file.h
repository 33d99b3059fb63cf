// A file in the making: written beside its path and put in place when it is finished, so that a
// reader of the path sees the old content or the new, never half. What is dropped unfinished leaves
// the old.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "policy/support/handle.h"
#include "policy/support/result.h"

namespace bulkhead::cli {

class OutputFile {
 public:
  // A link is followed; an existing file keeps its mode and, where we may say so, its owner. A
  // device or a pipe is written as it is.
  [[nodiscard]] static Result<OutputFile> open(const std::filesystem::path& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Buffered. After the first failure nothing more is written; finish() tells it.
  void append(std::string_view text);
  [[nodiscard]] Status finish();

 private:
  OutputFile(std::filesystem::path path, std::string scratch, UniqueFd fd);
  void flush();

  std::filesystem::path path_;
  std::string scratch_;  // empty: nothing to rename or remove
  UniqueFd fd_;
  std::string buffer_;
  int error_ = 0;
};

}  // namespace bulkhead::cli
