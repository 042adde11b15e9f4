import { hash, randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { ActionOutcome } from '#proto/actions.ts'
import { hostOnRecord } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import type { Host } from '#proto/host.ts'
import { ActionAnswer, ActionRequest } from '#proto/http/actions.ts'
import { ManagementAnswer, ManagementRequest, ManagementState } from '#proto/http/management.ts'
import { HostQuery, noQuery } from '#proto/http/parameters.ts'
import type { Management, PasswordHash } from '#proto/management.ts'
import type { Gateway } from '../gateway.ts'
import { postRoute, getRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'

export const actions = postRoute({
  path: '/api/v1/actions',
  doc: 'Ends a query, stops a mutation or merges the parts of a table, once that is on record',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: HostQuery,
  body: ActionRequest,
  answer: ActionAnswer,
  handle: async ({ query: { hostId }, body, call, requestId }, gateway) => {
    const host = await gateway.hosts.find(hostId)
    const outcome = await carryOut(gateway, host, body, { call, requestId })
    return { ...success(outcome, { host: host.name }), message: sentences[outcome.state] }
  },
})

const sentences: Readonly<Record<ActionOutcome['state'], string>> = {
  done: 'the host says that it is done',
  running: 'the host has begun and goes on by itself',
  ignored: 'the host had nothing left to do',
}

type Action = z.output<typeof ActionRequest>

/** Whose action it is, and where it came from besides the request. */
interface Wish {
  call: Call
  requestId: string
  /** Named in the record beside what the action is done to. */
  origin?: Readonly<Record<string, string>>
}

/** Does to a host what its caller wants, once that is on record. */
export const carryOut = async (
  gateway: Gateway,
  host: Host,
  asked: Action,
  { call, requestId, origin }: Wish,
): Promise<ActionOutcome> => {
  const target = { ...namesOf(asked.params), ...origin }
  const deed = { action: kebab(asked.action), host: hostOnRecord(host), target }
  return gateway.audit.of(deed, { call, requestId }, () => act(gateway, host.key, asked, call))
}

const act = ({ query }: Gateway, hostKey: string, { action, params }: Action, call: Call): Promise<ActionOutcome> => {
  if (action === 'killQuery') return query.killQuery({ hostKey, ...params }, call)
  if (action === 'killMutation') return query.killMutation({ hostKey, ...params }, call)
  return query.optimizeTable({ hostKey, ...params }, call)
}

/** As the audit names all it keeps: `kill-query`. */
const kebab = (action: string): string => action.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** What it was done to, as the audit keeps it. */
const namesOf = (params: object): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))

const common = { path: '/api/v1/management', feature: 'SECURITY', limit: 'data' } as const

const managementState = getRoute({
  ...common,
  doc: 'Whether users, roles and grants may be changed here',
  access: 'read',
  query: noQuery,
  answer: ManagementState,
  handle: async ({ call }, { query }) => query.management({}, call),
})

const management = postRoute({
  ...common,
  doc: 'Changes users, roles or grants of one host, once that is on record',
  access: 'write',
  query: HostQuery,
  body: ManagementRequest,
  answer: ManagementAnswer,
  handle: async ({ query: { hostId }, body, call, requestId }, gateway) => {
    const host = await gateway.hosts.find(hostId)
    const deed = { action: body.operation.replace('_', '-'), host: hostOnRecord(host), target: targetOf(body) }
    const change = { hostKey: host.key, management: withHashes(body) }
    const { ddl } = await gateway.audit.of(deed, { call, requestId }, () => gateway.query.manage(change, call))
    return { success: true as const, ddl, message: `host ${host.name} has carried it out` }
  },
})

/** From here on nobody learns the password. */
const withHashes = (request: ManagementRequest): Management => {
  if (request.operation === 'create_user') {
    return { ...request, params: { ...request.params, password: hashed(request.params.password) } }
  }
  if (request.operation !== 'alter_user') return request
  const { password, ...params } = request.params
  return { ...request, params: password === undefined ? params : { ...params, password: hashed(password) } }
}

/** As ClickHouse's `sha256_hash` wants it: the salt follows the password. */
const hashed = (password: string): PasswordHash => {
  const salt = randomBytes(16).toString('hex')
  return {
    salt,
    hash: hash('sha256', password + salt),
  }
}

const omitted = 'password'

/** Who and what it is about, as the audit keeps it. */
const targetOf = ({ params }: ManagementRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([name, value]) => name !== omitted && value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value).slice(0, 1024)]),
  )

export const managementRoutes: readonly Route[] = [management, managementState]
