-- Appends lines to a journal if its version is still the one the caller decided on.
-- KEYS: head, journal, due.  ARGV: version, deadline in ms or '', table, channel, time to live in
-- ms or '0', then the lines.
local head = redis.call('hmget', KEYS[1], 'base', 'halted')
local base = tonumber(head[1])
if not base then return { 'missing' } end
if head[2] then return { 'halted' } end
local expected = tonumber(ARGV[1])
local version = base + redis.call('llen', KEYS[2])
if version ~= expected then
  if expected < base or expected > version then return { 'elsewhere' } end
  return { 'behind', redis.call('lrange', KEYS[2], expected - base, -1) }
end
local lines = {}
for i = 6, #ARGV do
  lines[#lines + 1] = ARGV[i]
  redis.call('rpush', KEYS[2], ARGV[i])
end
if ARGV[2] == '' then
  redis.call('zrem', KEYS[3], ARGV[3])
else
  redis.call('zadd', KEYS[3], ARGV[2], ARGV[3])
end
local ttl = tonumber(ARGV[5])
if ttl > 0 then
  redis.call('pexpire', KEYS[1], ttl)
  redis.call('pexpire', KEYS[2], ttl)
else
  redis.call('persist', KEYS[1])
  redis.call('persist', KEYS[2])
end
redis.call('spublish', ARGV[4], expected .. '\n' .. table.concat(lines, '\n'))
return { 'appended' }
