#include "tidemark/serve/model_store.h"

#include <malloc.h>
#include <sys/stat.h>
#include <tidemark/memory.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tidemark/base/interrupt.h"
#include "tidemark/io/model_folder.h"
#include "tidemark/serve/api.h"
#include "tidemark/serve/json.h"
#include "tidemark/serve/status.h"
#include "tidemark/serve/threads.h"

namespace tidemark::serve {

namespace fs = std::filesystem;

namespace {

/// Between two attempts to load a version: from one look to the next at first, twice as long each
/// time.
constexpr std::chrono::seconds kLongestPause{60};

/// So many models are loaded at once; what takes longer than a moment goes on beside them.
constexpr size_t kLoaders = 4, kMostLoaders = 32;
constexpr std::chrono::seconds kMoment{1};

/// -1: the name is no version.
int64_t version_from(std::string_view name) {
  int64_t version = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  return error == std::errc() && end == name.data() + name.size() && version >= 0 ? version : -1;
}

std::string file_of(const std::string& folder, int64_t version) {
  return io::find_model((fs::path(folder) / std::to_string(version)).string()).file;
}

/// Differs when the file was replaced; empty: there is none. Throws UnavailableError.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    fail<io::UnavailableError>("cannot look at ", path, ": ", std::strerror(errno));
  }
  return message(static_cast<uint64_t>(status.st_ino), ".", status.st_size, ".",
                 status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec);
}

/// number → stamp of the newest versions there are. Throws UnavailableError.
std::map<int64_t, std::string> versions_in(const ModelOptions& model) {
  std::map<int64_t, std::string> found;
  for (const std::string& name : io::names_in(model.folder)) {
    const int64_t version = version_from(name);
    const auto& only = model.only_versions;
    if (version < 0) continue;
    if (!only.empty() && std::find(only.begin(), only.end(), version) == only.end()) continue;
    std::string stamp = stamp_of(file_of(model.folder, version));
    if (!stamp.empty()) found.emplace(version, std::move(stamp));
  }
  const auto most = static_cast<size_t>(std::max(1, model.num_versions));
  while (model.only_versions.empty() && found.size() > most) found.erase(found.begin());
  return found;
}

template <class... Parts>
void log(const Parts&... parts) noexcept {
  try {
    std::fprintf(stderr, "tidemark serve: %s\n", printable(message(parts...)).c_str());
  } catch (const std::bad_alloc&) {
    std::fputs("tidemark serve: no memory\n", stderr);
  }
}

/// Memory that nobody uses goes back to the system.
void give_back() {
  memory::release_retained();
  ::malloc_trim(0);
}

}  // namespace

const char* name_of(VersionState state) {
  switch (state) {
    case VersionState::loading:
      return "LOADING";
    case VersionState::available:
      return "AVAILABLE";
    case VersionState::unloading:
      return "UNLOADING";
    case VersionState::failed:
      return "END";
  }
  return "";
}

ModelStore::ModelStore(StoreOptions options) : options_(std::move(options)) {}

ModelStore::~ModelStore() { is_ending_ = true; }

void ModelStore::start() {
  look_after_loaders();
  poll();
  {
    const std::lock_guard lock(tasks_mutex_);
    first_ = scheduled_;
    first_.insert(updating_.begin(), updating_.end());
    if (first_.empty()) is_ready_ = true;
  }
  add_thread(threads_, Urgency::in_time, [this](const std::stop_token& stop) { look_after(stop); });
}

Clock::duration ModelStore::poll_pause() const {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::max(0.05, options_.poll_seconds)));
}

/// A model that takes long, or never ends, keeps no other from being loaded, and gets what time
/// nobody else wants.
void ModelStore::look_after_loaders() {
  loaders_.remove_if([](const Loader& loader) { return loader.has_ended.load(); });
  const Clock::time_point now = Clock::now();
  size_t quick = 0;
  for (Loader& loader : loaders_) {
    const Clock::time_point since = loader.since.load();
    if (!loader.is_slow && since != kIdle && now - since > kMoment) {
      loader.is_slow = true;
      lower_urgency(loader.thread_id);
    }
    quick += loader.is_slow ? 0 : 1;
  }
  for (; quick < kLoaders && loaders_.size() < kMostLoaders; ++quick) {
    Loader& made = loaders_.emplace_back();
    try {
      made.thread = started_thread(Urgency::in_time, [this, &made](const std::stop_token& stop) {
        load_waiting(stop, made);
      });
    } catch (...) {
      loaders_.pop_back();
      throw;
    }
  }
}

