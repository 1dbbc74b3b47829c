-- Returns 1 for each of these players who has an open socket at some process, and 0 for each other.
--
-- KEYS: processes by their last refresh. ARGV: the time in ms for which a process counts as alive after its
-- last refresh, the players…
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local players, online = {}, {}
for i = 2, #ARGV do
  players[i - 1] = ARGV[i]
  online[i - 1] = 0
end
local processes = redis.call('zrange', KEYS[1], now - ARGV[1], '+inf', 'byscore')
for _, process in ipairs(processes) do
  -- The key is in the slot of the list of processes.
  local there = redis.call('smismember', KEYS[1] .. ':' .. process, unpack(players))
  for i, is_there in ipairs(there) do
    if is_there == 1 then online[i] = 1 end
  end
end
return online
