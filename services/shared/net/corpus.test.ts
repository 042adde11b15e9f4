import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import corpus from './corpus.json' with { type: 'json' }
import { openAddressGuard, type NameResolver } from './guard.ts'

const Expectation = z.enum(['allow', 'block'])
const Entry = z.object({
  id: z.string(),
  url: z.string(),
  reason: z.string(),
  purpose: z.enum(['database', 'notification', 'reemit']).default('database'),
  dns: z.record(z.string(), z.array(z.string())).default({}),
  dns_sequence: z.array(z.array(z.string())).optional(),
  redirects: z.array(z.string()).optional(),
  strict: Expectation,
  allow_private: Expectation,
})
const entries = z.array(Entry).parse(corpus.entries)
/** Ids of the cases that need a request. `net.test.ts` covers them. */
const shownByRequests = new Set(entries.filter((entry) => entry.redirects ?? entry.dns_sequence).map(({ id }) => id))
const decided = entries.filter(({ id }) => !shownByRequests.has(id))

const evaluate = async (entry: z.output<typeof Entry>, env: Record<string, string>) => {
  const resolve: NameResolver = async (name) => entry.dns[name] ?? []
  const guard = openAddressGuard(env, { resolve })
  try {
    const { hostname } = guard.readUrl(entry.url, entry.purpose)
    await guard.addresses(hostname)
    return 'allow'
  } catch {
    return 'block'
  }
}

describe('every address of the corpus', () => {
  it('is tested here, except those that need a request', () => {
    expect(entries.length).toBeGreaterThan(70)
    expect([...shownByRequests].toSorted()).toEqual(['S124', 'S151', 'S152'])
  })

  it.each(decided)('$id by default: $strict ($reason)', async (entry) => {
    expect(await evaluate(entry, {})).toBe(entry.strict)
  })

  it.each(decided)('$id with private hosts allowed: $allow_private ($reason)', async (entry) => {
    expect(await evaluate(entry, { SVC_ALLOW_PRIVATE_HOSTS: 'yes' })).toBe(entry.allow_private)
  })

  it.each(decided)('$id in cloud mode, with any setting: $strict ($reason)', async (entry) => {
    expect(await evaluate(entry, { SVC_ALLOW_PRIVATE_HOSTS: 'cloud', SVC_DEPLOYMENT_MODE: 'cloud' })).toBe(entry.strict)
    expect(await evaluate(entry, { SVC_ALLOW_PRIVATE_HOSTS: 'true', SVC_CLOUD_MODE: '1' })).toBe(entry.strict)
  })
})
