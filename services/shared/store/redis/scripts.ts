/** Milliseconds of the server's clock; every script that compares times begins with it. */
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/**
 * One step: the value under its version, the fence and the messages, or nothing. The value has a version beside it because
 * a text that came back to what it was is still a write in between.
 * Messages that their writer claims are told to nobody.
 * KEYS value, slot, messages, waiting, claimed, attempts.
 * ARGV expected, version, keep, text, expiry, fence name, fence token, limit, channel, length of the claim or 0, then id and text of each message.
 */
export const writeScript = `
local time = redis.call('TIME')
local fence, token = ARGV[6], tonumber(ARGV[7])
if fence ~= '' and tonumber(redis.call('HGET', KEYS[2], 'fence:' .. fence) or 0) > token then return 'fenced' end
if (redis.call('HGET', KEYS[1], 'version') or '') ~= ARGV[1] then return 'changed' end
local added = (#ARGV - 10) / 2
if added > 0 and redis.call('HLEN', KEYS[3]) + added > tonumber(ARGV[8]) then return 'full' end
if fence ~= '' then redis.call('HSET', KEYS[2], 'fence:' .. fence, ARGV[7]) end
redis.call('DEL', KEYS[1])
if ARGV[3] == '1' then
  redis.call('HSET', KEYS[1], 'version', ARGV[2], 'text', ARGV[4])
  if ARGV[5] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
end
if added == 0 then return 'written' end
local order = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('HGET', KEYS[2], 'order') or 0) + 1)
local claim = tonumber(ARGV[10])
for i = 11, #ARGV, 2 do
  local place = string.format('%.0f', order)
  if redis.call('HSETNX', KEYS[3], ARGV[i], place .. ' ' .. ARGV[i + 1]) == 1 then
    order = order + 1
    if claim == 0 then
      redis.call('ZADD', KEYS[4], place, ARGV[i])
    else
      redis.call('ZADD', KEYS[5], time[1] * 1000 + math.floor(time[2] / 1000) + claim, ARGV[i])
      redis.call('HSET', KEYS[6], ARGV[i], 1)
    end
  end
end
redis.call('HSET', KEYS[2], 'order', string.format('%.0f', order))
if claim == 0 then redis.call('PUBLISH', ARGV[9], '') end
return 'written'
`

/**
 * The oldest messages that are not claimed, after those whose claim has ended went back to their place. A claim that ends much later
 * than one of now would was written before the clock of the server was set back, and has ended too.
 * KEYS messages, waiting, claimed. ARGV max, length of the longest claim.
 */
export const peekScript = `${clock}
for _, range in ipairs({ { '-inf', now }, { '(' .. string.format('%.0f', now + 2 * ARGV[2]), '+inf' } }) do
  for _, id in ipairs(redis.call('ZRANGE', KEYS[3], range[1], range[2], 'BYSCORE', 'LIMIT', 0, 1000)) do
    local message = redis.call('HGET', KEYS[1], id)
    redis.call('ZREM', KEYS[3], id)
    if message then redis.call('ZADD', KEYS[2], string.match(message, '^%d+'), id) end
  end
end
return redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1, 'WITHSCORES')
`

/** Takes those of the ids that nobody took since they were seen. KEYS messages, waiting, claimed, attempts. ARGV length, ids. */
export const claimScript = `${clock}
local taken = {}
for i = 2, #ARGV do
  if redis.call('ZREM', KEYS[2], ARGV[i]) == 1 then
    redis.call('ZADD', KEYS[3], now + ARGV[1], ARGV[i])
    local attempt = redis.call('HINCRBY', KEYS[4], ARGV[i], 1)
    table.insert(taken, { ARGV[i], redis.call('HGET', KEYS[1], ARGV[i]), attempt })
  end
end
return taken
`

/** KEYS messages, waiting, claimed, attempts. ARGV ids. */
export const ackScript = `
for _, id in ipairs(ARGV) do
  if redis.call('HDEL', KEYS[1], id) == 1 then
    redis.call('ZREM', KEYS[2], id)
    redis.call('ZREM', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
  end
end
`

/**
 * Tokens begin at the server's time, so they grow even when a server that lost its data counts anew. All takers of a name use one
 * length: a lease that lasts much longer was taken before the clock of the server was set back, and is free.
 * KEYS lease, slot. ARGV name, length.
 */
export const takeLeaseScript = `${clock}
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= 2 * ARGV[2] then return 0 end
local token = math.max(now, tonumber(redis.call('HGET', KEYS[2], 'fence:' .. ARGV[1]) or 0) + 1)
redis.call('HSET', KEYS[2], 'fence:' .. ARGV[1], string.format('%.0f', token))
redis.call('SET', KEYS[1], string.format('%.0f', token), 'PX', ARGV[2])
return token
`

/** Makes a slot refuse older tokens before the first write of the new holder reaches it. KEYS slot. ARGV name, token. */
export const raiseFenceScript = `
if tonumber(redis.call('HGET', KEYS[1], 'fence:' .. ARGV[1]) or 0) < tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[1], 'fence:' .. ARGV[1], ARGV[2])
end
`

/** KEYS lease. ARGV token, length; length 0 gives the lease back. */
export const renewLeaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`
