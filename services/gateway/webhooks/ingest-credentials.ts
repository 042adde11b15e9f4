import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, type SettingValues, parseSettings, signingKeySetting } from '#shared/config/setting.ts'
import { isSharedSecret, readBearerToken } from '../request/bearer.ts'
import { createHeaderNameSetting } from '../request/header.ts'
import type { QueryValues } from '../request/parse.ts'
import { isValidSignature, listSecrets, readSingleHeader } from './signature.ts'

/** Settings of the event ingest route. */
export const eventSettings = {
  SVC_EVENTS_INGEST_TOKEN: signingKeySetting(
    'Bearer token of POST /api/events/ingest; without it the route returns 503.',
  ),
  SVC_EVENTS_BASIC_PASSWORD: signingKeySetting(
    'Password for HTTP Basic authentication at POST /api/events/ingest, with any user name, for senders that cannot send a bearer token, such as AWS SNS. Requires SVC_EVENTS_INGEST_TOKEN.',
  ),
  SVC_EVENTS_QUERY_TOKEN: signingKeySetting(
    'Token in the query parameter "token" of POST /api/events/ingest, for senders that cannot set headers. Use a separate token, because proxies log URLs. Requires SVC_EVENTS_INGEST_TOKEN.',
  ),
  SVC_EVENTS_GITHUB_SECRET: signingKeySetting(
    'Secret of a GitHub webhook that sends events to POST /api/events/ingest, signed in X-Hub-Signature-256. Requires SVC_EVENTS_INGEST_TOKEN.',
  ),
  SVC_EVENTS_SENTRY_SECRET: signingKeySetting(
    'Client secret of a Sentry integration that sends events to POST /api/events/ingest, signed in Sentry-Hook-Signature. Requires SVC_EVENTS_INGEST_TOKEN.',
  ),
  SVC_EVENTS_SIGNING_SECRET: signingKeySetting(
    'Secret of other senders that sign the body with HMAC-SHA-256 in hexadecimal, such as Grafana and PagerDuty. The signature is in the header SVC_EVENTS_SIGNATURE_HEADER. Requires SVC_EVENTS_INGEST_TOKEN.',
  ),
  SVC_EVENTS_SIGNATURE_HEADER: createHeaderNameSetting(
    'x-signature',
    'Header with the signature of senders that use SVC_EVENTS_SIGNING_SECRET, such as X-PagerDuty-Signature. It may list several signatures, with the prefix sha256= or v1=.',
  ),
} as const

/** The parts of a request that contain credentials. */
interface IngestRequest {
  headers: IncomingHttpHeaders
  query: QueryValues
}

/**
 * Throws `unauthenticated` unless the request contains the ingest token, another configured secret, or the header of a
 * configured signature. `requireIngestSignature` verifies the signature after the body is read. Throws `unavailable`
 * if `SVC_EVENTS_INGEST_TOKEN` is not set.
 */
export const requireIngestCredentials = (request: IngestRequest, env: Environment): void => {
  const settings = parseSettings(eventSettings, env)
  if (settings.SVC_EVENTS_INGEST_TOKEN === undefined)
    throw new ServiceError('unavailable', 'events are rejected: SVC_EVENTS_INGEST_TOKEN is not set')
  if (hasSecret(request, settings) || listSignatures(request, settings).length > 0) return
  throw new ServiceError('unauthenticated', 'missing or wrong ingest token; send it as Authorization: Bearer')
}

/** Throws `unauthenticated` if a request without a secret has no valid signature of the body. */
export const requireIngestSignature = (request: IngestRequest, body: Buffer, env: Environment): void => {
  const settings = parseSettings(eventSettings, env)
  if (hasSecret(request, settings)) return
  const signatures = listSignatures(request, settings)
  const isSigned = signatures.some(({ values, secret }) =>
    values.some((value) => isValidSignature(value, { content: [body], keys: listSecrets(secret) })),
  )
  if (isSigned) return
  const expected = signatures.map(({ header, variable }) => `${header} must sign the body with ${variable}`).join('; ')
  throw new ServiceError('unauthenticated', expected || 'missing signature of the body')
}

/** Returns the challenge of a rejected request. SNS sends its password only after a challenge for Basic authentication. */
export const createIngestChallenge = (env: Environment): string => {
  const hasPassword = parseSettings(eventSettings, env).SVC_EVENTS_BASIC_PASSWORD !== undefined
  return `Bearer realm="watchhouse"${hasPassword ? ', Basic realm="watchhouse"' : ''}`
}

type EventSettings = SettingValues<typeof eventSettings>

const hasSecret = ({ headers, query }: IngestRequest, settings: EventSettings): boolean => {
  const { token } = query
  const candidates: [string | undefined, RotatingKey | undefined][] = [
    [readBearerToken(headers), settings.SVC_EVENTS_INGEST_TOKEN],
    [readBasicPassword(headers), settings.SVC_EVENTS_BASIC_PASSWORD],
    [typeof token === 'string' ? token : undefined, settings.SVC_EVENTS_QUERY_TOKEN],
  ]
  // All candidates are compared, so that the response time does not reveal which one matched.
  const matches = candidates.map(([candidate, secret]) => secret !== undefined && isSharedSecret(candidate, secret))
  return matches.includes(true)
}

const readBasicPassword = ({ authorization = '' }: IncomingHttpHeaders): string | undefined => {
  const encoded = /^basic +(?<encoded>[\w+/=-]+) *$/i.exec(authorization)?.groups?.encoded
  if (encoded === undefined) return undefined
  const credentials = Buffer.from(encoded, 'base64').toString()
  const colon = credentials.indexOf(':')
  return colon === -1 ? undefined : credentials.slice(colon + 1)
}

/** A header with signatures, and the configured secret that verifies them. */
interface SignatureHeader {
  header: string
  variable: string
  secret: RotatingKey
  values: readonly string[]
}

/** Maximum number of signatures in a header. A sender that rotates its secret sends two. */
const maxSignatures = 4

const listSignatures = ({ headers }: IngestRequest, settings: EventSettings): SignatureHeader[] => {
  const sources = [
    ['x-hub-signature-256', 'SVC_EVENTS_GITHUB_SECRET'],
    ['sentry-hook-signature', 'SVC_EVENTS_SENTRY_SECRET'],
    [settings.SVC_EVENTS_SIGNATURE_HEADER, 'SVC_EVENTS_SIGNING_SECRET'],
  ] as const
  return sources.flatMap(([header, variable]) => {
    const secret = settings[variable]
    const listed = readSingleHeader(headers[header])
    if (secret === undefined || listed === undefined) return []
    const values = listed.split(',', maxSignatures).map((value) => value.trim().replace(/^(sha256|v1)=/, ''))
    return [{ header, variable, secret, values }]
  })
}
