import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Setting } from '#shared/config/setting.ts'
import { authSettings } from './auth/config.ts'
import { settings } from './config.ts'
import { variableRows } from './fake/variable-rows.ts'

const known: Readonly<Record<string, Setting<unknown>>> = settings
const settingOf = (name: string): Setting<unknown> => {
  const setting = known[name]
  if (setting === undefined) throw new Error(`the gateway has no setting ${name}`)
  return setting
}

const outcomeOf = (name: string, given: string): unknown => {
  try {
    return settingOf(name).parse(given)
  } catch (error) {
    return error
  }
}

describe('the variables of the gateway', () => {
  it('are all in the tables', () => {
    const rows = [...variableRows.map(({ name }) => name), ...Object.keys(authSettings)]
    expect(rows.toSorted()).toEqual(Object.keys(settings).toSorted())
  })

  it.each(variableRows)('$name has the default that its row states, and a test that shows its effect', (row) => {
    expect(settingOf(row.name).fallback).toBe(row.fallback)
    const file = new URL(row.shownBy, import.meta.url)
    expect(existsSync(file)).toBe(true)
    // Families of variables are tested by one member, or by a name that is put together.
    const [family = row.name] = /^SVC_FEATURE_(?=\w+_(ACCESS|ENABLED)$)/.exec(row.name) ?? []
    expect(readFileSync(file, 'utf8')).toContain(family)
  })

  it.each(variableRows.flatMap(({ name, bad }) => bad.map(([text, outcome]) => [name, text, outcome] as const)))(
    '%s=%s is met in words or counts as unset',
    (name, text, outcome) => {
      if (outcome === 'unset') expect(outcomeOf(name, text)).toEqual(settingOf(name).parse(undefined))
      else expect(outcomeOf(name, text)).toMatchObject({ message: expect.stringMatching(outcome) })
    },
  )
})
