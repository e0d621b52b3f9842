-- read_page.lua - one page of a ready timeline, for a reader; refreshes its TTL at most once a minute.
--
-- KEYS  the timeline
-- ARGV  score and member of the last item seen ("" "" = from the newest), items at most, TTL in
--       milliseconds
-- Reply {"none"}, {"building"}: no items; else {"ready", floor as a score, 1 = the page ends at the
--       floor, then member and score of each item, newest first, strictly newer than the floor}
-- The last item seen need not be there any more: the page starts behind its place in the order.
-- A timeline without an item is not refreshed: one of a made-up reader goes, however often it is read.
local key, after_score, after_member, limit = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local tail = tail_of(key)
if not tail then return {'none'} end
if is_building(tail) then return {'building'} end
local floor = redis.call('ZSCORE', key, 'F')
if not floor then return {'none'} end
local ttl = tonumber(ARGV[4])
if redis.call('PTTL', key) < ttl - math.min(60000, ttl / 2) and redis.call('ZCARD', key) > 2 then
  redis.call('PEXPIRE', key, ARGV[4])
end

local behind = floor == 'inf' and math.huge or tonumber(floor)
local from, least = '(-inf', -math.huge
if after_score ~= '' then from, least = after_score, tonumber(after_score) end
local reply, offset = {'ready', floor, 1}, 0
repeat
  local found = redis.call('ZRANGEBYSCORE', key, from, '+inf', 'WITHSCORES', 'LIMIT', offset,
                           limit + 1)
  for i = 1, #found, 2 do
    local member, score = found[i], tonumber(found[i + 1])
    if score >= behind then return reply end
    if score > least or member > after_member then
      if #reply - 3 == 2 * limit then
        reply[3] = 0
        return reply
      end
      reply[#reply + 1] = member
      reply[#reply + 1] = found[i + 1]
    end
  end
  offset = offset + #found / 2
until #found == 0  -- the place lies below the floor
return reply