void ModelStore::look_after(const std::stop_token& stop) {
  const Clock::duration pause = poll_pause();
  Clock::time_point next = Clock::now() + pause;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(tasks_mutex_);
      wake_.wait_for(lock, stop, std::min<Clock::duration>(pause, kMoment), [] { return false; });
    }
    if (stop.stop_requested()) return;
    try {
      look_after_loaders();
    } catch (const std::exception&) {  // no thread, or no memory for one: there are others
    }
    if (Clock::now() < next) continue;
    next = Clock::now() + pause;
    try {
      poll();
    } catch (const std::bad_alloc& error) {
      log("what is served stays as it is: ", error.what());
    }
  }
}

void ModelStore::load_waiting(const std::stop_token& stop, Loader& loader) {
  loader.thread_id = id_of_this_thread();
  while (!loader.is_slow) {
    std::function<void()> task;
    {
      std::unique_lock lock(tasks_mutex_);
      wake_.wait(lock, stop, [this] { return !tasks_.empty(); });
      if (stop.stop_requested()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    loader.since = Clock::now();
    try {
      task();
    } catch (const std::exception& error) {  // no memory; the next look begins anew
      log("what is served stays as it is: ", error.what());
    }
    loader.since = kIdle;
  }
  loader.has_ended = true;
}

void ModelStore::run_later(std::function<void()> task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    if (tasks_.size() >= 64) refuse(Code::unavailable, "too many models are being loaded");
    tasks_.push_back(std::move(task));
  }
  wake_.notify_all();
}

void ModelStore::schedule(const std::string& name) {
  {
    const std::lock_guard lock(tasks_mutex_);
    if (updating_.contains(name) || scheduled_.contains(name)) return;
    tasks_.push_back([this, name] { update(name); });
    try {
      scheduled_.insert(name);
    } catch (...) {
      tasks_.pop_back();
      throw;
    }
  }
  wake_.notify_all();
}

/// One at a time changes the versions of a model.
class ModelStore::Turn {
 public:
  Turn(ModelStore& store, std::string name) : store_(store), name_(std::move(name)) {
    std::unique_lock lock(store_.tasks_mutex_);
    store_.turned_.wait(lock, [this] { return !store_.updating_.contains(name_); });
    store_.scheduled_.erase(name_);
    store_.updating_.insert(name_);
  }
  ~Turn() {
    {
      const std::lock_guard lock(store_.tasks_mutex_);
      store_.updating_.erase(name_);
      if (store_.first_.erase(name_) > 0 && store_.first_.empty()) store_.is_ready_ = true;
    }
    store_.turned_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  ModelStore& store_;
  const std::string name_;
};

bool ModelStore::is_ready() const {
  if (!is_ready_.load()) return false;
  const std::shared_lock lock(mutex_);
  for (const auto& [name, model] : models_) {
    bool is_loading = false, is_served = false;
    for (const auto& [number, version] : model.versions) {
      is_loading |= version.status.state == VersionState::loading;
      is_served |= version.servable != nullptr;
    }
    if (is_loading && !is_served) return false;
  }
  return true;
}

/// Throws UnavailableError.
std::map<std::string, ModelOptions> ModelStore::wanted_models() const {
  std::map<std::string, ModelOptions> wanted;
  for (const ModelOptions& model : options_.models) wanted.emplace(model.name, model);
  if (options_.models_folder.empty()) return wanted;
  for (const std::string& name : io::names_in(options_.models_folder)) {
    ModelOptions model = options_.defaults;
    model.name = name;
    model.folder = (fs::path(options_.models_folder) / name).string();
    std::error_code error;
    const bool is_folder = fs::is_directory(model.folder, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      io::fail_unreadable(model.folder, error);
    }
    if (!is_folder) continue;
    const auto labels = options_.labels.find(model.name);
    if (labels != options_.labels.end()) model.labels = labels->second;
    const auto buckets = options_.buckets.find(model.name);
    if (buckets != options_.buckets.end()) model.buckets = buckets->second;
    if (!versions_in(model).empty()) wanted.emplace(model.name, std::move(model));
  }
  return wanted;
}

void ModelStore::poll() {
  const std::lock_guard one_at_a_time(polling_);
  std::map<std::string, ModelOptions> wanted;
  try {
    wanted = wanted_models();
    if (is_unreadable_.exchange(false)) log("the models' folder can be read again");
  } catch (const io::UnavailableError& failed) {
    if (!is_unreadable_.exchange(true)) {
      log("what is served stays as it is: ", failed.what());
    }
    return;
  }
  std::vector<std::string> names;
  {
    const std::unique_lock lock(mutex_);
    for (const auto& [name, options] : wanted) models_.try_emplace(name);
    for (const auto& [name, model] : models_) {
      if (!model.is_given) names.push_back(name);
    }
    // What may fail is done: a model is not taken for unwanted because memory ran out.
    for (auto& [name, model] : models_) {
      if (model.is_given) continue;
      const auto found = wanted.find(name);
      model.is_wanted = found != wanted.end();
      if (model.is_wanted) model.options = std::move(found->second);
    }
  }
  for (const std::string& name : names) schedule(name);
}

void ModelStore::drop_all(const std::string& name) {
  std::vector<int64_t> versions;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [number, version] : models_.at(name).versions) versions.push_back(number);
  }
  for (int64_t version : versions) drop_version(name, version);
  const std::unique_lock lock(mutex_);
  const auto at = models_.find(name);
  if (at != models_.end() && !at->second.is_wanted) models_.erase(at);
}

