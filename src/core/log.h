// Log lines for people: level, time, task, text, on standard error. TANDEM_LOG_LEVEL=debug|info|warn|error chooses the level.
#pragma once

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tandem {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Shown in each line from then on: "ps/0", "worker/1". Empty until set.
void SetLogTask(absl::string_view task);
void SetLogLevel(LogLevel level);
bool IsLogged(LogLevel level);

// Writes one line; any thread.
void WriteLog(LogLevel level, absl::string_view text);

template <typename... Args>
void LogDebug(const Args&... args) {
  if (IsLogged(LogLevel::kDebug)) WriteLog(LogLevel::kDebug, absl::StrCat(args...));
}
template <typename... Args>
void LogInfo(const Args&... args) {
  if (IsLogged(LogLevel::kInfo)) WriteLog(LogLevel::kInfo, absl::StrCat(args...));
}
template <typename... Args>
void LogWarning(const Args&... args) {
  if (IsLogged(LogLevel::kWarning)) WriteLog(LogLevel::kWarning, absl::StrCat(args...));
}
template <typename... Args>
void LogError(const Args&... args) {
  if (IsLogged(LogLevel::kError)) WriteLog(LogLevel::kError, absl::StrCat(args...));
}

}  // namespace tandem
