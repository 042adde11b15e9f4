import { hostOnRecord } from '#proto/audit.ts'
import { AdviceAnswer, AdviceRequest } from '#proto/http/advice.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { HostAdviceQuery, StructureAdviceAnswer, TableAdviceRequest } from '#proto/http/structure-advice.ts'
import { success } from '../response/envelope.ts'
import { postRoute, getRoute, type Route } from '../http-route.ts'

export const advice = postRoute({
  path: '/api/v1/advice',
  doc: 'What would make one statement cheaper: ranked, with what it would save and what it costs; nothing is changed',
  feature: 'QUERIES',
  // Savings are tried out on the data, with conditions of the caller's own.
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: AdviceRequest,
  answer: AdviceAnswer,
  handle: async ({ body: { hostId, ...asked }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { recommendations, notes } = await gateway.report.advise({ hostKey: key, ...asked }, call)
    return success(recommendations, { host: name, notes })
  },
})

const tableAdvice = postRoute({
  path: '/api/v1/advice/table',
  doc: 'What would keep a table smaller or make it faster to read: types, codecs, key and TTL; nothing of it is changed',
  feature: 'TABLES',
  // The first million rows are read for it, and may be written into a temporary table.
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: TableAdviceRequest,
  answer: StructureAdviceAnswer,
  handle: async ({ body: { hostId, ...asked }, call, requestId }, { hosts, report, audit }) => {
    const host = await hosts.find(hostId)
    const advise = () => report.adviseTable({ hostKey: host.key, ...asked }, call)
    const { database, table, measure } = asked
    const deed = { action: 'measure-codecs', host: hostOnRecord(host), target: { database, table } }
    const { recommendations, notes } = measure ? await audit.of(deed, { call, requestId }, advise) : await advise()
    return success(recommendations, { host: host.name, notes })
  },
})

const hostAdvice = getRoute({
  path: '/api/v1/advice/host',
  doc: 'Settings of a host that do not suit its hardware, and what a later release would change',
  feature: 'SETTINGS',
  access: 'read',
  limit: 'data',
  query: HostAdviceQuery,
  answer: StructureAdviceAnswer,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const { key: hostKey, name: host } = await hosts.find(hostId)
    const { recommendations, notes } = await report.adviseHost({ hostKey }, call)
    return success(recommendations, { host, notes })
  },
})

/** Advice on how data is kept and hosts are set up. */
export const structureAdviceRoutes: readonly Route[] = [tableAdvice, hostAdvice]
