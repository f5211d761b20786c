// Marks what belongs to this worker alone.
#pragma once

namespace tandem {

// A bool attr of a local variable's node: whoever chooses devices must not put it on a task that others use.
inline constexpr char kLocalMark[] = "_tandem_local";

}  // namespace tandem
