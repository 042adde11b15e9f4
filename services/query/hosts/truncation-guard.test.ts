import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { createAddressCheck } from './truncation-guard.ts'

const page = '<!doctype html><title>Welcome</title>'

/** Starts a server with these responses by path. All other paths return a web page, as proxies and web servers do. */
const startServer = async (responses: Record<string, string>) => {
  const server = createServer((request, response) => void response.end(responses[request.url ?? ''] ?? page))
  const { origin, stop } = await listenOnLoopback(server)
  return { origin, [Symbol.asyncDispose]: stop }
}

const responds = async (kind: 'host' | 'keeper', url: string): Promise<boolean> => {
  await using net = openNet({ env: {} })
  return await createAddressCheck(net)({ kind, url: new URL(url) })
}

describe('the check of a truncated address', () => {
  it.each([
    ['a ClickHouse host', '', { '/ping': 'Ok.\n' }, true],
    ['a web page', '', {}, false],
    ['a long page', '', { '/ping': 'Ok.\n'.repeat(10_000) }, false],
    ['a proxy that answers pings itself', '/clickhouse/1', { '/ping': 'Ok.\n' }, false],
    ['a host behind a proxy', '/clickhouse/1', { '/clickhouse/1/ping': 'Ok.\n' }, true],
    ['a host behind a proxy that routes by a parameter', '/?to=1', { '/ping?to=1': 'Ok.\n' }, true],
  ])('accepts only ClickHouse hosts: %s', async (_, path, responses, expected) => {
    await using server = await startServer(responses)
    expect(await responds('host', `${server.origin}${path}`)).toBe(expected)
  })

  it.each([
    ['metrics of a Keeper node', { '/metrics': 'ClickHouseAsyncMetrics_KeeperIsLeader 0\n' }, true],
    ['other metrics', { '/metrics': 'up 1\n' }, false],
    ['a web page', {}, false],
  ])('accepts only Keeper metrics: %s', async (_, responses, expected) => {
    await using server = await startServer(responses)
    expect(await responds('keeper', `${server.origin}/metrics`)).toBe(expected)
  })

  it('fails when nothing listens', async () => {
    expect(await responds('host', 'http://127.0.0.1:1')).toBe(false)
  })
})