void ModelStore::update(const std::string& name) {
  const Turn turn(*this, name);
  std::map<int64_t, std::string> found, known;
  bool is_unloaded = false, is_wanted = true;
  ModelOptions options;
  {
    const std::shared_lock lock(mutex_);
    const auto at = models_.find(name);
    if (at == models_.end()) return;
    const Clock::time_point now = Clock::now();
    for (const auto& [number, version] : at->second.versions) {
      known.emplace(number, version.retry <= now ? "" : version.stamp);
    }
    is_unloaded = at->second.is_unloaded;
    is_wanted = at->second.is_wanted;
    options = at->second.options;
  }
  if (!is_wanted) return drop_all(name);
  try {
    if (!is_unloaded) found = versions_in(options);
  } catch (const io::UnavailableError&) {
    return;
  }
  const auto drop_others = [&] {
    for (const auto& [number, stamp] : known) {
      if (!found.contains(number)) drop_version(name, number);
    }
  };
  if (options_.reload == Reload::swap) drop_others();
  bool all_there = true;
  for (const auto& [number, stamp] : found) {
    const auto before = known.find(number);
    if (before == known.end() || before->second != stamp) load_version(name, number, stamp);
    const std::shared_lock lock(mutex_);
    const Model& model = models_.at(name);
    const auto at = model.versions.find(number);
    all_there &= at != model.versions.end() && at->second.servable != nullptr;
  }
  // The old ones answer until the new ones do; for good where those cannot be loaded.
  if (options_.reload == Reload::serve_through && (all_there || found.empty())) drop_others();
}

size_t ModelStore::check_room(const std::string& folder, const std::string& name) {
  const size_t wanted = io::weight_bytes_in(folder);
  const std::lock_guard lock(room_mutex_);
  size_t taken = loading_bytes_;
  for (const auto& one : loaded()) taken += one->model.weight_bytes();
  const size_t most = options_.max_weight_bytes;
  if (most != 0 && taken + wanted > most) {
    refuse(Code::resource_exhausted, "the weights of ", name, " take ", wanted,
           " bytes; the models that are loaded take ", taken, " of the ", most,
           " bytes allowed (--max-weights). Unload one, or allow more");
  }
  const int64_t limit = memory::limit(), live = memory::stats().live;
  if (limit > 0 && live + static_cast<int64_t>(wanted) > limit) {
    refuse(Code::resource_exhausted, "the weights of ", name, " take ", wanted, " bytes; ", live,
           " are in use of the ", limit,
           " allowed (--memory-limit). Unload a model, or allow more");
  }
  loading_bytes_ += wanted;
  return wanted;
}

void ModelStore::check_plan(const std::string& name, const SavedModel& model, size_t plan) const {
  // Any slot may run any model: each has to have room for the one that takes most.
  size_t largest = plan;
  for (const auto& one : loaded()) largest = std::max(largest, one->plan_bytes);
  const int64_t limit = memory::limit(), live = memory::stats().live;
  const auto wanted = static_cast<int64_t>(largest) * options_.slots;
  if (limit > 0 && live + wanted > limit) {
    refuse(Code::resource_exhausted, name, " takes ", model.weight_bytes(),
           " bytes of weights and ", plan, " bytes in each of ", options_.slots,
           " slots; with its weights ", live, " bytes are in use and the slots take ", wanted,
           " at most, of the ", limit,
           " allowed (--memory-limit). Take fewer slots or smaller batches, or allow more");
  }
}

