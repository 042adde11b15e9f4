import { z } from 'zod'
import { Scope } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'

/** One device that wants to sign in. */
export const Login = z.object({
  clientId: z.string(),
  scopes: z.array(Scope),
  state: z.enum(['pending', 'approved', 'denied', 'used']),
  /** Who approved it. */
  subject: z.string().nullable(),
  issuedAtMs: z.number(),
  expiresAtMs: z.number(),
  polledAtMs: z.number().nullable(),
  intervalMs: z.number(),
})
export type Login = z.infer<typeof Login>

/** Why a device does not get its key, in the words of OAuth. */
export type PollError = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant'

/** What a device hears when it asks for its key. */
export type Polled = { granted: { clientId: string; subject: string; scopes: Scope[] } } | { error: PollError }

/** A client that polls too fast waits this much longer from then on (RFC 8628 §3.5). */
const slowerByMs = 5_000
const slowestMs = 60_000
/** A poll may come this much early: networks do not keep time. */
const earlyMs = 1_000

/** Answers a poll, and says what is remembered of it. A key is granted once: the login is used up in the same step. */
export const poll = (login: Login, nowMs: number): { login: Login; polled: Polled } => {
  const { clientId, subject, scopes } = login
  if (login.state === 'used') return { login, polled: { error: 'invalid_grant' } }
  if (nowMs >= login.expiresAtMs) return { login, polled: { error: 'expired_token' } }
  if (login.state === 'denied') return { login, polled: { error: 'access_denied' } }
  if (login.state === 'approved' && subject !== null)
    return { login: { ...login, state: 'used' }, polled: { granted: { clientId, subject, scopes } } }
  const sinceMs = login.polledAtMs === null ? Infinity : nowMs - login.polledAtMs
  // One that seems to come before the last is of a clock that was set back before this process began.
  const isTooFast = sinceMs >= 0 && sinceMs < login.intervalMs - earlyMs
  const intervalMs = isTooFast ? Math.min(slowestMs, login.intervalMs + slowerByMs) : login.intervalMs
  return {
    login: { ...login, polledAtMs: nowMs, intervalMs },
    polled: { error: isTooFast ? 'slow_down' : 'authorization_pending' },
  }
}

/** What somebody decided about a device. */
export interface Verdict {
  state: 'approved' | 'denied'
  subject: string
}

/** The login after a person decided; throws where there is nothing left to decide. */
export const decide = (login: Login, { state, subject }: Verdict, nowMs: number): Login => {
  if (nowMs >= login.expiresAtMs) throw new ServiceError('gone', 'the code has expired; start again on the device')
  if (login.state !== 'pending') throw new ServiceError('conflict', 'somebody has already decided about this code')
  return { ...login, state, subject }
}
