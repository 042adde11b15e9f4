import { describe, expect, it, onTestFinished } from 'vitest'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { maxOpen, openBroughtHosts } from './brought-hosts.ts'
import { openKeys, openSealing } from './sealed-content.ts'

const target = { url: 'https://db.example.com', user: 'ada', password: 'secret' }

/** The registry on a clock of the test, telling which hosts it let go. */
const openRegistry = async () => {
  // The cache takes a time of 0 for none.
  const clock = { nowMs: 1, now: () => clock.nowMs, elapsedMs: () => clock.nowMs }
  const released: string[] = []
  const client = { release: ({ key }: MonitoredHost) => void released.push(key) }
  const sealing = openSealing(openKeys({}, await openStore({ env: {}, busIsShared: false })))
  const brought = openBroughtHosts({ sealing, net: openNet({ env: {} }), client, clock, sweepEveryMs: 1 })
  onTestFinished(() => brought[Symbol.dispose]())
  const connection = async (key: string, expiresAtMs = 900_000, password = 'secret') => {
    const called = { key, name: key }
    return { ...called, sealed: await sealing.seal({ target: { ...target, password }, expiresAtMs }, called) }
  }
  return { clock, released, brought, connection }
}

describe('hosts that people bring', () => {
  it('are known by their key once they came with a call, and are the same host the next time', async () => {
    const { brought, connection } = await openRegistry()
    const mine = await connection('user:a:1')
    expect(brought.get(mine.key)).toBeUndefined()
    await brought.admit(mine)
    const host = brought.get(mine.key)
    expect(host).toMatchObject({ user: 'ada', password: 'secret', name: 'user:a:1' })
    await brought.admit(mine)
    expect(brought.get(mine.key)).toBe(host)
    expect(brought.get('user:b:1')).toBeUndefined()
  })

  it('end with their session', async () => {
    const { brought, clock, connection, released } = await openRegistry()
    const mine = await connection('user:a:1', 1_000)
    await brought.admit(mine)
    clock.nowMs = 999
    await brought.admit(mine)
    clock.nowMs = 1_000
    await expect(brought.admit(mine)).rejects.toMatchObject({ code: 'gone', details: { reason: 'session-ended' } })
    expect([brought.get(mine.key), released]).toEqual([undefined, [mine.key]])
  })

  it('are closed after five minutes without use, and when their session has ended', async () => {
    const { brought, clock, connection, released } = await openRegistry()
    const [unused, ending, used] = [
      await connection('user:a:unused'),
      await connection('user:a:ending', 200_000),
      await connection('user:a:used'),
    ]
    for (const each of [unused, ending, used]) await brought.admit(each)
    clock.nowMs = 200_000
    await brought.admit(used)
    await expect.poll(() => released).toEqual(['user:a:ending'])
    clock.nowMs = 300_002
    await expect.poll(() => released).toEqual(['user:a:ending', 'user:a:unused'])
    expect(brought.open).toBe(1)
  })

  it('are opened anew when their credentials have changed', async () => {
    const { brought, connection, released } = await openRegistry()
    await brought.admit(await connection('user:a:1'))
    await brought.admit(await connection('user:a:1', 900_000, 'changed'))
    expect(brought.get('user:a:1')).toMatchObject({ password: 'changed' })
    expect(released).toEqual(['user:a:1'])
  })

  it('are not taken from what was sealed for another key', async () => {
    const { brought, connection } = await openRegistry()
    const theirs = await connection('user:a:1')
    await expect(brought.admit({ ...theirs, key: 'user:b:1' })).rejects.toMatchObject({ code: 'invalid' })
    expect(brought.open).toBe(0)
  })

  it(`are ${maxOpen} at most; the one unused for longest makes room`, async () => {
    const { brought, connection, released } = await openRegistry()
    const [first, ...others] = await Promise.all(
      Array.from({ length: maxOpen + 1 }, (_, index) => connection(`user:a:${index}`)),
    )
    if (first === undefined) throw new Error('there is a first')
    await brought.admit(first)
    for (const other of others.slice(0, -1)) await brought.admit(other)
    await brought.admit(first)
    for (const other of others.slice(-1)) await brought.admit(other)
    expect([brought.open, released]).toEqual([maxOpen, ['user:a:1']])
  })
})
