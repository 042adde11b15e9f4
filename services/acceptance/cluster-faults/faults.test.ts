import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { openDefinitions } from '../../query/definitions/definitions.ts'
import { faults, recordedRules } from './faults/index.ts'

const { rules } = await openDefinitions(pino({ level: 'silent' }))
const names = rules.map(({ name }) => name)
const ofFaults = new Set(faults.map(({ rule }) => rule))

describe('the faults of the cluster', () => {
  it('cover every rule that is not proved by recorded rows', () => {
    expect(names.filter((name) => !ofFaults.has(name) && recordedRules[name] === undefined)).toEqual([])
  })

  it('belong to existing rules, each to a fault or to a recorded case', () => {
    const listed = [...ofFaults, ...Object.keys(recordedRules)]
    expect(listed.filter((rule) => !names.includes(rule))).toEqual([])
    expect(listed).toHaveLength(new Set(listed).size)
  })

  it('expect values beyond the threshold of their severity', () => {
    const wrong = faults.flatMap(({ rule, severity, value: [min, max], thresholds }) => {
      const definition = rules.find(({ name }) => name === rule)
      // Some rules take their thresholds from the settings of the server.
      if (thresholds === undefined && definition?.columns.includes('warning')) return []
      const limit = (thresholds ?? definition?.thresholds)?.[severity]
      if (limit === undefined || limit === null) return []
      return (definition?.thresholds.below ? max <= limit : min >= limit) ? [] : [rule]
    })
    expect(wrong).toEqual([])
  })
})
