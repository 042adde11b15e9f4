import { expect, it } from 'vitest'
import type { ChartInfo } from '#proto/catalogue.ts'
import { toCsv } from './csv.ts'

const chart: ChartInfo = {
  name: 'c',
  topic: 't',
  title: 'C',
  doc: 'C.',
  feature: 'METRICS',
  kind: 'line',
  requires: [],
  parameters: [],
  cache: 'standard',
  columns: [
    { name: 't', role: 'time', unit: 'count' },
    { name: 'who', role: 'series', label: 'User, name', unit: 'count' },
    { name: 'n', role: 'value', unit: 'count' },
  ],
}

it.each([
  [{ t: 0, who: 'a', n: 1.5 }, '1970-01-01T00:00:00.000Z,a,1.5'],
  [{ t: '1000', who: 'say "hi", you', n: -2 }, '1970-01-01T00:00:01.000Z,"say ""hi"", you",-2'],
  [{ t: null, who: '=1+1', n: null }, ",'=1+1,"],
])('writes %j as a safe CSV line', (row, line) => {
  expect(toCsv({ chart, rows: [row] })).toBe(`t,"User, name",n\r\n${line}\r\n`)
})
