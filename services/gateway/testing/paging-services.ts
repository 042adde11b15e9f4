import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import type { pagingServiceMethods } from '#proto/paging-services.ts'
import { ServiceError } from '#proto/errors.ts'
import type { GoodRequest } from './auth-requests.ts'

/** An account with one service, whose token is missing when `no-token` is looked for. */
export const fakePagingServices: Pick<Handlers<typeof alerts>, keyof typeof pagingServiceMethods> = {
  pagingServices: async ({ search = 'data' }) => {
    if (search === 'no-token') throw new ServiceError('conflict', 'HEALTH_ALERT_PAGING_A_API_KEY is not set')
    const service = { id: 'PAB', name: search, description: null, status: 'active', url: 'https://x.pagerduty.com/PAB' }
    return { services: [service], more: false }
  },
}

const path = '/api/v1/health/channels/paging-a/services'

/** A good request of every route about what there is to page. */
export const pagingServiceRequests: Readonly<Record<string, GoodRequest>> = { [`GET ${path}`]: { url: path } }