SavedModel ModelStore::read_version(const std::string& name, const std::string& folder,
                                    const ModelOptions& options, size_t& plan) {
  const Interrupt interrupt{
      .is_cancelled = &is_ending_,
      .deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(options_.load_seconds))};
  const InterruptScope stoppable(interrupt);
  try {
    SavedModel model = load_model(folder, [&](const SavedModel& unread) {
      plan = plan_shapes(unread, options.batching, options.buckets, folder);
      check_plan(name, unread, plan);
    });
    warm_up(model, options.batching, options.buckets, folder);
    return model;
  } catch (const DeadlineExceededError&) {
    refuse(Code::deadline_exceeded, "it was not loaded and warmed up within ",
           options_.load_seconds, " seconds (--load-timeout)");
  }
}

/// Bytes that a version being loaded will take, counted until it has or has failed.
class ModelStore::Room {
 public:
  Room(ModelStore& store, size_t bytes) : store_(store), bytes_(bytes) {}
  ~Room() {
    const std::lock_guard lock(store_.room_mutex_);
    give_up();
  }
  /// With the lock: the version itself counts from now on.
  void give_up() { store_.loading_bytes_ -= std::exchange(bytes_, 0); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 private:
  ModelStore& store_;
  size_t bytes_;
};

void ModelStore::load_version(const std::string& name, int64_t number, const std::string& stamp) {
  try {
    try_to_load(name, number, stamp);
  } catch (const std::bad_alloc&) {  // as if nobody had seen it: the next look finds it
    const std::unique_lock lock(mutex_);
    auto& versions = models_.at(name).versions;
    const auto at = versions.find(number);
    if (at != versions.end()) {
      at->second.stamp.clear();
      at->second.status.state =
          at->second.servable ? VersionState::available : VersionState::failed;
    }
    throw;
  }
}

void ModelStore::try_to_load(const std::string& name, int64_t number, const std::string& stamp) {
  ModelOptions options;
  {
    const std::unique_lock lock(mutex_);
    Model& model = models_.at(name);
    Version& version = model.versions[number];
    // One that is tried again is not waited for: it stays failed meanwhile.
    if (version.stamp != stamp) {
      version.status = {number, VersionState::loading, {}, Code::unknown};
      version.pause = Clock::duration(0);
    }
    version.stamp = stamp;
    if (options_.reload == Reload::swap) version.servable.reset();
    options = model.options;
  }
  const std::string folder = (fs::path(options.folder) / std::to_string(number)).string();
  std::shared_ptr<const Servable> made;
  Failure failure{Code::unknown, {}};
  std::optional<Room> room;
  try {
    room.emplace(*this, check_room(folder, name));
    size_t plan = 0;
    SavedModel model = read_version(name, folder, options, plan);
    made = std::make_shared<Servable>(name, number, std::move(model), options.batching, plan);
  } catch (...) {
    failure = failure_of(std::current_exception());
  }
  if (made) {
    log("loaded ", name, " version ", number, ", ", made->model.weight_bytes(),
        " bytes of weights, ", made->plan_bytes, " bytes a slot");
  } else {
    log("could not load ", name, " version ", number, ": ", failure.text);
  }
  num_loads_.fetch_add(1);
  std::shared_ptr<const Servable> before;
  {
    const std::lock_guard room_lock(room_mutex_);
    if (room) room->give_up();
    const std::unique_lock lock(mutex_);
    Version& version = models_.at(name).versions[number];
    const bool is_retried = !made && io::may_pass(failure.code);
    version.status.error = std::move(failure.text);
    version.status.code = failure.code;
    version.status.state = made                          ? VersionState::available
                           : version.servable != nullptr ? VersionState::available
                                                         : VersionState::failed;
    version.pause = is_retried
                        ? std::min<Clock::duration>(2 * version.pause + poll_pause(), kLongestPause)
                        : Clock::duration(0);
    version.retry = is_retried ? Clock::now() + version.pause : Clock::time_point::max();
    if (made) before = std::exchange(version.servable, made);
  }
  before.reset();
  give_back();
}

void ModelStore::drop_version(const std::string& name, int64_t number) {
  std::weak_ptr<const Servable> gone;
  {
    std::shared_ptr<const Servable> last;
    const std::unique_lock lock(mutex_);
    auto& versions = models_.at(name).versions;
    const auto at = versions.find(number);
    if (at == versions.end()) return;
    last = std::move(at->second.servable);
    gone = last;
    versions.erase(at);
  }
  for (int i = 0; i < 200 && !gone.expired(); ++i) {  // requests under way are answered
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  log("unloaded ", name, " version ", number);
  give_back();
}

const ModelStore::Model& ModelStore::get(std::string_view model) const {
  const auto found = models_.find(model);
  if (found == models_.end()) {
    refuse(Code::not_found, "Servable not found for request: Latest(", model, ")");
  }
  return found->second;
}

std::shared_ptr<const Servable> ModelStore::find(std::string_view name, int64_t wanted) const {
  const std::shared_lock lock(mutex_);
  const Model& model = get(name);
  if (wanted >= 0) {
    const auto at = model.versions.find(wanted);
    if (at != model.versions.end() && at->second.servable) return at->second.servable;
    refuse(Code::not_found, "Servable not found for request: Specific(", name, ", ", wanted, ")");
  }
  for (auto at = model.versions.rbegin(); at != model.versions.rend(); ++at) {
    if (at->second.servable) return at->second.servable;
  }
  refuse(Code::not_found, "Servable not found for request: Latest(", name, ")");
}

int64_t ModelStore::version_of_label(std::string_view name, std::string_view label) const {
  const std::shared_lock lock(mutex_);
  const Model& model = get(name);
  const auto at = model.options.labels.find(std::string(label));
  if (at == model.options.labels.end()) {
    refuse(Code::not_found, "Unrecognized servable version label: ", label);
  }
  return at->second;
}

std::vector<VersionStatus> ModelStore::status_of(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) {
    refuse(Code::not_found, "Could not find any versions of model ", name);
  }
  std::vector<VersionStatus> out;
  for (auto at = found->second.versions.rbegin(); at != found->second.versions.rend(); ++at) {
    out.push_back(at->second.status);
  }
  return out;
}

std::vector<std::string> ModelStore::names() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, model] : models_) out.push_back(name);
  return out;
}

