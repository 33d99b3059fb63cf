#include "cli/support/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "cli/support/options.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::cli {
namespace {

namespace po = boost::program_options;

tl::unexpected<Error> usage(const std::string& message, const std::string& hint) {
  return fail(ErrorKind::Usage, hint.empty() ? message : message + ": " + hint);
}

std::string help_hint(std::string_view verb) {
  return fmt::format("see `bulkhead{}{} --help`", verb.empty() ? "" : " ", verb);
}

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-h";
}

// "lab" of "lab up".
bool is_family(const std::string& word) {
  return std::any_of(verbs().begin(), verbs().end(),
                     [&](const Verb& verb) { return verb.name.starts_with(word + " "); });
}

// "lab up" is two words, "check" one.
const Verb* take_verb(std::vector<std::string>& words) {
  for (const std::size_t count : {2U, 1U}) {
    if (words.size() < count)
      continue;
    const std::string name = count == 2 ? words[0] + " " + words[1] : words[0];
    for (const Verb& verb : verbs()) {
      if (verb.name == name) {
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
        return &verb;
      }
    }
  }
  return nullptr;
}

tl::unexpected<Error> unknown_verb(const std::vector<std::string>& words) {
  // "lab" alone, or "lab pu": say which words may follow.
  std::string seconds;
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) {
    names.push_back(verb.name);
    if (verb.name.starts_with(words[0] + " "))
      seconds += fmt::format("{}`{}`", seconds.empty() ? "" : ", ", verb.name);
  }
  if (!seconds.empty())
    return usage(fmt::format("`{}` wants a second word", printable(words[0])),
                 "there is " + seconds);
  std::string hint = did_you_mean(words[0], names);
  return usage(fmt::format("no verb `{}`", printable(words[0])),
               hint.empty() ? help_hint("") : hint);
}

po::options_description describe(const Verb& verb) {
  po::options_description known;
  known.add_options()("help,h", "");
  for (const std::string_view name : verb.options) {
    const Option& option = *find_option(name, verb.name);
    std::string spelled(option.name);
    if (option.letter != 0)
      spelled += fmt::format(",{}", option.letter);
    if (option.argument.empty()) {
      known.add_options()(spelled.c_str(), "");
    } else {
      known.add_options()(spelled.c_str(), po::value<std::string>(), "");
    }
  }
  known.add_options()("argument", po::value<std::string>(), "");
  return known;
}

Result<std::vector<po::option>> tokenise(const Verb& verb, const std::vector<std::string>& words) {
  const po::options_description known = describe(verb);
  po::positional_options_description positional;
  positional.add("argument", -1);
  using namespace po::command_line_style;
  // Without allow_guessing: "--out" is a mistake, not an abbreviation that changes its meaning
  // with the next new option.
  const int style = allow_long | long_allow_next | long_allow_adjacent | allow_short |
                    short_allow_next | short_allow_adjacent | allow_dash_for_short | allow_sticky;
  try {
    return po::command_line_parser(words)
        .options(known)
        .positional(positional)
        .style(style)
        .run()
        .options;
  } catch (const po::unknown_option& unknown) {
    const std::string name = unknown.get_option_name();
    std::vector<std::string> spelled;
    for (const std::string_view option : verb.options)
      spelled.push_back("--" + std::string(option));
    const std::vector<std::string_view> candidates(spelled.begin(), spelled.end());
    const std::string hint = did_you_mean(name, candidates);
    return usage(fmt::format("no option `{}`", printable(name)),
                 hint.empty() ? help_hint(verb.name) : hint);
  } catch (const po::invalid_command_line_syntax& syntax) {
    const Option* option =
        find_option(std::string_view(syntax.get_option_name()).substr(2), verb.name);
    const std::string wants = option && !option->argument.empty()
                                  ? fmt::format("a value, {}", option->argument)
                                  : "no value";
    return usage(fmt::format("`{}` wants {}", printable(syntax.get_option_name()), wants),
                 help_hint(verb.name));
  } catch (const po::error& error) {
    return usage(error.what(), help_hint(verb.name));
  }
}

