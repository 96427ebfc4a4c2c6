// Records of comma-separated fields (RFC 4180), over a sink.
#pragma once

#include <tidemark/error.h>

#include "tidemark/ops/text/sink.h"

namespace tidemark::text {

/// The fields of one record, each closed in the sink; returns how many.
template <class Sink>
int64_t put_csv_fields(std::string_view op, std::string_view record, char delimiter, bool quotes,
                       Sink& sink) {
  const auto refuse = [&](const char* what) {
    fail<InvalidArgumentError>("[", op, "] ", what, " in the record ", record.substr(0, 100));
  };
  int64_t count = 0;
  size_t at = 0;
  for (;; ++at) {
    if (quotes && at < record.size() && record[at] == '"') {
      ++at;
      for (;; ++at) {
        if (at >= record.size())
          refuse("Quoted field has to end with quote followed by delim or end");
        if (record[at] != '"') {
          sink.append(record[at]);
        } else if (at + 1 < record.size() && record[at + 1] == '"') {
          sink.append(record[at++]);
        } else {
          ++at;
          break;
        }
      }
      if (at < record.size() && record[at] != delimiter) {
        refuse("Quoted field has to end with quote followed by delim or end");
      }
    } else {
      for (; at < record.size() && record[at] != delimiter; ++at) {
        if (record[at] == '\n' || record[at] == '\r') refuse("Unquoted fields cannot have CRLFs");
        if (quotes && record[at] == '"') {
          refuse("Unquoted fields cannot have quotes");
        }
        sink.append(record[at]);
      }
    }
    sink.close();
    ++count;
    if (at >= record.size()) return count;
  }
}

/// split_csv: all records, each of as many fields as the attribute says.
template <class Sink>
void put_csv(const OpCall& call, Sink& sink) {
  const int64_t columns = call.attr("columns").as_int();
  const std::string& delimiter = call.attr("field_delim").as_string();
  const bool quotes = call.attr("use_quote_delim").as_bool();
  for (int64_t i = 0; i < call.inputs[0].num_elements(); ++i) {
    const int64_t count =
        put_csv_fields(call.op.name(), call.inputs[0].string_at(i), delimiter[0], quotes, sink);
    if (count == columns) continue;
    fail<InvalidArgumentError>("[", call.op.name(), "] Expect ", columns, " fields but have ",
                               count, " in record ", i);
  }
}

}  // namespace tidemark::text
