-- timeline.lua - what the scripts share; put in front of each of them, never run alone.
--
-- A timeline is a sorted set, newest first: marks (A<author> or A-<author>, score -inf), perhaps the version of the
-- reader's mutes (M<version>, -inf), T (-inf), items (binary, score -created_at_ms), then
--   ready     F, score -floor, +inf = nothing older exists
--   building  B:<token> and removal records X<item>, all +inf
-- so its LAST member by rank tells what it is:
--   F ready | B.. or X.. building | an item: just pushed, older than the floor | none: not live
-- Items of the same time as the floor sort in front of F (1 < 'F'). They may stay; readers are served
-- only what is strictly newer.
--
-- What a member looks like is written and read only in the codec below, and in C++ in
-- fanline/model/member.h, which describes it.
--
-- Numbers handed to redis.call are written as strings: Redis would format a Lua number with
-- printf, which costs as much as a whole ZCARD.

-- ---- the codec

local HEAD, FLOOR, MORE_MARKS = 'T', 'F', 'A'
-- Scores: of the head and of marks; of what only a timeline that is being built has, and of a floor
-- when nothing older exists. Redis answers the latter as NO_FLOOR.
local FIRST, LAST, NO_FLOOR = '-inf', '+inf', 'inf'

local function rebuild_member(token)
  return 'B:' .. token
end

local function removal_of(item)
  return 'X' .. item
end

-- The item whose removal the member records, or nil.
local function removed_by(member)
  return string.byte(member) == 88 and string.sub(member, 2) or nil  -- 'X'
end

local function is_mark(member)
  return string.byte(member) == 65  -- 'A'
end

-- Names the version of the reader's mutes.
local function is_mutes(member)
  return string.byte(member) == 77  -- 'M'
end

-- Of any kind, known or not.
local function is_item(member)
  return string.byte(member) == 1
end

-- The author's bytes in an item of any kind.
local function author_of(item)
  if string.byte(item, 10) ~= 0 then return string.sub(item, 10) end
  return string.sub(item, 12, 11 + (string.byte(item, 11) or 0) % 16)
end

-- A post names no kind. An item with a kind may have another spelling of the same place and author:
-- what a repost shows was found when its row was written, and a row that got lost and was written
-- again may show another post. What is to be removed has kind 0, which no item has, if nobody knows
-- its kind.
local function has_kind(item)
  return string.byte(item, 10) == 0
end

