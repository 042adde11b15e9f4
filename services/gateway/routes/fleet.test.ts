import { describe, expect, it } from 'vitest'
import type { CallContext } from '#proto/call.ts'
import { FleetResponse } from '#proto/http/fleet.ts'
import type { FleetHost } from '#proto/fleet.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const maxHosts = 500
const maxBytes = 150_000

const send = async (url: string) => {
  const response = await fetch(`${url}/api/v1/fleet`)
  const text = await response.text()
  return { status: response.status, text, ...FleetResponse.parse(JSON.parse(text)) }
}

/** Returns a host of a large fleet, with values of typical length. */
const host = (id: number): FleetHost => ({
  id,
  key: `analytics-eu-${id}`,
  name: `analytics-eu-${id}`,
  group: 'eu-west-1',
  tags: ['prod', 'tier-1'],
  status: 'up',
  reason: null,
  version: '25.8.12.129',
  uptimeSeconds: 12_345_678,
  latencyMs: 12,
  missingGrants: [],
  load: {
    runningQueries: 112,
    merges: 24,
    memoryUsedBytes: 93_618_987_008,
    memoryTotalBytes: 274_877_906_944,
    loadAverage: 17.25,
    cpuUsage: 0.4312345,
    diskUsedBytes: 1_934_567_890_123,
    diskTotalBytes: 4_234_567_890_123,
    readonlyReplicas: 0,
    maxReplicaDelaySeconds: 14,
  },
  ageMs: 8_123,
})

describe('the fleet', () => {
  it('returns all hosts with state and a summary of their load', async () => {
    await using product = await startFakeProduct()
    const { data, metadata } = await send(product.url)
    expect(data).toEqual([
      {
        id: 0,
        name: 'analytics',
        group: 'eu',
        tags: ['prod'],
        status: 'up',
        version: '26.3.1',
        uptime: 60,
        load: { queries: 2, merges: 1, cpu: 25, memory: 10, disk: 50, readonly: 0, delay: null },
        worstFinding: null,
      },
      expect.objectContaining({ id: 1, status: 'down', reason: 'unreachable', load: null, worstFinding: null }),
    ])
    expect(metadata).toEqual({ oldestMs: 6_000, findingsBy: [] })
    expect(product.received.map(({ method }) => method)).toEqual(['fleet'])
  })

  it('has the worst finding of each host', async () => {
    await using product = await startFakeProduct({ alerts: {}, report: {} })
    const { data, metadata } = await send(product.url)
    expect(data.map(({ worstFinding }) => worstFinding)).toEqual([
      { severity: 'warning', title: 'Many parts' },
      { severity: 'critical', title: 'Disk full' },
    ])
    expect(metadata.findingsBy).toEqual(['alert-dispatcher', 'report'])
  })

  it('omits services that fail', async () => {
    const hanging = (_: unknown, { signal }: CallContext) =>
      new Promise<never>((__, reject) => signal.addEventListener('abort', reject))
    await using product = await startFakeProduct({ alerts: { worstFindings: hanging }, report: {} })
    const { data, metadata } = await send(product.url)
    expect(data.map(({ worstFinding }) => worstFinding?.title)).toEqual(['Many parts', 'Slow merges'])
    expect(metadata.findingsBy).toEqual(['report'])
  })

  it.each([
    ['without findings', {}],
    [
      'with one for every host',
      {
        alerts: {
          worstFindings: async () =>
            Array.from({ length: maxHosts }, (_, id) => ({
              hostKey: host(id).key,
              severity: 'critical' as const,
              title: 'Replication lag',
            })),
        },
      },
    ],
  ])(`of ${maxHosts} hosts is at most ${maxBytes} bytes long, %s`, async (_, owners) => {
    const hosts = Array.from({ length: maxHosts }, (__, id) => host(id))
    await using product = await startFakeProduct({ query: { fleet: async () => hosts }, ...owners })
    const { text, data } = await send(product.url)
    expect(data).toHaveLength(maxHosts)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
  })
})
