// The little language of op definitions, as written in DEFINE_OP. A mistake in it is a bug of ours: it ends the process at the
// first lookup of any op, with a message that quotes the text.
#pragma once

#include <string>
#include <vector>

#include "graph/op.h"

namespace tandem {

OpDef ParseOpDef(absl::string_view name, const std::vector<const char*>& inputs, const std::vector<const char*>& outputs,
                 const std::vector<const char*>& attrs);

[[noreturn]] void FatalSpec(absl::string_view what, absl::string_view spec, absl::string_view problem);

}  // namespace tandem
