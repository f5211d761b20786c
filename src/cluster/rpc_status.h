// Status on the wire. Codes are the same; the text is cut at 3072 bytes; TensorFlow's payloads travel as error details.
#pragma once

#include <grpcpp/support/status.h>

#include "core/status.h"

namespace tandem {

grpc::Status StatusToGrpc(const Status& status);
Status StatusFromGrpc(const grpc::Status& status);

// Marks an error by which a client may guess that a task has lost its state: unknown session, other incarnation.
Status MarkPossiblyRestarted(Status status);

}  // namespace tandem
