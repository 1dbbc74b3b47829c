-- Adds the players with an open socket at a process, and removes those without.
--
-- KEYS: processes by their last refresh, the process's players. ARGV: process, the time in ms for which a
-- process counts as alive after its last refresh, then for each player '1' or '0', and the player.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 3, #ARGV, 2 do
  redis.call(ARGV[i] == '1' and 'sadd' or 'srem', KEYS[2], ARGV[i + 1])
end
redis.call('pexpire', KEYS[2], ARGV[2])
redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
