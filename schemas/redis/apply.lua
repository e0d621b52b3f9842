-- apply.lua - adds and removes items of many live timelines. Never creates one.
--
-- KEYS  own:{tag}, live:{tag}, maxfloor:{tag}, then the timelines: all of one range
-- ARGV  epoch, window W, trim above (members), least items (W/2), most marks, how many items and
--       marks there are to add, score and member of each (a mark: -inf),
--       per timeline: the number of the one item to add (the first is 1; no mark), else
--       -(adds + 32 * removes), then the number of each add, then (score, member) of each to
--       remove. One with a kind that is not there as it is spelled is looked for in its moment; if
--       nobody knows its moment ("" as its score), among all members.
--       A timeline's adds are distinct; at most 16.
-- Reply FENCED error: nothing was written. Else
--       1 one byte per timeline: '0' + number of items that were new ('0'..'@'), '-' not live,
--         'x' the key is not a sorted set (WRONGTYPE) and was left alone
--       2 items removed  3 timelines trimmed  4 timelines dropped as too short  5 an example of
--       an 'x', and of what Redis said  6 timelines dropped because Redis is full
--       or the error of a Redis that takes no write at all: nothing was written
--
-- The ZADD itself finds a dead key. Every timeline has T, so a ZADD of n items and T that adds n +
-- 1 members has just created the key, and the key is deleted again. An item newer than maxfloor: is
-- newer than every floor, so only the number of members is left to check; else the tail tells
-- whether an item now sorts behind the floor. Before the adds there are at most `trim above`
-- members, so their number never passes zset-max-listpack-entries.
-- Idempotent: sorted sets add and remove once, and the floor only rises.
local live, maxfloor = KEYS[2], KEYS[3]
local window, trim_above, least = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local most_marks = tonumber(ARGV[5])
local pcall = redis.pcall
local NOT_LIVE, FAILED = -1, -2
local removed, trimmed, short, full, failure = 0, 0, 0, 0, ''

-- A timeline that cannot take the item (out of memory) would lack it, so it is dropped, ready or
-- building, and its reader rebuilds it. The freed memory lets the others take theirs. Any other
-- refusal (an ACL, MISCONF) is not the timeline's fault and ends the script.
local function refused_by(answer, key)
  if string.find(answer.err, 'WRONGTYPE', 1, true) then
    failure = key .. ': ' .. answer.err
    return FAILED
  end
  if not string.find(answer.err, 'OOM', 1, true) then error(answer.err) end
  if drop(key, live) == 1 then full = full + 1 end
  return NOT_LIVE
end

-- Records removals for the rebuild under way, which may have read the posts before. If they cannot
-- be recorded (too many, out of memory), the rebuild starts again. Returns whether it goes on.
local function record(key, first, last)
  for i = first + 1, last, 2 do
    local answer = pcall('ZADD', key, LAST, removal_of(ARGV[i]))
    if type(answer) == 'table' or redis.call('ZCARD', key) > trim_above then
      drop(key, live)
      return false
    end
  end
  return true
end

local function take_out(key, score, removed)
  local gone = redis.call('ZREM', key, removed)
  if gone > 0 or not has_kind(removed) then return gone end
  removed = of_any_kind(removed)
  local from, to = score, score
  if score == '' then from, to = FIRST, LAST end
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, from, to)) do
    if is_item(member) and of_any_kind(member) == removed then
      gone = gone + redis.call('ZREM', key, member)
    end
  end
  return gone
end

-- Removes what ARGV[first..last] names. Returns nothing if the timeline stays live, else a result.
local function remove(key, first, last)
  local tail = pcall('ZRANGE', key, '-1', '-1')
  if tail.err then return refused_by(tail, key) end
  if not tail[1] then
    drop(key, live)
    return NOT_LIVE
  end
  local gone = 0
  for i = first, last, 2 do gone = gone + take_out(key, ARGV[i], ARGV[i + 1]) end
  removed = removed + gone
  if is_building(tail[1]) then
    if not record(key, first, last) then return NOT_LIVE end
  elseif gone > 0 and falls_short(key, least) then
    drop(key, live)
    short = short + 1
    return NOT_LIVE
  end
end

-- After `added` > 0 new items: keeps a timeline that is being built within its bound, a ready one
-- within its floor and its window. A post may be recorded as removed and then be added again:
-- rebuild_finish takes the item, not the record.
local function settle(key, added)
  local tail, card = tail_of(key), redis.call('ZCARD', key)
  if is_building(tail) then
    if card <= trim_above then return added end
    drop(key, live)
    return NOT_LIVE
  end
  if tail ~= FLOOR then
    local behind = cut_behind_floor(key)
    if not behind then
      drop(key, live)
      return NOT_LIVE
    end
    added, card = math.max(0, added - behind), card - behind
  end
  if trim(key, maxfloor, card, trim_above, window) then trimmed = trimmed + 1 end
  return added
end

-- The result of a timeline, from the answer of the ZADD of n items and T. `in_front`: the items are
-- newer than every floor.
local function judge(key, answer, n, in_front)
  if type(answer) == 'table' then return refused_by(answer, key) end
  if answer == n + 1 then
    drop(key, live)
    return NOT_LIVE
  end
  if answer == 0 or (in_front and redis.call('ZCARD', key) <= trim_above) then return answer end
  return settle(key, answer)
end

local refused = fence(ARGV[1])
if refused then return refused end
local bound = tonumber(redis.call('MGET', maxfloor)[1]) or math.huge  -- unknown: nothing is newer

-- Item i stands at place 5 + 2 * i of ARGV. A mark is newer than every item.
local items, time_at = tonumber(ARGV[6]), {}
for place = 7, 5 + 2 * items, 2 do time_at[place] = -tonumber(ARGV[place]) end

local function add(key, first, n)
  local words, oldest, marks = {}, math.huge, false
  for i = first, first + n - 1 do
    local place = 5 + 2 * ARGV[i]
    take_out_other_spellings(key, ARGV[place], ARGV[place + 1])
    words[#words + 1], words[#words + 2] = ARGV[place], ARGV[place + 1]
    oldest = math.min(oldest, time_at[place])
    marks = marks or time_at[place] == math.huge
  end
  words[#words + 1], words[#words + 2] = FIRST, HEAD
  local answer = pcall('ZADD', key, unpack(words))
  if marks and type(answer) == 'number' and answer <= n then bound_marks(key, most_marks) end
  return judge(key, answer, n, oldest > bound)
end

local BYTE = {[FAILED] = 'x', [NOT_LIVE] = '-'}
for added = 0, 16 do BYTE[added] = string.char(48 + added) end

local out, at = {}, 7 + 2 * items
for k = 4, #KEYS do
  local key, shape, result = KEYS[k], tonumber(ARGV[at]), nil
  if shape > 0 then  -- most of them
    local place = 5 + 2 * shape
    take_out_other_spellings(key, ARGV[place], ARGV[place + 1])
    result = judge(key, pcall('ZADD', key, ARGV[place], ARGV[place + 1], FIRST, HEAD), 1,
                   time_at[place] > bound)
    at = at + 1
  else
    local n = -shape % 32
    local m = (-shape - n) / 32
    local adds, removes = at + 1, at + 1 + n
    at = removes + 2 * m
    if m > 0 then result = remove(key, removes, at - 1) end
    if n > 0 and not result then result = add(key, adds, n) end
  end
  out[k - 3] = BYTE[result or 0]
end
return {table.concat(out), removed, trimmed, short, failure, full}
