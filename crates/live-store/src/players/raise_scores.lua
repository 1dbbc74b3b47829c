-- Raises scores on a leaderboard. A better stored score stays. A player's member begins with the time at
-- which the score was reached, which orders equal scores; it changes with the score, and the hash holds the
-- current one.
--
-- KEYS: the board, the member of each player. ARGV: the lifetime of both in ms, then for each score the
-- player, the member and the stored score, of which the lowest is the best.
for i = 2, #ARGV, 3 do
  local player, member, score = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local old = redis.call('hget', KEYS[2], player)
  local stands = old and redis.call('zscore', KEYS[1], old)
  if not stands or tonumber(score) < tonumber(stands) then
    if old then redis.call('zrem', KEYS[1], old) end
    redis.call('zadd', KEYS[1], score, member)
    redis.call('hset', KEYS[2], player, member)
  end
end
redis.call('pexpire', KEYS[1], ARGV[1])
redis.call('pexpire', KEYS[2], ARGV[1])
return redis.status_reply('OK')
