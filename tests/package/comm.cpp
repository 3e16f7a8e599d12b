// A program of somebody else's over MPI.
#include "steelyard/comm/collective.hpp"
#include "steelyard/comm/session.hpp"

int main(int argc, char** argv) {
  const steelyard::Session session(argc, argv);
  return steelyard::all_sum(session.comm(), 1.0) == session.size() ? 0 : 1;
}
