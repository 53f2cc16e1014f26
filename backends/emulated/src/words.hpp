// Runs printed HIP text on a host: the words of the hardware in terms of fibers, one for each work item of a team.
#define FARRO_WORDS
#include <cstring>
#include <ucontext.h>

namespace {
struct Item {
    ucontext_t context;
    char* stack;
    bool done = false;
};
// Few headers: the compiler reads them again for each kernel.
constexpr int most_items = 256, stack_bytes = 1 << 18;
Item items[most_items];
int item_count;
ucontext_t scheduler;
int current, rank, league, arrived, generation;
int exchanged[most_items];

void pause() { swapcontext(&items[current].context, &scheduler); }

void barrier() {
    const int own = generation;
    if (++arrived == item_count) {
        arrived = 0;
        ++generation;
    }
    while (generation == own) pause();
}

// The lanes of a vector take the same way, so they all come here in one round.
int from_lane(int lane, int bits) {
    exchanged[current] = bits;
    pause();
    const int result = exchanged[lane];
    pause();
    return result;
}
}

#define FARRO_KERNEL(threads, waves)
#define FARRO_KERNEL_UNBOUND(threads)
#define FARRO_SHARED extern
#define FARRO_LEAGUE_RANK rank
#define FARRO_LEAGUE_SIZE league
#define FARRO_WORK_ITEM current
#define FARRO_LANE current
#define FARRO_FROM_LANE(lane, bits) from_lane(lane, bits)
#define FARRO_BARRIER() barrier()
#define FARRO_ATOMIC_ADD(p, v) ({ const auto old_ = *(p); *(p) = old_ + (v); old_; })
#define FARRO_ATOMIC_EXCHANGE(p, v) ({ const auto old_ = *(p); *(p) = (v); old_; })
#define FARRO_ATOMIC_LOAD(p) (*(p))
#define FARRO_ATOMIC_REPLACE(p, seen, v) \
    ({ const bool same_ = *(p) == *(seen); if (same_) *(p) = (v); else *(seen) = *(p); same_; })

alignas(64) unsigned char scratch_0[1 << 18];

namespace {
const unsigned long long* raw_values;
void (*kernel_entry)();

template <class T> T take(int& place) {
    T value;
    std::memcpy(&value, raw_values + place++, sizeof(T));
    return value;
}
template <class... Parameters> void call(void (*kernel)(Parameters...)) {
    int place = 0;
    // Braces fix the order of evaluation.
    struct Call {
        Call(void (*kernel)(Parameters...), Parameters... parameters) { kernel(parameters...); }
    } done{kernel, take<Parameters>(place)...};
}
void begin();

void run_league(const unsigned long long* raw, int teams, int work_items) {
    raw_values = raw;
    league = teams;
    item_count = work_items;
    for (int i = 0; i < work_items; ++i)
        if (!items[i].stack) items[i].stack = new char[stack_bytes];
    for (rank = 0; rank < teams; ++rank) {
        std::memset(scratch_0, 0xa5, sizeof(scratch_0));
        arrived = 0;
        for (int i = 0; i < work_items; ++i) {
            Item& item = items[i];
            getcontext(&item.context);
            item.context.uc_stack.ss_sp = item.stack;
            item.context.uc_stack.ss_size = stack_bytes;
            item.context.uc_link = &scheduler;
            item.done = false;
            makecontext(&item.context, begin, 0);
        }
        for (bool busy = true; busy;) {
            busy = false;
            for (current = 0; current < work_items; ++current) {
                if (items[current].done) continue;
                busy = true;
                swapcontext(&scheduler, &items[current].context);
            }
        }
    }
}
}
