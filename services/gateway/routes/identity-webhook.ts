import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { IdentityEvent, IdentitySubjectEvent, IdentityWebhookResponse } from '#proto/http/identity-webhook.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type RotatingKey } from '#shared/config/setting.ts'
import type { AuditContext } from '../audit/open-audit.ts'
import { computeOwnerId } from '../connections/user-connections.ts'
import type { Gateway } from '../gateway.ts'
import { parseJsonBody } from '../request/read-body.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'
import type { RawRequest, Route } from '../http-route.ts'
import { requireSvixSignature, webhookSettings } from '../webhooks/signature.ts'

const maxBodyBytes = 256 * 1024
const name = 'IDP_WEBHOOK_SECRET'

/** Actor in the audit records of this webhook. */
const provider = { kind: 'service', subject: 'identity-provider', features: 'all' } as const

/** Handles deleted users and ended sessions of the identity provider. */
export const identityWebhookRoute: Route = {
  method: 'POST',
  path: '/api/webhooks/identity-provider',
  doc: 'Ends sessions, and revokes the keys and removes the data of users who were deleted at the identity provider; signed with IDP_WEBHOOK_SECRET',
  feature: null,
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: noQuery,
  reads: { mediaTypes: ['application/json'], schema: IdentityEvent },
  answer: IdentityWebhookResponse,
  open: (_request, env) => void secretOf(env),
  async respond(request, gateway, reply) {
    const { headers, readBody } = request
    const body = await readBody(maxBodyBytes)
    requireSvixSignature({ headers, body, nowMs: gateway.clock.now() }, secretOf(gateway.env), name)
    if (gateway.auth.provider() !== 'idp')
      throw new ServiceError('unavailable', 'identity provider webhooks are disabled: SVC_AUTH_PROVIDER is not "idp"')
    const payload = parseJsonBody(body, headers['content-type'])
    reply.json(createSuccessBody(await handleEvent(payload, request, gateway), {}))
  },
}

/** Events that end a session. */
const sessionEndEvents: ReadonlySet<string> = new Set(['session.revoked', 'session.ended', 'session.removed'])

const handleEvent = async (payload: unknown, { call, requestId }: RawRequest, gateway: Gateway) => {
  const { type } = parseRequestInput(IdentityEvent, payload)
  const context: AuditContext = { call: { identity: provider }, requestId }
  const { audit, denied } = gateway
  if (type === 'user.deleted') {
    const subject = parseRequestInput(IdentitySubjectEvent, payload).data.id
    const action = { action: 'forget-person', host: null, target: { subject } }
    const removed = await audit.of(action, context, () => removePerson(gateway, call, subject))
    return { done: 'person-forgotten' as const, removed }
  }
  if (!sessionEndEvents.has(type)) return { done: null, removed: null }
  const sid = parseRequestInput(IdentitySubjectEvent, payload).data.id
  const action = { action: 'end-session', host: null, target: { session: sid } }
  await audit.of(action, context, () => denied.session(sid))
  return { done: 'session-ended' as const, removed: null }
}

const secretOf = (env: Environment): RotatingKey => {
  const secret = parseSettings(webhookSettings, env).IDP_WEBHOOK_SECRET
  if (secret) return secret
  throw new ServiceError('unavailable', `identity provider webhooks are disabled: ${name} is not set`)
}

/** Number of removed objects by kind. */
type RemovedCounts = Record<'keys' | 'connections' | 'subscriptions' | 'conversations' | 'pageViews', number>

/** Blocks a subject and removes all its data. Idempotent. */
const removePerson = async (gateway: Gateway, call: CallContext, subject: string): Promise<RemovedCounts> => {
  const { denied, keys, connections } = gateway
  const identity = { kind: 'user', subject, features: 'all' } as const
  const theirs = { ...call, identity }
  // The subject is blocked first, so that it cannot create new data during the removal.
  await denied.subject(subject)
  return {
    keys: await revokeKeys(keys, subject),
    connections: await connections.removeAll(identity),
    subscriptions: await orZero(() => endSubscriptions(gateway, computeOwnerId(identity), theirs)),
    conversations: await orZero(async () => (await gateway.agent.removeConversations({}, theirs)).removed),
    pageViews: await orZero(() => gateway.pageViews.forget(subject, call)),
  }
}

const revokeKeys = async (keys: Gateway['keys'], subject: string): Promise<number> => {
  const active = (await keys.list(subject)).filter(({ revokedAtMs }) => revokedAtMs === null)
  for (const { claims } of active) await keys.revoke(claims.jti, subject)
  return active.length
}

const endSubscriptions = async ({ alerts }: Gateway, owner: string, call: CallContext): Promise<number> => {
  const active = await alerts.subscriptions({ owner }, call)
  for (const { id } of active) await alerts.removeSubscription({ owner, id }, call)
  return active.length
}

/** Runs a removal and returns its count; 0 if the data is not stored here or its service is not running. */
const orZero = async (remove: () => Promise<number>): Promise<number> => {
  try {
    return await remove()
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'not-implemented' || error.details?.running === false))
      return 0
    throw error
  }
}
