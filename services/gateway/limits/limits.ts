import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Counters } from '#shared/store/counters.ts'
import type { Limit } from '../route.ts'
import { limitSettings } from './config.ts'

/** A limit that counts. */
export type Budget = Exclude<Limit, 'none'>

/** Where a caller stands after one more request was counted. */
export interface Standing {
  allowed: number
  used: number
  endsInMs: number
  /** What a caller is told who has used up what was allowed. */
  sentence: string
}

export interface Limits {
  /** Counts a request from an address. */
  countAddress(budget: Budget, address: string): Promise<Standing>
  /** Counts a question to the agent by whoever asks it: once for people and keys, by the minute and by the day for guests. */
  countQuestion(identity: Identity): AsyncIterable<Standing>
}

const budgets = {
  data: 'RATE_LIMIT_API_PER_MIN',
  agent: 'RATE_LIMIT_AGENT_PER_MIN',
  mcp: 'RATE_LIMIT_MCP_PER_MIN',
  'browser-connection-test': 'RATE_LIMIT_BROWSER_CONN_PER_MIN',
  'browser-connection-session': 'RATE_LIMIT_BROWSER_CONN_PER_MIN',
  'device-login': 'RATE_LIMIT_DEVICE_CODE_PER_MIN',
} as const satisfies Record<Budget, keyof typeof limitSettings>

const minuteSeconds = 60
const dayMs = 86_400_000

export const openLimits = (env: Environment, clock: Clock, counters: Counters): Limits => {
  const settingOf = (name: keyof typeof limitSettings): number => read({ [name]: limitSettings[name] }, env)[name] ?? 0

  const perMinute = async (key: string, allowed: number, whom: string): Promise<Standing> => {
    const { count, endsInMs } = await counters.count(key, minuteSeconds)
    return { allowed, used: count, endsInMs, sentence: `more than ${allowed} requests a minute from ${whom}` }
  }

  const perDay = async (key: string, allowed: number): Promise<Standing> => {
    const now = clock.now()
    const day = Math.floor(now / dayMs)
    const endsInMs = (day + 1) * dayMs - now
    const { count } = await counters.count(`${key}:${day}`, Math.ceil(endsInMs / 1000))
    const sentence = `guests may ask ${allowed} times a day; sign in to ask more, or come back when the day has ended (UTC)`
    return { allowed, used: count, endsInMs, sentence }
  }

  return {
    countAddress: (budget, address) => perMinute(`${budget}:${address}`, settingOf(budgets[budget]), 'one address'),
    async *countQuestion({ kind, subject }) {
      const key = `agent:${kind}:${subject}`
      if (kind === 'guest') {
        yield await perMinute(key, settingOf('RATE_LIMIT_AGENT_GUEST_PER_MIN'), 'one guest')
        yield await perDay(`${key}:day`, settingOf('SVC_GUEST_AI_REQUESTS_PER_DAY'))
      } else if (kind !== 'anonymous') {
        yield await perMinute(key, settingOf('RATE_LIMIT_AGENT_PER_MIN'), 'one caller')
      }
    },
  }
}

/** What a caller may know of a standing, in the header fields that clients look for. */
export const standingHeaders = ({ allowed, used, endsInMs }: Standing): Record<string, number> => ({
  'RateLimit-Limit': allowed,
  'RateLimit-Remaining': Math.max(0, allowed - used),
  'RateLimit-Reset': Math.ceil(endsInMs / 1000),
})

/** Throws `rate-limited` when more was used than is allowed. */
export const requireWithin = ({ allowed, used, endsInMs, sentence }: Standing): void => {
  if (used <= allowed) return
  throw new ServiceError('rate-limited', sentence, { retryAfterMs: endsInMs, details: { limit: allowed } })
}
