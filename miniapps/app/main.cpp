// main() of every mini-app; STEELYARD_MINIAPP_MAKER is what STEELYARD_MINIAPP() defined.
#include "miniapps/app/mini_app.hpp"

namespace steelyard {
std::unique_ptr<MiniApp> STEELYARD_MINIAPP_MAKER();
}

int main(int argc, char** argv) { return steelyard::mini_app_main(argc, argv, *steelyard::STEELYARD_MINIAPP_MAKER()); }
