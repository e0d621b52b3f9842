-- read_page.lua - one page of a ready timeline, for a reader; refreshes its TTL at most once a minute.
--
-- KEYS  the timeline
-- ARGV  score of the last item seen and how its member begins ("" "" = from the newest), items at most, TTL in
--       milliseconds, the name of pos:{tag}, "front" or ""
-- Reply {"none"}, {"building"}: no items; else {"ready", floor as a score, the time that pos: says or
--       "", then lists of members and their scores, to be read one after another: the marks, T, the
--       items asked for, newest first}; with "front" a last list, of the members alone: the items at the
--       place of the last item seen and in front of it. The caller takes the items strictly newer than the floor: here
--       they would have to be looked at one by one, which takes longer than all else.
-- pos: is not among KEYS: while a slot moves the two may be on different nodes, and the page is served
-- without the time.
-- The last item seen may be gone: the page starts after its place in the order. A timeline without
-- an item is not refreshed, so a made-up reader's expires however often it is read. A master that
-- takes no writes for now (MISCONF, NOREPLICAS) still serves its pages. A key that is not a sorted
-- set reads as none: the rebuild replaces it.
local key, after_score, place = KEYS[1], ARGV[1], ARGV[2]
local tail = redis.pcall('ZRANGE', key, '-1', '-1', 'WITHSCORES')
if tail.err and not is_wrong_type(tail.err) then return tail end
if not tail[1] then return {'none'} end
if is_building(tail[1]) then return {'building'} end
local floor = tail[1] == FLOOR and tail[2] or redis.call('ZSCORE', key, FLOOR)
if not floor then return {'none'} end
local ttl = tonumber(ARGV[4])
if redis.call('PTTL', key) < ttl - math.min(60000, ttl / 2) and
    redis.call('ZCARD', key) > 2 then
  local refreshed = redis.pcall('PEXPIRE', key, ARGV[4])
  local refusal = type(refreshed) == 'table' and refreshed.err
  if refusal and not (string.find(refusal, 'MISCONF') or string.find(refusal, 'NOREPLICAS')) then
    return refreshed
  end
end

local position = redis.pcall('GET', ARGV[5])
local as_of = type(position) == 'string' and string.match(position, '@(%d+)') or ''
if after_score == '' then
  local found = redis.call('ZRANGE', key, '0', ARGV[3], 'WITHSCORES')  -- T, and as many items as asked
  if found[1] == HEAD then return {'ready', floor, as_of, found} end
  local marks = redis.call('ZCOUNT', key, FIRST, FIRST) - 1  -- stand where the last items would
  return {'ready', floor, as_of, found,
          redis.call('ZRANGE', key, ARGV[3] + 1, ARGV[3] + marks, 'WITHSCORES')}
end
local seen = 0  -- items of the place's own moment that do not come after it
for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, after_score, after_score)) do
  if not is_in_front(place, member) then seen = seen + 1 end
end
local reply = {'ready', floor, as_of, redis.call('ZRANGEBYSCORE', key, FIRST, FIRST, 'WITHSCORES'),
               redis.call('ZRANGEBYSCORE', key, after_score, LAST, 'WITHSCORES', 'LIMIT', seen, ARGV[3])}
if ARGV[6] == 'front' then
  local newer = redis.call('ZCOUNT', key, '(' .. FIRST, '(' .. after_score)
  reply[6] = redis.call('ZRANGEBYSCORE', key, '(' .. FIRST, after_score, 'LIMIT', '0', newer + seen)
end
return reply
