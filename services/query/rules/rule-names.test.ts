import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openDefinitions } from '../definitions/definitions.ts'
import { evaluators } from './evaluators/index.ts'

/** The names of rules and metrics by topic. Settings, silences and scripts use them, so none may disappear. */
const Listed = z.record(z.string(), z.array(z.string()).min(1))
/** The content of `names.json`. `otherNames` maps common names of conditions to rules of Watchhouse. */
const Names = z.object({ rules: Listed, metrics: Listed, otherNames: z.record(z.string(), z.array(z.string()).min(1)) })
const names = Names.parse(JSON.parse(readFileSync(new URL('names.json', import.meta.url), 'utf8')))
const { rules, metrics } = await openDefinitions(pino({ level: 'silent' }))

const found = { rules, metrics }
const known = new Set(rules.map(({ name }) => name))

describe('the catalogue of rules', () => {
  it.each(['rules', 'metrics'] as const)('has exactly the listed %s', (kind) => {
    const listed = Object.entries(names[kind]).flatMap(([topic, ids]) => ids.map((name) => ({ topic, name })))
    const there = found[kind].map(({ topic, name }) => ({ topic, name }))
    expect(there).toEqual(expect.arrayContaining(listed))
    expect(listed).toHaveLength(there.length)
  })

  it('has one rule for each condition under its other names', () => {
    expect(Object.keys(names.otherNames).filter((name) => known.has(name))).toEqual([])
    expect(Object.values(names.otherNames).flatMap((ids) => ids.filter((id) => !known.has(id)))).toEqual([])
  })

  it('uses every evaluator', () => {
    const used = rules.flatMap(({ evaluator }) => evaluator ?? [])
    expect(used.toSorted()).toEqual(Object.keys(evaluators).toSorted())
  })

  it('advises in three to eight sentences', () => {
    const sentences = (text: string): number => text.split(/[.?]\s+(?=[A-Z`])/).length
    const wrong = rules.filter(({ runbook }) => sentences(runbook) < 3 || sentences(runbook) > 8)
    expect(wrong.map(({ name }) => name)).toEqual([])
  })

  it('reads parts, replicas and Keeper on every third sweep only', () => {
    const dear = new Set(['system.parts', 'system.replicas', 'system.distributed_ddl_queue'])
    const often = rules.filter(
      ({ everySweeps, requires }) => everySweeps < 3 && requires.some((table) => dear.has(table)),
    )
    expect(often.map(({ name }) => name)).toEqual([])
  })
})
