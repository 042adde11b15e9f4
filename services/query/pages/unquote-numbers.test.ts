import { expect, it } from 'vitest'
import { unquoteNumbers } from './table.ts'

const columns = [
  { name: 'bytes', format: 'bytes' },
  { name: 'hash', format: 'code' },
] as const

it.each([
  ['{"bytes":"12","hash":"12"}\n', '{"bytes":12,"hash":"12"}\n'],
  ['{"bytes":12,"hash":"a"}\n{"bytes":null,"hash":""}\n', '{"bytes":12,"hash":"a"}\n{"bytes":null,"hash":""}\n'],
  ['{"bytes":"18446744073709551615","hash":"x"}\n', '{"bytes":"18446744073709551615","hash":"x"}\n'],
  ['{"bytes":"","hash":"x"}\n', '{"bytes":"","hash":"x"}\n'],
  ['{"bytes":"12","ha', '{"bytes":"12","ha'],
])('turns %j into %j', (given, wanted) => {
  expect(unquoteNumbers(Buffer.from(given), columns).toString()).toBe(wanted)
})
