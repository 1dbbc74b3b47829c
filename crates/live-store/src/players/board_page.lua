-- Returns a page of a leaderboard, consistent as of one moment, or false if the board is not marked as
-- complete.
--
-- KEYS: the board, its mark, the member of each player. ARGV: 'top' or 'around', the maximum number of ranks,
-- the requesting player, the number of ranks to skip from the top.
--
-- The result: the number of ranks, the number of players better than the requesting player (-1 without a
-- rank), its stored score, the number of players before the first that is listed, the number of players
-- better than the first that is listed, and pairs of member and stored score.
if redis.call('exists', KEYS[2]) == 0 then return false end
local function better(score) return redis.call('zcount', KEYS[1], '-inf', '(' .. score) end
local total = redis.call('zcard', KEYS[1])
local member = redis.call('hget', KEYS[3], ARGV[3])
local own = member and redis.call('zrank', KEYS[1], member)
local score = own and redis.call('zscore', KEYS[1], member) or '0'
local own_better = own and better(score) or -1
local first, count = tonumber(ARGV[4]), tonumber(ARGV[2])
if ARGV[1] == 'around' then
  if not own then return { total, -1, score, 0, 0, {} } end
  first = math.max(0, math.min(own - math.floor(count / 2), total - count))
end
local listed = redis.call('zrange', KEYS[1], first, first + count - 1, 'withscores')
local pairs_listed = {}
for i = 1, #listed, 2 do pairs_listed[#pairs_listed + 1] = { listed[i], listed[i + 1] } end
local first_better = listed[2] and better(listed[2]) or 0
return { total, own_better, score, first, first_better, pairs_listed }
