-- mark_part.lua - a part of a sampled publish is finished. Bits 0 .. parts-1 are the parts, bit
-- `parts` says that some part reached a live timeline.
--
-- KEYS  done:{tag of the author}:post
-- ARGV  part, parts, 1 = this part reached a live timeline, TTL in seconds
-- Reply {this call set the first delivery, this call set the last missing part, some part
--       delivered}, each 0 or 1. Not fenced: bits only grow. Idempotent: a part seen before
--       reports neither a first nor a last.
local key, parts = KEYS[1], ARGV[2]
local fresh = redis.call('SETBIT', key, ARGV[1], 1) == 0
local first = fresh and ARGV[3] == '1' and redis.call('SETBIT', key, parts, 1) == 0
local any = redis.call('GETBIT', key, parts)
local last = fresh and redis.call('BITCOUNT', key) - any == tonumber(parts)
redis.call('EXPIRE', key, ARGV[4])
return {first and 1 or 0, last and 1 or 0, any}
