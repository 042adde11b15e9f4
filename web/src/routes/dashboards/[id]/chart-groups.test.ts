import { expect, it } from 'vitest'
import type { DashboardPanel } from '#proto/dashboards.ts'
import { groupCharts } from './chart-groups.ts'

const chart = (
  id: string,
  name: string,
  more: Partial<Extract<DashboardPanel, { kind: 'chart' }>> = {},
): DashboardPanel => ({
  id,
  kind: 'chart',
  chart: name,
  x: 0,
  y: 0,
  w: 6,
  h: 6,
  title: '',
  host: '',
  parameters: {},
  ...more,
})
const group = (panels: DashboardPanel[]) =>
  groupCharts({
    panels,
    valuesOf: () => ({ user: 'ada' }),
    hostOf: (reference) => (reference === 'gone' ? undefined : reference === 'two' ? 1 : 0),
  })

it('groups charts of one host with the same parameters, each once', () => {
  const groups = group([
    chart('a', 'x'),
    chart('b', 'y'),
    chart('c', 'x'),
    chart('d', 'x', { host: 'two' }),
    chart('e', 'x', { parameters: { user: '{user}' } }),
    chart('f', 'x', { host: 'gone' }),
  ])
  expect(groups.map(({ host, params, names, panels }) => [host, params, names, panels])).toEqual([
    [0, {}, ['x', 'y'], ['a', 'b', 'c']],
    [1, {}, ['x'], ['d']],
    [0, { user: 'ada' }, ['x'], ['e']],
  ])
})

it('splits more charts than one request can fetch', () => {
  const panels = Array.from({ length: 60 }, (_, index) => chart(`p${index}`, `c${index}`))
  expect(group(panels).map(({ names }) => names.length)).toEqual([49, 11])
})
