import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import { errorStatuses } from '#proto/errors.ts'
import { DeploymentsResponse, DeploymentsQuery } from '#proto/http/deployments.ts'
import {
  eventMediaTypes,
  IngestResponse,
  IngestBody,
  IngestQuery,
  EventsResponse,
  EventsQuery,
  formatEventCursor,
} from '#proto/http/events.ts'
import { isIngestHeader, maxIngestBodyBytes, type IngestResult } from '#proto/ingest.ts'
import { gatewayIdentity } from '../auth/identity.ts'
import { canSeeInstallation } from '../hosts/host-list.ts'
import { decodeBody } from '../request/read-body.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { HttpError } from '../response/http-exchange.ts'
import { type Route, defineGetRoute } from '../http-route.ts'
import {
  createIngestChallenge,
  requireIngestCredentials,
  requireIngestSignature,
} from '../webhooks/ingest-credentials.ts'

/** Accepts events of other systems; responds only after they are stored. */
export const ingestRoute: Route = {
  method: 'POST',
  path: '/api/events/ingest',
  doc: 'Stores events of alerting systems: one object, a list or {events: []}, lines of JSON, or a message of AWS SNS; of Alertmanager, Grafana, CloudEvents, PagerDuty, Opsgenie, Datadog, Sentry, GitHub, CloudWatch, Azure Monitor, Zabbix and others, or of any other shape',
  feature: null,
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: IngestQuery,
  refuses: [422],
  reads: { mediaTypes: eventMediaTypes, schema: IngestBody },
  status: 202,
  answer: IngestResponse,
  open: requireIngestCredentials,
  challenge: (_request, { env }, { status }) =>
    status === errorStatuses.unauthenticated ? createIngestChallenge(env) : undefined,
  identify: async () => gatewayIdentity,
  async respond({ headers, query, call, readBody }, { env, ingest }, reply) {
    const bytes = await readBody(maxIngestBodyBytes)
    requireIngestSignature({ headers, query }, bytes, env)
    // A binary-mode CloudEvent without data has no body and no content type.
    if (bytes.length > 0 || headers['ce-specversion'] === undefined) requireMediaType(headers)
    const body = decodeBody(bytes)
    const ingestHeaders: Record<string, string> = {}
    for (const name in headers) if (isIngestHeader(name)) ingestHeaders[name] = String(headers[name])
    reply.accepted(responseTo(await ingest.accept({ body, headers: ingestHeaders }, call)))
  },
}

/**
 * Accepts JSON, every +json type, such as that of CloudEvents, and one JSON object per line. SNS sends JSON as plain
 * text.
 */
const requireMediaType = ({ 'content-type': mediaType = '', ...headers }: IncomingHttpHeaders): void => {
  if (/^application\/(([\w.-]+\+)?json|x-ndjson)\s*(;|$)/i.test(mediaType)) return
  if (headers['x-amz-sns-message-type'] !== undefined && /^text\/plain\s*(;|$)/i.test(mediaType)) return
  throw new HttpError(
    415,
    'unsupported-media-type',
    `send JSON, with a Content-Type such as ${eventMediaTypes.join(', ')}`,
  )
}

/** Returns the response with event ids and errors. Throws 422 if no event is valid, so that senders do not retry. */
const responseTo = (outcomes: readonly IngestResult[]): z.input<typeof IngestResponse> => {
  const accepted = outcomes.flatMap((one) => ('id' in one ? [one] : []))
  const errors = outcomes.flatMap((one, index) => ('error' in one ? [{ index, message: one.error }] : []))
  if (accepted.length === 0)
    throw new HttpError(422, 'invalid-event', errors[0]?.message ?? 'the body contains no event')
  const duplicates = accepted.filter(({ duplicate }) => duplicate).length
  return createSuccessBody({ accepted: accepted.length, duplicates, ids: accepted.map(({ id }) => id), errors }, {})
}

export const eventsRoute = defineGetRoute({
  path: '/api/v1/events',
  doc: 'Lists events of other systems, newest first',
  feature: 'HEALTH',
  access: 'read',
  limit: 'data',
  query: EventsQuery,
  answer: EventsResponse,
  handle: async ({ query: { from, to, before, cursor, limit, ...filter }, call }, { ingest }) => {
    const found = await ingest.events({ ...filter, fromMs: from, toMs: to, after: cursor ?? before, limit }, call)
    const last = found.at(-1)
    const next = last && found.length === limit ? formatEventCursor(last) : null
    return createSuccessBody(found, { next, nextCursor: next })
  },
})

const secondMs = 1_000
const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * secondMs)

export const deploymentsRoute = defineGetRoute({
  path: '/api/v1/deployments',
  doc: 'Lists deployments reported by the webhook of the repository host, newest first',
  feature: 'METRICS',
  access: 'read',
  limit: 'data',
  query: DeploymentsQuery,
  answer: DeploymentsResponse,
  handle: async ({ query: { from, to, limit }, call }, { hosts, ingest }) => {
    if (!(await canSeeInstallation(hosts))) return createSuccessBody([], { count: 0 })
    const found = await ingest.deployments({ fromMs: inMs(from), toMs: inMs(to), limit }, call)
    return createSuccessBody(found, { count: found.length })
  },
})
