import { LastHourQuery, LastHourResponse } from '#proto/http/history.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const lastHour = defineGetRoute({
  path: '/api/v1/history/last-hour',
  doc: 'Returns the last recorded hour of a host, also while the host is unreachable',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: LastHourQuery,
  answer: LastHourResponse,
  handle: async ({ query: { hostId }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    return createSuccessBody(await gateway.query.lastHour({ hostKey: key }, call), { host: name })
  },
})

export const historyRoutes: readonly Route[] = [lastHour]