std::vector<std::shared_ptr<const Servable>> ModelStore::loaded() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<const Servable>> out;
  for (const auto& [name, model] : models_) {
    for (const auto& [number, version] : model.versions) {
      if (version.servable) out.push_back(version.servable);
    }
  }
  return out;
}

void ModelStore::add_given(const std::string& name, int64_t number, const SavedModel& model,
                           const Batching& batching) {
  const size_t plan = plan_shapes(model, batching, {}, "");
  check_plan(name, model, plan);
  auto made = std::make_shared<const Servable>(name, number, model, batching, plan);
  const std::unique_lock lock(mutex_);
  Model& known = models_[name];
  if (!known.is_given && !known.versions.empty()) {
    refuse(Code::already_exists, "a folder with the model ", name, " is served");
  }
  known.is_given = true;
  Version& version = known.versions[number];
  version.status = {number, VersionState::available, {}, Code::unknown};
  version.servable.swap(made);  // the old one goes with `made`, after the lock
}

void ModelStore::remove_given(const std::string& name) {
  Model gone;  // what it held goes after the lock
  const std::unique_lock lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end() || !found->second.is_given) {
    fail<NotFoundError>("[ModelServer] there is no model ", name);
  }
  std::swap(gone, found->second);
  models_.erase(found);
}

void ModelStore::unload(const std::string& name) {
  {
    const std::unique_lock lock(mutex_);
    if (get(name).is_given) {
      refuse(Code::failed_precondition, name, " is part of the program that serves it");
    }
    models_.find(name)->second.is_unloaded = true;
  }
  update(name);
}

void ModelStore::load(const std::string& name) {
  {
    const std::unique_lock lock(mutex_);
    const auto at = models_.find(name);
    if (at != models_.end()) at->second.is_unloaded = false;
    if (at != models_.end() && at->second.is_given) return;  // it is always there
  }
  poll();
  update(name);
  const std::shared_lock lock(mutex_);
  const Model& model = get(name);
  for (const auto& [number, version] : model.versions) {
    if (version.servable) return;
    refuse(version.status.code == Code::unknown ? Code::internal : version.status.code,
           "failed to load '", name, "': ", version.status.error);
  }
  refuse(Code::not_found, "failed to load '", name, "': its folder has no version");
}

}  // namespace tidemark::serve
