-- reset_begin.lua - first step of giving a range a known state: begins to learn maxfloor:. A
-- takeover also marks live: as pending, and empties it when its timelines are to be dropped.
-- Rebuilds that begin from now on list their readers themselves. The walk over all keys that
-- follows finds the keys of earlier ones.
--
-- KEYS  own:{tag}, live:{tag}, maxfloor:{tag}, a key that never exists, and pos:{tag} if a takeover
--       drops the timelines
-- ARGV  epoch, 1 = a takeover
-- Reply FENCED error, or 1. Idempotent.
-- A quarantine drops timelines while its owner goes on, who has heard the numbers of live:. So it
-- leaves live: as it is, and each reader whose timeline it drops leaves by himself.
-- The drop of a takeover deletes pos:. If its owner does not reach reset_end, there is no pos:, so
-- the next owner drops again; the cause of the drop may not be seen a second time. The key that
-- never exists keeps the script from running while a Cluster's slot is between two nodes: the walk
-- would miss the keys that have moved, and live: could not be made again after it is deleted.
-- UNLINK, since live: may name 250,000 readers: another thread frees them. A live: of a wrong type
-- is deleted, too, since nothing could be listed in it.
local refused = fence(ARGV[1])
if refused then return refused end
overwrites(KEYS[1])
if ARGV[2] == '1' then
  local live, position = KEYS[2], KEYS[5]
  if position then
    redis.call('UNLINK', live, position)
  elseif type(redis.pcall('ZREM', live, '#complete')) == 'table' then
    redis.call('UNLINK', live)
  end
  redis.call('ZADD', live, '-1', '#pending')
end
redis.call('SET', KEYS[3], '?0')
return 1
