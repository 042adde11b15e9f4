import { expect, it } from 'vitest'
import { readComparedHosts } from './compared-hosts.ts'

it.each([
  ['', [0, 1, 2], 1, [1, 0]],
  ['', [0, 1, 2], 7, [0, 1]],
  ['', [0], 0, [0]],
  ['hosts=2,0', [0, 1, 2], 1, [2, 0]],
  ['hosts=2,2,x,-1,9', [0, 1, 2], 1, [2]],
  ['hosts=', [0, 1, 2], 1, []],
])('%s with hosts %j on host %s selects %j', (search, known, here, expected) => {
  expect(readComparedHosts(new URLSearchParams(search), known, here)).toEqual(expected)
})
