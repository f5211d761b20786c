// The tandem command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.h"

#ifndef TANDEM_VERSION
#error "the build defines TANDEM_VERSION"
#endif

namespace tandem {
namespace {

constexpr int kWrongFlags = 2;

// What is wrong with the command line. An unknown word comes first: it is often the reason why another one is missing.
std::string Reason(const CLI::App& app, const CLI::App* command, const CLI::ParseError& error) {
  std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  unknown.erase(std::remove(unknown.begin(), unknown.end(), "--"), unknown.end());
  if (unknown.empty()) return error.what();
  const bool is_flag = unknown[0][0] == '-';
  if (command == nullptr && !is_flag) return "unknown command " + unknown[0];
  std::string reason = is_flag ? "unknown flag " + unknown[0] : "unexpected word " + unknown[0];
  if (command != nullptr && command->get_name() == "launch") reason += "; flags of the program go behind --";
  return reason;
}

int Complain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const CLI::App* command = commands.empty() ? nullptr : commands[0];
  const std::string name = command == nullptr ? "tandem" : "tandem " + command->get_name();
  std::fprintf(stderr, "%s: %s; see %s --help\n", name.c_str(), Reason(app, command, error).c_str(), name.c_str());
  return kWrongFlags;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  CLI::App app{"Distributed training in the parameter-server style of TensorFlow 1.x."};
  app.name("tandem");
  app.set_version_flag("--version", "tandem " TANDEM_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  tandem::AddServerCommand(app, &exit_code);
  tandem::AddLaunchCommand(app, &exit_code);
  tandem::AddInspectCommand(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);  // --help, --version
    return tandem::Complain(app, error);
  }
  return exit_code;
}
