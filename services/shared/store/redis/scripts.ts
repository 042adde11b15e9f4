/** Lua code that reads the server clock in milliseconds; scripts that compare times start with it. */
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * Applies a change atomically: checks the fence, versions and required messages, then writes values and messages.
 * Versions also differ if a value was changed and then restored. Messages that their writer claims are not announced.
 * KEYS: fences, messages, waiting, claimed, attempts, then one key per value.
 * ARGV: fence name, fence token, outbox limit, channel, claim length in ms or 0, numbers of acknowledged and required
 * messages. These are followed by the ids of the acknowledged and the required messages.
 * Each value adds its expected version, new version, keep flag, text and expiry in ms. Each message adds id and text.
 */
export const writeScript = `
local time = redis.call('TIME')
local fence, token = ARGV[1], tonumber(ARGV[2])
if fence ~= '' and tonumber(redis.call('HGET', KEYS[1], 'fence:' .. fence) or 0) > token then return 'fenced' end
local acks, needs, values = tonumber(ARGV[6]), tonumber(ARGV[7]), #KEYS - 5
local first = 8 + acks + needs
local rest = first + 5 * values
for i = 1, values do
  if (redis.call('HGET', KEYS[5 + i], 'version') or '') ~= ARGV[first + 5 * (i - 1)] then return 'changed' end
end
for i = 8 + acks, first - 1 do
  if redis.call('HEXISTS', KEYS[2], ARGV[i]) == 0 then return 'gone' end
end
local added = (#ARGV - rest + 1) / 2
if added > 0 then
  local ended = 0
  for i = 8, 7 + acks do ended = ended + redis.call('HEXISTS', KEYS[2], ARGV[i]) end
  if redis.call('HLEN', KEYS[2]) - ended + added > tonumber(ARGV[3]) then return 'full' end
end
if fence ~= '' then redis.call('HSET', KEYS[1], 'fence:' .. fence, ARGV[2]) end
for i = 1, values do
  local key, at = KEYS[5 + i], first + 5 * (i - 1)
  redis.call('DEL', key)
  if ARGV[at + 2] == '1' then
    redis.call('HSET', key, 'version', ARGV[at + 1], 'text', ARGV[at + 3])
    if ARGV[at + 4] ~= '' then redis.call('PEXPIRE', key, ARGV[at + 4]) end
  end
end
for i = 8, 7 + acks do
  if redis.call('HDEL', KEYS[2], ARGV[i]) == 1 then
    redis.call('ZREM', KEYS[3], ARGV[i])
    redis.call('ZREM', KEYS[4], ARGV[i])
    redis.call('HDEL', KEYS[5], ARGV[i])
  end
end
if added == 0 then return 'written' end
local order = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('HGET', KEYS[1], 'order') or 0) + 1)
local claim = tonumber(ARGV[5])
for i = rest, #ARGV, 2 do
  local place = string.format('%.0f', order)
  if redis.call('HSETNX', KEYS[2], ARGV[i], place .. ' ' .. ARGV[i + 1]) == 1 then
    order = order + 1
    if claim == 0 then
      redis.call('ZADD', KEYS[3], place, ARGV[i])
    else
      redis.call('ZADD', KEYS[4], time[1] * 1000 + math.floor(time[2] / 1000) + claim, ARGV[i])
      redis.call('HSET', KEYS[5], ARGV[i], 1)
    end
  end
end
redis.call('HSET', KEYS[1], 'order', string.format('%.0f', order))
if claim == 0 then redis.call('PUBLISH', ARGV[4], '') end
return 'written'
`

/**
 * Claims the oldest messages; those with an expired claim first return to their position. A claim that ends more than
 * two maximum lengths ahead was made before the server clock was set back; it counts as expired.
 * KEYS: messages, waiting, claimed, attempts. ARGV: maximum number of messages, maximum claim length, length of these
 * claims.
 */
export const claimScript = `${clock}
for _, range in ipairs({ { '-inf', now }, { '(' .. string.format('%.0f', now + 2 * ARGV[2]), '+inf' } }) do
  for _, id in ipairs(redis.call('ZRANGE', KEYS[3], range[1], range[2], 'BYSCORE', 'LIMIT', 0, 1000)) do
    local message = redis.call('HGET', KEYS[1], id)
    redis.call('ZREM', KEYS[3], id)
    if message then redis.call('ZADD', KEYS[2], string.match(message, '^%d+'), id) end
  end
end
local taken = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1)) do
  redis.call('ZREM', KEYS[2], id)
  redis.call('ZADD', KEYS[3], now + ARGV[3], id)
  local attempt = redis.call('HINCRBY', KEYS[4], id, 1)
  table.insert(taken, { id, redis.call('HGET', KEYS[1], id), attempt })
end
return taken
`

/** Removes messages from the outbox. KEYS: messages, waiting, claimed, attempts. ARGV: ids. */
export const ackScript = `
for _, id in ipairs(ARGV) do
  if redis.call('HDEL', KEYS[1], id) == 1 then
    redis.call('ZREM', KEYS[2], id)
    redis.call('ZREM', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
  end
end
`

/** Sets the end of existing claims, relative to now. KEYS: claimed. ARGV: claim length in ms, ids. */
export const renewScript = `${clock}
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[1], ARGV[i]) end
`

/** Returns the ids that are in the outbox. KEYS: messages. ARGV: ids. */
export const findMessagesScript = `
local held = {}
for _, id in ipairs(ARGV) do
  if redis.call('HEXISTS', KEYS[1], id) == 1 then table.insert(held, id) end
end
return held
`

/**
 * Takes a lease and returns its token; returns 0 if the lease is held. Tokens start at the server time, so they keep
 * growing even if the server loses its data. All takers of a name use the same length. A lease with more than twice
 * that length left was taken before the server clock was set back; it counts as free.
 * KEYS: lease, fences. ARGV: lease name, length in ms.
 */
export const takeLeaseScript = `${clock}
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= 2 * ARGV[2] then return 0 end
local token = math.max(now, tonumber(redis.call('HGET', KEYS[2], 'fence:' .. ARGV[1]) or 0) + 1)
redis.call('HSET', KEYS[2], 'fence:' .. ARGV[1], string.format('%.0f', token))
redis.call('SET', KEYS[1], string.format('%.0f', token), 'PX', ARGV[2])
return token
`

/**
 * Sets the remaining time of a lease; returns 0 if another token holds it, or none. Length 0 releases the lease.
 * KEYS: lease. ARGV: token, length in ms.
 */
export const renewLeaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`
