import { pino } from 'pino'
import { expect, it } from 'vitest'
import { openOutageLog } from './outage.ts'

it('is logged at its start and its end, not at each attempt', () => {
  const lines: unknown[] = []
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) })
  const outage = openOutageLog(log, { begins: 'it cannot be read', ends: 'it is read again', facts: { consumer: 'a' } })
  outage.worked()
  for (const _ of [1, 2, 3]) outage.failed(new Error('away'))
  outage.worked()
  outage.worked()
  outage.failed(new Error('away'))
  expect(lines).toEqual([
    expect.objectContaining({ level: 40, msg: 'it cannot be read', consumer: 'a' }),
    expect.objectContaining({ level: 30, msg: 'it is read again', consumer: 'a' }),
    expect.objectContaining({ level: 40, msg: 'it cannot be read' }),
  ])
})
