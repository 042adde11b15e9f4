import { expect, it } from 'vitest'
import { eventUnit, eventWords } from './event-unit.ts'

it.each([
  ['OSCPUVirtualTimeMicroseconds', 'microseconds', 'OSCPUVirtual Time'],
  ['NetworkSendBytes', 'bytes', 'Network Send Bytes'],
  ['SelectedRows', 'rows', 'Selected Rows'],
  ['Query', 'count', 'Query'],
  ['Microseconds', 'microseconds', 'Microseconds'],
])('%s has the unit %s and the label "%s"', (name, unit, words) => {
  expect([eventUnit(name), eventWords(name)]).toEqual([unit, words])
})
