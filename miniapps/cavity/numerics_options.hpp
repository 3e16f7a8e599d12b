#pragma once

#include "miniapps/cavity/numerics.hpp"

namespace CLI {
class App;
}

namespace steelyard::cavity {

/// Adds `--pressure-preconditioner`, `--momentum-preconditioner`, `--reductions`, `--pressure-tolerance`,
/// `--momentum-tolerance` and `--most-iterations`.
void add_numerics_options(CLI::App& parser, Numerics& numerics);

const char* name_of(PreconditionerKind kind);
const char* name_of(Reductions reductions);

}  // namespace steelyard::cavity
