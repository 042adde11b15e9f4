import { hash, randomBytes } from 'node:crypto'
import { hostOnRecord } from '#proto/audit.ts'
import { ManagementAnswer, ManagementRequest, ManagementState } from '#proto/http/management.ts'
import { HostQuery, noQuery } from '#proto/http/parameters.ts'
import type { Management, PasswordHash } from '#proto/management.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'

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
    const deed = { action: body.operation.replace('_', '-'), host: hostOnRecord(host), target: namesOf(body) }
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
const namesOf = ({ params }: ManagementRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([name, value]) => name !== omitted && value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value).slice(0, 1024)]),
  )

export const managementRoutes: readonly Route[] = [management, managementState]
