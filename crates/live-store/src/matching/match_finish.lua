-- Ends the placement of a ticket at a table: its player is seated, or the ticket waits again.
--
-- KEYS: the player's ticket, the ticket, waiting tickets, placed tickets, the stream of updates. ARGV: id,
-- the chosen table, the table at which the player is seated or '', the time in ms for which the ticket is
-- kept, the length of the stream.
local ticket = redis.call('hmget', KEYS[2], 'state', 'table', 'expires')
if not ticket[1] then
  redis.call('hdel', KEYS[4], ARGV[1])
  return 0
end
if ticket[1] ~= 'placed' or ticket[2] ~= ARGV[2] then return 0 end
redis.call('hdel', KEYS[4], ARGV[1])
if ARGV[3] == '' then
  redis.call('hset', KEYS[2], 'state', 'waiting')
  redis.call('hdel', KEYS[2], 'table')
  redis.call('zadd', KEYS[3], ticket[3], ARGV[1])
  return 1
end
redis.call('hset', KEYS[2], 'state', 'seated', 'table', ARGV[3])
redis.call('pexpire', KEYS[2], ARGV[4])
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
redis.call('xadd', KEYS[5], 'maxlen', '~', ARGV[5], '*', 'ticket', ARGV[1], 'state', 'seated',
  'table', ARGV[3])
return 1
