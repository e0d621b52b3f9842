-- rebuild_begin.lua - opens a timeline that is to be rebuilt. From now on it collects what is
-- pushed; nobody is served from it. The reader is numbered anew in live: before the key exists, in
-- one script, so no pusher that hears the news passes him over.
--
-- KEYS  live:{tag}, pos:{tag}, the timeline
-- ARGV  reader, token, TTL of the building key in milliseconds, log ("generation.ranges")
-- Reply "ready" = somebody was faster; "building" = another rebuild is under way; "created";
--       "refused" = pos: is of another log, or of another number of ranges: the timelines here
--       are not this reader's, until the range is taken over. Nothing was written.
--       Without a pos: the range's next owner drops what is made now.
-- A key that is not a sorted set is replaced. live: has no TTL; only a push that finds a timeline
-- gone removes its reader, and nobody pushes to a reader who is made up or follows nobody. So each
-- rebuild checks SOME others and removes those that are gone: in the long run they are at most one
-- in SOME. A check may fail (a Cluster's slot on its way, an ACL without ZRANDMEMBER), which is
-- harmless. Guarded by its token, not by an epoch: readers own no range. A full Redis refuses the
-- first write and so the whole script: no timeline is made, and its reader is served by pulls.
local live, key = KEYS[1], KEYS[3]
local position = redis.call('MGET', KEYS[2])[1]
if position and string.match(position, '^[^:]*') ~= ARGV[4] then return 'refused' end
local found = redis.pcall('ZRANGE', key, '-1', '-1')
if found.err and not is_wrong_type(found.err) then return found end
local tail = found[1]
if tail and is_building(tail) then return 'building' end
if tail and (tail == FLOOR or redis.call('ZSCORE', key, FLOOR)) then return 'ready' end
announce(live, ARGV[1])
redis.call('DEL', key)
redis.call('ZADD', key, FIRST, HEAD, LAST, rebuild_member(ARGV[2]))
redis.call('PEXPIRE', key, ARGV[3])

local SOME = '4'
local others = string.sub(key, 1, -1 - #ARGV[1])  -- their timelines' names begin like this one's
for _, reader in ipairs(redis.pcall('ZRANDMEMBER', live, SOME)) do
  local is_reader = string.sub(reader, 1, 1) ~= '#'  -- a mark
  if is_reader and redis.pcall('EXISTS', others .. reader) == 0 then
    redis.pcall('ZREM', live, reader)
  end
end
return 'created'
