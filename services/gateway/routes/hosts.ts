import { HostsAnswer } from '#proto/http/data.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

export const hosts = getRoute({
  path: '/api/v1/hosts',
  doc: 'The configured hosts, without addresses or passwords',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: HostsAnswer,
  handle: async (_asked, gateway) => {
    const known = await gateway.hosts.all()
    return success(
      known.map(({ key: _key, ...host }) => host),
      {},
    )
  },
})
