import { describe, expect, it } from 'vitest'
import type { AlertHistoryEntry } from '#proto/alert-history.ts'
import type { Identity } from '#proto/call.ts'
import { IncidentNoteResponse, IncidentResponse } from '#proto/http/incidents.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const user = (subject: string): Identity => ({ kind: 'user', subject, features: 'all', profile: { name: subject } })

const entry = (index: number, episode: string): AlertHistoryEntry => ({
  id: `h${index}`,
  kind: 'fire',
  hostKey: 'analytics',
  ruleId: 'disk-usage',
  episode,
  severity: 'warning',
  title: 'Disk usage',
  value: 90,
  threshold: 80,
  sinceMs: 0,
  atMs: index,
  reason: '',
})

const open = async (entries: readonly AlertHistoryEntry[] = []) => {
  const caller = { current: user('ada') }
  const alertHistory = async ({ toMs = Infinity, limit }: { toMs?: number | undefined; limit: number }) =>
    entries
      .filter(({ atMs }) => atMs < toMs)
      .toSorted((a, b) => b.atMs - a.atMs)
      .slice(0, limit)
  const product = await startFakeProduct({ identify: async () => caller.current, alerts: { alertHistory } })
  const send = async (method: string, path: string, body?: unknown, as = 'ada') => {
    caller.current = user(as)
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${product.url}/api/v1/incidents/${path}`, init)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  return { send, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

describe('an incident', () => {
  it('has the events of its episode in order, also beyond one page of the history', async () => {
    const others = Array.from({ length: 450 }, (_, index) => entry(index + 10, 'other'))
    await using rig = await open([entry(1, 'e1'), entry(2, 'e1'), ...others, entry(900, 'e1')])
    const { data, metadata } = IncidentResponse.parse((await rig.send('GET', 'e1?hostId=0&since=0')).body)
    expect(data.events.map(({ id }) => id)).toEqual(['h1', 'h2', 'h900'])
    expect(metadata).toEqual({ host: 'analytics', persistent: false })
  })

  it('has an event of a sweep whose events are on two pages', async () => {
    const later = Array.from({ length: 150 }, (_, index) => entry(index + 1_000, 'other'))
    const swept = Array.from({ length: 100 }, (_, index) => ({ ...entry(index, 'other'), atMs: 500 }))
    await using rig = await open([...later, ...swept, { ...entry(100, 'e1'), atMs: 500 }, entry(101, 'e1')])
    const { data } = IncidentResponse.parse((await rig.send('GET', 'e1?hostId=0&since=0')).body)
    expect(data.events.map(({ id }) => id)).toEqual(['h101', 'h100'])
  })

  it('has notes, which only their author deletes', async () => {
    await using rig = await open()
    const { data: note } = IncidentNoteResponse.parse(
      (await rig.send('POST', 'e1/notes', { text: ' Restarted ' })).body,
    )
    await rig.send('POST', 'e2/notes', { text: 'Elsewhere' })
    const read = async (as: string) =>
      IncidentResponse.parse((await rig.send('GET', 'e1?hostId=0&since=0', undefined, as)).body).data.notes
    expect(await read('ada')).toMatchObject([{ text: 'Restarted', by: 'ada', isOwn: true }])
    expect(await read('grace')).toMatchObject([{ text: 'Restarted', isOwn: false }])
    expect((await rig.send('DELETE', `e1/notes/${note.id}`, undefined, 'grace')).status).toBe(403)
    expect((await rig.send('DELETE', `e2/notes/${note.id}`)).status).toBe(404)
    expect((await rig.send('DELETE', `e1/notes/${note.id}`)).status).toBe(200)
    expect(await read('ada')).toEqual([])
  })

  it('rejects empty and long notes', async () => {
    await using rig = await open()
    expect((await rig.send('POST', 'e1/notes', { text: ' ' })).status).toBe(400)
    expect((await rig.send('POST', 'e1/notes', { text: 'x'.repeat(4_001) })).status).toBe(400)
  })
})
