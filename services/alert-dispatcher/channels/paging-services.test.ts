import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { type StrictServer, startStrictServer } from './testing/strict-server.ts'
import { testServiceCall } from '../delivery/testing/fixture.ts'
import type { Policy } from '../policy.ts'
import { testPolicy } from '../testing/simulated-host.ts'
import { createPagingServicesHandler } from './paging-services.ts'

const key = 'secret-account-token'
const unreadable = { HEALTH_ALERT_PAGING_A_ROUTING_KEY_FILE: '/nowhere' }

const pageOf = (offset: number, total: number) => ({
  services: Array.from({ length: Math.min(100, total - offset) }, (_, index) => ({
    id: `P${offset + index}`,
    name: `service ${offset + index}`,
    description: null,
    status: 'active',
    html_url: `https://x.pagerduty.com/P${offset + index}`,
    escalation_policy: { id: 'E' },
  })),
  more: offset + 100 < total,
})

describe('services of a PagerDuty account', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await startStrictServer({
      answer: { status: 200, body: JSON.stringify(pageOf(0, 2)) },
      problem({ method, path, headers }) {
        if (method !== 'GET' || !path.startsWith('/services?limit=100&offset=')) return 'not found'
        if (headers.authorization !== `Token token=${key}`) return 'forbidden'
        return headers.accept === 'application/vnd.pagerduty+json;version=2' ? undefined : 'no version'
      },
    })
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const list = async (search?: string, env = {}, more: Partial<Policy> = {}) => {
    await using net = openNet({ env: {} })
    const led: typeof net.trusted = (url, outgoing) =>
      net.trusted(String(url).replace('https://api.pagerduty.com', server.url), outgoing)
    const policy = async () => ({ ...testPolicy, ...more })
    const values = { HEALTH_ALERT_PAGING_A_API_KEY: key, ...env }
    return await createPagingServicesHandler({ env: values, net: { ...net, trusted: led }, policy }).pagingServices(
      { search },
      testServiceCall,
    )
  }

  it('are listed with the fields that a selection needs', async () => {
    expect(await list()).toEqual({
      services: [0, 1].map((index) => ({
        id: `P${index}`,
        name: `service ${index}`,
        description: null,
        status: 'active',
        url: `https://x.pagerduty.com/P${index}`,
      })),
      more: false,
    })
  })

  it('are not listed while a variable of the channel is invalid', async () => {
    await expect(list(undefined, { HEALTH_ALERT_PAGING_A_API_KEY: 'another', ...unreadable })).rejects.toMatchObject({
      code: 'conflict',
      message:
        'cannot list PagerDuty services: HEALTH_ALERT_PAGING_A_ROUTING_KEY: cannot read the file set in HEALTH_ALERT_PAGING_A_ROUTING_KEY_FILE; check its path and permissions',
    })
  })

  it('are read page by page up to a limit', async () => {
    server.next(...[0, 100, 200].map((offset) => ({ status: 200, body: JSON.stringify(pageOf(offset, 250)) })))
    expect((await list()).services).toHaveLength(250)
    server.next(...[0, 1, 2, 3, 4].map((page) => ({ status: 200, body: JSON.stringify(pageOf(page * 100, 9_999)) })))
    expect(await list()).toMatchObject({ more: true })
    expect(server.received).toHaveLength(8)
  })

  it('are searched by PagerDuty', async () => {
    await list('a&b c')
    expect(server.received[0]?.path).toBe('/services?limit=100&offset=0&sort_by=name&query=a%26b+c')
  })

  it('are requested with the saved token', async () => {
    const variables = { HEALTH_ALERT_PAGING_A_API_KEY: key }
    const found = await list(
      undefined,
      { HEALTH_ALERT_PAGING_A_API_KEY: 'old' },
      { channels: { 'paging-a': { variables } } },
    )
    expect(found.services).toHaveLength(2)
  })

  it.each([
    [401, 'no', 'conflict', 'HEALTH_ALERT_PAGING_A_API_KEY'],
    [429, 'no', 'unavailable', 'HTTP 429'],
    [200, 'no', 'unavailable', 'unexpected response'],
    [200, '{"services":[{}]}', 'unavailable', 'unexpected response'],
    [302, '', 'unavailable', 'is unreachable'],
  ])('are not listed after status %s %s', async (status, body, code, says) => {
    server.next({ status, body })
    const error: unknown = await list().catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code, message: expect.stringContaining(says) })
    expect(String(error)).not.toContain(key)
  })

  it('are not listed without a token', async () => {
    await expect(list(undefined, { HEALTH_ALERT_PAGING_A_API_KEY: undefined })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(server.received).toEqual([])
  })
})
