#include "mirror/window.h"

#include <algorithm>
#include <utility>

namespace fanline::mirror {
namespace {

WindowRow* RowOf(Job& job, const LogRow& row) {
  const auto found = std::find_if(job.rows.begin(), job.rows.end(), [&row](const WindowRow& each) {
    return each.change.id == row.id && each.change.row() == row;
  });
  return found == job.rows.end() ? nullptr : &*found;
}

}  // namespace

bool Job::Has(RowStep step) const {
  return std::any_of(rows.begin(), rows.end(),
                     [step](const WindowRow& row) { return row.step == step; });
}

void Job::Move(RowStep from, RowStep to) {
  for (WindowRow& row : rows) {
    if (row.step == from) row.step = to;
  }
}

WindowRow* Window::Find(Shard forward, Shard reverse, const JobKey& key, const LogRow& row) {
  const Pair& pair = At(forward, reverse);
  const auto found = pair.jobs.find(key);
  return found == pair.jobs.end() ? nullptr : RowOf(jobs_.at(found->second), row);
}

uint64_t Window::Add(Shard forward, Shard reverse, const JobKey& key, WindowRow row) {
  Pair& pair = At(forward, reverse);
  ++pair.rows;
  const auto [known, is_new] = pair.jobs.try_emplace(key, ids_ + 1);
  Job& job = jobs_[known->second];
  if (is_new) {
    ++ids_;
    job.key = key;
    job.forward = forward;
    job.reverse = reverse;
  }
  job.rows.push_back(std::move(row));
  return known->second;
}

Job* Window::Find(uint64_t id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

WindowRow* Window::Find(uint64_t id, const LogRow& row) {
  Job* job = Find(id);
  return job == nullptr ? nullptr : RowOf(*job, row);
}

void Window::Remove(uint64_t id, const LogRow& row) {
  Job* job = Find(id);
  WindowRow* gone = Find(id, row);
  if (gone == nullptr) return;
  Pair& pair = At(job->forward, job->reverse);
  --pair.rows;
  job->rows.erase(job->rows.begin() + (gone - job->rows.data()));
  if (!job->rows.empty()) return;
  pair.jobs.erase(job->key);
  jobs_.erase(id);
}

void Window::RemoveAll(Shard forward) {
  for (Shard reverse = 0; reverse < shards_; ++reverse) {
    Pair& pair = At(forward, reverse);
    for (const auto& [key, id] : pair.jobs) jobs_.erase(id);
    pair = {};
  }
}

}  // namespace fanline::mirror
