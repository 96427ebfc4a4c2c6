// ModelStore: which models there are, and which versions of them answer.
//
// A model is a folder; each of its versions is a folder inside with a number for a name. Folders
// are looked at again and again: what is new is loaded, what is gone is let go. A folder that
// cannot be read tells nothing: all stays as it is. A version that is in use lives until its last
// request is answered. Models are loaded on threads of their own, each for a bounded time, so that
// one that does not end holds up no other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <thread>

#include "tidemark/serve/warm_up.h"

namespace tidemark::serve {

enum class Reload { serve_through, swap };

struct ModelOptions {
  std::string name, folder;
  /// The newest so many versions answer, or those of the list where it has any.
  int num_versions = 1;
  std::vector<int64_t> only_versions;
  Batching batching;
  std::map<std::string, int64_t> labels;
  std::vector<Bucket> buckets;  // planned at load
};

struct StoreOptions {
  std::string models_folder;  // each folder inside is a model; empty: only those in `models`
  std::vector<ModelOptions> models;
  ModelOptions defaults;  // of the models found in the folder
  std::map<std::string, std::map<std::string, int64_t>> labels;  // by model, of those too
  std::map<std::string, std::vector<Bucket>> buckets;
  Reload reload = Reload::serve_through;
  double poll_seconds = 1;
  /// Bytes that the weights of all models may take; 0: any.
  size_t max_weight_bytes = 0;
  int slots = 1;  // runs of a model at the same time
  double load_seconds = 300;
  bool allows_files = false;  // models may read files of the machine
};

enum class VersionState { loading, available, unloading, failed };
const char* name_of(VersionState state);

struct VersionStatus {
  int64_t version = 0;
  VersionState state = VersionState::loading;
  std::string error;
  Code code = Code::unknown;
};

class ModelStore {
 public:
  explicit ModelStore(StoreOptions options);
  ~ModelStore();
  ModelStore(const ModelStore&) = delete;

  /// Looks at the folders in the background, again and again.
  void start();
  /// True once every version found at first has been loaded or has failed.
  bool has_loaded() const { return is_ready_.load(); }
  /// False until every version found at first has been loaded or has failed, and while a model has
  /// nothing but versions that are being loaded.
  bool is_ready() const;

  /// The newest version, or the one of the number (≥ 0). Throws RequestError not_found.
  std::shared_ptr<const Servable> find(std::string_view model, int64_t version = -1) const;
  int64_t version_of_label(std::string_view model, std::string_view label) const;
  std::vector<VersionStatus> status_of(std::string_view model) const;
  std::vector<std::string> names() const;
  std::vector<std::shared_ptr<const Servable>> loaded() const;
  uint64_t num_loads() const { return num_loads_.load(); }

  /// A model that the program around the server made: no folder is looked at for it. Throws
  /// RequestError where its runs would not fit the memory limit.
  void add_given(const std::string& name, int64_t version, const SavedModel& model,
                 const Batching& batching);
  /// Throws NotFoundError where there is none that was given.
  void remove_given(const std::string& name);

  /// By request: kept out of or back in the store whatever the folders say.
  void unload(const std::string& model);
  void load(const std::string& model);
  /// Looks at the folders now.
  void poll();
  /// Runs it on a thread that loads models: for what takes long.
  void run_later(std::function<void()> task);

 private:
  struct Version {
    VersionStatus status;
    std::shared_ptr<const Servable> servable;
    std::string stamp;  // tells a file that was replaced
    /// Where loading it failed for what may pass: when to try again, and the pause before that.
    Clock::time_point retry = Clock::time_point::max();
    Clock::duration pause{0};
  };
  struct Model {
    ModelOptions options;
    std::map<int64_t, Version> versions;
    bool is_unloaded = false;  // by request
    bool is_wanted = true;     // its folder is there
    bool is_given = false;     // by the program around the server: it has no folder
  };
  class Turn;
  class Room;

  Clock::duration poll_pause() const;
  /// A thread that loads models, one after the other.
  struct Loader {
    std::atomic<int> thread_id{0};                       // the system's
    std::atomic<Clock::time_point> since{kIdle};         // when it began with what it does
    std::atomic<bool> is_slow{false}, has_ended{false};  // slow ones end with what they do
    std::jthread thread;
  };
  static constexpr Clock::time_point kIdle = Clock::time_point::max();
  void look_after_loaders();
  void look_after(const std::stop_token& stop);
  void load_waiting(const std::stop_token& stop, Loader& loader);
  /// Puts the update of the model into the queue, unless it is there.
  void schedule(const std::string& name);
  void update(const std::string& name);
  void drop_all(const std::string& name);
  SavedModel read_version(const std::string& name, const std::string& folder,
                          const ModelOptions& options, size_t& plan);
  void load_version(const std::string& name, int64_t version, const std::string& stamp);
  void try_to_load(const std::string& name, int64_t number, const std::string& stamp);
  void drop_version(const std::string& name, int64_t version);
  /// The bytes of the weights, which count among those being loaded from then on.
  size_t check_room(const std::string& folder, const std::string& name);
  void check_plan(const std::string& name, const SavedModel& model, size_t plan) const;
  std::map<std::string, ModelOptions> wanted_models() const;
  const Model& get(std::string_view model) const;

  StoreOptions options_;
  mutable std::shared_mutex mutex_;  // guards models_
  std::map<std::string, Model, std::less<>> models_;
  std::mutex polling_;  // one look at a time
  std::atomic<bool> is_ready_{false}, is_unreadable_{false}, is_ending_{false};
  std::atomic<uint64_t> num_loads_{0};
  std::mutex tasks_mutex_;  // guards what follows
  std::condition_variable_any wake_, turned_;
  std::deque<std::function<void()>> tasks_;
  std::set<std::string> scheduled_, first_;  // updates that wait; those that wait or run at first
  std::set<std::string> updating_;           // models whose turn it is
  std::mutex room_mutex_;
  size_t loading_bytes_ = 0;           // weights of loads under way; guarded by room_mutex_
  std::list<Loader> loaders_;          // the thread that looks after them adds and removes
  std::vector<std::jthread> threads_;  // the last member: they end before the others go
};

}  // namespace tidemark::serve
