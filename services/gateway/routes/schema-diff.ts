import { ServiceError } from '#proto/errors.ts'
import { SchemaDiffQuery, SchemaDiffResponse } from '#proto/http/schema-diff.ts'
import type { Host } from '#proto/query.ts'
import { maxSchemaHosts } from '#proto/schema-diff.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const schemaDiff = defineGetRoute({
  path: '/api/v1/schema-diff',
  doc: 'Compares the schemas of hosts, groups or times, with statements to review',
  feature: 'TABLES',
  access: 'read',
  limit: 'data',
  query: SchemaDiffQuery,
  answer: SchemaDiffResponse,
  handle: async ({ query, call }, gateway) => {
    const base = await findSide(gateway, 'base', { id: query.baseHostId, group: query.baseGroup, time: query.baseTime })
    const target = await findSide(gateway, 'target', {
      id: query.targetHostId,
      group: query.targetGroup,
      time: query.targetTime,
    })
    const { differences, statements, total, notes, compared } = await gateway.query.schemaDiff(
      {
        base: toSource(base),
        target: toSource(target),
        ...(query.database !== undefined && { database: query.database }),
      },
      call,
    )
    return createSuccessBody(
      { differences, statements },
      { base: describeSide(base, compared.base), target: describeSide(target, compared.target), total, notes },
    )
  },
})

interface Side {
  hosts: readonly Host[]
  group: string | null
  atMs: number | null
}

interface SideRequest {
  id: number | undefined
  group: string | undefined
  time: number | undefined
}

const findSide = async (gateway: Gateway, side: 'base' | 'target', { id, group, time }: SideRequest): Promise<Side> => {
  const atMs = time === undefined ? null : time * 1_000
  if (id !== undefined) return { hosts: [await gateway.hosts.find(id, `${side}HostId`)], group: null, atMs }
  const hosts = (await gateway.hosts.all()).filter((host) => host.group === group)
  if (hosts.length === 0) {
    throw new ServiceError('not-found', `unknown group "${group}"`, { details: { parameter: `${side}Group` } })
  }
  if (hosts.length > maxSchemaHosts) {
    throw new ServiceError(
      'too-large',
      `the group "${group}" has ${hosts.length} hosts; at most ${maxSchemaHosts} can be compared`,
    )
  }
  return { hosts, group: group ?? null, atMs }
}

const toSource = ({ hosts, atMs }: Side) => ({ hostKeys: hosts.map(({ key }) => key), ...(atMs !== null && { atMs }) })

const describeSide = ({ hosts, group, atMs }: Side, objects: number) => ({
  hosts: hosts.map(({ id, name }) => ({ id, name })),
  group,
  atMs,
  objects,
})

export const schemaDiffRoutes: readonly Route[] = [schemaDiff]
