-- Stores a waiting ticket, unless its player has one that is not over. Returns the id of the player's ticket.
--
-- KEYS: the player's ticket, the new ticket, waiting tickets. ARGV: id, player, body, lifetime in ms, the
-- time in ms for which it is kept after that.
local standing = redis.call('get', KEYS[1])
if standing then return standing end
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expires = now + ARGV[4]
redis.call('hset', KEYS[2], 'player', ARGV[2], 'body', ARGV[3], 'state', 'waiting',
  'since', string.format('%d', now), 'expires', string.format('%d', expires))
-- The key outlives the ticket, in case no matcher runs.
redis.call('pexpire', KEYS[2], ARGV[4] + 10 * ARGV[5])
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[4] + 10 * ARGV[5])
redis.call('zadd', KEYS[3], expires, ARGV[1])
return ARGV[1]
