-- Lists a table with its seated players and its free seats. Reservations stay for their lifetime.
--
-- KEYS: open tables, seats taken by table, companions by table. ARGV: table, seats, rank × 10, lifetime of a
-- reservation in ms, the seated players…
local table_id, seats, rank = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local seated, taken = {}, 0
for i = 5, #ARGV do
  seated[ARGV[i]] = true
  taken = taken + 1
end
local stored = redis.call('hget', KEYS[3], table_id)
local stay = {}
if stored then
  for _, one in ipairs(cjson.decode(stored).who) do
    if seated[one.p] then
      one.s = true
      seated[one.p] = nil
      stay[#stay + 1] = one
    elseif not one.s and now - one.at < tonumber(ARGV[4]) then
      stay[#stay + 1] = one
    end
  end
end
-- A player who sat down without a reservation has no conflict keys and the default rating.
for i = 5, #ARGV do
  if seated[ARGV[i]] then
    stay[#stay + 1] = { p = ARGV[i], m = '', r = 25000, s = true, at = now }
  end
end
if #stay == 0 then
  redis.call('hdel', KEYS[3], table_id)
else
  redis.call('hset', KEYS[3], table_id, cjson.encode({ seats = seats, who = stay }))
end
if taken == 0 then
  redis.call('zrem', KEYS[2], table_id)
else
  redis.call('zadd', KEYS[2], taken, table_id)
end
if taken >= seats or (#stay == 0 and rank > 0) then
  redis.call('zrem', KEYS[1], table_id)
else
  redis.call('zadd', KEYS[1], rank + seats - taken, table_id)
end
return 1
