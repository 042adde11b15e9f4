import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type Setting } from '#shared/config/setting.ts'
import type { WindowCount, Counters } from '#shared/store/counters.ts'
import type { Store } from '#shared/store/store.ts'
import type { Clock } from '#shared/time/clock.ts'
import { formatSetCookie, readCookie, isHttpsRequest } from '../auth/cookies.ts'
import { isTimingSafeEqual } from '../request/bearer.ts'
import { rateLimitSettings } from './config.ts'

type LimitName = keyof typeof rateLimitSettings

const budgets = {
  data: 'RATE_LIMIT_API_PER_MIN',
  agent: 'RATE_LIMIT_AGENT_PER_MIN',
  mcp: 'RATE_LIMIT_MCP_PER_MIN',
  ingest: 'RATE_LIMIT_INGEST_PER_MIN',
  'browser-connection-test': 'RATE_LIMIT_BROWSER_CONN_PER_MIN',
  'browser-connection-session': 'RATE_LIMIT_BROWSER_CONN_PER_MIN',
  'device-login': 'RATE_LIMIT_DEVICE_CODE_PER_MIN',
} as const satisfies Record<string, LimitName>

/** The name of a budget: a rate limit with its own counters. */
type Budget = keyof typeof budgets
/** The budget that a request is counted against. */
export type RateLimitBudget = 'none' | Budget

/** The kind of a counter: a budget counts addresses; the others count callers of the agent. */
type Kind = Budget | 'caller' | 'guest' | 'guest-day'

/** The state of a counter after a counted request. */
export interface RateLimitState {
  counted: Kind
  allowed: number
  used: number
  endsInMs: number
}

export interface RateLimits {
  /** Counts a request of an address; returns a promise unless the counters are in memory. */
  countAddress(budget: Budget, address: string): RateLimitState | Promise<RateLimitState>
  /**
   * Counts a question to the agent, per user or API key. A guest is counted per minute and per day, by its cookie
   * and by the network of its address, because cookies are easily replaced.
   */
  countQuestion(identity: Identity, prefix: string): AsyncIterable<RateLimitState>
}

const minuteSeconds = 60
const dayMs = 86_400_000

export const createRateLimits = (env: Environment, clock: Clock, counters: Counters): RateLimits => {
  const allowances = allowancesOf(env)

  const count = (counted: Kind, key: string, name: LimitName, seconds = minuteSeconds) => {
    const allowed = allowances[name]()
    const standing = ({ count: used, endsInMs }: WindowCount): RateLimitState => ({ counted, allowed, used, endsInMs })
    const count = counters.count(counted, key, seconds, allowed)
    return count instanceof Promise ? count.then(standing) : standing(count)
  }

  const countDay = async (guest: string): Promise<RateLimitState> => {
    const now = clock.now()
    const day = Math.floor(now / dayMs)
    const standing = await count('guest-day', `${guest}:${day}`, 'SVC_GUEST_AI_REQUESTS_PER_DAY', dayMs / 1000)
    return { ...standing, endsInMs: (day + 1) * dayMs - now }
  }

  return {
    countAddress: (budget, address) => count(budget, address, budgets[budget]),
    async *countQuestion({ kind, subject }, prefix) {
      if (kind === 'guest') {
        for (const guest of [subject, prefix]) {
          yield await count('guest', guest, 'RATE_LIMIT_AGENT_GUEST_PER_MIN')
          yield await countDay(guest)
        }
      } else if (kind !== 'anonymous') {
        yield await count('caller', `${kind}:${subject}`, 'RATE_LIMIT_AGENT_PER_MIN')
      }
    },
  }
}

/** Returns a function per limit that reads its current value, so that a request reads only one setting. */
const allowancesOf = (env: Environment): Record<LimitName, () => number> => {
  const allowance = ([name, setting]: [string, Setting<number>]) => {
    const alone = { [name]: setting }
    // `parseSettings` returns a value for every setting that it receives.
    return [name, () => parseSettings(alone, env)[name] as number] as const
  }
  // Object.fromEntries loses the key type; every limit is present.
  return Object.fromEntries(Object.entries(rateLimitSettings).map(allowance)) as Record<LimitName, () => number>
}

/** Returns the RateLimit headers of a response. */
export const createRateLimitHeaders = ({ allowed, used, endsInMs }: RateLimitState) =>
  [
    ['RateLimit-Limit', allowed],
    ['RateLimit-Remaining', Math.max(0, allowed - used)],
    ['RateLimit-Reset', Math.ceil(endsInMs / 1000)],
  ] as const

/** Throws `rate-limited` if the budget is exceeded. */
export const enforceRateLimit = ({ counted, allowed, used, endsInMs }: RateLimitState): void => {
  if (used <= allowed) return
  const sentence =
    counted === 'guest-day'
      ? `more than ${allowed} questions a day from one guest or network; sign in for more, or wait for the next day (UTC)`
      : `more than ${allowed} requests a minute from one ${counted === 'caller' || counted === 'guest' ? counted : 'address'}`
  throw new ServiceError('rate-limited', sentence, { retryAfterMs: endsInMs, details: { limit: allowed } })
}

const cookieName = 'watchhouse_guest'
/** Store key of the secret that signs guests. The first process creates it; all processes share it. */
const keyName = 'gateway:guest-key'
const keyBytes = 32
/** Lifetime of the guest cookie, longer than the longest rate limit window of guests, which is one day. */
const maxAgeMs = 30 * 86_400_000

/** Identifies callers without credentials in cloud mode by a signed cookie. */
export interface Guests {
  /** Returns the guest of a request; undefined without a valid guest cookie. */
  find(headers: IncomingHttpHeaders): Promise<Identity | undefined>
  /** Returns a `Set-Cookie` line for a new guest. */
  invite(headers: IncomingHttpHeaders, publicUrl: string): Promise<string>
}

export const openGuests = (store: Store): Guests => {
  let known: Promise<string> | undefined
  const key = async (): Promise<string> => {
    known ??= keyIn(store)
    try {
      return await known
    } catch (error) {
      known = undefined
      throw error
    }
  }
  return {
    find: async (headers) => {
      const cookie = readCookie(headers, cookieName)
      const id = cookie === undefined ? undefined : guestIn(cookie, await key())
      return id === undefined ? undefined : { kind: 'guest', subject: id, features: 'all' }
    },
    invite: async (headers, publicUrl) => {
      const id = randomUUID()
      const value = `${id}.${signatureOf(id, await key())}`
      return formatSetCookie(cookieName, value, { maxAgeMs, secure: isHttpsRequest(headers, publicUrl) })
    },
  }
}

const Key = z.string().min(1)

const keyIn = async (store: Store): Promise<string> => {
  const made = randomBytes(keyBytes).toString('base64url')
  const kept = await store.update(keyName, Key, (current) => ({ value: current ?? made }))
  return kept ?? made
}

const guestIn = (cookie: string, secret: string): string | undefined => {
  const { id, signature } = /^(?<id>[\da-f-]{36})\.(?<signature>[\w-]{43})$/.exec(cookie)?.groups ?? {}
  if (id === undefined || signature === undefined) return undefined
  return isTimingSafeEqual(signature, signatureOf(id, secret)) ? id : undefined
}

const signatureOf = (id: string, secret: string): string => createHmac('sha256', secret).update(id).digest('base64url')
