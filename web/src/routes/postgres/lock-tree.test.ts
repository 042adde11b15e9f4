import { describe, expect, it } from 'vitest'
import type { LockSession } from '#proto/postgres-sessions.ts'
import { type LockNode, buildLockTrees } from './lock-tree.ts'

const session = (pid: number, ...blockedBy: number[]): LockSession => ({
  pid,
  database: 'shop',
  user: 'ada',
  application: null,
  address: null,
  type: 'client backend',
  state: 'active',
  waitType: null,
  waitEvent: null,
  transactionMs: null,
  statementMs: null,
  stateMs: null,
  queryId: null,
  query: null,
  waitsFor: null,
  blockedBy,
  blocks: 0,
})
const drawn = ({ session: { pid }, waiters, alsoBehind }: LockNode): string =>
  `${pid}${alsoBehind.length > 0 ? `+${alsoBehind.join(',')}` : ''}${waiters.length > 0 ? `(${waiters.map(drawn).join(' ')})` : ''}`

describe('lock trees', () => {
  it.each([
    ['no sessions', [], ''],
    ['a chain', [session(1), session(2, 1), session(3, 2)], '1(2(3))'],
    ['a fan', [session(1), session(2, 1), session(3, 1)], '1(2 3)'],
    ['two roots', [session(1), session(5), session(2, 1), session(6, 5)], '1(2) 5(6)'],
    ['a session with two blockers', [session(1), session(5), session(2, 1, 5)], '1(2+5) 5'],
    ['a deadlock', [session(1, 2), session(2, 1)], '1+2(2)'],
    ['a session whose blocker has disconnected', [session(2, 1)], '2+1'],
  ])('handle %s', (_case, sessions, expected) => {
    expect(buildLockTrees(sessions).map(drawn).join(' ')).toBe(expected)
  })
})
