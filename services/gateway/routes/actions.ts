import { hash, randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { ActionOutcome } from '#proto/actions.ts'
import { formatAuditHostName } from '#proto/audit.ts'
import type { CallContext } from '#proto/call.ts'
import type { Host } from '#proto/host.ts'
import { ActionResponse, ActionRequest } from '#proto/http/actions.ts'
import { ManagementResponse, ManagementRequest, ManagementState } from '#proto/http/management.ts'
import { HostQuery, noQuery } from '#proto/http/parameters.ts'
import type { ManagementOperation, PasswordHash } from '#proto/management.ts'
import type { Gateway } from '../gateway.ts'
import { definePostRoute, defineGetRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

export const actionsRoute = definePostRoute({
  path: '/api/v1/actions',
  doc: 'Kills a query, kills a mutation or optimizes a table. The action is audited first',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: HostQuery,
  body: ActionRequest,
  answer: ActionResponse,
  handle: async ({ query: { hostId }, body, call, requestId }, gateway) => {
    const host = await gateway.hosts.find(hostId)
    const outcome = await runAction(gateway, host, body, { call, requestId })
    const message = sentences[outcome.state]
    return { ...createSuccessBody(outcome, { host: host.name, message }), message }
  },
})

const sentences: Readonly<Record<ActionOutcome['state'], string>> = {
  done: 'Completed on the host',
  running: 'Still running on the host',
  ignored: 'Nothing to do on the host',
}

type Action = z.output<typeof ActionRequest>

/** The request that an action belongs to. */
interface ActionContext {
  call: CallContext
  requestId: string
  /** Origin of the action, such as an approval request; added to the target in the audit record. */
  origin?: Readonly<Record<string, string>>
}

/** Audits an action on a host and runs it. */
export const runAction = async (
  gateway: Gateway,
  host: Host,
  requested: Action,
  { call, requestId, origin }: ActionContext,
): Promise<ActionOutcome> => {
  const target = { ...auditTargetOf(requested.params), ...origin }
  const action = { action: kebab(requested.action), host: formatAuditHostName(host), target }
  return gateway.audit.of(action, { call, requestId }, () => dispatchAction(gateway, host.key, requested, call))
}

const dispatchAction = (
  { query }: Gateway,
  hostKey: string,
  { action, params }: Action,
  call: CallContext,
): Promise<ActionOutcome> => {
  if (action === 'killQuery') return query.killQuery({ hostKey, ...params }, call)
  if (action === 'killMutation') return query.killMutation({ hostKey, ...params }, call)
  return query.optimizeTable({ hostKey, ...params }, call)
}

/** Returns the audit name of an action, such as `kill-query`. */
const kebab = (action: string): string => action.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Returns the parameters as an audit target. */
const auditTargetOf = (params: object): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))

const common = { path: '/api/v1/management', feature: 'SECURITY', limit: 'data' } as const

const managementState = defineGetRoute({
  ...common,
  doc: 'Returns whether users, roles and grants can be changed',
  access: 'read',
  query: noQuery,
  answer: ManagementState,
  handle: async ({ call }, { query }) => {
    const state = await query.management({}, call)
    return { ...createSuccessBody(state, {}), ...state }
  },
})

const management = definePostRoute({
  ...common,
  doc: 'Changes users, roles or grants of one host. The change is audited first',
  access: 'write',
  query: HostQuery,
  body: ManagementRequest,
  answer: ManagementResponse,
  handle: async ({ query: { hostId }, body, call, requestId }, gateway) => {
    const host = await gateway.hosts.find(hostId)
    const action = { action: body.operation.replace('_', '-'), host: formatAuditHostName(host), target: targetOf(body) }
    const request = { hostKey: host.key, management: hashPasswords(body) }
    const { ddl } = await gateway.audit.of(action, { call, requestId }, () => gateway.query.manage(request, call))
    const change = { ddl, message: `Completed on host ${host.name}` }
    return { ...createSuccessBody(change, { host: host.name }), ...change }
  },
})

/** Replaces passwords by hashes, so that no other service sees them. */
const hashPasswords = (request: ManagementRequest): ManagementOperation => {
  if (request.operation === 'create_user') {
    return { ...request, params: { ...request.params, password: hashPassword(request.params.password) } }
  }
  if (request.operation !== 'alter_user') return request
  const { password, ...params } = request.params
  return { ...request, params: password === undefined ? params : { ...params, password: hashPassword(password) } }
}

/** Hashes a password with a random salt for ClickHouse's `sha256_hash`, which expects the salt after the password. */
const hashPassword = (password: string): PasswordHash => {
  const salt = randomBytes(16).toString('hex')
  return {
    salt,
    hash: hash('sha256', password + salt),
  }
}

const omittedField = 'password'

/** Returns the audit target of a change, without the password. */
const targetOf = ({ params }: ManagementRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([name, value]) => name !== omittedField && value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value).slice(0, 1024)]),
  )

export const managementRoutes: readonly Route[] = [management, managementState]
