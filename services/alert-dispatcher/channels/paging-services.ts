import { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { PagerDutyService } from '#proto/pagerduty-services.ts'
import { findSettingProblems, parseSettings } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { pagerDutyChannel, pagerDutySettings } from './pagerduty.ts'
import { resolveChannelVariables } from './targets.ts'
import type { Policy } from '../policy.ts'

interface PagingServicesDeps extends Pick<ServiceContext, 'env' | 'net'> {
  policy(): Promise<Policy>
}

/** Returns the handler that lists the services of the PagerDuty account. */
export const createPagingServicesHandler = ({
  env,
  net,
  policy,
}: PagingServicesDeps): Pick<ServiceHandlers<typeof alerts>, 'pagingServices'> => ({
  pagingServices: async ({ search }, { signal }) => {
    const { channels } = await policy()
    const variables = resolveChannelVariables(pagerDutyChannel, env, channels[pagerDutyChannel.id])
    const [problem] = findSettingProblems(pagerDutySettings, variables)
    if (problem)
      throw new ServiceError('conflict', `cannot list PagerDuty services: ${problem.name}: ${problem.sentence}`)
    const key = parseSettings(pagerDutySettings, variables).HEALTH_ALERT_PAGING_A_API_KEY?.trim()
    if (!key)
      throw new ServiceError('conflict', 'cannot list PagerDuty services: HEALTH_ALERT_PAGING_A_API_KEY is not set')
    return listServices((offset) => fetchPage(net, { key, search, offset, signal }))
  },
})

const Page = z.object({
  services: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string().nullish(),
      status: z.string().nullish(),
      html_url: z.string().nullish(),
    }),
  ),
  more: z.boolean().default(false),
})
type Page = z.infer<typeof Page>

const perPage = 100
/** Maximum number of pages; users of larger accounts search by name. */
const maxPages = 5

const listServices = async (pageAt: (offset: number) => Promise<Page>) => {
  const services: PagerDutyService[] = []
  let more = true
  for (let count = 0; more && count < maxPages; count += 1) {
    const found = await pageAt(count * perPage)
    for (const { id, name, description = null, status = null, html_url: url = null } of found.services) {
      services.push({ id, name, description, status, url })
    }
    more = found.more
  }
  return { services, more }
}

interface PageRequest {
  key: string
  search: string | undefined
  offset: number
  signal: AbortSignal
}

const maxBytes = 4 * 1024 * 1024

const fetchPage = async (
  net: PagingServicesDeps['net'],
  { key, search, offset, signal }: PageRequest,
): Promise<Page> => {
  const wanted = new URLSearchParams({ limit: String(perPage), offset: String(offset), sort_by: 'name' })
  if (search !== undefined) wanted.set('query', search)
  const headers = { authorization: `Token token=${key}`, accept: 'application/vnd.pagerduty+json;version=2' }
  try {
    const response = await net.trusted(`https://api.pagerduty.com/services?${wanted}`, { headers, signal, maxBytes })
    if (response.status === 401 || response.status === 403)
      throw new ServiceError(
        'conflict',
        'cannot list PagerDuty services: PagerDuty rejects the token; check HEALTH_ALERT_PAGING_A_API_KEY',
      )
    if (response.status !== 200)
      throw new ServiceError('unavailable', `cannot list PagerDuty services: HTTP ${response.status}`)
    return Page.parse(await response.json())
  } catch (error) {
    if (error instanceof ServiceError || signal.aborted) throw error
    if (error instanceof NetFailure)
      throw new ServiceError('unavailable', 'cannot list PagerDuty services: PagerDuty is unreachable; try again')
    throw new ServiceError('unavailable', 'cannot list PagerDuty services: unexpected response')
  }
}
