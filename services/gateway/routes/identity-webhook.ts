import type { IncomingHttpHeaders } from 'node:http'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { IdentityEvent, IdentityEventOfOne, IdentityWebhookAnswer } from '#proto/http/identity-webhook.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, read } from '#shared/config/setting.ts'
import type { Asker } from '../audit/open-audit.ts'
import { ownerOf } from '../connections/user-connections.ts'
import type { Gateway } from '../gateway.ts'
import { jsonBodyOf } from '../request/read-body.ts'
import { parse } from '../request/parse.ts'
import { success } from '../response/envelope.ts'
import type { Given, Route } from '../http-route.ts'
import { webhookSettings } from '../webhooks/config.ts'
import { requireSvixSignature } from '../webhooks/signature.ts'

const longestBody = 256 * 1024
const name = 'IDP_WEBHOOK_SECRET'

/** On record as who did it. */
const provider = { kind: 'service', subject: 'identity-provider', features: 'all' } as const

/** Takes what the identity provider tells of people who are gone and of sessions that have ended, and acts on it at once. */
export const identityWebhook: Route = {
  method: 'POST',
  path: '/api/webhooks/identity-provider',
  doc: 'Ends what a person or a session holds that the identity provider says is gone, and forgets what the person kept; signed with IDP_WEBHOOK_SECRET',
  feature: null,
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: noQuery,
  reads: { mediaTypes: ['application/json'], schema: IdentityEvent },
  answer: IdentityWebhookAnswer,
  open: (_headers: IncomingHttpHeaders, env: Environment) => void secretOf(env),
  async respond(given, gateway, reply) {
    const { headers, readBody } = given
    const body = await readBody(longestBody)
    requireSvixSignature({ headers, body, nowMs: gateway.clock.now() }, secretOf(gateway.env), name)
    if (gateway.auth.provider() !== 'idp')
      throw new ServiceError('unavailable', 'no identity provider signs people in here: SVC_AUTH_PROVIDER is not idp')
    const payload = jsonBodyOf(body, headers['content-type'])
    reply.json(success(await act(payload, given, gateway), {}))
  },
}

/** By which a session ends, whoever ended it. */
const sessionEnds: ReadonlySet<string> = new Set(['session.revoked', 'session.ended', 'session.removed'])

const act = async (payload: unknown, { call, requestId }: Given, gateway: Gateway) => {
  const { type } = parse(IdentityEvent, payload)
  const asker: Asker = { call: { identity: provider }, requestId }
  const { audit, denied } = gateway
  if (type === 'user.deleted') {
    const subject = parse(IdentityEventOfOne, payload).data.id
    const deed = { action: 'forget-person', host: null, target: { subject } }
    const removed = await audit.of(deed, asker, () => forgetPerson(gateway, call, subject))
    return { done: 'person-forgotten' as const, removed }
  }
  if (!sessionEnds.has(type)) return { done: null, removed: null }
  const sid = parse(IdentityEventOfOne, payload).data.id
  const deed = { action: 'end-session', host: null, target: { session: sid } }
  await audit.of(deed, asker, () => denied.session(sid))
  return { done: 'session-ended' as const, removed: null }
}

const secretOf = (env: Environment): RotatingKey => {
  const secret = read(webhookSettings, env).IDP_WEBHOOK_SECRET
  if (secret) return secret
  throw new ServiceError('unavailable', `events are not taken: the operator has not set ${name}`)
}

/** How much of somebody there was, by what it was. */
type Forgotten = Record<'keys' | 'connections' | 'subscriptions' | 'conversations' | 'pageViews', number>

/** Lets a subject in no more, and removes all that is theirs. Done again it finds nothing left. */
const forgetPerson = async (gateway: Gateway, call: Call, subject: string): Promise<Forgotten> => {
  const { denied, keys, connections } = gateway
  const identity = { kind: 'user', subject, features: 'all' } as const
  const theirs = { ...call, identity }
  // First of all, so that nothing of theirs comes back meanwhile.
  await denied.subject(subject)
  return {
    keys: await revokeKeys(keys, subject),
    connections: await connections.forget(identity),
    subscriptions: await ifKept(() => endSubscriptions(gateway, ownerOf(identity), theirs)),
    conversations: await ifKept(async () => (await gateway.agent.removeConversations({}, theirs)).removed),
    pageViews: await ifKept(() => gateway.pageViews.forget(subject, call)),
  }
}

const revokeKeys = async (keys: Gateway['keys'], subject: string): Promise<number> => {
  const held = (await keys.list(subject)).filter(({ revokedAtMs }) => revokedAtMs === null)
  for (const { claims } of held) await keys.revoke(claims.jti, subject)
  return held.length
}

const endSubscriptions = async ({ alerts }: Gateway, owner: string, call: Call): Promise<number> => {
  const held = await alerts.subscriptions({ owner }, call)
  for (const { id } of held) await alerts.removeSubscription({ owner, id }, call)
  return held.length
}

/** An installation that keeps nothing of the kind, or does not run who would, has nothing to remove. */
const ifKept = async (remove: () => Promise<number>): Promise<number> => {
  try {
    return await remove()
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'not-implemented' || error.details?.running === false))
      return 0
    throw error
  }
}
