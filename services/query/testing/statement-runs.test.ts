import { expect, it } from 'vitest'
import { compareRuns, formatRuns } from './statement-runs.ts'

const embedded = {
  where: 'the embedded engine 26.7',
  branches: [
    { name: 'the chart a' },
    { name: 'the chart b', since: '24.1' },
    { name: 'the table page c', lacking: 'system.zookeeper' },
    { name: 'the table page d', lacking: 'a server of 27.1' },
  ],
}
const server = {
  where: 'a server 23.8',
  branches: [
    { name: 'the chart a' },
    { name: 'the chart b', since: '24.1', lacking: 'a server of 24.1' },
    { name: 'the table page c' },
    { name: 'the table page d', lacking: 'a server of 27.1' },
  ],
}

it('lists the statements that ran on one server, and why others did not', () => {
  expect(formatRuns(embedded)).toBe(
    `statements on the embedded engine 26.7: 2 ran, 2 never
  ran: the chart a, the chart b since 24.1
  never: the table page c (system.zookeeper), the table page d (a server of 27.1)`,
  )
})

it('lists for every branch the servers that ran it', () => {
  expect(compareRuns([embedded, server])).toBe(
    `the chart a: the embedded engine 26.7, a server 23.8
the chart b since 24.1: the embedded engine 26.7
the table page c: a server 23.8
the table page d: never
4 statements and branches, 1 of them never ran`,
  )
})