-- The same for all spellings.
local function of_any_kind(item)
  local author = author_of(item)
  return string.sub(item, 1, 9) .. string.char(0, #author) .. author
end

-- Call before an item is added: a timeline holds one spelling of it.
local function take_out_other_spellings(key, score, item)
  if not has_kind(item) then return end
  local held = redis.pcall('ZRANGEBYSCORE', key, score, score)
  for i = 1, #held do
    local member = held[i]
    if member ~= item and is_item(member) and of_any_kind(member) == of_any_kind(item) then
      redis.call('ZREM', key, member)
    end
  end
end

-- Whether the item's place in its moment is in front of that of another member. Both may be of one
-- post, then neither is. Byte by byte: Lua compares strings by the locale that Redis was started in.
local function is_in_front(item, other)
  for i = 1, 9 do
    local ours, theirs = string.byte(item, i), string.byte(other, i)
    if ours ~= theirs then return ours < theirs end
  end
  return false
end

-- Whether a timeline with this last member is being built.
local function is_building(tail)
  local first = string.byte(tail)
  return first == 66 or first == 88  -- 'B', 'X'
end

-- ---- what scripts share

-- A full Redis (maxmemory) refuses a write that needs memory only when it is the script's first;
-- after any write it refuses nothing more. `overwrites` is a first write that needs no memory and
-- changes nothing, for scripts that replace short values by short values. A pusher must be able to
-- take over a full Redis too: only its drops make room there.
local function overwrites(key)
  redis.call('PERSIST', key)
end

-- The fence. KEYS[1] is own:{tag}. Returns an error reply, to be returned at once, when the range
-- has no owner or one with a higher epoch. Else raises a lower epoch, in a full Redis too; after
-- that write the script is refused no memory. Runs before the first write. Epochs stay below 2^53,
-- so a Lua number holds them exactly. MGET, because it takes a key of a wrong type for a missing
-- one.
local function fence(epoch)
  local held, mine = redis.call('MGET', KEYS[1])[1], tonumber(epoch)
  local own = tonumber(held)
  if not own or own > mine then
    return redis.error_reply((own and 'FENCED ' or 'UNOWNED ') .. KEYS[1] .. ' holds ' ..
                             (held or 'no epoch') .. ', the call carries ' .. epoch)
  end
  if own < mine then
    overwrites(KEYS[1])
    redis.call('SET', KEYS[1], epoch)
  end
end

local function tail_of(key)
  return redis.call('ZRANGE', key, '-1', '-1')[1]
end

-- Whether a command was refused because its key has another type.
local function is_wrong_type(refusal)
  return string.find(refusal, 'WRONGTYPE') ~= nil
end

-- The number behind a score of live:, as text: marks have their numbers as negative scores, so that
-- those above 0 are all readers'. A missing mark is 0. Redis may write a long score with an
-- exponent; a text without one is a score, an epoch and a number everywhere.
local function number_behind(score)
  return string.format('%.0f', 0 - (score or 0))
end

-- Numbers the reader in live:, which lists him. Each number is higher than all before it, so `news`
-- tells an owner of everybody who was announced since he last asked.
local function announce(live, reader)
  redis.call('ZADD', live, number_behind(redis.call('ZINCRBY', live, '-1', '#n')), reader)
end

-- Deletes the timeline and removes its reader from live:. The next read rebuilds it. Returns the
-- number of deleted keys, 0 or 1. DEL takes a key of any type and needs no memory; ZREM may fail on
-- a live: of a wrong type, hence pcall. A Redis that takes no write at all (a replica, MISCONF,
-- NOREPLICAS) refuses DEL, which ends the script with that error.
local function drop(key, live)
  local there = redis.call('DEL', key)
  redis.pcall('ZREM', live, string.match(key, ':(%d+)$'))
  return there
end

-- Removes the members after F; the tail is known not to be F. Returns their number, or nil when
-- there is no F: such a key is not a timeline.
local function cut_behind_floor(key)
  local rank = redis.call('ZRANK', key, FLOOR)
  if not rank then return nil end
  return redis.call('ZREMRANGEBYRANK', key, rank + 1, '-1')
end

-- Raises maxfloor:{tag}, before a floor is raised to `score`. No floor in the range is above it, so
-- the push of a newer item need not look at the tail. It holds a number; "?number" while older
-- timelines are being enumerated; missing = unknown.
local function note_floor(maxfloor, score)
  local known = redis.call('MGET', maxfloor)[1]  -- false also for a key of a wrong type
  if not known or score == NO_FLOOR or score == LAST then return end
  local doubt, bound = string.match(known, '^(%??)(%d+)$')
  local floor = string.sub(score, 2)  -- without the minus
  if bound and tonumber(floor) > tonumber(bound) then redis.call('SET', maxfloor, doubt .. floor) end
end

-- Whether an existing timeline can take more. It has T already, so writing T changes nothing. If
-- so, Redis refuses the rest of the script no memory.
local function takes_more(key)
  return type(redis.pcall('ZADD', key, FIRST, HEAD)) ~= 'table'
end

-- How many members stand in front of T: marks, and then the version of the reader's mutes.
local function in_front_of_head(key)
  return redis.call('ZRANK', key, HEAD)
end

-- The member that names the version of the reader's mutes, or nil.
local function mutes_of(key)
  local front = in_front_of_head(key)
  local last = front > 0 and redis.call('ZRANGE', key, front - 1, front - 1)[1]
  return last and is_mutes(last) and last or nil
end

-- Call after marks were added. More than `most` are replaced by a single A, which says that there
-- are more than the timeline can name.
local function bound_marks(key, most)
  local marks = in_front_of_head(key)
  if marks <= most then return end
  if mutes_of(key) then marks = marks - 1 end
  if marks <= most then return end
  redis.call('ZREMRANGEBYRANK', key, '0', marks - 1)
  redis.call('ZADD', key, FIRST, MORE_MARKS)
end

-- The trim rule. A ready timeline of `card` members, F the last, is cut when they are more than
-- `trim_above` (WindowLimits in fanline/ports/live_timelines.h): back to its newest `window` items,
-- or fewer if what stands in front takes the room. The newest removed item becomes the floor. Returns whether it
-- was cut. An add earlier in the script was not refused for lack of memory, so no write here is.
local function trim(key, maxfloor, card, trim_above, window)
  if card <= trim_above then return false end
  local front = in_front_of_head(key)
  local cut = front + 1 + math.min(window, trim_above - 2 - front)
  local newest = redis.call('ZRANGE', key, cut, cut, 'WITHSCORES')
  note_floor(maxfloor, newest[2])
  redis.call('ZREMRANGEBYRANK', key, cut, card - 2)
  redis.call('ZADD', key, newest[2], FLOOR)
  return true
end

-- Whether a ready timeline holds fewer than `least` items although older ones exist.
local function falls_short(key, least)
  return redis.call('ZCARD', key) - 2 - in_front_of_head(key) < least and redis.call('ZSCORE', key, FLOOR) ~= NO_FLOOR
end
