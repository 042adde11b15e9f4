import { DeploymentsAnswer, DeploymentsQuery } from '#proto/http/deployments.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'
import { hearsOfInstallation } from '../hosts/watched-hosts.ts'

const secondMs = 1_000
const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * secondMs)

export const deployments = getRoute({
  path: '/api/v1/deployments',
  doc: 'What was put into use, as the webhook of the repository host told it, the newest first',
  feature: 'METRICS',
  access: 'read',
  limit: 'data',
  query: DeploymentsQuery,
  answer: DeploymentsAnswer,
  handle: async ({ query: { from, to, limit }, call }, { hosts, ingest }) => {
    if (!(await hearsOfInstallation(hosts))) return success([], { count: 0 })
    const found = await ingest.deployments({ fromMs: inMs(from), toMs: inMs(to), limit }, call)
    return success(found, { count: found.length })
  },
})
