-- A node says to a shard that it lives, learns the time there, and takes the nodes that do so no
-- longer.
-- KEYS: beats, dead, clock.  ARGV: node, '1' if it has beaten before, its own time in ms or '',
-- silence in ms after which a node is dead, gap in ms, claim in ms, limit.
--
-- A shard's time is Redis' time plus an offset. When nobody has beaten for longer than the gap,
-- or Redis' time went back, either Redis was away or its clock was set: the shard goes on where
-- the caller's clock stands, and everybody has the whole silence before them again. It does not go
-- on earlier than a gap after the last beat: there the clocks of all nodes stand, though the caller
-- may not know the time, or its words may have waited in Redis all the while. Otherwise the offset
-- melts away by a fiftieth of the time that passes.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local own = tonumber(ARGV[3])
local silence, gap, claim = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local at = tonumber(redis.call('hget', KEYS[3], 'at'))
local offset = tonumber(redis.call('hget', KEYS[3], 'offset')) or 0
local since = at and now - at
if not at then
  -- A new house, or an emptied Redis. Time does not go back for those who were shown the caller's.
  if own and (own > now or now - own > silence) then offset = own - now end
elseif since < 0 or since > gap then
  local stood = since > gap and at + offset + gap
  if own then
    offset = math.max(own, stood or own) - now
  elseif stood and since <= 60000 then
    offset = stood - now
  end
  for _, key in ipairs({ KEYS[1], KEYS[2] }) do
    for _, node in ipairs(redis.call('zrange', key, 0, -1)) do redis.call('zadd', key, now, node) end
  end
else
  local melted = math.min(math.abs(offset), since / 50)
  if offset > 0 then offset = offset - melted else offset = offset + melted end
end
redis.call('hset', KEYS[3], 'at', string.format('%d', now), 'offset', string.format('%.3f', offset))

local is_dead = 0
if ARGV[2] == '1' and not redis.call('zscore', KEYS[1], ARGV[1]) then
  -- It has been declared dead. What it noted since is told again before it is forgotten.
  is_dead = 1
  redis.call('zadd', KEYS[2], now, ARGV[1])
else
  redis.call('zadd', KEYS[1], now, ARGV[1])
end
local silent = redis.call('zrange', KEYS[1], '-inf', '(' .. string.format('%d', now - silence),
  'byscore', 'limit', 0, ARGV[7])
for _, node in ipairs(silent) do
  redis.call('zrem', KEYS[1], node)
  redis.call('zadd', KEYS[2], now, node)
end
-- A node's first beat only sets its clock: it is not ready to bury anybody.
local taken = {}
if ARGV[2] == '1' then
  taken = redis.call('zrange', KEYS[2], '-inf', now, 'byscore', 'limit', 0, ARGV[7])
end
for _, node in ipairs(taken) do redis.call('zadd', KEYS[2], now + claim, node) end
return { is_dead, math.floor(now + offset), taken }
