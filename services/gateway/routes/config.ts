import { ConfigAnswer, type HostSummary } from '#proto/http/config.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Host, HostState } from '#proto/query.ts'
import { getRoute } from '../route.ts'
import { success } from '../success.ts'
import { visibleTo } from './catalogue.ts'

export const config = getRoute({
  path: '/api/v1/config',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: ConfigAnswer,
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const [known, states, definitions] = await Promise.all([
      gateway.hosts.all(),
      gateway.query.hostStates({}, call),
      gateway.query.catalogue({}, call),
    ])
    const byKey = new Map(states.map((state) => [state.key, state]))
    const hosts = known.map((host) => summary(host, byKey.get(host.key)))
    return success({ hosts, catalogue: visibleTo(call.identity, definitions) }, {})
  },
})

const summary = ({ key: _key, ...host }: Host, state: HostState | undefined): HostSummary => ({
  ...host,
  status: state?.status ?? 'unknown',
  reason: state?.reason ?? null,
  version: state?.version ?? null,
})
