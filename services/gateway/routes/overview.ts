import { OverviewAnswer } from '#proto/http/data.ts'
import { HostQuery } from '#proto/http/parameters.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const overview = getRoute({
  path: '/api/v1/overview',
  doc: 'The key figures of one host',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: HostQuery,
  answer: OverviewAnswer,
  handle: async ({ query: { hostId }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    return success(await gateway.query.overview({ hostKey: key }, call), { host: name })
  },
})
