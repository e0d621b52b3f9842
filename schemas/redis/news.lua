-- news.lua - tells the owner of a range who may have become live: the readers who were numbered in
-- live: since it last asked.
--
-- KEYS  own:{tag}, live:{tag}
-- ARGV  epoch, the number up to which it has heard (0 = from the beginning), most readers
-- Reply FENCED error, or {the last number that was given, the epoch of the takeover that completed
--       live: ("0" = it is not complete), how many readers are listed, {reader, number, ...}: those
--       with higher numbers, ascending}
-- A live: of a wrong type, or none, is not complete and lists nobody. Writes no timeline.
-- A write in name, which a replica refuses: a node that became one unnoticed does not list yet those
-- who begin at its master, and the owner would pass them over.
local refused = fence(ARGV[1])
if refused then return refused end
overwrites(KEYS[1])
local live = KEYS[2]
local marks = redis.pcall('ZMSCORE', live, '#n', '#complete')
if marks.err then
  if is_wrong_type(marks.err) then return {'0', '0', 0, {}} end
  return marks
end
return {number_behind(marks[1]), number_behind(marks[2]), redis.call('ZCOUNT', live, '(0', LAST),
        redis.call('ZRANGEBYSCORE', live, '(' .. ARGV[2], LAST, 'WITHSCORES', 'LIMIT', '0', ARGV[3])}
