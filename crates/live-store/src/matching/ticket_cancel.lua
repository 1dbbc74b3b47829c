-- Cancels a ticket if it waits. Returns its state afterwards.
--
-- KEYS: the player's ticket, the ticket, waiting tickets, the stream of updates. ARGV: id, the time in ms for
-- which the ticket is kept, the length of the stream.
if redis.call('zrem', KEYS[3], ARGV[1]) == 1 then
  redis.call('hset', KEYS[2], 'state', 'cancelled')
  redis.call('pexpire', KEYS[2], ARGV[2])
  if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
  redis.call('xadd', KEYS[4], 'maxlen', '~', ARGV[3], '*', 'ticket', ARGV[1], 'state', 'cancelled')
end
return redis.call('hget', KEYS[2], 'state')
