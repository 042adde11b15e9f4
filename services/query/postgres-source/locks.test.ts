import { describe, expect, it } from 'vitest'
import { rankBlockers, type WaitingSession } from './locks.ts'

const session = (pid: number, ...blockedBy: number[]): WaitingSession => ({
  pid,
  database: 'shop',
  user: 'ada',
  application: null,
  address: null,
  type: 'client backend',
  state: 'active',
  waitType: null,
  waitEvent: null,
  transactionMs: 1,
  statementMs: 1,
  stateMs: 1,
  queryId: null,
  query: null,
  waitsFor: null,
  blockedBy,
})

describe('blocking sessions', () => {
  it.each([
    ['no session', [], []],
    [
      'one another',
      [session(2, 1), session(1)],
      [
        [1, 1],
        [2, 0],
      ],
    ],
    [
      'a chain',
      [session(3, 2), session(2, 1), session(1)],
      [
        [1, 2],
        [2, 1],
        [3, 0],
      ],
    ],
    [
      'a fan, whose end waits for both',
      [session(4, 2, 3), session(2, 1), session(3, 1), session(1)],
      [
        [1, 3],
        [2, 1],
        [3, 1],
        [4, 0],
      ],
    ],
    [
      'two roots',
      [session(1), session(2, 1), session(5), session(6, 5), session(7, 5)],
      [
        [5, 2],
        [1, 1],
        [2, 0],
        [6, 0],
        [7, 0],
      ],
    ],
    [
      'a deadlock',
      [session(1, 2), session(2, 1)],
      [
        [1, 1],
        [2, 1],
      ],
    ],
    ['a blocker that has gone', [session(2, 1)], [[2, 0]]],
  ])('counts the sessions blocked by %s', (_case, sessions, expected) => {
    expect(rankBlockers(sessions).map(({ pid, blocks }) => [pid, blocks])).toEqual(expected)
  })

  it('lists each blocker once', () => {
    expect(rankBlockers([session(2, 1, 1, 3)])[0]?.blockedBy).toEqual([1, 3])
  })
})
