import { hash, randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import { ApiKeyScope } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Counters } from '#shared/store/counters.ts'
import type { Store } from '#shared/store/store.ts'
import { type Clock, adjustForClockJumps } from '#shared/time/clock.ts'

/** Lifetime of a device code. */
export const deviceCodeLifetimeMs = 900_000
/** Poll interval: six polls a minute stay below the default limit of ten requests. */
export const devicePollIntervalMs = 10_000

/** Retention of a code, longer than its lifetime, so that a late device receives the reason of the rejection. */
const codeRetentionMs = 2 * deviceCodeLifetimeMs
/** Limit for all addresses together, because codes can be requested without authentication. */
const maxCodesPerMinute = 600
const minuteSeconds = 60
const deviceCodeBytes = 32
const maxCodeAttempts = 5

export interface IssuedDeviceCodes {
  deviceCode: string
  userCode: string
}

/** Device codes and user codes, from the request to the single exchange. */
export interface DeviceCodes {
  issue(clientId: string, scopes: readonly ApiKeyScope[]): Promise<IssuedDeviceCodes>
  /** Responds to a poll; only one poll is granted. A client id, if sent, must be the one that requested the code. */
  poll(deviceCode: string, clientId: string | undefined): Promise<Polled>
  /** Returns the login of a typed user code; throws `not-found` if there is none. */
  find(userCode: string): Promise<DeviceLoginRecord>
  /** Approves or denies a login. Throws `not-found`, `gone` if expired, or `conflict` if already decided. */
  decide(userCode: string, decision: DeviceDecision): Promise<DeviceLoginRecord>
}

interface CodesOptions {
  store: Store
  counters: Counters
  clock: Clock
}

const DeviceHash = z.string()

// A device code is a secret, so only its hash is stored.
const hashOf = (deviceCode: string): string => hash('sha256', deviceCode, 'base64url')
const loginName = (hash: string): string => `device-login:${hash}`
const userCodeName = (userCode: string): string => `device-login:user-code:${userCode}`

export const openDeviceCodes = ({ store, counters, clock }: CodesOptions): DeviceCodes => {
  const hashBehind = async (userCode: string): Promise<string> => {
    const hash = await store.get(userCodeName(userCode), DeviceHash)
    if (hash === undefined) throw createUnknownCodeError()
    return hash
  }

  return {
    issue: async (clientId, scopes) => {
      const { count, endsInMs } = await counters.count('device-login:codes', 'all', minuteSeconds)
      if (count > maxCodesPerMinute) throw createTooManyLoginsError(endsInMs)
      const deviceCode = randomBytes(deviceCodeBytes).toString('base64url')
      const hash = hashOf(deviceCode)
      const userCode = await reserveUserCode(store, hash)
      const login = adjustToClock(createPendingLogin(clientId, scopes, clock.now()), clock)
      await store.update(loginName(hash), DeviceLoginRecord, () => ({ value: login, expiresInMs: codeRetentionMs }))
      return { deviceCode, userCode }
    },
    poll: async (deviceCode, clientId) => {
      let polled: Polled = { error: 'invalid_grant' }
      await store.update(loginName(hashOf(deviceCode)), DeviceLoginRecord, (current) => {
        if (current === undefined) return { value: undefined }
        const login = adjustToClock(current, clock)
        const after = clientId === undefined || clientId === login.clientId ? applyPoll(login, clock.now()) : undefined
        // The update function can run several times; the result of its last run is the one that was stored.
        polled = after?.polled ?? { error: 'invalid_grant' }
        return { value: after?.login ?? login, expiresInMs: remainingMs(login, clock.now()) }
      })
      return polled
    },
    find: async (userCode) => {
      const login = await store.get(loginName(await hashBehind(userCode)), DeviceLoginRecord)
      if (login === undefined) throw createUnknownCodeError()
      return adjustToClock(login, clock)
    },
    decide: async (userCode, decision) => {
      const login = await store.update(loginName(await hashBehind(userCode)), DeviceLoginRecord, (current) => {
        if (current === undefined) throw createUnknownCodeError()
        const login = adjustToClock(current, clock)
        return { value: applyDecision(login, decision, clock.now()), expiresInMs: remainingMs(login, clock.now()) }
      })
      if (login === undefined) throw createUnknownCodeError()
      return login
    },
  }
}

const createPendingLogin = (clientId: string, scopes: readonly ApiKeyScope[], nowMs: number): DeviceLoginRecord => ({
  clientId,
  scopes: [...scopes],
  state: 'pending',
  subject: null,
  issuedAtMs: nowMs,
  expiresAtMs: nowMs + deviceCodeLifetimeMs,
  polledAtMs: null,
  intervalMs: devicePollIntervalMs,
})

/** Shifts the times of a login by a change of the system clock, so that its lifetime stays the same. */
const adjustToClock = (login: DeviceLoginRecord, clock: Clock): DeviceLoginRecord => ({
  ...login,
  issuedAtMs: adjustForClockJumps(clock, login.issuedAtMs),
  expiresAtMs: adjustForClockJumps(clock, login.expiresAtMs),
  polledAtMs: login.polledAtMs === null ? null : adjustForClockJumps(clock, login.polledAtMs),
})

