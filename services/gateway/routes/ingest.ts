import type { z } from 'zod'
import { DeploymentsAnswer, DeploymentsQuery } from '#proto/http/deployments.ts'
import { eventMediaTypes, IngestAnswer, IngestBody, EventsAnswer, EventsQuery, placeOf } from '#proto/http/events.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { isIngestHeader, longestIngestBody, type Taken } from '#proto/ingest.ts'
import { gatewayItself } from '../auth/identity.ts'
import { hearsOfInstallation } from '../hosts/host-list.ts'
import { textOf } from '../request/read-body.ts'
import { success } from '../response/envelope.ts'
import { HttpError } from '../response/http-exchange.ts'
import { type Route, getRoute } from '../http-route.ts'
import { requireSender } from '../webhooks/bearers.ts'

/** Takes events of other systems: answered once they are kept, or not at all. */
export const ingestEvents: Route = {
  method: 'POST',
  path: '/api/events/ingest',
  doc: 'Keeps events of alerting systems: one object, a list or {events: []}, of Alertmanager, Grafana, CloudEvents, PagerDuty, Opsgenie, Datadog or any other shape',
  feature: null,
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: noQuery,
  refuses: [422],
  reads: { mediaTypes: eventMediaTypes, schema: IngestBody },
  status: 202,
  answer: IngestAnswer,
  open: requireSender,
  identify: async () => gatewayItself,
  async respond({ headers, call, readBody }, { ingest }, reply) {
    const bytes = await readBody(longestIngestBody)
    // A CloudEvent whose header fields say all has no data and no type of it.
    if (bytes.length > 0 || headers['ce-specversion'] === undefined) requireMediaType(headers['content-type'])
    const body = textOf(bytes)
    const told: Record<string, string> = {}
    for (const name in headers) if (isIngestHeader(name)) told[name] = String(headers[name])
    reply.accepted(answerTo(await ingest.accept({ body, headers: told }, call)))
  },
}

/** JSON under any name of its own, as CloudEvents and others have one. */
const requireMediaType = (given = ''): void => {
  if (/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(given)) return
  throw new HttpError(
    415,
    'unsupported-media-type',
    `send JSON, with a Content-Type such as ${eventMediaTypes.join(', ')}`,
  )
}

/** Throws when there is nothing in it that could be kept: a sender that is told so need not come again. */
const answerTo = (taken: readonly Taken[]): z.input<typeof IngestAnswer> => {
  const kept = taken.flatMap((one) => ('id' in one ? [one] : []))
  const errors = taken.flatMap((one, index) => ('error' in one ? [{ index, message: one.error }] : []))
  if (kept.length === 0)
    throw new HttpError(422, 'invalid-event', errors[0]?.message ?? 'there is no event in the body')
  const duplicates = kept.filter(({ duplicate }) => duplicate).length
  return success({ accepted: kept.length, duplicates, ids: kept.map(({ id }) => id), errors }, {})
}

export const events = getRoute({
  path: '/api/v1/events',
  doc: 'Events that other systems sent, the newest first',
  feature: 'HEALTH',
  access: 'read',
  limit: 'data',
  query: EventsQuery,
  answer: EventsAnswer,
  handle: async ({ query: { from, to, before, limit, ...filter }, call }, { ingest }) => {
    const found = await ingest.events({ ...filter, fromMs: from, toMs: to, after: before, limit }, call)
    const last = found.at(-1)
    return success(found, { next: last && found.length === limit ? placeOf(last) : null })
  },
})

const secondMs = 1_000
const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * secondMs)

export const deployments = getRoute({
  path: '/api/v1/deployments',
  doc: 'What was put into use, as the webhook of the repository host told it, the newest first',
  feature: 'METRICS',
  access: 'read',
  limit: 'data',
  query: DeploymentsQuery,
  answer: DeploymentsAnswer,
  handle: async ({ query: { from, to, limit }, call }, { hosts, ingest }) => {
    if (!(await hearsOfInstallation(hosts))) return success([], { count: 0 })
    const found = await ingest.deployments({ fromMs: inMs(from), toMs: inMs(to), limit }, call)
    return success(found, { count: found.length })
  },
})