Status check_format(const Verb& verb, Settings& settings) {
  if (verb.formats.empty())
    return {};
  if (settings.format.empty())
    settings.format = verb.formats.front();
  if (std::find(verb.formats.begin(), verb.formats.end(), settings.format) != verb.formats.end())
    return {};
  return usage(fmt::format("no format `{}` for `{}`", printable(settings.format), verb.name),
               fmt::format("there is {}", fmt::join(verb.formats, ", ")));
}

std::string option_line(const Verb& verb, const Option& option) {
  std::string left = option.letter ? fmt::format("-{}, ", option.letter) : "    ";
  left += fmt::format("--{} {}", option.name, option.argument);
  const std::string help = option.name == "format"
                               ? fmt::format("{}", fmt::join(verb.formats, ", "))
                               : std::string(option.help);
  std::string line = fmt::format("  {:<28} {}", left, help);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

Result<CommandLine> parse_command_line(std::vector<std::string> words) {
  CommandLine line;
  if (words.empty())
    return usage("what shall be done?", help_hint(""));
  if (words[0] == "help") {  // "help check" is "check --help"
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (asks_for_help(words[0])) {
    line.help = true;
    return line;
  }
  if (words.size() == 2 && is_family(words[0]) && asks_for_help(words[1])) {
    line.help = true;
    line.family = words[0];
    return line;
  }
  if (words[0] == "--version")
    words[0] = "version";

  line.verb = take_verb(words);
  if (!line.verb)
    return unknown_verb(words);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end())
    line.settings.command.assign(dashes + 1, words.end());
  words.erase(dashes, words.end());

  auto tokens = tokenise(*line.verb, words);
  if (!tokens)
    return fail(tokens.error());
  for (const po::option& token : *tokens) {
    if (token.string_key == "help") {
      line.help = true;
      return line;
    }
    if (token.string_key == "argument") {
      line.settings.arguments.push_back(token.value.front());
      continue;
    }
    const Option& option = *find_option(token.string_key, line.verb->name);
    Status applied = option.apply(line.settings, token.value.empty() ? "" : token.value.front());
    if (!applied)
      return fail(applied.error());
  }
  if (line.settings.arguments.size() != line.verb->argument_count ||
      (!line.settings.command.empty() && line.verb->arguments.find("--") == std::string_view::npos))
    return usage(fmt::format("`{}` takes: {}", line.verb->name,
                             line.verb->arguments.empty() ? "nothing" : line.verb->arguments),
                 help_hint(line.verb->name));
  if (Status checked = check_format(*line.verb, line.settings); !checked)
    return fail(checked.error());
  return line;
}

namespace {

std::string program_page() {
  std::string page =
      "bulkhead: is each tenant of this cluster as separate as the policy says?\n\n"
      "Usage: bulkhead VERB ... [options]\n\n";
  for (const Verb& verb : verbs())
    page += fmt::format("  {:<12} {}\n", verb.name, verb.summary);
  page +=
      "\n`bulkhead VERB --help` shows the options and an example. A SITE is a folder with\n"
      "policy.toml (what shall be) and inventory.toml (what is there).\n\n"
      "Exit codes: 0 as intended; 1 findings; 2 bad usage or policy; 3 environment;\n"
      "4 inconclusive, silent, timed out or too little covered; 130/143 interrupted.\n";
  return page;
}

std::string family_page(const std::string& family) {
  std::string page = fmt::format("Usage: bulkhead {} VERB ... [options]\n\n", family);
  for (const Verb& verb : verbs()) {
    if (verb.name.starts_with(family + " "))
      page += fmt::format("  {:<12} {}\n", verb.name, verb.summary);
  }
  return page +
         fmt::format("\n`bulkhead {} VERB --help` shows the options and an example.\n", family);
}

std::string verb_page(const Verb& verb) {
  std::string page =
      fmt::format("{}\n\nUsage: bulkhead {}{}{} [options]\n\n{}\n", verb.summary, verb.name,
                  verb.arguments.empty() ? "" : " ", verb.arguments, verb.details);
  if (!verb.options.empty()) {
    page += "\nOptions:\n";
    for (const std::string_view name : verb.options)
      page += option_line(verb, *find_option(name, verb.name));
  }
  page += fmt::format("\nExample:\n{}", verb.example);
  return page;
}

}  // namespace

std::string help_page(const CommandLine& line) {
  if (line.verb)
    return verb_page(*line.verb);
  return line.family.empty() ? program_page() : family_page(line.family);
}

}  // namespace bulkhead::cli
