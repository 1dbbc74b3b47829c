-- Sets the reasons for which tickets wait. Changes are published in the stream of updates.
--
-- KEYS: the stream of updates. ARGV: the length of the stream, the prefix of the tickets' keys, then ticket
-- and reason or ''…
for i = 3, #ARGV, 2 do
  local ticket, reason = ARGV[2] .. ':' .. ARGV[i], ARGV[i + 1]
  local stands = redis.call('hmget', ticket, 'state', 'reason')
  if stands[1] == 'waiting' and (stands[2] or '') ~= reason then
    redis.call('hset', ticket, 'reason', reason)
    redis.call('xadd', KEYS[1], 'maxlen', '~', ARGV[1], '*', 'ticket', ARGV[i], 'state', 'waiting',
      'reason', reason)
  end
end
return 1
