import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openDefinitions } from './definitions.ts'

/** The names of all charts and tables by kind and group. Links, scripts and agents use them, so none may disappear. */
const Names = z.partialRecord(z.enum(['charts', 'tables']), z.record(z.string(), z.array(z.string()).min(1)))
const names = Names.parse(JSON.parse(readFileSync(new URL('names.json', import.meta.url), 'utf8')))
const { catalogue } = await openDefinitions(pino({ level: 'silent' }))

const groups = (['charts', 'tables'] as const).flatMap((kind) =>
  Object.entries(names[kind] ?? {}).map(([group, wanted]) => ({ kind, group, wanted })),
)

describe('the catalogue', () => {
  it.each(groups)('has the $kind of the group $group', ({ kind, wanted }) => {
    const there = new Set(catalogue[kind].map((definition) => definition.name))
    expect(wanted.filter((name) => !there.has(name))).toEqual([])
  })

  it.each(['charts', 'tables'] as const)('lists names of %s once', (kind) => {
    const listed = groups.filter((each) => each.kind === kind).flatMap(({ wanted }) => wanted)
    expect(listed.filter((name, index) => listed.indexOf(name) !== index)).toEqual([])
  })
})
