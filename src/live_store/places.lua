-- Places of a leaderboard, all of one moment. Nothing when the board is not marked as whole.
-- KEYS: the board, its mark.  ARGV: 'top' or 'around', how many at most, who asks.
-- Gives: how many have a place, those before who asks (-1: no place), its stored score, those
-- before the first that is listed, and pairs of player and stored score.
if redis.call('exists', KEYS[2]) == 0 then return false end
local total = redis.call('zcard', KEYS[1])
local own = redis.call('zrank', KEYS[1], ARGV[3])
local score = own and redis.call('zscore', KEYS[1], ARGV[3]) or '0'
local first, count = 0, tonumber(ARGV[2])
if ARGV[1] == 'around' then
  if not own then return { total, -1, score, 0, {} } end
  first = math.max(0, math.min(own - math.floor(count / 2), total - count))
end
local listed = redis.call('zrange', KEYS[1], first, first + count - 1, 'withscores')
local pairs_listed = {}
for i = 1, #listed, 2 do pairs_listed[#pairs_listed + 1] = { listed[i], listed[i + 1] } end
return { total, own or -1, score, first, pairs_listed }
