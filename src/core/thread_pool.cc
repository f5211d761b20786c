#include "core/thread_pool.h"

#include <pthread.h>

#include <utility>

namespace tandem {

ThreadPool::ThreadPool(std::string name, int thread_count) : name_(std::move(name)), thread_count_(thread_count) {}

ThreadPool::~ThreadPool() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mu_);
    is_stopping_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void ThreadPool::Schedule(std::function<void()> work) {
  MutexLock lock(&mu_);
  queue_.push_back(std::move(work));
  if (idle_ < static_cast<int>(queue_.size()) && static_cast<int>(threads_.size()) < thread_count_) {
    threads_.emplace_back([this] { Loop(); });
    pthread_setname_np(threads_.back().native_handle(), name_.substr(0, 15).c_str());
  }
}

void ThreadPool::Loop() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(&mu_);
      ++idle_;
      auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return is_stopping_ || !queue_.empty(); };
      mu_.Await(absl::Condition(&has_work));
      --idle_;
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace tandem
