#include "core/status.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"

namespace tandem {
namespace {

// TensorFlow's own name for the mark; it never leaves the process there either.
constexpr char kDerivedUrl[] = "type.googleapis.com/tensorflow.DerivedStatus";

int Rank(const Status& status) {
  if (status.ok()) return 0;
  if (IsDerived(status)) return status.code() == absl::StatusCode::kCancelled ? 1 : 2;
  return status.code() == absl::StatusCode::kCancelled ? 3 : 4;
}

}  // namespace

Status Annotate(const Status& status, absl::string_view context) {
  if (status.ok()) return status;
  Status annotated(status.code(), absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { annotated.SetPayload(url, payload); });
  return annotated;
}

Status MarkDerived(Status status) {
  if (!status.ok()) status.SetPayload(kDerivedUrl, absl::Cord());
  return status;
}

bool IsDerived(const Status& status) { return status.GetPayload(kDerivedUrl).has_value(); }

void KeepRootError(Status* kept, const Status& other) {
  if (Rank(other) > Rank(*kept)) *kept = other;
}

Status ErrnoToStatus(int error_number, absl::string_view what) {
  // "<what>; No such file or directory": TensorFlow's form, on which its Python client's tests rely.
  std::string message = absl::StrCat(what, "; ", std::strerror(error_number));
  switch (error_number) {
    case ENOENT:
    case ENXIO:
      return absl::NotFoundError(message);
    case EEXIST:
      return absl::AlreadyExistsError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case EINVAL:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(message);
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
    case EBUSY:
      return absl::FailedPreconditionError(message);
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::UnknownError(message);
  }
}

}  // namespace tandem
