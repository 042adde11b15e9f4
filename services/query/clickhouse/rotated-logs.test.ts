import { expect, it } from 'vitest'
import { buildLogColumnsStatement, buildRotatedLogExpressions } from './capabilities.ts'

const tables = new Set(['part_log', 'part_log_0', 'part_log_1', 'query_log', 'error_log_0', 'query_log_extra', 'parts'])

it('reads a rotated log together with its earlier tables', () => {
  expect(buildRotatedLogExpressions(tables)).toEqual(
    new Map([['part_log', String.raw`merge('system', '^part_log(_\\d+)?$')`]]),
  )
  expect(buildLogColumnsStatement('25.6.1.1', tables)).toBeUndefined()
})

it('lists the columns on servers that reject merge in read-only statements', () => {
  expect(buildLogColumnsStatement('25.5.9.1', tables)?.sql).toContain("IN ('part_log', 'part_log_0', 'part_log_1')")
  expect(buildLogColumnsStatement('24.8.4.1', new Set(['part_log']))).toBeUndefined()
})

it('reads earlier tables with the columns of the current log', () => {
  const logs = buildRotatedLogExpressions(tables, [
    ['part_log_0', [['event_time', 'DateTime']]],
    [
      'part_log',
      [
        ['event_time', 'DateTime'],
        ['event`type', "Enum8('New' = 1)"],
      ],
    ],
    [
      'part_log_1',
      [
        ['event`type', "Enum8('Old' = 1)"],
        ['gone', 'UInt8'],
        ['event_time', 'DateTime'],
      ],
    ],
  ])
  const type = String.raw`'Enum8(\'New\' = 1)'`
  const column = '`event\\`type`'
  expect(logs.get('part_log')?.split(' UNION ALL ')).toEqual([
    `(SELECT \`event_time\`, ${column} FROM system.part_log`,
    `SELECT \`event_time\`, defaultValueOfTypeName(${type}) AS ${column} FROM system.part_log_0`,
    `SELECT \`event_time\`, CAST(${column}, ${type}) AS ${column} FROM system.part_log_1)`,
  ])
})
