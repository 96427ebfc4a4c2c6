#include <tidemark/memory.h>

#include "tidemark/serve/api.h"
#include "tidemark/serve/json.h"

namespace tidemark::serve {

namespace {

void put_type(std::string& out, const char* name, const char* type, const char* help) {
  out += message("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void put_one(std::string& out, const char* name, const std::string& labels, double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  out += message(name, labels.empty() ? "" : "{", labels, labels.empty() ? "" : "}", " ",
                 static_cast<const char*>(text), "\n");
}

/// A label's value as Prometheus reads it; control characters become visible.
std::string label_value(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string labels_of(const Servable& servable, const char* model = "model") {
  return message(model, "=", label_value(servable.name), ",version=\"", servable.version, "\"");
}

using Servables = std::vector<std::shared_ptr<const Servable>>;

template <class Get>
void put_each(std::string& out, const Servables& all, const char* name, const char* type,
              const char* help, const Get& get) {
  put_type(out, name, type, help);
  for (const auto& one : all) put_one(out, name, labels_of(*one), static_cast<double>(get(*one)));
}

void put_latencies(std::string& out, const Servables& all) {
  const char* name = ":tensorflow:serving:request_latency";
  put_type(out, name, "histogram", "Microseconds from a whole request to its answer.");
  for (const auto& one : all) {
    const Histogram& total = one->counters.total;
    const std::string labels = labels_of(*one, "model_name");
    uint64_t sum = 0;
    for (int i = 0; i < Histogram::kBuckets; ++i) {
      sum += total.count(i);
      out += message(name, "_bucket{", labels, ",le=\"", uint64_t{1} << i, "\"} ", sum, "\n");
    }
    out += message(name, "_bucket{", labels, ",le=\"+Inf\"} ", sum, "\n", name, "_sum{", labels,
                   "} ", total.total(), "\n", name, "_count{", labels, "} ", sum, "\n");
  }
}

void put_triton(std::string& out, const Servables& all) {
  put_each(out, all, "nv_inference_request_success", "counter", "Requests answered.",
           [](const Servable& s) { return s.counters.successes.load(); });
  put_each(out, all, "nv_inference_request_failure", "counter", "Requests that failed.",
           [](const Servable& s) { return s.counters.failures.load(); });
  put_each(out, all, "nv_inference_count", "counter", "Rows answered.",
           [](const Servable& s) { return s.counters.rows.load(); });
  put_each(out, all, "nv_inference_exec_count", "counter", "Runs of the model.",
           [](const Servable& s) { return s.counters.executions.load(); });
  put_each(out, all, "nv_inference_request_duration_us", "counter", "From request to answer.",
           [](const Servable& s) { return s.counters.total.total(); });
  put_each(out, all, "nv_inference_queue_duration_us", "counter", "Waiting for a slot.",
           [](const Servable& s) { return s.counters.waiting.total(); });
  put_each(out, all, "nv_inference_compute_infer_duration_us", "counter", "Running the model.",
           [](const Servable& s) { return s.counters.computing.total(); });
}

void put_memory(std::string& out, const Context& context, const Servables& all) {
  const memory::Stats stats = memory::stats();
  put_type(out, "process_resident_memory_bytes", "gauge", "As the kernel counts it.");
  put_one(out, "process_resident_memory_bytes", "", static_cast<double>(stats.resident));
  put_type(out, "tidemark_memory_bytes", "gauge",
           "Tensors that live, memory kept for the next ones, and what is not ours.");
  put_one(out, "tidemark_memory_bytes", "kind=\"live\"", static_cast<double>(stats.live));
  put_one(out, "tidemark_memory_bytes", "kind=\"retained\"", static_cast<double>(stats.retained));
  put_one(out, "tidemark_memory_bytes", "kind=\"planned\"", static_cast<double>(stats.planned));
  put_one(out, "tidemark_memory_bytes", "kind=\"not_ours\"", static_cast<double>(stats.not_ours));
  put_each(out, all, "tidemark_model_weight_bytes", "gauge", "Variables, tables and constants.",
           [](const Servable& s) { return s.model.weight_bytes(); });
  put_each(out, all, "tidemark_model_plan_bytes", "gauge", "What a run takes, by its plan.",
           [](const Servable& s) { return s.plan_bytes; });
  put_each(out, all, "tidemark_model_arena_bytes", "gauge", "Arenas of the runs under way.",
           [](const Servable& s) { return s.counters.running.load() * s.plan_bytes; });
  put_type(out, "tidemark_idle_arena_bytes", "gauge", "Arenas that wait for any model's next run.");
  put_one(out, "tidemark_idle_arena_bytes", "", static_cast<double>(stats.planned));
  put_each(out, all, "tidemark_model_queue_bytes", "gauge", "Inputs that wait for a slot.",
           [](const Servable& s) { return s.counters.queued_bytes.load(); });
  put_each(out, all, "tidemark_model_queue_requests", "gauge", "Requests that wait for a slot.",
           [](const Servable& s) { return s.counters.queued.load(); });
  put_type(out, "tidemark_requests_in_flight_bytes", "gauge", "Bodies being read or answered.");
  put_one(out, "tidemark_requests_in_flight_bytes", "",
          static_cast<double>(context.http.bytes_in_flight.load()));
}

void put_refused(std::string& out, const Context& context) {
  const RefusedCounters& refused = context.executor.refused();
  const HttpCounters& http = context.http;
  const char* name = "tidemark_refused_total";
  put_type(out, name, "counter", "Requests that were not run, by reason.");
  const std::pair<const char*, uint64_t> all[] = {
      {"queue_full", refused.queue_full.load()},
      {"queue_bytes", refused.queue_bytes.load()},
      {"deadline", refused.expired.load()},
      {"client_gone", refused.gone.load()},
      {"draining", refused.draining.load()},
      {"too_large", http.too_large.load() + refused.too_large.load()},
      {"out_of_memory", refused.out_of_memory.load()},
      {"out_of_room", http.out_of_room.load()},
      {"malformed_http", http.malformed.load()},
      {"slow_client", http.timed_out.load()},
      {"connections", http.refused_connections.load()},
      {"tls_handshake", http.failed_handshakes.load()},
  };
  for (const auto& [reason, count] : all) {
    put_one(out, name, message("reason=\"", reason, "\""), static_cast<double>(count));
  }
}

}  // namespace

std::string metrics_text(const Context& context) {
  const Servables all = context.store.loaded();
  std::string out;
  const char* requests = ":tensorflow:serving:request_count";
  put_type(out, requests, "counter", "Requests by model and status.");
  for (const auto& one : all) {
    const std::string labels = labels_of(*one, "model_name");
    put_one(out, requests, labels + ",status=\"OK\"",
            static_cast<double>(one->counters.successes.load()));
    put_one(out, requests, labels + ",status=\"ERROR\"",
            static_cast<double>(one->counters.failures.load()));
  }
  put_latencies(out, all);
  put_triton(out, all);
  put_memory(out, context, all);
  put_refused(out, context);
  put_type(out, "tidemark_connections", "gauge", "Open connections.");
  put_one(out, "tidemark_connections", "", static_cast<double>(context.http.connections.load()));
  put_type(out, "tidemark_slots", "gauge", "Places in which models run.");
  put_one(out, "tidemark_slots", "state=\"all\"", context.executor.slots());
  put_one(out, "tidemark_slots", "state=\"busy\"", context.executor.busy_slots());
  put_type(out, "tidemark_model_loads_total", "counter", "Versions read since the start.");
  put_one(out, "tidemark_model_loads_total", "", static_cast<double>(context.store.num_loads()));
  return out;
}

std::string status_json(const Context& context) {
  const memory::Stats stats = memory::stats();
  const auto up = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - context.started);
  std::string out = message(
      "{\"seconds\": ", up.count(),
      ", \"ready\": ", context.store.is_ready() && !context.is_draining.load(),
      ", \"resident\": ", stats.resident, ", \"live\": ", stats.live,
      ", \"retained\": ", stats.retained, ", \"connections\": ", context.http.connections.load(),
      ", \"slots\": ", context.executor.slots(), ", \"busy\": ", context.executor.busy_slots(),
      ", \"models\": [");
  bool any = false;
  for (const auto& one : context.store.loaded()) {
    const ServableCounters& counters = one->counters;
    out += any ? ", {\"name\": " : "{\"name\": ";
    put_string(out, one->name);
    out += message(", \"version\": ", one->version, ", \"weights\": ", one->model.weight_bytes(),
                   ", \"queued\": ", counters.queued.load(),
                   ", \"requests\": ", counters.successes.load(),
                   ", \"failures\": ", counters.failures.load(),
                   ", \"p50_us\": ", counters.total.quantile(0.5),
                   ", \"p99_us\": ", counters.total.quantile(0.99), "}");
    any = true;
  }
  return out + "]}";
}

std::string status_page(const Context&) {
  return R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tidemark serve</title>
<meta name="viewport" content="width=device-width">
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #123; background: #fafcfd }
h1 { font-size: 1.3rem } table { border-collapse: collapse; width: 100% }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #dde5ea }
th:first-child, td:first-child { text-align: left }
.bar { display: flex; height: 1.4rem; border-radius: .3rem; overflow: hidden; background: #e4ecf1 }
.bar div { min-width: 1px } .live { background: #0b7285 } .kept { background: #66b2c2 }
.key span { margin-right: 1.2rem } .dot { display: inline-block; width: .7rem; height: .7rem;
  border-radius: .2rem; margin-right: .3rem }
</style></head><body>
<h1>Tidemark serve: <span id="state">…</span></h1>
<p id="summary"></p>
<div class="bar" id="bar" role="img" aria-label="resident memory"></div>
<p class="key"><span><i class="dot live"></i>tensors</span><span><i class="dot kept"></i>kept for
the next</span><span><i class="dot" style="background:#e4ecf1"></i>not ours</span></p>
<table><thead><tr><th>model</th><th>version</th><th>weights</th><th>requests</th><th>a second</th>
<th>failed</th><th>queued</th><th>p50</th><th>p99</th></tr></thead><tbody id="models"></tbody>
</table>
<script>
const size = b => b < 1024 ? b + " B" : b < 1048576 ? (b / 1024).toFixed(1) + " KiB"
  : b < 1073741824 ? (b / 1048576).toFixed(1) + " MiB" : (b / 1073741824).toFixed(2) + " GiB";
const time = us => us < 1000 ? "≤ " + us + " µs" : "≤ " + (us / 1000).toFixed(1) + " ms";
let before = {}, at = 0;
async function show() {
  const s = await (await fetch("status.json")).json(), now = performance.now();
  document.getElementById("state").textContent = s.ready ? "ready" : "not ready";
  document.getElementById("summary").textContent = `${size(s.resident)} resident, ` +
    `${s.connections} connections, ${s.busy} of ${s.slots} slots busy, up ${s.seconds} s`;
  const part = (kind, bytes) => {
    const div = document.createElement("div");
    div.className = kind;
    div.style.width = 100 * bytes / s.resident + "%";
    return div;
  };
  document.getElementById("bar").replaceChildren(part("live", s.live), part("kept", s.retained));
  document.getElementById("models").replaceChildren(...s.models.map(m => {
    const key = m.name + "/" + m.version, row = document.createElement("tr");
    const rate = key in before ? 1000 * (m.requests - before[key]) / (now - at) : 0;
    for (const text of [m.name, m.version, size(m.weights), m.requests, rate.toFixed(0),
      m.failures, m.queued, time(m.p50_us), time(m.p99_us)]) {
      row.appendChild(document.createElement("td")).textContent = text;
    }
    before[key] = m.requests;
    return row;
  }));
  at = now;
}
show();
setInterval(show, 2000);
</script></body></html>
)";
}

}  // namespace tidemark::serve
