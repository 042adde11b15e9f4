import { expect, it } from 'vitest'
import { planChanges, type CurrentEntry, type DesiredEntry } from './plan.ts'

const entry = (key: string, fields: Record<string, unknown>): DesiredEntry => ({ kind: 'route', key, fields })
const saved = (key: string, fields: Record<string, unknown>, isSaved = true): CurrentEntry => ({
  ...entry(key, fields),
  id: key,
  isSaved,
})

it('plans additions and changes of the fields that files define', () => {
  const desired = [
    entry('new', { target: 'mail' }),
    entry('changed', { target: 'mail', last: undefined }),
    entry('same', { a: [1, { b: 2 }] }),
  ]
  const current = [saved('changed', { target: 'slack', last: true }), saved('same', { a: [1, { b: 2 }], other: 1 })]
  expect(planChanges(desired, current, { prune: false, updateSecrets: false })).toEqual([
    { action: 'add', desired: desired[0] },
    {
      action: 'change',
      desired: desired[1],
      current: current[0],
      fields: [{ field: 'target', from: 'slack', to: 'mail' }],
    },
  ])
})

it('deletes only saved entries, and only on request', () => {
  const current = [saved('a', {}), saved('from-file', {}, false), { ...saved('settings', {}), isPermanent: true }]
  expect(planChanges([], current, { prune: false, updateSecrets: false })).toEqual([])
  expect(planChanges([], current, { prune: true, updateSecrets: false })).toEqual([
    { action: 'delete', current: current[0] },
  ])
})

it('saves secrets again only on request, because the server shows only their last characters', () => {
  const desired = [{ ...entry('mail', { url: '••••1234' }), secrets: { url: 'https://a/1234' } }]
  const current = [saved('mail', { url: '••••1234' })]
  expect(planChanges(desired, current, { prune: false, updateSecrets: false })).toEqual([])
  expect(planChanges(desired, current, { prune: false, updateSecrets: true })).toMatchObject([
    { action: 'change', fields: [{ field: 'url', from: '••••1234', to: '••••1234' }] },
  ])
})
