-- Appends entries to a journal if its newest point is still the one the caller decided on.
-- KEYS: head, journal, due.  ARGV: version, the tag at it, deadline in ms or '', table, channel,
-- time to live in ms or '0', listener, then the entries: a tag, a space, a line.
--
-- They are published unless nobody listens but the caller, who knows them. Who listens is noted in
-- the head, and noted again with each subscription: counting subscribers would take another for
-- the caller while its own subscription is broken.
--
-- The length alone does not tell one history from another: a Redis that has lost its last lines
-- grows to the same length again. The tags do.
local head = redis.call('hmget', KEYS[1], 'base', 'halted', 'tag', 'listeners')
local base = tonumber(head[1])
if not base then return { 'missing' } end
if head[2] then return { 'halted' } end
local expected = tonumber(ARGV[1])
local version = base + redis.call('llen', KEYS[2])
if expected < base or expected > version then return { 'elsewhere' } end
local none = '000000000000'
local tag = head[3] or none
if expected > base then
  local entry = redis.call('lindex', KEYS[2], expected - version - 1)
  tag = string.sub(entry, 13, 13) == ' ' and string.sub(entry, 1, 12) or none
end
if tag ~= ARGV[2] then return { 'elsewhere' } end
if version ~= expected then
  return { 'behind', redis.call('lrange', KEYS[2], expected - version, -1) }
end
local entries = {}
for i = 8, #ARGV do
  entries[#entries + 1] = ARGV[i]
  redis.call('rpush', KEYS[2], ARGV[i])
end
if ARGV[3] == '' then
  redis.call('zrem', KEYS[3], ARGV[4])
else
  redis.call('zadd', KEYS[3], ARGV[3], ARGV[4])
end
local ttl = tonumber(ARGV[6])
if ttl > 0 then
  redis.call('pexpire', KEYS[1], ttl)
  redis.call('pexpire', KEYS[2], ttl)
else
  redis.call('persist', KEYS[1])
  redis.call('persist', KEYS[2])
end
if head[4] and head[4] ~= '' and head[4] ~= ARGV[7] then
  local after = expected .. ' ' .. tag
  redis.call('spublish', ARGV[5], after .. '\n' .. table.concat(entries, '\n'))
end
return { 'appended' }
