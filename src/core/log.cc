#include "core/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace tandem {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::logger& Logger() {
  static spdlog::logger* logger = [] {
    auto* made = new spdlog::logger("tandem", std::make_shared<spdlog::sinks::stderr_sink_mt>());  // lives until the process ends
    made->set_pattern("%L %H:%M:%S.%e %v");
    const char* level = std::getenv("TANDEM_LOG_LEVEL");
    made->set_level(level == nullptr ? spdlog::level::info : spdlog::level::from_str(level));
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *logger;
}

}  // namespace

void SetLogTask(absl::string_view task) {
  Logger().set_pattern(absl::StrCat("%L %H:%M:%S.%e ", task, task.empty() ? "" : " ", "%v"));
}

void SetLogLevel(LogLevel level) { Logger().set_level(ToSpdlog(level)); }

bool IsLogged(LogLevel level) { return Logger().should_log(ToSpdlog(level)); }

void WriteLog(LogLevel level, absl::string_view text) {
  Logger().log(ToSpdlog(level), "{}", std::string_view(text.data(), text.size()));
}

}  // namespace tandem
