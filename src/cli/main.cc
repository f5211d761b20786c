// The tandem command.
#include <CLI/CLI.hpp>

#include "cli/commands.h"

#ifndef TANDEM_VERSION
#error "the build defines TANDEM_VERSION"
#endif

int main(int argc, char** argv) {
  CLI::App app{"Distributed training in the parameter-server style of TensorFlow 1.x."};
  app.name("tandem");
  app.set_version_flag("--version", "tandem " TANDEM_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  int exit_code = 0;
  tandem::AddServerCommand(app, &exit_code);
  tandem::AddLaunchCommand(app, &exit_code);
  tandem::AddInspectCommand(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}
