import type { CallContext } from '#proto/call.ts'
import type { ConnectionTarget } from '#proto/connections.ts'
import {
  HostChangeRequest,
  HostCheckRequest,
  HostCheckResponse,
  HostRequest,
  ManagedHostPath,
  ManagedHostResponse,
} from '#proto/http/managed-hosts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { ServiceError } from '#proto/errors.ts'
import { encryptForTransit } from '#shared/seal/transit.ts'
import { generateConnectionId } from '../connections/user-connections.ts'
import type { Gateway } from '../gateway.ts'
import { definePostRoute, defineDeleteRoute, definePutRoute, type Route } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'

const changing = { feature: 'SETTINGS', access: 'write', limit: 'data', query: noQuery } as const
const path = '/api/v1/hosts/{id}'

const check = definePostRoute({
  ...changing,
  path: '/api/v1/hosts/check',
  doc: 'Connects to a ClickHouse host before it is added; returns its version and the rights of the user, or why the connection failed',
  limit: 'browser-connection-test',
  body: HostCheckRequest,
  answer: HostCheckResponse,
  handle: async ({ body: target, call, isCallerLocal }, gateway) => {
    const { encryptedTarget } = await encryptTarget(gateway, target, call)
    return createSuccessBody(await gateway.query.checkHost({ encryptedTarget, isCallerLocal }, call), {})
  },
})

const add = definePostRoute({
  ...changing,
  path: '/api/v1/hosts',
  doc: 'Adds a host to the monitored hosts, after a connection check',
  refuses: [409],
  body: HostRequest,
  answer: ManagedHostResponse,
  handle: async ({ body, call, requestId, isCallerLocal }, gateway) => {
    const { label, group, tags, saveUnreachable: isUncheckedAllowed, ...target } = body
    const { encryptedTarget, problem } = await encryptTarget(gateway, target, call)
    if (problem !== null) throw new ServiceError('not-implemented', `hosts cannot be added: ${problem}`)
    const id = generateConnectionId()
    const request = { id, label, group, tags, encryptedTarget, isCallerLocal, isUncheckedAllowed }
    const action = { action: 'add-host', host: null, target: { id, label, address: readHost(target.url) } }
    const { hostId } = await gateway.audit.of(action, { call, requestId }, () => gateway.query.addHost(request, call))
    gateway.hosts.expire()
    return createSuccessBody({ id, hostId, label }, {})
  },
})

const change = definePutRoute({
  ...changing,
  path,
  doc: 'Changes label, group and tags of an added host, or replaces its address and credentials',
  refuses: [409],
  body: HostChangeRequest,
  answer: ManagedHostResponse,
  handle: async ({ path, body, call, requestId, isCallerLocal }, gateway) => {
    const { id } = parseRequestInput(ManagedHostPath, path)
    const { label, group, tags, saveUnreachable: isUncheckedAllowed, url, user, password } = body
    const isReplaced = url !== undefined && user !== undefined && password !== undefined
    const encryptedTarget = isReplaced
      ? (await encryptTarget(gateway, { url, user, password }, call)).encryptedTarget
      : undefined
    const request = { id, label, group, tags, encryptedTarget, isCallerLocal, isUncheckedAllowed }
    const target = { id, label, ...(isReplaced && { address: readHost(url) }) }
    const action = { action: 'change-host', host: null, target }
    const { hostId } = await gateway.audit.of(action, { call, requestId }, () =>
      gateway.query.changeHost(request, call),
    )
    gateway.hosts.expire()
    return createSuccessBody({ id, hostId, label }, {})
  },
})

const remove = defineDeleteRoute({
  ...changing,
  path,
  doc: 'Removes an added host from the monitored hosts; the database itself is not changed',
  answer: ManagedHostResponse,
  handle: async ({ path, call, requestId }, gateway) => {
    const { id } = parseRequestInput(ManagedHostPath, path)
    const known = (await gateway.hosts.all()).find(({ managedId }) => managedId === id)
    const action = { action: 'remove-host', host: null, target: { id, ...(known && { label: known.name }) } }
    const { label } = await gateway.audit.of(action, { call, requestId }, () => gateway.query.removeHost({ id }, call))
    gateway.hosts.expire()
    return createSuccessBody({ id, hostId: null, label }, {})
  },
})

/** Encrypts a target so that only `query` can read it on the bus. */
const encryptTarget = async (
  { query }: Pick<Gateway, 'query'>,
  { url, user, password }: ConnectionTarget,
  call: CallContext,
): Promise<{ encryptedTarget: string; problem: string | null }> => {
  const { key, problem } = await query.managedHostSetup({}, call)
  return { encryptedTarget: await encryptForTransit(key, { url, user, password }), problem }
}

/** Returns host name and port of an address without credentials, for the audit log. */
const readHost = (url: string): string => URL.parse(url)?.host ?? ''

export const managedHostRoutes: readonly Route[] = [check, add, change, remove]
