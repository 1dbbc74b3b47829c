-- Says why tickets wait. What has changed is told in the list of what is over.
-- KEYS: the list of what is over.  ARGV: the length of the list, the name that leads those of tickets,
-- then ticket and reason or ''…
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
