// What the public C++ API throws when a user's graph, file, flag or peer is at fault.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

// Carries the status: its code says what to do (absl::StatusCode, the same numbers as gRPC's), its message what is wrong.
class Error : public std::runtime_error {
 public:
  explicit Error(absl::Status status) : std::runtime_error(status.ToString()), status_(std::move(status)) {}

  const absl::Status& status() const { return status_; }
  absl::StatusCode code() const { return status_.code(); }

 private:
  absl::Status status_;
};

inline void ThrowIfError(const absl::Status& status) {
  if (!status.ok()) throw Error(status);
}

template <typename T>
T ValueOrThrow(absl::StatusOr<T> result) {
  if (!result.ok()) throw Error(std::move(result).status());
  return std::move(result).value();
}

}  // namespace tandem
