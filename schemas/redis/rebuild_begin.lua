-- rebuild_begin.lua - opens a timeline that is to be rebuilt. From now on it collects what is
-- pushed; nobody is served from it. The reader is listed in live: before the key exists, so no
-- pusher passes it over.
--
-- KEYS  live:{tag}, the timeline
-- ARGV  reader, token, TTL of the building key in milliseconds
-- Reply "ready" = somebody was faster; "building" = another rebuild is under way; "created".
-- Guarded by its token, not by an epoch: readers own no range. A full Redis refuses the first
-- write and so the whole script: no timeline is made, and its reader is served by pulls.
local tail = tail_of(KEYS[2])
if tail and is_building(tail) then return 'building' end
if tail and (tail == 'F' or redis.call('ZSCORE', KEYS[2], 'F')) then return 'ready' end
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
redis.call('ZADD', KEYS[2], '-inf', 'T', '+inf', 'B:' .. ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 'created'
