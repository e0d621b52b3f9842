-- save_position.lua - moves the applied position of a range on, by compare-and-set.
--
-- KEYS  own:{tag}, pos:{tag}
-- ARGV  epoch, expected position, next position ("generation.ranges:offset")
-- Reply FENCED error; 0 = pos: holds neither of the two: Redis was rolled back under us, no
--       position was written; 1 = it holds `next`. Idempotent: `next` is accepted as found.
local refused = fence(ARGV[1])
if refused then return refused end
local found = redis.call('MGET', KEYS[2])[1]
if found ~= ARGV[2] and found ~= ARGV[3] then return 0 end
overwrites(KEYS[1])
redis.call('SET', KEYS[2], ARGV[3])
return 1
