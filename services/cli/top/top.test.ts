import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { measureWidth } from '../output/terminal-text.ts'
import { renderTop, type TopView } from './render.ts'
import { type RunningQuery, toRunningQuery } from './running-query.ts'
import { createTopState, identify, listShown, pressKey, type Effect, type TopState } from './state.ts'

const queryOf = (queryId: string, fields: Partial<RunningQuery> = {}): RunningQuery => ({
  ...toRunningQuery(
    { query_id: queryId, user: 'ada', query: `SELECT '${queryId}'`, elapsed: 1 },
    { hostId: 0, host: 'one' },
  ),
  ...fields,
})
const queries = [
  queryOf('short', { elapsedSeconds: 1, memoryBytes: 300 }),
  queryOf('long', { elapsedSeconds: 90, memoryBytes: 100, user: 'bob' }),
  queryOf('other', { elapsedSeconds: 5, memoryBytes: 200, hostId: 1, host: 'two' }),
]
const press = (state: TopState, ...names: string[]): { state: TopState; effects: Effect[] } => {
  const effects: Effect[] = []
  let current = state
  for (const name of names) {
    const pressed = pressKey(current, { name, text: name })
    current = pressed.state
    if (pressed.effect) effects.push(pressed.effect)
  }
  return { state: current, effects }
}
const start = (): TopState => ({ ...createTopState(), queries, updatedAtMs: 0 })
const idsOf = (state: TopState) => listShown(state).map(({ queryId }) => queryId)

describe('keys', () => {
  it('sort by the columns in both directions', () => {
    expect(idsOf(start())).toEqual(['long', 'other', 'short'])
    expect(idsOf(press(start(), 's').state)).toEqual(['short', 'other', 'long'])
    expect(idsOf(press(start(), 's', 'r').state)).toEqual(['long', 'other', 'short'])
    expect(press(start(), '<').state.sort).toBe('host')
    expect(press(start(), '<', '>').state.sort).toBe('elapsed')
  })

  it('keep the selection when the list changes', () => {
    const { state } = press(start(), 'down')
    expect(state.selected).toBe('1 other')
    const changed = { ...state, queries: [queryOf('new', { elapsedSeconds: 200 }), ...queries] }
    expect(press(changed, 'down').state.selected).toBe('0 short')
    expect(press(start(), 'up').state.selected).toBe('0 long')
    expect(press(start(), 'end', 'down').state.selected).toBe('0 short')
    expect(press({ ...start(), queries: [] }, 'down', 'x', 'return').state).toMatchObject({
      selected: null,
      mode: 'list',
    })
  })

  it('filter by text, user and host', () => {
    expect(idsOf(press(start(), '/', 'B', 'o', 'b').state)).toEqual(['long'])
    expect(press(start(), '/', 'q').state).toMatchObject({ mode: 'filter', filter: 'q' })
    expect(press(start(), '/', 'q', 'return').state).toMatchObject({ mode: 'list', filter: 'q' })
    expect(press(start(), '/', 'q', 'x', 'backspace').state.filter).toBe('q')
    expect(press(start(), '/', 'q', 'escape').state).toMatchObject({ mode: 'list', filter: '' })
  })

  it('kill the selected query only after a confirmation, even if the list changes meanwhile', () => {
    const confirming = press(start(), 'down', 'x')
    expect(confirming.state.mode).toBe('confirm')
    expect(confirming.effects).toEqual([])
    const changed = { ...confirming.state, queries: [] }
    expect(press(changed, 'y').effects).toEqual([{ kind: 'kill', query: queries[2] }])
    for (const key of ['n', 'return', 'escape', 'q']) expect(press(confirming.state, key).effects).toEqual([])
    expect(press(confirming.state, 'n').state).toMatchObject({ mode: 'list', message: 'not killed' })
  })

  it('pause, and refresh at once afterwards', () => {
    expect(press(start(), 'p')).toMatchObject({ state: { isPaused: true }, effects: [] })
    expect(press(start(), 'p', 'space')).toMatchObject({ state: { isPaused: false }, effects: [{ kind: 'refresh' }] })
  })

  it('quit, also from a prompt', () => {
    expect(press(start(), 'q').effects).toEqual([{ kind: 'quit' }])
    expect(press(start(), '/', 'ctrl-c').effects).toEqual([{ kind: 'quit' }])
  })
})

