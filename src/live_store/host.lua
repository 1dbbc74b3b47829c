-- Notes a table of a host, if there are not too many.
-- KEYS: the host's tables, by when they were noted.  ARGV: table, the most, how long a table may
-- take to be created in ms, time to live in ms, tables that are gone…
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 5, #ARGV do
  -- One that was noted a moment ago is being created by another request.
  local noted = tonumber(redis.call('zscore', KEYS[1], ARGV[i]))
  if noted and now - noted >= tonumber(ARGV[3]) then redis.call('zrem', KEYS[1], ARGV[i]) end
end
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[4])
return 1
