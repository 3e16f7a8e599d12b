#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/run_record.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {

/// `--result DIR` of a program whose results are tables: each that is printed goes into `run.json` and `samples.jsonl`,
/// a sample for every number, in SI units, whose metric is its column's heading, whose keys are the words of its row
/// and whose parameters `row` and `column` count those.
class TableResult {
 public:
  TableResult(CLI::App& parser, int argc, char** argv) {
    record_.app = parser.get_name();
    record_.date = date_now();
    record_.argv.assign(argv, argv + argc);
    parser
        .add_option_function<std::string>(
            "--result",
            [this](const std::string& folder) {
              folder_ = folder;
              require_writable(folder_ / "run.json");
              Table::on_text([this](const Table& table) { add(table); });
            },
            "Folder for run.json and samples.jsonl")
        ->type_name("DIR");
  }
  ~TableResult() { Table::on_text(nullptr); }
  TableResult(const TableResult&) = delete;
  TableResult& operator=(const TableResult&) = delete;

 private:
  void add(const Table& table) {
    for (const std::vector<std::string>& row : table.rows()) {
      Sample sample;
      sample.params["row"] = static_cast<double>(rows_++);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!Table::number(row[i]) && row[i] != "-") sample.keys[table.headings()[i]] = row[i];
      }
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto number = Table::number(row[i]);
        if (!number) continue;
        sample.params["column"] = static_cast<double>(i);
        sample.metric = table.headings()[i];
        sample.value = *number;
        record_.samples.push_back(sample);
      }
    }
    write_run_record(folder_, record_);
  }

  std::filesystem::path folder_;
  RunRecord record_;
  int rows_ = 0;
};

}  // namespace steelyard
