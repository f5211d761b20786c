// Restoring from checkpoints of the V1 format.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "checkpoint/v1_reader.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// `shape_and_slice`: as in section 4.4 of the specification, empty for the whole tensor. InvalidArgument if type or shape differ from
// what the files hold, NotFound if they have no such tensor.
StatusOr<Tensor> RestoreFromV1(const V1Reader& reader, const std::string& name, absl::string_view shape_and_slice, DataType dtype);

}  // namespace tandem
