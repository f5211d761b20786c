// Status is how everything that can fail because of a user, a file or a peer says so. Codes equal gRPC's and TensorFlow's.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tandem {

using Status = absl::Status;
template <typename T>
using StatusOr = absl::StatusOr<T>;

inline Status OkStatus() { return absl::OkStatus(); }

#define TANDEM_DEFINE_ERROR(Name)                            \
  template <typename... Args>                                \
  Status Name(const Args&... args) {                         \
    return absl::Name##Error(absl::StrCat(args...));         \
  }
TANDEM_DEFINE_ERROR(Aborted)             // restore the last checkpoint and go on
TANDEM_DEFINE_ERROR(AlreadyExists)
TANDEM_DEFINE_ERROR(Cancelled)
TANDEM_DEFINE_ERROR(DataLoss)            // the file is damaged
TANDEM_DEFINE_ERROR(DeadlineExceeded)
TANDEM_DEFINE_ERROR(FailedPrecondition)  // initialise first
TANDEM_DEFINE_ERROR(Internal)            // a bug of ours
TANDEM_DEFINE_ERROR(InvalidArgument)     // fix the graph or the flag
TANDEM_DEFINE_ERROR(NotFound)
TANDEM_DEFINE_ERROR(OutOfRange)          // the end of the input
TANDEM_DEFINE_ERROR(PermissionDenied)
TANDEM_DEFINE_ERROR(ResourceExhausted)
TANDEM_DEFINE_ERROR(Unavailable)         // try again
TANDEM_DEFINE_ERROR(Unimplemented)
TANDEM_DEFINE_ERROR(Unknown)
#undef TANDEM_DEFINE_ERROR

// The same code and payloads, with "context: " in front of the message. Returns OK unchanged.
Status Annotate(const Status& status, absl::string_view context);

// Marks an error that only follows from another one of the same step (an aborted rendezvous, a cancelled run), so that the
// root cause is the one reported. The mark does not change code or message.
Status MarkDerived(Status status);
bool IsDerived(const Status& status);

// Keeps the more telling of two errors of one step: any error before OK, a root cause before a derived one, any other code
// before Cancelled, otherwise the first.
void KeepRootError(Status* kept, const Status& other);

// errno as a status that names `what`: NotFound, PermissionDenied, ResourceExhausted (disk full) …
Status ErrnoToStatus(int error_number, absl::string_view what);

}  // namespace tandem

#define TANDEM_CONCAT_INNER(a, b) a##b
#define TANDEM_CONCAT(a, b) TANDEM_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                    \
  do {                                                                 \
    ::tandem::Status tandem_status = (expression);                     \
    if (__builtin_expect(!tandem_status.ok(), 0)) return tandem_status; \
  } while (false)

// ASSIGN_OR_RETURN(Tensor value, reader.Read());
#define ASSIGN_OR_RETURN(declaration, expression) \
  TANDEM_ASSIGN_OR_RETURN(TANDEM_CONCAT(tandem_status_or_, __LINE__), declaration, expression)
#define TANDEM_ASSIGN_OR_RETURN(result, declaration, expression)        \
  auto result = (expression);                                           \
  if (__builtin_expect(!result.ok(), 0)) return std::move(result).status(); \
  declaration = std::move(result).value()