const view = (columns: number, rows: number, hosts = ['one']): TopView => ({
  columns,
  rows,
  hosts,
  intervalMs: 1_000,
  formatTime: () => '12:00:00',
  paint: (text) => text,
  invert: (text) => `\u001B[7m${text}\u001B[27m`,
})

describe('the screen', () => {
  it('shows summary, header, queries and keys', () => {
    const lines = renderTop(start(), view(120, 10, ['one', 'two']))
    expect(lines).toHaveLength(10)
    expect(lines[0]).toBe('watchhouse top · 2 hosts · every 1 s · 12:00:00')
    expect(lines[1]).toBe('3 running  memory 600 B  longest 1m 30s')
    expect(lines[2]).toMatch(/HOST +ELAPSED↓ USER +MEMORY CPU TIME +ROWS +DONE QUERY/)
    expect(stripVTControlCharacters(lines[3] ?? '')).toMatch(/^one +1m 30s bob +100 B +0 s +0 +SELECT 'long'/)
    expect(lines.at(-1)).toContain('q quit')
  })

  it.each([
    [200, 50],
    [80, 24],
    [40, 8],
    [20, 5],
    [10, 3],
    [1, 1],
  ])('fits into %i columns and %i rows in every mode', (columns, rows) => {
    const many = Array.from({ length: 100 }, (_, index) =>
      queryOf(`q${index}`, { query: '日本語 SELECT\n\t1'.repeat(50) }),
    )
    const target = many[50] ?? queryOf('none')
    for (const mode of ['list', 'filter', 'confirm', 'details', 'help'] as const) {
      const state = {
        ...start(),
        queries: many,
        mode,
        target,
        selected: identify(target),
        filter: mode === 'filter' ? 'x'.repeat(300) : '',
      }
      const lines = renderTop(state, view(columns, rows, ['one', 'two']))
      expect(lines.length).toBeLessThanOrEqual(rows)
      expect(lines.filter((line) => measureWidth(stripVTControlCharacters(line)) > columns)).toEqual([])
    }
  })

  it('keeps the selected query visible', () => {
    const many = Array.from({ length: 100 }, (_, index) => queryOf(`q${index}`, { elapsedSeconds: 100 - index }))
    const { state } = press({ ...start(), queries: many }, 'end')
    expect(
      renderTop(state, view(100, 20)).some((line) => line.startsWith('\u001B[7m') && line.includes("SELECT 'q99'")),
    ).toBe(true)
  })

  it('states why the list is empty or old', () => {
    expect(renderTop(createTopState(), view(80, 10)).join('\n')).toContain('Loading running queries…')
    expect(renderTop({ ...start(), queries: [] }, view(80, 10)).join('\n')).toContain('No running queries.')
    expect(renderTop({ ...start(), filter: 'zzz' }, view(80, 10)).join('\n')).toContain(
      'No running queries match the filter.',
    )
    expect(renderTop({ ...start(), failure: 'host one cannot be reached' }, view(80, 10))[1]).toBe(
      'host one cannot be reached',
    )
  })

  it('shows the whole query without control characters', () => {
    const target = queryOf('q', { query: `SELECT\n  '\u001B[2J${'x'.repeat(100)}'` })
    const text = renderTop({ ...start(), mode: 'details', target }, view(40, 30)).join('\n')
    expect(text).toContain('SELECT\n')
    expect(text).not.toContain('\u001B')
    expect(text.replaceAll('\n', '')).toContain('x'.repeat(100))
  })
})

it('rows with numbers as text are read', () => {
  const row = {
    query_id: 'q',
    user: 'ada',
    elapsed: '1.5',
    memory: '18446744073709551615',
    cpu: 2e6,
    progress: null,
    cancelled: 1,
  }
  expect(toRunningQuery(row, { hostId: 0, host: 'one' })).toMatchObject({
    elapsedSeconds: 1.5,
    cpuSeconds: 2,
    progress: null,
    isCancelled: true,
    query: '',
  })
})
