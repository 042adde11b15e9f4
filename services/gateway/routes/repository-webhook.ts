import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import { RepositoryHookAnswer, RepositoryHookBody } from '#proto/http/deployments.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, read } from '#shared/config/setting.ts'
import { jsonOf, textOf } from '../request/read-body.ts'
import { HttpError } from '../response/http-exchange.ts'
import { gatewayItself } from '../auth/identity.ts'
import { parseForm } from '../request/parse.ts'
import type { Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'
import { webhookSettings } from '../webhooks/config.ts'
import { heardOf } from '../webhooks/repository-event.ts'
import { isSigned, keysOf, single } from '../webhooks/signature.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'
/** A push of many commits names each of them. */
const longestBody = 5 * 1024 * 1024

/** Takes what a repository host tells of deployments, releases and pushes. It signs no time; what comes again changes nothing. */
export const repositoryWebhook: Route = {
  method: 'POST',
  path: '/api/webhooks/repository',
  doc: 'Marks a deployment, a release or a push to the default branch on charts; signed by the repository host with REPO_HOST_WEBHOOK_SECRET',
  feature: null,
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: noQuery,
  reads: { mediaTypes: [json, form], schema: RepositoryHookBody },
  answer: RepositoryHookAnswer,
  open: (_headers: IncomingHttpHeaders, env: Environment) => void secretOf(env),
  async respond({ headers, call, readBody }, { env, ingest, clock }, reply) {
    const body = await readBody(longestBody)
    const signature = single(headers['x-hub-signature-256'])
    const signed = { content: [body], keys: keysOf(secretOf(env)) }
    if (!signature?.startsWith('sha256=') || !isSigned(signature.slice('sha256='.length), signed))
      throw new ServiceError('unauthenticated', 'X-Hub-Signature-256 must sign the body with REPO_HOST_WEBHOOK_SECRET')
    const event = single(headers['x-github-event'])
    if (!event) throw new ServiceError('invalid', 'X-GitHub-Event must name the event')
    const heard = heardOf(event, payloadOf(body, headers['content-type']))
    if ('reason' in heard) return reply.json(success({ kept: false, reason: heard.reason }, {}))
    const nowMs = clock.now()
    // Nothing was put into use later than now, whatever their clock says.
    const atMs = Math.min(heard.deployment.atMs ?? nowMs, nowMs)
    await ingest.keepDeployment({ ...heard.deployment, atMs }, { ...call, identity: gatewayItself })
    reply.json(success({ kept: true, reason: null }, {}))
  },
}

/** The host sends JSON, as the body or in a field of a form, as its settings say. */
const payloadOf = (body: Buffer, mediaType = ''): unknown => {
  if (/^application\/json\s*(;|$)/i.test(mediaType)) return jsonOf(textOf(body))
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(mediaType))
    throw new HttpError(415, 'unsupported-media-type', `send ${json} or ${form}`)
  const { payload } = parseForm(textOf(body))
  if (typeof payload === 'string') return jsonOf(payload)
  throw new ServiceError('invalid', 'payload must be the event as JSON', { details: { parameter: 'payload' } })
}

const secretOf = (env: Environment): RotatingKey => {
  const secret = read(webhookSettings, env).REPO_HOST_WEBHOOK_SECRET
  if (secret) return secret
  throw new ServiceError('unavailable', 'deployments are not taken: the operator has not set REPO_HOST_WEBHOOK_SECRET')
}
