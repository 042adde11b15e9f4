import { Health } from '#proto/http/status.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute } from '../route.ts'

export const health = getRoute({
  path: '/api/health',
  doc: 'Whether the service is alive',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  query: noQuery,
  answer: Health,
  handle: async (_asked, { clock }) => ({ status: 'ok' as const, timestamp: new Date(clock.now()).toISOString() }),
})
