-- Places tickets together at a table, if the lease is the present one and all of them wait.
-- KEYS: lease, its number, waiting tickets, placed ones.  ARGV: holder, number, table, what is to
-- be known of the place, the name that leads those of tickets, the tickets…
if redis.call('get', KEYS[1]) ~= ARGV[1] or redis.call('get', KEYS[2]) ~= ARGV[2] then return 0 end
for i = 6, #ARGV do
  if not redis.call('zscore', KEYS[3], ARGV[i]) then return 0 end
end
for i = 6, #ARGV do
  redis.call('zrem', KEYS[3], ARGV[i])
  redis.call('hset', KEYS[4], ARGV[i], ARGV[4])
  redis.call('hset', ARGV[5] .. ':' .. ARGV[i], 'state', 'placed', 'table', ARGV[3])
end
return 1
