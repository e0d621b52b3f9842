-- mark_part.lua - a range has finished its part of a sampled publish. Bits 0 .. P-1 are the ranges,
-- bit P says that some part reached a live timeline, bit P+1 that the last part was seen.
--
-- KEYS  done:{tag of the author}:post
-- ARGV  range, P, parts (hints of this publish), 1 = this part reached a live timeline, TTL in
--       seconds
-- Reply {this call set the first delivery, this call saw the last missing part, some part
--       delivered}, each 0 or 1. Not fenced: bits only grow. Idempotent: each is told once.
-- A publish has a hint for each range where it may have followers. A repeated publish may have
-- other ranges and another number of parts; the number in the hint at hand counts.
local key, any, observed = KEYS[1], ARGV[2], tostring(ARGV[2] + 1)
local fresh = redis.call('SETBIT', key, ARGV[1], 1) == 0
local first = fresh and ARGV[4] == '1' and redis.call('SETBIT', key, any, 1) == 0
local delivered = redis.call('GETBIT', key, any)
local seen = redis.call('GETBIT', key, observed)
local last = seen == 0 and redis.call('BITCOUNT', key) - delivered >= tonumber(ARGV[3])
if last then redis.call('SETBIT', key, observed, '1') end
redis.call('EXPIRE', key, ARGV[5])
return {first and 1 or 0, last and 1 or 0, delivered}
