-- Records the heartbeat of a node in a shard. Returns the shard's time, and claims the nodes without a recent
-- heartbeat.
--
-- KEYS: heartbeats, dead nodes, clock. ARGV: node, '1' if it has sent a heartbeat before, its own time in ms
-- or '', silence in ms after which a node is dead, gap in ms, claim in ms, limit.
--
-- A shard's time is the time of Redis plus an offset. If there was no heartbeat for longer than the gap, or
-- if the time of Redis went back, then Redis was unavailable or its clock was set: the shard continues at the
-- caller's time, and every node has the whole silence before it again. The shard continues no earlier than a
-- gap after the last heartbeat: the clocks of all nodes stopped there, although the caller may not know the
-- time, or its call may have waited in Redis. Otherwise the offset decays by a fiftieth of the time that
-- passes.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local own = tonumber(ARGV[3])
local silence, gap, claim = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local at = tonumber(redis.call('hget', KEYS[3], 'at'))
local offset = tonumber(redis.call('hget', KEYS[3], 'offset')) or 0
local since = at and now - at
if not at then
  -- A new house, or an emptied Redis. Time must not go back for clients that have seen the caller's time.
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
  -- The node was declared dead. The connections that it has stored since are reported again before it is
  -- forgotten.
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
-- The first heartbeat only sets the node's clock; the node is not ready to claim others.
local taken = {}
if ARGV[2] == '1' then
  taken = redis.call('zrange', KEYS[2], '-inf', now, 'byscore', 'limit', 0, ARGV[7])
end
for _, node in ipairs(taken) do redis.call('zadd', KEYS[2], now + claim, node) end
return { is_dead, math.floor(now + offset), taken }
