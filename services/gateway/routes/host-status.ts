import { HostStatusAnswer } from '#proto/http/data.ts'
import { HostStatusQuery } from '#proto/http/parameters.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const hostStatus = getRoute({
  path: '/api/v1/host-status',
  doc: 'Version, uptime and host name as the host says them now',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: HostStatusQuery,
  answer: HostStatusAnswer,
  handle: async ({ query: { hostId, fleet }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { uptimeSeconds, ...status } = await gateway.query.hostStatus({ hostKey: key, fleet }, call)
    return success({ ...status, uptime: uptimeSeconds }, { host: name })
  },
})
