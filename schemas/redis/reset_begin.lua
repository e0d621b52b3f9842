-- reset_begin.lua - first step of giving buckets a known state: forgets the index of those whose
-- timelines will be dropped, and begins to learn the edge of all. Rebuilds that begin from now on
-- list themselves again; the keys of those that began before are found by the walk over all keys
-- that follows.
--
-- KEYS  own:{tag} of each bucket of the range, live:{tag} of each bucket to drop, edge:{tag} of each
--       bucket to drop or index
-- ARGV  epoch, buckets of the range, buckets to drop
-- Reply FENCED error, or 1. Idempotent.
local buckets = tonumber(ARGV[2])
local refused = fence(ARGV[1], buckets)
if refused then return refused end
overwrites(KEYS[1])
local edges = buckets + tonumber(ARGV[3])
for i = buckets + 1, edges do redis.call('DEL', KEYS[i]) end
for i = edges + 1, #KEYS do redis.call('SET', KEYS[i], '?0') end
return 1
