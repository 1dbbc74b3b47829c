-- Acquires or renews the lease of the matcher, and expires tickets. Returns the fencing number of the lease,
-- the time in ms, the waiting tickets and the placed ones; false while another process holds the lease.
--
-- KEYS: lease, its fencing number, waiting tickets, placed tickets, the stream of updates. ARGV: holder,
-- lease in ms, the time in ms for which a ticket is kept after it is over, the length of the stream, the
-- prefix of the tickets' keys.
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return false end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
if not holder then redis.call('incr', KEYS[2]) end
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local late = redis.call('zrange', KEYS[3], '-inf', now, 'byscore', 'limit', 0, 1000)
for _, id in ipairs(late) do
  redis.call('zrem', KEYS[3], id)
  local ticket = ARGV[5] .. ':' .. id
  local player = redis.call('hget', ticket, 'player')
  if player then
    redis.call('hset', ticket, 'state', 'expired')
    redis.call('pexpire', ticket, ARGV[3])
    local of = string.gsub(ARGV[5], 'ticket$', 'of:' .. player)
    if redis.call('get', of) == id then redis.call('del', of) end
    redis.call('xadd', KEYS[5], 'maxlen', '~', ARGV[4], '*', 'ticket', id, 'state', 'expired')
  end
end
return { tonumber(redis.call('get', KEYS[2])), now, redis.call('zrange', KEYS[3], 0, -1),
  redis.call('hgetall', KEYS[4]) }
