import { expect, it } from 'vitest'
import type { SettingRow } from '#proto/settings-diff.ts'
import { diffSettings } from './settings-diff.ts'

const all = { changedOnly: false, differentOnly: false }
const hostWith = (
  settings: Record<string, [value: string, changed: boolean]>,
  table: SettingRow['table'] = 'settings',
) => {
  const records = Object.entries(settings).map(([name, [value, changed]]) => ({ name, value, changed }))
  return new Map([[table, records]])
}
const one = hostWith({ same: ['1', false], both: ['5', true], apart: ['1', false], gone: ['9', false] })
const other = hostWith({ same: ['1', false], both: ['5', true], apart: ['2', true] })
const named = (rows: SettingRow[]) => rows.map(({ name }) => name)

it('returns every setting with its value per host, ordered by name', () => {
  const row = { table: 'settings' }
  expect(diffSettings([one, other], all)).toEqual([
    { ...row, name: 'apart', values: ['1', '2'], hasDiff: true, changedFromDefault: true },
    { ...row, name: 'both', values: ['5', '5'], hasDiff: false, changedFromDefault: true },
    { ...row, name: 'gone', values: ['9', null], hasDiff: true, changedFromDefault: false },
    { ...row, name: 'same', values: ['1', '1'], hasDiff: false, changedFromDefault: false },
  ])
})

it('filters by changed and by different settings', () => {
  expect(named(diffSettings([one, other], { ...all, changedOnly: true }))).toEqual(['apart', 'both'])
  expect(named(diffSettings([one, other], { ...all, differentOnly: true }))).toEqual(['apart', 'gone'])
  expect(named(diffSettings([one, other], { changedOnly: true, differentOnly: true }))).toEqual(['apart'])
})

it('ignores hosts without data when it looks for differences', () => {
  const rows = diffSettings([one, null, hostWith({ x: ['1', true] }, 'server_settings')], all)
  expect(rows.filter(({ hasDiff }) => hasDiff)).toEqual([])
  expect(rows[0]).toMatchObject({ table: 'server_settings', name: 'x', values: [null, null, '1'] })
})
