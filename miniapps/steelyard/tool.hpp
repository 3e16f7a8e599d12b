#pragma once

#include <memory>
#include <string>
#include <vector>

#include "miniapps/app/mini_app.hpp"

namespace steelyard::tool {

/// Mini-apps that `measure`, `predict` and `conformance` know.
using MiniApps = std::vector<std::unique_ptr<MiniApp>>;

/// The whole of a tool's main(), which steelyard_add_tool() writes. @param name of the program
/// @return the exit code
int tool_main(int argc, char** argv, const std::string& name, const MiniApps& apps);

}  // namespace steelyard::tool
