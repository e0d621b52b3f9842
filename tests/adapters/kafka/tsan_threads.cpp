// C11 threads by way of POSIX threads, for tests under the thread sanitizer only. librdkafka uses
// glibc's C11 functions, which the sanitizer does not know: a thread made by thrd_create crashes
// it, and what passes through a mtx_t looks like a race. Defined in the program, they win.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <type_traits>

namespace {

static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && sizeof(cnd_t) >= sizeof(pthread_cond_t));
static_assert(std::is_same_v<thrd_t, pthread_t>);

pthread_mutex_t* Posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* Posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int Answer(int error) {
  if (error == 0) return thrd_success;
  if (error == ETIMEDOUT) return thrd_timedout;
  return error == EBUSY ? thrd_busy : thrd_error;
}

struct Start {
  thrd_start_t run;
  void* argument;
};

void* Run(void* opaque) {
  const Start start = *static_cast<Start*>(opaque);
  delete static_cast<Start*>(opaque);
  return reinterpret_cast<void*>(static_cast<intptr_t>(start.run(start.argument)));
}

}  // namespace

extern "C" {

// The sanitizer does not see librdkafka's atomic reference counts either: a free would look like a
// race with the last reader, and a mutex of its own like a race with its maker.
const char* __tsan_default_suppressions() {
  return "called_from_lib:librdkafka.so.1\nrace:mtx_init\nrace:mtx_destroy\n";
}

int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
  return Answer(pthread_create(thread, nullptr, Run, new Start{run, argument}));
}
int thrd_join(thrd_t thread, int* result) {
  void* answer = nullptr;
  const int error = pthread_join(thread, &answer);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(answer));
  return Answer(error);
}

int mtx_init(mtx_t* mutex, int type) noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(Posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return Answer(error);
}
int mtx_lock(mtx_t* mutex) { return Answer(pthread_mutex_lock(Posix(mutex))); }
int mtx_trylock(mtx_t* mutex) noexcept { return Answer(pthread_mutex_trylock(Posix(mutex))); }
int mtx_unlock(mtx_t* mutex) noexcept { return Answer(pthread_mutex_unlock(Posix(mutex))); }
void mtx_destroy(mtx_t* mutex) noexcept { pthread_mutex_destroy(Posix(mutex)); }

int cnd_init(cnd_t* condition) noexcept {
  return Answer(pthread_cond_init(Posix(condition), nullptr));
}
int cnd_signal(cnd_t* condition) noexcept { return Answer(pthread_cond_signal(Posix(condition))); }
int cnd_broadcast(cnd_t* condition) noexcept {
  return Answer(pthread_cond_broadcast(Posix(condition)));
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return Answer(pthread_cond_wait(Posix(condition), Posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return Answer(pthread_cond_timedwait(Posix(condition), Posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) noexcept { pthread_cond_destroy(Posix(condition)); }

}  // extern "C"
