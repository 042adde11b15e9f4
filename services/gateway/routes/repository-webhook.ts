import { ServiceError } from '#proto/errors.ts'
import { RepositoryHookBody, RepositoryHookResponse } from '#proto/http/deployments.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type RotatingKey } from '#shared/config/setting.ts'
import { parseJsonText, decodeBody } from '../request/read-body.ts'
import { HttpError } from '../response/http-exchange.ts'
import { gatewayIdentity } from '../auth/identity.ts'
import { parseForm } from '../request/parse.ts'
import type { Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { isValidSignature, listSecrets, readSingleHeader, webhookSettings } from '../webhooks/signature.ts'
import { parseRepositoryEvent } from '../webhooks/repository-event.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'
/** Maximum body size, which is large because a push event lists all its commits. */
const maxBodyBytes = 5 * 1024 * 1024

/**
 * Stores deployments, releases and pushes of a repository host. Its signatures have no timestamp, but a replayed event
 * changes nothing.
 */
export const repositoryWebhookRoute: Route = {
  method: 'POST',
  path: '/api/webhooks/repository',
  doc: 'Annotates charts with a deployment, a release or a push to the default branch; signed by the repository host with REPO_HOST_WEBHOOK_SECRET',
  feature: null,
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: noQuery,
  reads: { mediaTypes: [json, form], schema: RepositoryHookBody },
  answer: RepositoryHookResponse,
  open: (_request, env) => void secretOf(env),
  async respond({ headers, call, readBody }, { env, ingest, clock }, reply) {
    const body = await readBody(maxBodyBytes)
    const signature = readSingleHeader(headers['x-hub-signature-256'])
    const signed = { content: [body], keys: listSecrets(secretOf(env)) }
    if (!signature?.startsWith('sha256=') || !isValidSignature(signature.slice('sha256='.length), signed))
      throw new ServiceError(
        'unauthenticated',
        'invalid X-Hub-Signature-256: does not match the body; check REPO_HOST_WEBHOOK_SECRET',
      )
    const event = readSingleHeader(headers['x-github-event'])
    if (!event) throw new ServiceError('invalid', 'X-GitHub-Event must name the event')
    const parsed = parseRepositoryEvent(event, payloadOf(body, headers['content-type']))
    if ('reason' in parsed) return reply.json(createSuccessBody({ kept: false, reason: parsed.reason }, {}))
    const nowMs = clock.now()
    // The clock of the sender may be ahead, so future times are replaced by the current one.
    const atMs = Math.min(parsed.deployment.atMs ?? nowMs, nowMs)
    await ingest.storeDeployment({ ...parsed.deployment, atMs }, { ...call, identity: gatewayIdentity })
    reply.json(createSuccessBody({ kept: true, reason: null }, {}))
  },
}

/** Parses JSON from the body, or from the `payload` field of a form, as configured at the repository host. */
const payloadOf = (body: Buffer, mediaType = ''): unknown => {
  if (/^application\/json\s*(;|$)/i.test(mediaType)) return parseJsonText(decodeBody(body))
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(mediaType))
    throw new HttpError(415, 'unsupported-media-type', `send ${json} or ${form}`)
  const { payload } = parseForm(decodeBody(body))
  if (typeof payload === 'string') return parseJsonText(payload)
  throw new ServiceError('invalid', 'payload must be the event as JSON', { details: { parameter: 'payload' } })
}

const secretOf = (env: Environment): RotatingKey => {
  const secret = parseSettings(webhookSettings, env).REPO_HOST_WEBHOOK_SECRET
  if (secret) return secret
  throw new ServiceError('unavailable', 'GitHub webhooks are disabled: REPO_HOST_WEBHOOK_SECRET is not set')
}
