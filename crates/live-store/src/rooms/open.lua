-- Returns the tables of a room with a free seat: id, score, seats, companions as JSON, and the time in ms.
--
-- KEYS: open tables, seats taken by table, companions by table. ARGV: the maximum number of tables.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local listed = redis.call('zrange', KEYS[1], 0, ARGV[1] - 1, 'withscores')
local open = {}
for i = 1, #listed, 2 do
  local seats, companions = listed[i + 1] % 10, '[]'
  local stored = redis.call('hget', KEYS[3], listed[i])
  if stored then
    local entry = cjson.decode(stored)
    seats = entry.seats
    if #entry.who > 0 then companions = cjson.encode(entry.who) end
  end
  open[#open + 1] = { listed[i], tonumber(listed[i + 1]), seats, companions, now }
end
return open
