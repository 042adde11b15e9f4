import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import type { ApiKeyScope } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Counters } from '#shared/store/counters.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { HttpError } from '../../response/http-exchange.ts'
import { resolveCloudMode } from '../../installation/edition.ts'
import { apiKeySettings } from '../config.ts'
import type { ApiKeys, IssuedKey } from '../keys/keys.ts'
import { resolveAuthProvider } from '../provider.ts'
import {
  type IssuedDeviceCodes,
  openDeviceCodes,
  parseUserCode,
  type DeviceLoginRecord,
  type PollError,
  type DeviceDecision,
} from './codes.ts'
import { deviceSettings } from './config.ts'

/** Device login (RFC 8628): a command-line tool receives an API key after a user approves its code in a browser. */
export interface DeviceLogin {
  availability(): DeviceLoginAvailability
  kind: CodeStore['kind']
  /** Returns the subject of API keys that are issued after the operator approves a device. */
  operatorSubject(): string
  /** Issues a device code and a user code. Like the methods below, throws `unavailable` if device login is disabled. */
  begin(clientId: string, scopes: readonly ApiKeyScope[]): Promise<IssuedDeviceCodes>
  /** Returns the key of an approved device code once; otherwise throws an OAuth error. */
  exchange(deviceCode: string, clientId: string | undefined): Promise<IssuedKey>
  /** Returns the login of a user code. Attempts are limited per user. */
  find(userCode: string, decider: DeviceApprover): Promise<DeviceLoginRecord>
  decide(userCode: string, state: DeviceDecision['state'], decider: DeviceApprover): Promise<DeviceLoginRecord>
}

/** The caller who approves or denies devices. */
export interface DeviceApprover {
  /** Subject of the keys that approved devices receive. */
  subject: string
  isOperator: boolean
}

interface DeviceLoginOptions {
  env: Environment
  build: BuildInfo | undefined
  codeStore: CodeStore
  counters: Counters
  clock: Clock
  keys: ApiKeys
}

const keyDays = 30
/** Attempts per user and window: enough for typing errors, too few to guess one of 25 billion codes. */
const maxAttempts = 20
const attemptWindowSeconds = 900

export const openDeviceLogin = (options: DeviceLoginOptions): DeviceLogin => {
  const { env, build, codeStore, counters, clock, keys } = options
  const codes = openDeviceCodes({ store: codeStore.store, counters, clock })

  const requireEnabled = (): void => {
    const { enabled, reason } = getDeviceLoginAvailability(env, build)
    if (!enabled) throw new ServiceError('unavailable', reason === 'disabled' ? disabledMessage : missingSecretMessage)
  }

  /** Counts the attempt and parses a typed user code. Throws `rate-limited` after too many attempts. */
  const parseAttempt = async (typed: string, decider: DeviceApprover): Promise<string> => {
    requireEnabled()
    if (!decider.isOperator) await countTry(counters, decider.subject)
    const code = parseUserCode(typed)
    if (code !== undefined) return code
    throw new ServiceError('invalid', 'user_code must be the eight letters that the device shows, such as WDJB-MJHT')
  }

  return {
    availability: () => getDeviceLoginAvailability(env, build),
    kind: codeStore.kind,
    operatorSubject: () => parseSettings(deviceSettings, env).SVC_DEVICE_LOGIN_SUBJECT,
    begin: async (clientId, scopes) => {
      requireEnabled()
      return codes.issue(clientId, scopes)
    },
    exchange: async (deviceCode, clientId) => {
      requireEnabled()
      const polled = await codes.poll(deviceCode, clientId)
      if ('error' in polled) throw new HttpError(400, polled.error, pollErrorMessages[polled.error])
      const { clientId: label, subject, scopes } = polled.granted
      return keys.issue({ label, subject, scopes, days: keyDays })
    },
    find: async (typed, decider) => codes.find(await parseAttempt(typed, decider)),
    decide: async (typed, state, decider) =>
      codes.decide(await parseAttempt(typed, decider), { state, subject: decider.subject }),
  }
}

const countTry = async (counters: Counters, subject: string): Promise<void> => {
  // Subjects can be long and contain any characters, so the counter uses a digest.
  const digest = hash('sha256', subject, 'base64url')
  const { count, endsInMs } = await counters.count('device-login:tries', digest, attemptWindowSeconds)
  if (count > maxAttempts)
    throw new ServiceError('rate-limited', 'too many failed attempts; try again later', { retryAfterMs: endsInMs })
}

const disabledMessage = 'device login is disabled; set SVC_DEVICE_LOGIN=true'
const missingSecretMessage = 'device login is disabled: SVC_API_KEY_SECRET is not set'

const pollErrorMessages: Record<PollError, string> = {
  authorization_pending: 'authorization pending: the code is not approved yet; poll again after the interval',
  slow_down: 'polling too fast; increase the interval by five seconds',
  access_denied: 'the sign-in was denied',
  expired_token: 'the code has expired; request a new one',
  invalid_grant: 'the device code is unknown, was used already, or belongs to another client',
}

export interface DeviceLoginAvailability {
  enabled: boolean
  mode: 'auto' | 'true' | 'false'
  /** True without an authentication provider: only the operator can approve devices. */
  deviceOnly: boolean
  /** Why device login is disabled; null if it is enabled. */
  reason: 'disabled' | 'missing_api_key_secret' | null
}

/** Returns whether device login is enabled. It needs API keys, because devices receive one. */
export const getDeviceLoginAvailability = (env: Environment, build: BuildInfo | undefined): DeviceLoginAvailability => {
  const { SVC_DEVICE_LOGIN: wanted, SVC_API_KEY_SECRET: secret } = parseSettings(
    { ...deviceSettings, ...apiKeySettings },
    env,
  )
  const isWanted = wanted ?? resolveCloudMode(build, env).runtime
  const isMissing = secret === undefined
  return {
    enabled: isWanted && !isMissing,
    mode: wanted === undefined ? 'auto' : wanted ? 'true' : 'false',
    deviceOnly: resolveAuthProvider(env, build) === 'none',
    reason: reasonOf(isWanted, isMissing),
  }
}

const reasonOf = (isWanted: boolean, isMissing: boolean): DeviceLoginAvailability['reason'] => {
  if (!isWanted) return 'disabled'
  return isMissing ? 'missing_api_key_secret' : null
}

/** The store of device codes: the edge SQL binding if it is set, otherwise the shared state store. */
interface CodeStore extends AsyncDisposable {
  kind: 'edgesql' | 'store'
  store: Store
}

/** Opens the store of device codes; throws `unavailable` if the database of the binding cannot be opened. */
export const openCodeStore = async (env: Environment, shared: Store, log: Logger): Promise<CodeStore> => {
  const { CONVERSATIONS_EDGESQL: bound } = parseSettings(deviceSettings, env)
  if (bound === undefined) return { kind: 'store', store: shared, [Symbol.asyncDispose]: async () => {} }
  const store = await openStore({ env: { SVC_STATE_DB_URL: bound }, busIsShared: false, log }).catch(
    (cause: unknown) => {
      throw new ServiceError('unavailable', 'cannot open the database of CONVERSATIONS_EDGESQL', { cause })
    },
  )
  return { kind: 'edgesql', store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
