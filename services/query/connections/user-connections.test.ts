import { describe, expect, it, onTestFinished } from 'vitest'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openConnectionKeys, openConnectionSealer } from './sealed-content.ts'
import { maxOpenConnections, openUserConnections } from './user-connections.ts'

const target = { url: 'https://db.example.com', user: 'ada', password: 'secret' }

/** Opens a registry on a fake clock that records the hosts it releases. */
const openRegistry = async () => {
  // The cache treats a time of 0 as unset.
  const clock = { nowMs: 1, now: () => clock.nowMs, elapsedMs: () => clock.nowMs }
  const released: string[] = []
  const client = { release: ({ key }: MonitoredHost) => void released.push(key) }
  const sealing = openConnectionSealer(openConnectionKeys({}, await openStore({ env: {}, busIsShared: false })))
  const connections = openUserConnections({ sealing, net: openNet({ env: {} }), client, clock, sweepEveryMs: 1 })
  onTestFinished(() => connections[Symbol.dispose]())
  const connection = async (key: string, expiresAtMs = 900_000, password = 'secret') => {
    const identity = { key, name: key }
    return { ...identity, sealed: await sealing.seal({ target: { ...target, password }, expiresAtMs }, identity) }
  }
  return { clock, released, connections, connection }
}

describe('user connections', () => {
  it('are found by key after a call has opened them, and stay the same host', async () => {
    const { connections, connection } = await openRegistry()
    const mine = await connection('user:a:1')
    expect(connections.get(mine.key)).toBeUndefined()
    await connections.admit(mine)
    const host = connections.get(mine.key)
    expect(host).toMatchObject({ user: 'ada', password: 'secret', name: 'user:a:1' })
    await connections.admit(mine)
    expect(connections.get(mine.key)).toBe(host)
    expect(connections.get('user:b:1')).toBeUndefined()
  })

  it('end with their session and are released', async () => {
    const { connections, clock, connection, released } = await openRegistry()
    const mine = await connection('user:a:1', 1_000)
    await connections.admit(mine)
    clock.nowMs = 999
    await connections.admit(mine)
    clock.nowMs = 1_000
    await expect(connections.admit(mine)).rejects.toMatchObject({ code: 'gone', details: { reason: 'session-ended' } })
    expect([connections.get(mine.key), released]).toEqual([undefined, [mine.key]])
  })

  it('close after five minutes without use and when their session ends', async () => {
    const { connections, clock, connection, released } = await openRegistry()
    const [unused, ending, used] = [
      await connection('user:a:unused'),
      await connection('user:a:ending', 200_000),
      await connection('user:a:used'),
    ]
    for (const each of [unused, ending, used]) await connections.admit(each)
    clock.nowMs = 200_000
    await connections.admit(used)
    await expect.poll(() => released).toEqual(['user:a:ending'])
    clock.nowMs = 300_002
    await expect.poll(() => released).toEqual(['user:a:ending', 'user:a:unused'])
    expect(connections.openCount).toBe(1)
  })

  it('reopen when their credentials change', async () => {
    const { connections, connection, released } = await openRegistry()
    await connections.admit(await connection('user:a:1'))
    await connections.admit(await connection('user:a:1', 900_000, 'changed'))
    expect(connections.get('user:a:1')).toMatchObject({ password: 'changed' })
    expect(released).toEqual(['user:a:1'])
  })

  it('do not open when sealed for another key', async () => {
    const { connections, connection } = await openRegistry()
    const theirs = await connection('user:a:1')
    await expect(connections.admit({ ...theirs, key: 'user:b:1' })).rejects.toMatchObject({ code: 'invalid' })
    expect(connections.openCount).toBe(0)
  })

  it(`are at most ${maxOpenConnections}; the least recently used one closes`, async () => {
    const { connections, connection, released } = await openRegistry()
    const [first, ...others] = await Promise.all(
      Array.from({ length: maxOpenConnections + 1 }, (_, index) => connection(`user:a:${index}`)),
    )
    if (first === undefined) throw new Error('no connection was opened')
    await connections.admit(first)
    for (const other of others.slice(0, -1)) await connections.admit(other)
    await connections.admit(first)
    for (const other of others.slice(-1)) await connections.admit(other)
    expect([connections.openCount, released]).toEqual([maxOpenConnections, ['user:a:1']])
  })
})
