import { expect, it } from 'vitest'
import { findEventUnit, splitEventName } from './event-unit.ts'

it.each([
  ['OSCPUVirtualTimeMicroseconds', 'microseconds', 'OSCPUVirtual Time'],
  ['NetworkSendBytes', 'bytes', 'Network Send Bytes'],
  ['SelectedRows', 'rows', 'Selected Rows'],
  ['Query', 'count', 'Query'],
  ['Microseconds', 'microseconds', 'Microseconds'],
])('%s has the unit %s and the label "%s"', (name, unit, words) => {
  expect([findEventUnit(name), splitEventName(name)]).toEqual([unit, words])
})
