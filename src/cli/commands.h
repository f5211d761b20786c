// The sub-commands of `tandem`, one file each. Each adds itself with its flags; when it was chosen, it sets *exit_code.
//
// Exit codes: 0 done; 1 failed, trying again will not help; 2 wrong flags; 128 and above: the job was ended from outside or a task
// was lost, and running it again may help (130 Ctrl-C, 143 SIGTERM, 128 + n: a task was ended by signal n).
#pragma once

namespace CLI {
class App;
}

namespace tandem {

void AddServerCommand(CLI::App& app, int* exit_code);
void AddLaunchCommand(CLI::App& app, int* exit_code);
void AddInspectCommand(CLI::App& app, int* exit_code);

}  // namespace tandem
