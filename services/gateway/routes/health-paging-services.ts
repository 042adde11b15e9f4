import { PagingServicesAnswer, PagingServicesQuery } from '#proto/http/paging-services.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

/** For those who set paging up, and for nobody else: what an account calls its services is its own. */
export const healthPagingServices = getRoute({
  path: '/api/v1/health/channels/paging-a/services',
  doc: 'Services of the PagerDuty account, to choose the one that alerts go to',
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  refuses: [409],
  query: PagingServicesQuery,
  answer: PagingServicesAnswer,
  handle: async ({ query, call }, { alerts }) => {
    const { services, more } = await alerts.pagingServices(query, call)
    return success(services, { count: services.length, more })
  },
})
