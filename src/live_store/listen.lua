-- Notes in a table's head that a process listens to its publications ('1'), or no longer ('0').
-- More than a few are not told apart: then everything is published.
-- KEYS: head.  ARGV: listener, '1' or '0'.  Gives 1 if the table is there.
if redis.call('exists', KEYS[1]) == 0 then return 0 end
local noted = redis.call('hget', KEYS[1], 'listeners') or ''
if noted == 'many' then return 1 end
local stay = {}
for one in string.gmatch(noted, '%S+') do
  if one ~= ARGV[1] then stay[#stay + 1] = one end
end
if ARGV[2] == '1' then stay[#stay + 1] = ARGV[1] end
if #stay > 16 then stay = { 'many' } end
redis.call('hset', KEYS[1], 'listeners', table.concat(stay, ' '))
return 1
