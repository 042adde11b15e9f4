import { describe, expect, it } from 'vitest'
import { DashboardContent } from '#proto/dashboards.ts'
import { getSavedPanelId, repeatPanels } from './repeat-panels.ts'

const hosts = [
  { id: 0, name: 'one', group: null },
  { id: 1, name: 'two', group: null },
]
const chart = { kind: 'chart', chart: 'query-count', w: 6, h: 4, x: 0, y: 0 }
const content = DashboardContent.parse({
  schemaVersion: 1,
  title: 'Shop',
  variables: [
    { kind: 'host', name: 'host', multi: true, includeAll: true },
    { kind: 'user', name: 'user', multi: true, includeAll: true },
    { kind: 'table', name: 'table', multi: true },
  ],
  panels: [
    { ...chart, id: 'a', host: '{host}' },
    { ...chart, id: 'b', x: 6, parameters: { user: '{user}' } },
    { id: 'c', kind: 'sql', w: 6, h: 4, x: 0, y: 4, sql: 'SELECT {user}', view: 'table' },
  ],
})
const repeat = (values: Record<string, string[]>, of = content) =>
  repeatPanels({
    content: of,
    values: { host: ['one'], user: [], table: ['x.y'], ...values },
    hosts,
    titleOf: () => 'T',
  })
const places = (values: Record<string, string[]>) =>
  repeat(values).panels.map(({ id, x, y, host, title }) => [id, x, y, host, title])

describe('panels with variables of several values', () => {
  it('are repeated for each host and each parameter, below each other', () => {
    expect(places({ host: [], user: ['ada', 'bob'] })).toEqual([
      ['a~1', 0, 0, 'one', 'T · one'],
      ['b~1', 6, 0, '', 'T · ada'],
      ['a~2', 0, 4, 'two', 'T · two'],
      ['b~2', 6, 4, '', 'T · bob'],
      ['c', 0, 8, '', ''],
    ])
    const { scopes } = repeat({ user: ['ada', 'bob'] })
    expect(scopes.get('b~2')).toMatchObject({ user: ['bob'], user_all: '0' })
  })

  it('are shown once for all values of a parameter, and for one host', () => {
    expect(places({})).toEqual([
      ['a~1', 0, 0, 'one', 'T'],
      ['b', 6, 0, '', ''],
      ['c', 0, 4, '', ''],
    ])
  })

  it('use the parts of one table at a time', () => {
    const panels = content.panels.map((panel) =>
      panel.id === 'b' && panel.kind === 'chart' ? { ...panel, parameters: { table: '{table_name}' } } : panel,
    )
    const { scopes } = repeat({ table: ['x.y', 'z.w'] }, { ...content, panels })
    expect(scopes.get('b~2')).toMatchObject({ table: ['z.w'], table_database: ['z'], table_name: ['w'] })
  })

  it('have a limited number of copies', () => {
    const { panels, omitted } = repeat({ user: Array.from({ length: 20 }, (_, index) => `u${index}`) })
    expect(panels.filter(({ id }) => getSavedPanelId(id) === 'b')).toHaveLength(12)
    expect(omitted).toBe(8)
  })
})
