-- Takes a place at the table that should be filled first, or lists a new one with the caller in
-- it. A score is rank × 10 + free seats, the least first.
-- KEYS: the room's open tables.  ARGV: new table, its score with one seat taken, tables to skip…
local skip = {}
for i = 3, #ARGV do skip[ARGV[i]] = true end
local listed = redis.call('zrange', KEYS[1], 0, #ARGV - 2, 'withscores')
for i = 1, #listed, 2 do
  if not skip[listed[i]] then
    if listed[i + 1] % 10 <= 1 then
      redis.call('zrem', KEYS[1], listed[i])
    else
      redis.call('zincrby', KEYS[1], -1, listed[i])
    end
    return listed[i]
  end
end
redis.call('zadd', KEYS[1], ARGV[2], ARGV[1])
return ARGV[1]
