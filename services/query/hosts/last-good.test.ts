import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'
import { answersIn } from './truncated.ts'

const page = '<!doctype html><title>Welcome</title>'

/** A server that answers a path, and all others with a page, as proxies and web servers do. */
const serverOf = async (answers: Record<string, string>) => {
  const server = createServer((request, response) => void response.end(answers[request.url ?? ''] ?? page))
  const { origin, stop } = await onLoopback(server)
  return { origin, [Symbol.asyncDispose]: stop }
}

const isAnswered = async (kind: 'host' | 'keeper', url: string): Promise<boolean> => {
  await using net = openNet({ env: {} })
  return await answersIn(net)({ kind, url: new URL(url) })
}

describe('an address that looks cut off answers', () => {
  it.each([
    ['a host that says it is one', '', { '/ping': 'Ok.\n' }, true],
    ['a web page', '', {}, false],
    ['a long page', '', { '/ping': 'Ok.\n'.repeat(10_000) }, false],
    ['a proxy, for a host of its own', '/clickhouse/1', { '/ping': 'Ok.\n' }, false],
    ['a host behind a proxy', '/clickhouse/1', { '/clickhouse/1/ping': 'Ok.\n' }, true],
    ['a host behind a proxy that tells hosts apart by a parameter', '/?to=1', { '/ping?to=1': 'Ok.\n' }, true],
  ])('as a host: %s', async (_, path, answers, expected) => {
    await using server = await serverOf(answers)
    expect(await isAnswered('host', `${server.origin}${path}`)).toBe(expected)
  })

  it.each([
    ['the figures of a Keeper node', { '/metrics': 'ClickHouseAsyncMetrics_KeeperIsLeader 0\n' }, true],
    ['the figures of anything else', { '/metrics': 'up 1\n' }, false],
    ['a web page', {}, false],
  ])('as a Keeper node: %s', async (_, answers, expected) => {
    await using server = await serverOf(answers)
    expect(await isAnswered('keeper', `${server.origin}/metrics`)).toBe(expected)
  })

  it('not where nothing listens', async () => {
    expect(await isAnswered('host', 'http://127.0.0.1:1')).toBe(false)
  })
})
