#include "compiler/manifest.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

namespace bulkhead::compiler {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "bulkhead.manifest/1";

// Throws nlohmann's exceptions for what is missing or of a wrong type, and our own for the rest.
void allow_only(const Json& object, const std::set<std::string>& known) {
  for (const auto& [key, value] : object.items())
    if (!known.contains(key))
      throw std::invalid_argument(fmt::format("unknown field `{}`", key));
}

Json file_json(const Manifest::File& file, bool counts_elements) {
  Json out{{"file", file.file}, {"sha256", file.sha256}};
  if (counts_elements)
    out["elements"] = file.elements;
  return out;
}

Manifest::File file_from(const Json& json) {
  allow_only(json, {"file", "sha256", "elements"});
  return {json.at("file").get<std::string>(), json.at("sha256").get<std::string>(),
          json.value("elements", std::size_t{0})};
}

Manifest manifest_from(const Json& json) {
  if (json.at("schema").get<std::string>() != kSchema)
    throw std::invalid_argument(fmt::format("schema is not {}", kSchema));
  allow_only(json, {"schema", "site", "policy", "as_of", "enforcers", "probes", "site_files",
                    "hashed_rules", "proof"});
  Manifest out;
  json.at("site").get_to(out.site);
  json.at("policy").get_to(out.policy);
  json.at("as_of").get_to(out.as_of);
  for (const auto& [name, file] : json.at("enforcers").items())
    out.enforcers.emplace(name, file_from(file));
  out.probes = file_from(json.at("probes"));
  json.at("site_files").get_to(out.site_files);
  for (const auto& [comment, rules] : json.at("hashed_rules").items())
    out.hashed_rules.emplace(comment, rules.get<std::vector<std::string>>());
  const Json& proof = json.at("proof");
  allow_only(proof, {"result", "engine", "how"});
  proof.at("result").get_to(out.proof.result);
  proof.at("engine").get_to(out.proof.engine);
  proof.at("how").get_to(out.proof.how);
  return out;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  Json out{{"schema", kSchema},
           {"site", manifest.site},
           {"policy", manifest.policy},
           {"as_of", manifest.as_of},
           {"enforcers", Json::object()},
           {"probes", file_json(manifest.probes, false)},
           {"site_files", manifest.site_files},
           {"hashed_rules", Json::object()},
           {"proof",
            {{"result", manifest.proof.result},
             {"engine", manifest.proof.engine},
             {"how", manifest.proof.how}}}};
  for (const auto& [name, file] : manifest.enforcers)
    out["enforcers"][name] = file_json(file, true);
  for (const auto& [comment, rules] : manifest.hashed_rules)
    out["hashed_rules"][comment] = rules;
  return out.dump(2) + "\n";
}

Result<Manifest> parse_manifest(std::string_view json) {
  try {
    return manifest_from(Json::parse(json));
  } catch (const std::exception& wrong) {
    return fail(ErrorKind::Environment, fmt::format("manifest.json: {}", wrong.what()));
  }
}

}  // namespace bulkhead::compiler
