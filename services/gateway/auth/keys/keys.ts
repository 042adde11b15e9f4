import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import type { Identity, ApiKeyScope } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, parseSettings } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { readBearerToken, isTimingSafeEqual } from '../../request/bearer.ts'
import { apiKeySettings } from '../config.ts'
import type { DeniedUsers } from '../denied-users.ts'
import { type ApiKeyRecord, openKeyRegistry } from './registry.ts'
import { type ApiKeyClaims, verifyKeySignature, signApiKey } from './key-token.ts'

/** The properties of a new API key. */
export interface NewApiKey {
  label: string
  /** Subject of the user that the key acts for. Without one, the key is its own subject. */
  subject?: string | undefined
  scopes: readonly ApiKeyScope[]
  days: number
}

export interface IssuedKey {
  /** The key; returned once and not stored. */
  apiKey: string
  claims: ApiKeyClaims
}

/** Issues, verifies and revokes API keys. The secret is read for every request, so changes take effect at once. */
export interface ApiKeys {
  enabled(): boolean
  /** Throws `unavailable` if API keys are disabled, as `issue` does. */
  requireEnabled(): void
  /** Returns whether a bearer token is the operator secret; false if no secret is set. */
  isOperator(bearer: string): boolean
  issue(grant: NewApiKey): Promise<IssuedKey>
  /** Returns the caller of a key; undefined if it is invalid, expired, revoked or signed with a replaced secret. */
  verify(token: string): Promise<Identity | undefined>
  /** Lists the keys of one subject, or of all subjects. Revoked keys are included until they expire. */
  list(subject?: string): Promise<ApiKeyRecord[]>
  /** Revokes a key permanently. Throws `not-found` for an unknown key, or if `subject` is given and not its owner. */
  revoke(id: string, subject?: string): Promise<ApiKeyRecord>
}

interface KeysOptions {
  env: Environment
  store: Store
  clock: Clock
  /** Deleted users. All their keys are rejected, including those that the registry does not contain. */
  denied: Pick<DeniedUsers, 'has'>
}

const secondsPerDay = 86_400
const idBytes = 12

export const openApiKeys = ({ env, store, clock, denied }: KeysOptions): ApiKeys => {
  const registry = openKeyRegistry(store, clock)
  const secret = () => parseSettings(apiKeySettings, env).SVC_API_KEY_SECRET
  const isOf = ({ claims }: ApiKeyRecord, subject: string | undefined) =>
    subject === undefined || claims.sub === subject

  return {
    enabled: () => secret() !== undefined,
    requireEnabled: () => void requireSecret(secret()),
    isOperator: (bearer) => {
      const known = secret()
      return known !== undefined && isTimingSafeEqual(bearer, known.current)
    },
    issue: async (grant) => {
      const claims = claimsOf(grant, clock.now())
      const apiKey = signApiKey(claims, requireSecret(secret()).current)
      await registry.add(claims)
      return { apiKey, claims }
    },
    verify: async (token) => {
      const known = secret()
      const claims = known && verifyKeySignature(token, known)
      if (claims === undefined || claims.exp * 1000 <= clock.now()) return undefined
      const record = await registry.find(claims.jti)
      if (record !== undefined && record.revokedAtMs !== null) return undefined
      if (await denied.has({ subject: claims.sub })) return undefined
      await registry.noteUse(claims, record)
      return identityOf(claims)
    },
    list: async (subject) => (await registry.all()).filter((record) => isOf(record, subject)),
    revoke: async (id, subject) => {
      const record = await registry.find(id)
      if (record === undefined || !isOf(record, subject)) throw new ServiceError('not-found', `unknown API key "${id}"`)
      return record.revokedAtMs === null ? registry.revoke(record.claims) : record
    },
  }
}

const requireSecret = (secret: RotatingKey | undefined): RotatingKey => {
  if (secret !== undefined) return secret
  throw new ServiceError('unavailable', 'API keys are disabled: SVC_API_KEY_SECRET is not set')
}

const claimsOf = ({ label, subject, scopes, days }: NewApiKey, nowMs: number): ApiKeyClaims => {
  const jti = randomBytes(idBytes).toString('base64url')
  const iat = Math.floor(nowMs / 1000)
  return { jti, sub: subject ?? `key:${jti}`, label, scopes: [...scopes], iat, exp: iat + days * secondsPerDay }
}

const identityOf = ({ sub, label, scopes }: ApiKeyClaims): Identity => ({
  kind: 'key',
  subject: sub,
  features: 'all',
  scopes,
  profile: { name: label },
})

/** The holder of the operator secret, for the audit log. */
export const operatorIdentity: Identity = { kind: 'service', subject: 'operator', features: 'all' }

/** Returns whether the bearer token of a request is the operator secret. */
export const isOperator = (headers: IncomingHttpHeaders, keys: ApiKeys): boolean => {
  const bearer = readBearerToken(headers)
  return bearer !== undefined && keys.isOperator(bearer)
}

/** Returns the error for a caller who is not the operator. */
export const createOperatorRequiredError = (headers: IncomingHttpHeaders): ServiceError =>
  new ServiceError(
    'unauthenticated',
    readBearerToken(headers) === undefined
      ? 'send the operator secret as Authorization: Bearer'
      : 'wrong operator secret',
  )

/** Secrets with fewer characters than this cause a warning. */
const minStrongLength = 16

/** Warns about a short secret, because the holder of a key could guess it offline. */
export const warnOfWeakSecret = (env: Environment, log: Logger): void => {
  const { SVC_API_KEY_SECRET: secret } = parseSettings(apiKeySettings, env)
  if (secret !== undefined && secret.current.length < minStrongLength)
    log.warn(
      `SVC_API_KEY_SECRET has fewer than ${minStrongLength} characters and could be guessed from an API key; use the output of openssl rand -base64 32`,
    )
}
