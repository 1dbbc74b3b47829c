-- Adds a process to the listeners in a table's head ('1'), or removes it ('0'). Beyond 16 listeners the head
-- says 'many', and every line is published. Returns 1 if the table exists.
--
-- KEYS: head. ARGV: listener, '1' or '0'.
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
