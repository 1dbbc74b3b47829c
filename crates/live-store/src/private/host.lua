-- Adds a table to those of a host, unless the host has the maximum.
--
-- KEYS: the host's tables, by the time at which they were added. ARGV: table, the maximum, the time in ms
-- within which a table has to be created, time to live in ms, tables that have ended…
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 5, #ARGV do
  -- Another request may be creating a table that was added recently.
  local noted = tonumber(redis.call('zscore', KEYS[1], ARGV[i]))
  if noted and now - noted >= tonumber(ARGV[3]) then redis.call('zrem', KEYS[1], ARGV[i]) end
end
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[4])
return 1
