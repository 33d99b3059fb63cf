// manifest.json: what was compiled, from what, as of which day; a digest of each file, so that a
// later verb knows whether it looks at the same artifacts. Schema bulkhead.manifest/1.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/result.h"

namespace bulkhead::compiler {

struct Manifest {
  struct File {
    std::string file;  // relative to the manifest
    std::string sha256;
    std::size_t elements = 0;  // rulesets: what carries a rule id
  };
  std::string site;
  std::string policy;  // digest: "sha256:..."
  std::string as_of;   // "2026-12-01"
  std::map<std::string, File> enforcers;
  File probes;
  // Copies of the site's own files, "site/policy.toml" -> sha256: who applies a ruleset derives the
  // matrix from them and proves what was loaded.
  std::map<std::string, std::string> site_files;
  // Comments that stand for more rule ids than fit into one: "h:..." -> ids.
  std::map<std::string, std::vector<std::string>> hashed_rules;
  // What is known of the rulesets for all packets, by which engine and on which way.
  struct Proof {
    std::string result = "not proven";
    std::string engine;
    std::string how;  // "in memory", "in memory and through the kernel"
  };
  Proof proof;
};

[[nodiscard]] std::string to_json(const Manifest& manifest);
// Unknown or missing fields, wrong types, another schema: an Environment error that says which.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view json);

}  // namespace bulkhead::compiler