const remainingMs = ({ issuedAtMs }: DeviceLoginRecord, nowMs: number): number =>
  Math.max(1, Math.min(codeRetentionMs, issuedAtMs + codeRetentionMs - nowMs))

/** Reserves and returns a user code that is not in use; throws `busy` after several collisions. */
const reserveUserCode = async (store: Store, hash: string): Promise<string> => {
  for (let attempt = 0; attempt < maxCodeAttempts; attempt += 1) {
    const userCode = generateUserCode()
    const owner = await store.update(userCodeName(userCode), DeviceHash, (current) => ({
      value: current ?? hash,
      expiresInMs: codeRetentionMs,
    }))
    if (owner === hash) return userCode
  }
  throw createTooManyLoginsError(minuteSeconds * 1000)
}

const createTooManyLoginsError = (retryAfterMs: number): ServiceError =>
  new ServiceError('busy', 'too many device logins in progress; try again in a minute', { retryAfterMs })

const createUnknownCodeError = (): ServiceError =>
  new ServiceError('not-found', 'unknown code; compare it with the one on the device')

/** Letters that are not easily confused and form no words (RFC 8628 §6.1). */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ'
const userCodeLength = 8

/** Returns a random user code: eight letters, 20^8 possible codes, without the dash that `formatUserCode` adds. */
export const generateUserCode = (): string =>
  Array.from({ length: userCodeLength }, () => userCodeLetters.charAt(randomInt(userCodeLetters.length))).join('')

/** Formats a user code for display: `WDJB-MJHT`. */
export const formatUserCode = (code: string): string =>
  `${code.slice(0, userCodeLength / 2)}-${code.slice(userCodeLength / 2)}`

/** Parses a typed user code in any case and with any separators; undefined when it is invalid. */
export const parseUserCode = (typed: string): string | undefined => {
  const code = typed.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  return code.length === userCodeLength && [...code].every((letter) => userCodeLetters.includes(letter))
    ? code
    : undefined
}

/** The stored state of one device login. */
export const DeviceLoginRecord = z.object({
  clientId: z.string(),
  scopes: z.array(ApiKeyScope),
  state: z.enum(['pending', 'approved', 'denied', 'used']),
  /** Subject of the user who approved or denied the login; null while it is pending. */
  subject: z.string().nullable(),
  issuedAtMs: z.number(),
  expiresAtMs: z.number(),
  polledAtMs: z.number().nullable(),
  intervalMs: z.number(),
})
export type DeviceLoginRecord = z.infer<typeof DeviceLoginRecord>

/** OAuth error codes for a poll that is not granted. */
export type PollError = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant'

/** The response to a device that polls for its key. */
type Polled = { granted: { clientId: string; subject: string; scopes: ApiKeyScope[] } } | { error: PollError }

/** Increase of the poll interval after a poll that arrived too early (RFC 8628 §3.5). */
const slowDownStepMs = 5_000
/** Maximum poll interval. */
const maxIntervalMs = 60_000
/** Polls that arrive early by at most this much are accepted, because network delays vary. */
const pollToleranceMs = 1_000

/** Returns the response to a poll and the updated login. A grant marks the login as used, so that it happens once. */
export const applyPoll = (login: DeviceLoginRecord, nowMs: number): { login: DeviceLoginRecord; polled: Polled } => {
  const { clientId, subject, scopes } = login
  if (login.state === 'used') return { login, polled: { error: 'invalid_grant' } }
  if (nowMs >= login.expiresAtMs) return { login, polled: { error: 'expired_token' } }
  if (login.state === 'denied') return { login, polled: { error: 'access_denied' } }
  if (login.state === 'approved' && subject !== null)
    return { login: { ...login, state: 'used' }, polled: { granted: { clientId, subject, scopes } } }
  const sinceMs = login.polledAtMs === null ? Infinity : nowMs - login.polledAtMs
  // A negative time since the last poll means that the clock was set back before this process started.
  const isTooFast = sinceMs >= 0 && sinceMs < login.intervalMs - pollToleranceMs
  const intervalMs = isTooFast ? Math.min(maxIntervalMs, login.intervalMs + slowDownStepMs) : login.intervalMs
  return {
    login: { ...login, polledAtMs: nowMs, intervalMs },
    polled: { error: isTooFast ? 'slow_down' : 'authorization_pending' },
  }
}

/** The decision of a user about a device. */
export interface DeviceDecision {
  state: 'approved' | 'denied'
  subject: string
}

/** Returns the login after a decision; throws `gone` if it has expired, or `conflict` if it was already decided. */
export const applyDecision = (
  login: DeviceLoginRecord,
  { state, subject }: DeviceDecision,
  nowMs: number,
): DeviceLoginRecord => {
  if (nowMs >= login.expiresAtMs) throw new ServiceError('gone', 'the code has expired; start again on the device')
  if (login.state !== 'pending') throw new ServiceError('conflict', 'this code has already been approved or denied')
  return { ...login, state, subject }
}
